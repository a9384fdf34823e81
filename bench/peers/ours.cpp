// SPDX-License-Identifier: Apache-2.0
//
// This library as one of the peers: y = eigen_rope::rotate(x) and x = eigen_rope::rotate(x), the
// user's code at plain -O2, with two threads on Eigen's pool. Tables are float for every scalar.
#define EIGEN_USE_THREADS
#include "eigen_rope/eigen_rope.hpp"
#include "eigen_rope/machine/kernel_target.hpp"
#include "protocol.hpp"

namespace {

template <class Scalar>
class Rotation final : public peers::Case {
 public:
  explicit Rotation(const peers::Request& request)
      : arrays_(request),
        shape_{eigen_rope::Index(request.head), eigen_rope::Index(request.heads),
               eigen_rope::Index(request.tokens)},
        x_(arrays_.x(), shape_),
        y_(arrays_.y(), shape_),
        z_(arrays_.z(), shape_),
        pairing_((request.split_half() ? eigen_rope::split_half : eigen_rope::interleaved)
                     .with_rotary_dims(eigen_rope::Index(request.rotary))),
        cache_(
            eigen_rope::Frequencies::powers({eigen_rope::Index(request.rotary), request.base}),
            eigen_rope::Positions::range(request.first_position, eigen_rope::Index(request.tokens)),
            eigen_rope::Layout::tnd()) {
    contenders_ = {
        {"memcpy",
         [this] { std::memcpy(static_cast<void*>(arrays_.y()), arrays_.x(), arrays_.bytes()); }},
        rotation("expr", x_, y_),
        rotation("inplace", z_, z_)};
    arrays_.require_rotated(contenders_[1], arrays_.y(), peers::error_limit(request.scalar));
    arrays_.require_rotated(contenders_[2], arrays_.z(), peers::error_limit(request.scalar));
  }

 private:
  using Map = Eigen::TensorMap<Eigen::Tensor<Scalar, 3>>;

  peers::Contender rotation(const char* name, const Map& x, Map& y) {
    if (peers::threads() == 1)
      return {name, [this, &x, &y] { y = eigen_rope::rotate(x, cache_, pairing_); }};
    return {name, [this, &x, &y] { y.device(device_) = eigen_rope::rotate(x, cache_, pairing_); }};
  }

  peers::Arrays<Scalar> arrays_;
  Eigen::array<eigen_rope::Index, 3> shape_;
  Map x_, y_, z_;
  eigen_rope::Pairing pairing_;
  eigen_rope::Cache<float> cache_;
  Eigen::ThreadPool pool_{peers::threads()};
  Eigen::ThreadPoolDevice device_{&pool_, peers::threads()};
};

std::unique_ptr<peers::Case> make(const peers::Request& request) {
  if (request.scalar == "f32") return std::make_unique<Rotation<float>>(request);
  if (request.scalar == "f16") return std::make_unique<Rotation<Eigen::half>>(request);
  if (request.scalar == "bf16") return std::make_unique<Rotation<Eigen::bfloat16>>(request);
  throw std::runtime_error("unknown scalar " + request.scalar);
}

}  // namespace

int main() {
  const std::string version = fmt::format("{}.{}.{}", EIGEN_ROPE_VERSION_MAJOR,
                                          EIGEN_ROPE_VERSION_MINOR, EIGEN_ROPE_VERSION_PATCH);
  return peers::serve({{"peer", "rope"},
                       {"version", version},
                       {"note", "kernels " + eigen_rope::kernel_target() + ", caller at -O2"}},
                      make);
}
