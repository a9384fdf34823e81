// SPDX-License-Identifier: Apache-2.0
//
// Every scaling of the field is one Frequencies value: how it is made, with the parameters of a
// model that is published with it, or of Hugging Face's tests where they print the rates. The table
// has the rates of the first, the middle and the last pair, in radians per token, and m. xPos, in
// the last line, is no such value: its magnitudes differ from token to token.
#include <fmt/core.h>

#include <cmath>
#include <eigen_rope/choices/frequencies.hpp>
#include <eigen_rope/tables/xpos.hpp>
#include <numeric>

namespace er = eigen_rope;

namespace {

double in_double(er::DoubleDouble value) { return static_cast<double>(value); }

void print_row(const char* name, const char* source, const er::Frequencies& f) {
  const auto rate = [&](er::Index pair) {
    return in_double(f.rates()[static_cast<std::size_t>(pair)]);
  };
  fmt::print("{:<24}{:<24}{:>12.4e}{:>12.4e}{:>12.4e}{:>9.4f}\n", name, source, rate(0),
             rate(f.pairs() / 2), rate(f.pairs() - 1), in_double(f.attention_factor()));
}

bool near(double value, double expected) {
  return std::abs(value - expected) <= 1e-4 * std::abs(expected);
}

}  // namespace

int main() {
  using er::Frequencies;
  fmt::print("{:<24}{:<24}{:>12}{:>12}{:>12}{:>9}\n", "", "", "first", "middle", "last", "m");

  print_row("default", "Llama 2", Frequencies::powers({128, 10000.0}));

  print_row("linear", "Gemma 3, global layers", Frequencies({256, 1e6}, er::Linear{8.0}));

  // Rates of 512 dims, of which a quarter turn.
  const Frequencies gemma4({512, 1e6}, er::Proportional{1.0, er::proportional_pairs(512, 0.25)});
  print_row("proportional", "Gemma 4, global layers", gemma4);

  // The base grows with the sequence; er::DynamicNtk keeps count of it.
  const Frequencies dynamic({128, 10000.0}, er::DynamicNtkScaling{10.0, 2048}, 16384);
  print_row("dynamic NTK", "Hugging Face's tests", dynamic);

  print_row("NTK", "vLLM, factor 8", Frequencies({128, 10000.0}, er::NtkScaling{8.0}));
  print_row("NTK, mixed", "vLLM, mixed_b 0.625",
            Frequencies({128, 10000.0}, er::NtkScaling{8.0, 0.625}));

  er::Yarn yarn;
  yarn.factor = 4;
  yarn.original_context = 32768;
  print_row("YaRN", "Qwen 2.5", Frequencies({128, 1e6}, yarn));
  yarn.factor = 32;
  yarn.original_context = 4096;
  yarn.ends = er::RampEnds::exact;  // truncate = false
  const Frequencies gpt_oss({64, 150000.0}, yarn);
  print_row("YaRN, exact ends", "gpt-oss", gpt_oss);
  yarn.factor = 40;
  yarn.ends = er::RampEnds::rounded;
  yarn.magnitude = er::YarnMagnitude::deepseek;
  yarn.mscale = 1;
  yarn.mscale_all_dim = 1;
  const Frequencies deepseek({64, 10000.0}, yarn);
  print_row("YaRN, ratio of mscales", "DeepSeek-V3", deepseek);
  // DeepSeek's logits have a factor besides, which is no part of the rotation.
  const double softmax = er::yarn_softmax_multiplier(yarn.factor, yarn.mscale_all_dim);

  // ggml's YaRN divides by linear_scale, and its m comes from it.
  er::Powers stretched{128, 10000.0, 0.25};
  print_row("YaRN, ggml", "ggml, factor 4", Frequencies(stretched, er::GgmlYarn{1.0, 4096}));

  const Frequencies llama31({128, 500000.0}, er::Llama3{8.0, 1.0, 4.0, 8192});
  print_row("llama3", "Llama 3.1", llama31);

  // One divisor per pair, from one of two lists; Phi-3's hold 48 measured numbers.
  er::LongRope longrope;
  longrope.original_context = 2048;
  longrope.factor = 10;
  longrope.short_factor.assign(64, 2);
  longrope.long_factor.resize(64);
  std::iota(longrope.long_factor.begin(), longrope.long_factor.end(), 1);
  print_row("LongRoPE, short", "Hugging Face's tests", Frequencies({128, 10000.0}, longrope, 2048));
  const Frequencies longer({128, 10000.0}, longrope, 2049);
  print_row("LongRoPE, long", "Hugging Face's tests", longer);

  er::Powers divided{128, 500000.0};
  divided.factors.assign(64, 8.0);
  print_row("frequency factors", "GGUF's rope_freqs", Frequencies::powers(divided));

  print_row("explicit", "a list of one's own", Frequencies::explicit_rates({1.0, 0.1, 0.01}));

  // xPos is the powers, and magnitudes in the tables of q and k.
  const er::Xpos xpos{512};
  const Frequencies plain = Frequencies::powers({128, 10000.0});
  const er::Positions there = er::Positions::ids({1024});
  const auto of_q = er::xpos_cache<double>(plain, there, xpos, er::XposSide::query);
  const auto of_k = er::xpos_cache<double>(plain, there, xpos, er::XposSide::key);
  const auto size = [](const er::Cache<double>& table, er::Index pair) {
    return std::hypot(table.cos()[pair], table.sin()[pair]);
  };
  fmt::print(
      "\nxPos, scale base 512, at position 1024: q times {:.4f}, {:.4f}, {:.4f} in the first, "
      "middle and last pair, k times {:.4f}, ...\n",
      size(of_q, 0), size(of_q, 32), size(of_q, 63), size(of_k, 0));

  // Published numbers.
  const bool rates = near(in_double(dynamic.rates().back()), 1.6265e-06) &&
                     near(in_double(llama31.rates()[28]), 0.00321144599475) &&
                     near(in_double(gpt_oss.rates()[12]), 0.00679495948973) &&
                     near(in_double(deepseek.rates()[31]), 3.33380358041e-6) &&
                     in_double(gemma4.rates()[64]) == 0;
  const bool magnitudes =
      near(in_double(gpt_oss.attention_factor()), 1.3465735902799727) &&
      in_double(deepseek.attention_factor()) == 1 && near(softmax, 1.8738542070926266) &&
      near(in_double(longer.attention_factor()), 1.141049281657711) &&
      near(size(of_q, 0), std::pow(0.4 / 1.4, 2)) && near(size(of_q, 0) * size(of_k, 0), 1);
  return rates && magnitudes ? 0 : 1;
}
