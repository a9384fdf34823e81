// SPDX-License-Identifier: Apache-2.0
//
// train_lm: a character-level transformer with RoPE in its attention, forward and backward through
// eigen-rope.
//
// Reads a text, trains the model with and without RoPE under the same seed, and leaves in --out:
// one checkpoint per model, losses.csv and .png, positions.csv and .png, sample.txt, report.txt,
// with --learn-frequencies also rates.csv and .png. See --help. Exit codes: 0 done, 1 refused or
// failed (the reason on stderr), 128 + signal interrupted (saved; --resume continues). It is a
// demonstration and a test in earnest, not a training framework.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "baselines.hpp"
#include "checkpoint.hpp"
#include "error.hpp"
#include "evaluate.hpp"
#include "files.hpp"
#include "frequencies.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "report.hpp"
#include "same_run.hpp"
#include "session.hpp"
#include "start_ranks.hpp"
#include "tool/io/interrupt.hpp"
#include "trainer.hpp"

namespace train_lm {
namespace {

constexpr double sample_temperature = 0.8;
constexpr std::size_t prompt_characters = 64;
constexpr int interrupted = 128;

int stopped(const Options& options) {
  fmt::print("stopped; everything is saved. Continue with: train_lm --resume --out {}\n",
             options.out);
  return eigen_rope::tool::interrupt_signal() == 0
             ? 0
             : interrupted + eigen_rope::tool::interrupt_signal();
}

const char* heading(const RunConfig& config) {
  if (!config.rope.rotates()) return "without RoPE";
  return config.model.rates == Rates::learned ? "with RoPE, learned rates" : "with RoPE";
}

bool has_learned_rates(const std::vector<SessionRun>& runs) {
  return runs.front().config.model.rates == Rates::learned;
}

std::string samples(const Options& options, const std::vector<SessionRun>& runs,
                    const Corpus& corpus, const Device& device) {
  const auto decode = [&corpus](const std::vector<int>& codes) {
    std::string text;
    for (const int code : codes) text.push_back(corpus.vocabulary.decode(code));
    return text;
  };
  std::vector<int> prompt = corpus.validation;
  prompt.resize(std::min(prompt.size(), prompt_characters));
  std::string text;
  for (const SessionRun& run : runs) {
    Evaluator evaluator(run.config.model, device);
    const std::vector<int> codes =
        evaluator.sample(run.state.weights, run_frequencies(run.config, run.state.weights), prompt,
                         options.sample, run.config.context, sample_temperature, run.config.seed);
    text +=
        fmt::format("--- {} (prompt, then | and the model's text at temperature {}) ---\n{}|{}\n\n",
                    heading(run.config), sample_temperature, decode(prompt), decode(codes));
  }
  return text;
}

/// False if there is no gnuplot.
bool draw_pictures(const Options& options, const std::vector<SessionRun>& runs,
                   const Baselines& baselines, const std::vector<PositionCurve>& curves) {
  Drawn drawn =
      draw(options.out, "losses", losses_script(runs, baselines.unigram, baselines.bigram));
  if (drawn == Drawn::yes && !curves.empty()) {
    drawn = draw(options.out, "positions", positions_script(curves, runs.front().config.context));
  }
  if (drawn == Drawn::yes && has_learned_rates(runs))
    drawn = draw(options.out, "rates", rates_script(runs.front()));
  if (drawn == Drawn::no_gnuplot)
    fmt::print(
        stderr,
        "train_lm: gnuplot is not installed: no pictures (the CSV files have the numbers)\n");
  if (drawn == Drawn::failed && eigen_rope::tool::interrupt_signal() == 0) {
    throw Error(fmt::format("gnuplot could not draw the pictures in {} (disk full?)", options.out));
  }
  return drawn == Drawn::yes;
}

void close_session(const Options& options, const std::vector<SessionRun>& runs,
                   const Corpus& corpus, const Device& device) {
  const std::filesystem::path out = options.out;
  write_atomically(out / "losses.csv", losses_csv(runs));
  const Baselines baselines{unigram_bits(corpus), bigram_bits(corpus)};
  const std::vector<PositionCurve> curves = measure_positions(runs, corpus, device);
  const std::string sample = samples(options, runs, corpus, device);
  if (eigen_rope::tool::interrupt_signal() != 0) return;
  const std::string text = report(runs, corpus, baselines, curves);
  write_atomically(out / "positions.csv", positions_csv(curves));
  write_atomically(out / "sample.txt", sample);
  write_atomically(out / "report.txt", text);
  if (has_learned_rates(runs)) write_atomically(out / "rates.csv", rates_csv(runs.front()));
  fmt::print("\n{}{}\n", printable(sample), text);
  std::fflush(stdout);
  const bool pictures = draw_pictures(options, runs, baselines, curves);
  fmt::print(
      "Written to {}: report.txt, losses.csv, positions.csv, sample.txt{}, checkpoints{}{}\n",
      options.out, has_learned_rates(runs) ? ", rates.csv" : "",
      pictures ? ", losses.png, positions.png" : "",
      pictures && has_learned_rates(runs) ? ", rates.png" : "");
}

/// What the first rank does for all: it alone reads and writes in --out.
struct FirstRank {
  explicit FirstRank(const Options& given) : options(complete_options(given)) {
    check_sizes(options.run);
    check_ranks(options);
    corpus.emplace(read_text(options.text));
    require_context_fits(*corpus, options.run.context);
    make_folder(options.out);
    lock.emplace(options.out);
    runs = make_runs(options, *corpus);
    set_aside_old_checkpoints(runs);
  }

  void save_start() const {
    for (const SessionRun& one : runs) {
      if (one.state.step == 0) save_checkpoint(one.checkpoint, one.config, one.state);
    }
  }

  Options options;
  std::optional<Corpus> corpus;
  std::optional<FolderLock> lock;
  std::vector<SessionRun> runs;
};

int threads_of_rank(const Options& options, const Ranks& ranks) {
  if (ranks.count() > 1) return 1;
  if (options.threads > 0) return options.threads;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

int run(const Options& given, Ranks& ranks) {
  std::optional<FirstRank> first;
  if (ranks.first()) first.emplace(given);
  const Options& options = first ? first->options : given;
  if (options.save_start) {
    if (first) first->save_start();
    return first ? stopped(options) : 0;
  }
  std::vector<SessionRun> received;
  std::vector<SessionRun>& runs = first ? first->runs : received;
  share_runs(ranks, runs);
  std::optional<Corpus> read;
  if (!first) {
    read.emplace(read_text(runs.front().config.text));
    require_same_text(ranks, *read, runs.front().config);
  }
  const Corpus& corpus = first ? *first->corpus : *read;

  const int threads = threads_of_rank(options, ranks);
  Eigen::ThreadPool pool(threads);
  const Device device(&pool, threads);
  for (SessionRun& one : runs) {
    if (ranks.count() == 1 && one.state.threads != 0 && one.state.threads != threads &&
        one.state.step < one.config.steps) {
      fmt::print(
          "note: this run began with {} threads; with {} the losses may differ in the last "
          "digits\n",
          one.state.threads, threads);
    }
    const TrainingPlan plan{one.checkpoint,
                            options.save_every,
                            options.validate_every,
                            options.stop_at,
                            threads,
                            options.profile ? Profiling::on : Profiling::off};
    if (!train(one.config, one.state, corpus, device, ranks, plan))
      return first ? stopped(options) : 0;
  }
  if (!first) return 0;
  close_session(options, runs, corpus, device);
  return eigen_rope::tool::interrupt_signal() == 0 ? 0 : stopped(options);
}

int main_checked(int argc, char** argv, StartedRanks& started) {
  const ParsedOptions parsed = parse_options(argc, argv);
  eigen_rope::tool::catch_interrupts({SIGINT, SIGTERM});
  int exit_code = parsed.exit_code;
  if (parsed.options) {
    require_same_program(started.all(), parsed.options->text_of_all);
    exit_code =
        run(*parsed.options, started.arrange(parsed.options->ranks, parsed.options->rank_timeout));
  } else if (exit_code != 0 && started.all().count() > 1) {
    started.fail(parsed.message);
  } else if (started.all().first()) {
    fmt::print(exit_code == 0 ? stdout : stderr, "{}", parsed.message);
  }
  if (!std::cout.flush() || std::fflush(stdout) != 0)
    throw Error("cannot write to the standard output");
  started.leave();
  return exit_code;
}

}  // namespace
}  // namespace train_lm

int main(int argc, char** argv) {
  const std::unique_ptr<train_lm::StartedRanks> started = train_lm::start_ranks(argc, argv);
  try {
    return train_lm::main_checked(argc, argv, *started);
  } catch (const std::bad_alloc&) {
    started->fail("not enough memory for a model of this size");
  } catch (const std::exception& e) {
    started->fail(train_lm::one_line(e.what()));
  }
  return 1;
}
