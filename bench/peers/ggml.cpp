// SPDX-License-Identifier: Apache-2.0
//
// ggml as one of the peers, through its C API: ggml_rope_ext and its in-place form. Small shapes
// are timed as 16 independent nodes of one graph, all from x to y, so that starting a graph does
// not count. ggml forms sin and cos again in every call: it has no tables.
#include <ggml-cpu.h>
#include <ggml.h>

#include "protocol.hpp"

namespace {

class Half {
 public:
  Half() = default;
  explicit Half(float value) : bits_(ggml_fp32_to_fp16(value)) {}
  explicit operator float() const { return ggml_fp16_to_fp32(bits_); }
  operator double() const { return ggml_fp16_to_fp32(bits_); }

 private:
  ggml_fp16_t bits_;
};

enum class Place { to_y, in_z };

template <class Scalar>
class Rotation final : public peers::Case {
 public:
  Rotation(const peers::Request& request, ggml_type type)
      : arrays_(request),
        context_(ggml_init({std::size_t{1} << 20, nullptr, true}), ggml_free),
        positions_(request.tokens) {
    for (std::size_t token = 0; token < request.tokens; ++token) {
      positions_[token] =
          static_cast<std::int32_t>(request.first_position + static_cast<std::int64_t>(token));
    }
    ggml_threadpool_params parameters = ggml_threadpool_params_default(peers::threads());
    pool_.reset(ggml_threadpool_new(&parameters));
    const std::size_t nodes = request.tokens <= 16 ? 16 : 1;
    contenders_ = {
        {"memcpy",
         [this] { std::memcpy(static_cast<void*>(arrays_.y()), arrays_.x(), arrays_.bytes()); }},
        graph("rope_ext", request, type, Place::to_y, nodes),
        graph("rope_ext_inplace", request, type, Place::in_z, nodes)};
    arrays_.require_rotated(contenders_[1], arrays_.y(), peers::error_limit(request.scalar));
    arrays_.require_rotated(graph("rope_ext_inplace", request, type, Place::in_z, 1), arrays_.z(),
                            peers::error_limit(request.scalar));
  }

 private:
  peers::Contender graph(const char* name, const peers::Request& request, ggml_type type,
                         Place place, std::size_t nodes) {
    ggml_cgraph* built = ggml_new_graph(context_.get());
    const auto signed_of = [](std::size_t value) { return static_cast<std::int64_t>(value); };
    for (std::size_t node = 0; node < nodes; ++node) {
      ggml_tensor* x = ggml_new_tensor_3d(context_.get(), type, signed_of(request.head),
                                          signed_of(request.heads), signed_of(request.tokens));
      ggml_tensor* ids =
          ggml_new_tensor_1d(context_.get(), GGML_TYPE_I32, signed_of(request.tokens));
      x->data = place == Place::to_y ? arrays_.x() : arrays_.z();
      ids->data = positions_.data();
      const auto rotate = place == Place::to_y ? ggml_rope_ext : ggml_rope_ext_inplace;
      ggml_tensor* y = rotate(context_.get(), x, ids, nullptr, static_cast<int>(request.rotary),
                              request.split_half() ? GGML_ROPE_TYPE_NEOX : GGML_ROPE_TYPE_NORMAL, 0,
                              static_cast<float>(request.base), 1, 0, 1, 32, 1);
      y->data = place == Place::to_y ? arrays_.y() : arrays_.z();
      ggml_build_forward_expand(built, y);
    }
    ggml_cplan plan = ggml_graph_plan(built, peers::threads(), pool_.get());
    work_.resize(std::max(work_.size(), plan.work_size));
    plan.work_data = work_.data();
    const auto run = [this, built, plan]() mutable {
      plan.work_data = work_.data();
      ggml_graph_compute(built, &plan);
    };
    return {name, run, nodes};
  }

  struct FreePool {
    void operator()(ggml_threadpool* pool) const { ggml_threadpool_free(pool); }
  };

  peers::Arrays<Scalar> arrays_;
  std::unique_ptr<ggml_context, void (*)(ggml_context*)> context_;
  std::unique_ptr<ggml_threadpool, FreePool> pool_;
  std::vector<std::int32_t> positions_;
  std::vector<std::uint8_t> work_;
};

std::unique_ptr<peers::Case> make(const peers::Request& request) {
  if (request.scalar == "f32") return std::make_unique<Rotation<float>>(request, GGML_TYPE_F32);
  if (request.scalar == "f16") return std::make_unique<Rotation<Half>>(request, GGML_TYPE_F16);
  throw std::runtime_error("ggml does not rotate " + request.scalar);
}

}  // namespace

int main() {
  ggml_cpu_init();
  const std::string vectors = ggml_cpu_has_avx512() ? "AVX-512"
                              : ggml_cpu_has_avx2() ? "AVX2"
                                                    : "neither AVX2 nor AVX-512";
  return peers::serve(
      {{"peer", "ggml"}, {"version", ggml_version()}, {"note", "built for " + vectors}}, make);
}
