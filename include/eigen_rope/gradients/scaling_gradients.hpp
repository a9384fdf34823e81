// SPDX-License-Identifier: Apache-2.0
//
// From the gradient of a loss L with respect to the rates to its gradient with respect to the parameters they were made from.
//
//   dL/dp        = sum over pairs k of dL/drate_k drate_k/dp + dL/dm dm/dp        p: base, linear scale, ext factor, beta fast, ...
//   dL/dfactor_k = dL/drate_k drate_k/dfactor_k
//
// The derivatives are those of the formulas in rates.hpp and scalings.hpp, run with numbers that carry derivatives: no formula is written
// down twice. For powers they are
//
//   drate_k/dbase = -2 e_k rate_k / (d base)    drate_k/dlinear_scale = rate_k / linear_scale    drate_k/dfactor_k = -rate_k / factor_k
//
// Kinks: where a pair or an end of YaRN's ramp meets its clamp, the derivative is that of the clamped side (0); rounded ends of the ramp
// (RampEnds::rounded) do not move, so the betas have gradient 0; on an edge of Llama 3.1's band it is that of the band's inside. At
// ext_factor 0, where m jumps, m's dependence on it and on the linear scale is left out.
//
// Error of every result: half an ulp + 2^-75 of the sum of the magnitudes of all products the chain rule adds up for it (2^-90 but for
// exact ends and llama3), where derivatives are in double's normal range and llama3's band is at least 2^-20 of high_freq_factor wide.
// Gradients that are not finite give results that are not. All are O(pairs), 3 microseconds a pair, allocate, and are safe to call from
// several threads. Not here: dL/drate_k itself.
#pragma once

#include <vector>

#include "eigen_rope/choices/rates.hpp"
#include "eigen_rope/choices/scalings.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// dL/drate_k, one per pair, and dL/dm.
struct RateGradients {
  std::vector<double> rates;    ///< One per pair.
  double attention_factor = 0;  ///< With respect to m.
};

/// The gradient with respect to each member of Powers that has one.
struct PowersGradients {
  double base = 0;              ///< With respect to Powers::base.
  double linear_scale = 0;      ///< With respect to Powers::linear_scale.
  double attention_factor = 0;  ///< With respect to Powers::attention_factor.
  /// One per pair, also where Powers has no factors: they count as 1 then.
  std::vector<double> factors;
};

/// With respect to the parameters of Yarn, member for member.
struct GgmlYarnGradients {
  PowersGradients powers;  ///< With respect to those of Powers.
  double ext_factor = 0;   ///< With respect to Yarn::ext_factor.
  double beta_fast = 0;    ///< With respect to Yarn::beta_fast.
  double beta_slow = 0;    ///< With respect to Yarn::beta_slow.
};

/// With respect to the parameters of Llama3, member for member.
struct Llama3Gradients {
  PowersGradients powers;       ///< With respect to those of Powers.
  double factor = 0;            ///< With respect to Llama3::factor.
  double low_freq_factor = 0;   ///< With respect to Llama3::low_freq_factor.
  double high_freq_factor = 0;  ///< With respect to Llama3::high_freq_factor.
};

/// Of proportional_rates, linear_rates and dynamic_ntk_rates.
struct FactorGradients {
  PowersGradients powers;  ///< With respect to those of Powers.
  double factor = 0;       ///< With respect to the factor.
};

/// With respect to the parameters of NtkScaling, member for member.
struct NtkGradients {
  PowersGradients powers;  ///< With respect to those of Powers.
  double factor = 0;       ///< With respect to NtkScaling::factor.
  double mixed_b = 0;      ///< With respect to NtkScaling::mixed_b.
};

/// With respect to the parameters of Yarn, member for member.
struct YarnGradients {
  PowersGradients powers;  ///< With respect to those of Powers.
  double factor = 0;       ///< With respect to Yarn::factor.
  double beta_fast = 0;    ///< With respect to Yarn::beta_fast.
  double beta_slow = 0;    ///< With respect to Yarn::beta_slow.
  /// Also where there is no mscale; it counts as 1 with deepseek, and 0 is its gradient with hugging_face.
  double mscale = 0;
  double mscale_all_dim = 0;  ///< With respect to Yarn::mscale_all_dim.
  double extrapolation = 0;   ///< With respect to Yarn::extrapolation.
};

/// With respect to the parameters of LongRope.
struct LongRopeGradients {
  /// powers.factors are those of the list in use.
  PowersGradients powers;
  /// Through the magnitude.
  double factor = 0;
};

/// Through power_rates(powers). Throws eigen_rope::Error as Frequencies::powers, and if the gradients are not one per pair.
EIGEN_ROPE_API PowersGradients powers_gradients(const Powers& powers, const RateGradients& gradients);

/// Through yarn_rates(powers, yarn). Throws eigen_rope::Error as Frequencies::yarn, and if the gradients are not one per pair.
EIGEN_ROPE_API GgmlYarnGradients ggml_yarn_gradients(const Powers& powers, const GgmlYarn& yarn, const RateGradients& gradients);

/// Through llama3_rates(powers, llama3). Throws eigen_rope::Error as Frequencies::llama3, and if the gradients are not one per pair.
EIGEN_ROPE_API Llama3Gradients llama3_gradients(const Powers& powers, const Llama3& llama3, const RateGradients& gradients);

/// Through the function of scalings.hpp each is named after. They throw eigen_rope::Error as its factory in Frequencies, and if the
/// gradients are not one per pair. Kinks: as stated there.
EIGEN_ROPE_API FactorGradients proportional_gradients(const Powers& powers, const Proportional& proportional,
                                                      const RateGradients& gradients);
/// From the gradients of linear_rates.
EIGEN_ROPE_API FactorGradients linear_gradients(const Powers& powers, double factor, const RateGradients& gradients);
/// From the gradients of dynamic_ntk_rates.
EIGEN_ROPE_API FactorGradients dynamic_ntk_gradients(const Powers& powers, const DynamicNtkScaling& ntk, Index length,
                                                     const RateGradients& gradients);
/// From the gradients of ntk_rates.
EIGEN_ROPE_API NtkGradients ntk_gradients(const Powers& powers, const NtkScaling& ntk, const RateGradients& gradients);
/// From the gradients of yarn_rates.
EIGEN_ROPE_API YarnGradients yarn_gradients(const Powers& powers, const Yarn& yarn, const RateGradients& gradients);
/// From the gradients of longrope_rates.
EIGEN_ROPE_API LongRopeGradients longrope_gradients(const Powers& powers, const LongRope& longrope, Index length,
                                                    const RateGradients& gradients);

}  // namespace eigen_rope
