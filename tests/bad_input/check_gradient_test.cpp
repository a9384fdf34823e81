// SPDX-License-Identifier: Apache-2.0
//
// Bad input: the options of a gradient check, and what it is told to compare.
#include "eigen_rope/check/check_gradient.hpp"
#include "bad_input/bad_input.hpp"

namespace eigen_rope::test::check_gradient_tests {
namespace {

using Vector = Eigen::Tensor<double, 1>;

Vector of_size(Index size) {
  Vector v(size);
  v.setConstant(0.5);
  return v;
}

/// A check that passes until an option is spoilt.
struct Check : Memory {
  GradientCheckOptions options;
  Vector x = of_size(4);

  void run() const {
    check_gradient([](const Vector& v) { return v; },
                   [](const Vector&, const Vector& g) { return g; }, x, options);
  }
  /// With a gradient of another size.
  void of_gradient(Index size) const {
    check_gradient([](const Vector& v) { return v; },
                   [size](const Vector&, const Vector&) { return of_size(size); }, x, options);
  }
};

const Cell<Check> checks[] = {
    {"absolute", Fault::negative,
     [](Check& c) {
       c.options.absolute = -1;
       c.run();
     },
     "the absolute tolerance must be finite and not negative, got -1"},
    {"absolute", Fault::infinite,
     [](Check& c) {
       c.options.absolute = infinity;
       c.run();
     },
     "the absolute tolerance must be finite and not negative, got inf"},
    {"relative", Fault::nan,
     [](Check& c) {
       c.options.relative = nan;
       c.run();
     },
     "the relative tolerance must be finite and not negative, got nan"},
    {"step", Fault::negative,
     [](Check& c) {
       c.options.step = -1;
       c.run();
     },
     "the step of central differences must be finite and greater than 0, got -1"},
    {"step", Fault::nan,
     [](Check& c) {
       c.options.step = nan;
       c.run();
     },
     "the step of central differences must be finite and greater than 0, got nan"},
    {"step", Fault::zero,
     [](Check& c) {
       c.options.step = 0;
       c.run();
     },
     nullptr, "the default"},
    {"typical_x", Fault::zero,
     [](Check& c) {
       c.options.typical_x = 0;
       c.run();
     },
     "typical_x must be finite and greater than 0, got 0"},
    {"typical_x", Fault::infinite,
     [](Check& c) {
       c.options.typical_x = infinity;
       c.run();
     },
     "typical_x must be finite and greater than 0, got inf"},
    {"projections", Fault::zero,
     [](Check& c) {
       c.options.projections = 0;
       c.run();
     },
     "the number of projections must be at least 1, got 0"},
    {"projections", Fault::negative,
     [](Check& c) {
       c.options.projections = -8;
       c.run();
     },
     "the number of projections must be at least 1, got -8"},
    {"every_entry_limit", Fault::negative,
     [](Check& c) {
       c.options.every_entry_limit = int64_min;
       c.run();
     },
     nullptr, "nothing is that small: projections"},
    {"every_entry_limit", Fault::huge,
     [](Check& c) {
       c.options.every_entry_limit = int64_max;
       c.run();
     },
     nullptr, "everything is that small: every entry"},
    {"names", Fault::wrong_length,
     [](Check& c) {
       c.options.names = {"a", "b"};
       c.run();
     },
     "there must be one name for each of the 1 arguments, got 2"},
    {"method", Fault::unknown,
     [](Check& c) {
       c.options.method = NumericMethod::linear_map;
       c.run();
     },
     "a linear map is checked by check_adjoint()"},
    {"method", Fault::unknown,
     [](Check& c) {
       c.options.method = NumericMethod::complex_step;
       c.run();
     },
     "the complex step needs an f that takes and returns tensors of std::complex<double>, and "
     "Precision::widest"},
    {"gradient", Fault::wrong_length, [](Check& c) { c.of_gradient(3); },
     "the gradient of x must have shape [4], got [3]"},
    {"gradient", Fault::wrong_length, [](Check& c) { c.of_gradient(0); },
     "the gradient of x must have shape [4], got [0]"},
    {"gradient of a named argument", Fault::wrong_length,
     [](Check& c) {
       c.options.names = {"q"};
       c.of_gradient(5);
     },
     "the gradient of q must have shape [4], got [5]"},
    {"gradient", Fault::nan,
     [](Check& c) {
       check_gradient([](const Vector& v) { return v; },
                      [](const Vector&, const Vector& g) {
                        Vector d = g * nan;
                        return d;
                      },
                      c.x, c.options);
     },
     nullptr, "the verdict says so"},
    {"gradient without a cotangent", Fault::wrong_length,
     [](Check& c) { check_gradient([](const Vector& v) { return v; }, c.x, c.x, c.options); },
     "a gradient without a cotangent g needs f to return one value, got 4"},
    {"f, shape of its result", Fault::wrong_shape,
     [](Check& c) {
       int calls = 0;
       check_gradient([&](const Vector&) { return of_size(++calls); },
                      [](const Vector& v, const Vector&) { return v; }, c.x, c.options);
     },
     "every result of f must have shape [1], got [2]"},
    {"x without elements", Fault::zero,
     [](Check& c) {
       c.x = of_size(0);
       c.run();
     },
     nullptr, "there is nothing to compare"},
    {"transpose", Fault::wrong_length,
     [](Check& c) {
       check_adjoint([](const Vector& v) { return v; }, [](const Vector&) { return of_size(2); },
                     c.x, c.options);
     },
     "the gradient of x must have shape [4], got [2]"},
};

const Area checks_area("gradient checks", checks);
TEST(BadInput, CheckGradient) { expect_refusals(checks); }

}  // namespace
}  // namespace eigen_rope::test::check_gradient_tests
