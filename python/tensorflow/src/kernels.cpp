// SPDX-License-Identifier: Apache-2.0
//
// What the operators do with tensors on the CPU. The rotation is this library's expression of
// Eigen, assigned on TensorFlow's own device, which is Eigen's:
//
//   y.device(context->eigen_device<CPUDevice>()) = eigen_rope::rotate(x, table, pairing)
//
// An expression has its rank in its type, and a tensor of TensorFlow does not. merged() makes four
// axes of what models have, and at most eight of anything, so two ranks serve all.
#define EIGEN_USE_THREADS

#include <eigen_rope/c/eigen_rope.h>
#include <eigen_rope/any/any.hpp>
#include <eigen_rope/rotation/rotate.hpp>
#include <unsupported/Eigen/CXX11/Tensor>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "outside.hpp"
#include "rates.hpp"
#include "reused_memory.hpp"
#include "rotation.hpp"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace eigen_rope_tensorflow {
namespace {

using eigen_rope_packages::Outside;
using CPUDevice = Eigen::ThreadPoolDevice;

Argument argument(const char* name, const tf::Tensor& tensor) {
  const auto extents = tensor.shape().dim_sizes();
  return {name, tensor.dtype(), true, {extents.begin(), extents.end()}};
}

void fill_with_zeros(const tf::Tensor& tensor) {
  if (tensor.TotalBytes() > 0) std::memset(tensor.data(), 0, tensor.TotalBytes());
}

/// The merged axes with axes of one in front, as many as make up the rank.
template <int rank>
struct Padded {
  explicit Padded(const Merged& m) : feature(rank - static_cast<int>(m.x.size()) + m.feature) {
    x.fill(1);
    table.fill(1);
    std::copy(m.x.rbegin(), m.x.rend(), x.rbegin());
    std::copy(m.table.rbegin(), m.table.rend(), table.rbegin());
  }
  std::array<Eigen::Index, rank> x;
  std::array<Eigen::Index, rank> table;
  int feature;
};

template <class Entry, int rank>
er::TableView<Entry> table_of(const Padded<rank>& axes, const tf::Tensor& cos,
                              const tf::Tensor& sin) {
  er::TableView<Entry> table;
  table.cos = static_cast<const Entry*>(cos.data());
  table.sin = static_cast<const Entry*>(sin.data());
  table.width = axes.table[static_cast<std::size_t>(axes.feature)];
  table.feature_axis = rank - 1 - axes.feature;
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (axis != axes.feature) table.outer.push_back(axes.table[static_cast<std::size_t>(axis)]);
  }
  return table;
}

template <class Scalar, class Entry, int rank>
void rotate_padded(const CPUDevice& device, const tf::Tensor& x, const tf::Tensor& cos,
                   const tf::Tensor& sin, const tf::Tensor& y, const Merged& m,
                   er::Direction direction) {
  const Padded<rank> axes(m);
  using Plain = Eigen::Tensor<Scalar, rank, Eigen::RowMajor, Eigen::Index>;
  const Eigen::TensorMap<const Plain> from(static_cast<const Scalar*>(x.data()), axes.x);
  Eigen::TensorMap<Plain> to(static_cast<Scalar*>(y.data()), axes.x);
  const er::TableView<Entry> table = table_of<Entry>(axes, cos, sin);
  er::Pairing pairing = er::Pairing(m.pairing).along(axes.feature);
  switch (direction) {
    case er::Direction::forward: to.device(device) = er::rotate(from, table, pairing); break;
    case er::Direction::backward:
      to.device(device) = er::rotate_backward(from, table, pairing);
      break;
    case er::Direction::inverse:
      to.device(device) = er::rotate_inverse(from, table, pairing);
      break;
  }
}

template <class Scalar, class Entry>
void rotate_merged(const CPUDevice& device, const tf::Tensor& x, const tf::Tensor& cos,
                   const tf::Tensor& sin, const tf::Tensor& y, const Merged& m,
                   er::Direction direction) {
  constexpr int usual_rank = 4;
  if (m.x.size() <= usual_rank) {
    rotate_padded<Scalar, Entry, usual_rank>(device, x, cos, sin, y, m, direction);
  } else {
    rotate_padded<Scalar, Entry, er::max_rank>(device, x, cos, sin, y, m, direction);
  }
}

template <class Scalar>
class RotateKernel : public tf::OpKernel {
 public:
  explicit RotateKernel(tf::OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, read_choices(*context, true, choices_));
    // Names and types are refused here, once; tensors without extents have no others.
    OP_REQUIRES_OK(context, guarded([&] {
                     check({"x", context->input_type(0), false, {}},
                           {"cos", context->input_type(1), false, {}},
                           {"sin", context->input_type(2), false, {}}, choices_);
                     direction_ = er::any::direction_of(choices_.direction);
                     outside_ = eigen_rope_packages::outside_of(choices_.outside);
                   }));
  }

  void Compute(tf::OpKernelContext* context) override {
    const tf::Tensor& x = context->input(0);
    const tf::Tensor& cos = context->input(1);
    const tf::Tensor& sin = context->input(2);
    Merged m;
    OP_REQUIRES_OK(context, guarded([&] {
                     const Argument of_x = argument("x", x);
                     const Argument of_cos = argument("cos", cos);
                     check(of_x, of_cos, argument("sin", sin), choices_);
                     m = merged(of_x.extents, of_cos.extents, choices_);
                   }));
    tf::Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    if (x.NumElements() == 0) return;
    OP_REQUIRES_OK(
        context, guarded([&] {
          const auto& device = context->eigen_device<CPUDevice>();
          if (cos.dtype() == x.dtype()) {
            rotate_merged<Scalar, Scalar>(device, x, cos, sin, *y, m, direction_);
          } else if constexpr (sizeof(Scalar) == 2) {
            rotate_merged<Scalar, float>(device, x, cos, sin, *y, m, direction_);
          }
          if (outside_ == Outside::zero) {
            const auto rank = static_cast<int>(m.x.size());
            eigen_rope_packages::clear_outside(
                er::any::tensor(scalar_type(y->dtype(), "x"), y->data(), rank, m.x.data()),
                m.pairing);
          }
        }));
  }

 private:
  Choices choices_;
  er::Direction direction_ = er::Direction::forward;
  Outside outside_ = Outside::copied;
};

er::any::ConstTensor view(const tf::Tensor& tensor, const Extents& extents, const char* name) {
  return er::any::tensor(scalar_type(tensor.dtype(), name), std::as_const(tensor).data(),
                         static_cast<int>(extents.size()), extents.data());
}

/// The gradient has the type of `like`: x's, or float where x has 16 bits. In the second case sums
/// are kept in double and rounded to float once.
class TableGradientKernel : public tf::OpKernel {
 public:
  explicit TableGradientKernel(tf::OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, read_choices(*context, false, choices_));
    OP_REQUIRES_OK(context, guarded([&] {
                     const Argument like{"like", context->input_type(2), false, {}};
                     check({"x", context->input_type(0), false, {}}, like, like, choices_);
                   }));
  }

  void Compute(tf::OpKernelContext* context) override {
    const tf::Tensor& x = context->input(0);
    const tf::Tensor& g = context->input(1);
    const tf::Tensor& like = context->input(2);
    Merged m;
    OP_REQUIRES_OK(context, guarded([&] {
                     const Argument of_x = argument("x", x);
                     const Argument of_table = argument("like", like);
                     check_alike(of_x, argument("g", g));
                     check(of_x, of_table, of_table, choices_);
                     m = merged(of_x.extents, of_table.extents, choices_);
                   }));
    tf::Tensor* dcos = nullptr;
    tf::Tensor* dsin = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, like.shape(), &dcos));
    OP_REQUIRES_OK(context, context->allocate_output(1, like.shape(), &dsin));
    if (x.NumElements() == 0) {
      fill_with_zeros(*dcos);
      fill_with_zeros(*dsin);
      return;
    }
    tf::Tensor cos_sums = *dcos;
    tf::Tensor sin_sums = *dsin;
    const bool widened = like.dtype() != x.dtype();
    if (widened) {
      OP_REQUIRES_OK(context, context->allocate_temp(tf::DT_DOUBLE, like.shape(), &cos_sums));
      OP_REQUIRES_OK(context, context->allocate_temp(tf::DT_DOUBLE, like.shape(), &sin_sums));
    }
    OP_REQUIRES_OK(context, guarded([&] {
                     er::any::TableMemory memory{scalar_type(cos_sums.dtype(), "like"),
                                                 cos_sums.data(), sin_sums.data()};
                     for (const std::int64_t extent : m.table) memory.shape.push_back(extent);
                     memory.feature_axis = m.feature;
                     er::any::table_gradient(memory, view(x, m.x, "x"), view(g, m.x, "g"),
                                             m.pairing, context->eigen_device<CPUDevice>());
                   }));
    if (!context->status().ok() || !widened) return;
    dcos->flat<float>() = cos_sums.flat<double>().cast<float>();
    dsin->flat<float>() = sin_sums.flat<double>().cast<float>();
  }

 private:
  Choices choices_;
};

er::any::PositionType position_type(tf::DataType type) {
  switch (type) {
    case tf::DT_INT32: return er::any::PositionType::i32;
    case tf::DT_INT64: return er::any::PositionType::i64;
    case tf::DT_FLOAT: return er::any::PositionType::f32;
    default: return er::any::PositionType::f64;  // the only other one that is registered
  }
}

std::vector<double> doubles(const tf::Tensor& tensor) {
  const auto* const begin = static_cast<const double*>(tensor.data());
  return {begin, begin + tensor.NumElements()};
}

er::Frequencies frequencies_of(const tf::Tensor& rates, const tf::Tensor& low_rates,
                               const tf::Tensor& attention_factor) {
  if (rates.dims() != 1) {
    throw er::Error("[rope] rates must have 1 axis, got " + std::to_string(rates.dims()));
  }
  if (attention_factor.dims() != 0) {
    throw er::Error("[rope] attention_factor must be a scalar, got a tensor of " +
                    std::to_string(attention_factor.dims()) + " axes");
  }
  // No low rates are the empty tensor.
  std::optional<std::vector<double>> low;
  if (low_rates.NumElements() > 0) low = doubles(low_rates);
  return eigen_rope_packages::frequencies_of(doubles(rates), low,
                                             attention_factor.scalar<double>()());
}

class TableKernel : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* context) override {
    const tf::Tensor& positions = context->input(1);
    tf::Tensor* cos = nullptr;
    tf::Tensor* sin = nullptr;
    tf::TensorShape shape = positions.shape();
    OP_REQUIRES_OK(context, shape.AddDimWithStatus(context->input(0).NumElements()));
    OP_REQUIRES_OK(context, guarded([&] {
                     const er::Frequencies frequencies =
                         frequencies_of(context->input(0), context->input(2), context->input(3));
                     OP_REQUIRES_OK(context, context->allocate_output(0, shape, &cos));
                     OP_REQUIRES_OK(context, context->allocate_output(1, shape, &sin));
                     er::any::PositionIds ids;
                     ids.type = position_type(positions.dtype());
                     ids.data = std::as_const(positions).data();
                     ids.count = positions.NumElements();
                     if (ids.count == 0) return;
                     const er::any::TableMemory memory{scalar_type(cos->dtype(), "dtype"),
                                                       cos->data(),
                                                       sin->data(),
                                                       {ids.count, frequencies.pairs()}};
                     er::any::fill_table(memory, frequencies, er::any::positions(ids),
                                         er::Layout::sd());
                   }));
  }
};

/// Calls of the C interface, which takes parameters by their names.
void require_ok(eigen_rope_status status) {
  if (status != EIGEN_ROPE_OK) throw er::Error(eigen_rope_last_message());
}

class RatesKernel : public tf::OpKernel {
 public:
  explicit RatesKernel(tf::OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("scaling", &scaling_));
    OP_REQUIRES_OK(context, context->GetAttr("names", &names_));
    OP_REQUIRES_OK(context, context->GetAttr("words", &words_));
    OP_REQUIRES_OK(context, context->GetAttr("counts", &counts_));
    OP_REQUIRES_OK(context, context->GetAttr("length", &length_));
  }

  void Compute(tf::OpKernelContext* context) override {
    const std::vector<double> numbers = doubles(context->input(0));
    std::vector<double> rates;
    double attention_factor = 1.0;
    OP_REQUIRES_OK(
        context, guarded([&] {
          const std::vector<eigen_rope_parameter> parameters = parameters_of(numbers);
          eigen_rope_frequencies* made = nullptr;
          require_ok(eigen_rope_frequencies_create(scaling_.c_str(), parameters.data(),
                                                   static_cast<std::int64_t>(parameters.size()),
                                                   length_, &made));
          const std::unique_ptr<eigen_rope_frequencies, decltype(&eigen_rope_frequencies_destroy)>
              owner(made, &eigen_rope_frequencies_destroy);
          std::int64_t pairs = 0;
          require_ok(eigen_rope_frequencies_pairs(made, &pairs));
          rates.resize(static_cast<std::size_t>(pairs));
          require_ok(eigen_rope_frequencies_rates(made, rates.data(), pairs, &attention_factor));
        }));
    tf::Tensor* to = nullptr;
    tf::Tensor* m = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(
                       0, tf::TensorShape({static_cast<std::int64_t>(rates.size())}), &to));
    OP_REQUIRES_OK(context, context->allocate_output(1, tf::TensorShape({}), &m));
    std::copy(rates.begin(), rates.end(), to->flat<double>().data());
    m->scalar<double>()() = attention_factor;
  }

 private:
  /// A parameter is a word, or else a list of so many numbers, or else (-1) a number.
  std::vector<eigen_rope_parameter> parameters_of(const std::vector<double>& numbers) const {
    if (words_.size() != names_.size() || counts_.size() != names_.size()) {
      throw er::Error("[rope] words and counts must be one for each of " +
                      std::to_string(names_.size()) + " names, got " +
                      std::to_string(words_.size()) + " and " + std::to_string(counts_.size()));
    }
    std::vector<eigen_rope_parameter> parameters;
    std::size_t used = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const bool list = counts_[i] >= 0;
      const std::size_t takes = !words_[i].empty() ? 0
                                : list             ? static_cast<std::size_t>(counts_[i])
                                                   : 1;
      if (takes > numbers.size() - used) {
        throw er::Error("[rope] numbers must hold those of all parameters, got " +
                        std::to_string(numbers.size()));
      }
      eigen_rope_parameter parameter{};
      parameter.name = names_[i].c_str();
      if (!words_[i].empty()) {
        parameter.word = words_[i].c_str();
      } else if (list) {
        parameter.list = numbers.data() + used;
        parameter.list_count = counts_[i];
      } else {
        parameter.number = numbers[used];
      }
      used += takes;
      parameters.push_back(parameter);
    }
    return parameters;
  }

  std::string scaling_;
  std::vector<std::string> names_, words_;
  std::vector<std::int64_t> counts_;
  std::int64_t length_ = 0;
};

[[maybe_unused]] const eigen_rope_packages::ReusedMemory reused_memory;

#define EIGEN_ROPE_KERNEL(Scalar)                                                  \
  REGISTER_KERNEL_BUILDER(                                                         \
      Name("EigenRope>Rotate").Device(tf::DEVICE_CPU).TypeConstraint<Scalar>("T"), \
      RotateKernel<Scalar>)
EIGEN_ROPE_KERNEL(Eigen::half);
EIGEN_ROPE_KERNEL(Eigen::bfloat16);
EIGEN_ROPE_KERNEL(float);
EIGEN_ROPE_KERNEL(double);
#undef EIGEN_ROPE_KERNEL

REGISTER_KERNEL_BUILDER(Name("EigenRope>TableGradient").Device(tf::DEVICE_CPU),
                        TableGradientKernel);
REGISTER_KERNEL_BUILDER(Name("EigenRope>Table").Device(tf::DEVICE_CPU), TableKernel);
REGISTER_KERNEL_BUILDER(Name("EigenRope>Rates").Device(tf::DEVICE_CPU), RatesKernel);

}  // namespace
}  // namespace eigen_rope_tensorflow
