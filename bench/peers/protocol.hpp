// SPDX-License-Identifier: Apache-2.0
//
// One side of the comparison with peers: a process that times its own rotations, and memcpy of the
// same bytes, when it is asked to.
//
// The process prints who it is as one line of JSON, then answers every line it reads (a Request)
// with one line of JSON: for each contender the seconds of one rotation, several times, contenders
// in turn. measure.py asks all peers by turns, so that they see the same machine. protocol.py is
// the same for peers in Python.
//
// x is [head, heads, tokens], head fastest, as everywhere in this library. Before anything is
// timed, each contender's result is compared with the definition in double. x and y begin on a page
// and a quarter page behind one, in every peer. Not a general benchmark engine.
#pragma once

#include <fmt/core.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace peers {

struct Request {
  std::string scalar;   // "f32", "f16", "bf16"
  std::string pairing;  // "split_half", "interleaved"
  std::size_t head = 0, rotary = 0, heads = 0, tokens = 0;
  std::int64_t first_position = 0;
  double base = 0;
  double seconds = 0;  // how long the answer may take, about

  explicit Request(const nlohmann::json& line)
      : scalar(line.at("scalar")),
        pairing(line.at("pairing")),
        head(line.at("head")),
        rotary(line.at("rotary")),
        heads(line.at("heads")),
        tokens(line.at("tokens")),
        first_position(line.at("first_position")),
        base(line.at("base")),
        seconds(line.at("seconds")) {}

  bool split_half() const { return pairing == "split_half"; }
  std::size_t size() const { return head * heads * tokens; }
};

/// Zeroed pages that belong to nobody else.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Pages() { munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// One contender: `run` rotates `rotations` times.
struct Contender {
  std::string name;
  std::function<void()> run;
  std::size_t rotations = 1;
};

/// The arrays of one request: x random in [-1, 1), y to be written, z a copy of x to be rotated in
/// place.
template <class Scalar>
class Arrays {
 public:
  explicit Arrays(const Request& request)
      : size_(request.size()),
        stride_((size_ * sizeof(Scalar) + 4095) / 4096 * 4096 + 1024),
        pages_((3 * stride_ + 4095) / 4096 * 4096),
        expected_(definition(request)) {
    std::memcpy(z(), x(), bytes());
  }

  Scalar* x() const { return at(0); }
  Scalar* y() const { return at(1); }
  Scalar* z() const { return at(2); }
  std::size_t bytes() const { return size_ * sizeof(Scalar); }

  /// Runs the contender once and throws if what it wrote to `result` is not the rotated x, up to
  /// `limit` as sum of squared errors over sum of squares.
  void require_rotated(const Contender& contender, const Scalar* result, double limit) const {
    std::memset(static_cast<void*>(y()), 0, bytes());
    std::memcpy(static_cast<void*>(z()), x(), bytes());
    contender.run();
    double wrong = 0;
    double all = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const double error = static_cast<double>(static_cast<float>(result[i])) - expected_[i];
      wrong += error * error;
      all += expected_[i] * expected_[i];
    }
    if (!(wrong <= limit * all))
      throw std::runtime_error(
          fmt::format("{} differs from the definition: {}", contender.name, wrong / all));
  }

 private:
  Scalar* at(std::size_t array) const {
    return reinterpret_cast<Scalar*>(pages_.data() + array * stride_);
  }

  /// Fills x; returns its rotation.
  std::vector<double> definition(const Request& request) {
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::size_t i = 0; i < size_; ++i) x()[i] = static_cast<Scalar>(uniform(generator));
    std::vector<double> result(x(), x() + size_);
    for (std::size_t token = 0; token < request.tokens; ++token) {
      for (std::size_t k = 0; k < request.rotary / 2; ++k) {
        const double rate = std::pow(
            request.base, -2.0 * static_cast<double>(k) / static_cast<double>(request.rotary));
        const double angle =
            static_cast<double>(request.first_position + static_cast<std::int64_t>(token)) * rate;
        const double c = std::cos(angle);
        const double s = std::sin(angle);
        const std::size_t first = request.split_half() ? k : 2 * k;
        const std::size_t second = request.split_half() ? k + request.rotary / 2 : 2 * k + 1;
        for (std::size_t head = 0; head < request.heads; ++head) {
          double* row = result.data() + (token * request.heads + head) * request.head;
          const double a = row[first];
          const double b = row[second];
          row[first] = c * a - s * b;
          row[second] = c * b + s * a;
        }
      }
    }
    return result;
  }

  std::size_t size_;
  std::size_t stride_;
  Pages pages_;
  std::vector<double> expected_;
};

/// The error allowed: what rounding to the scalar makes, or what an angle multiplied up in float
/// makes.
inline double error_limit(const std::string& scalar) {
  const double epsilon = scalar == "f32" ? 0x1p-23 : scalar == "f16" ? 0x1p-10 : 0x1p-7;
  return std::max(1e-6, 4 * epsilon * epsilon);
}

/// What a peer can do for one request; destroyed with the arrays it works on.
class Case {
 public:
  virtual ~Case() = default;
  const std::vector<Contender>& contenders() const { return contenders_; }

  std::vector<std::size_t> runs;  // how many runs one measurement takes, of each contender
  double one_round = 0;           // seconds of one measurement of each

 protected:
  std::vector<Contender> contenders_;
};

/// How many threads the peer may use. The process is bound to as many processors.
inline int threads() {
  const char* given = std::getenv("PEERS_THREADS");
  return given == nullptr ? 1 : std::atoi(given);
}

/// Processor time of one thread, so that others on a busy machine do not count; two share the time
/// on the clock.
inline double seconds_now() {
  timespec now{};
  clock_gettime(threads() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds of one rotation, for each contender as often as the time allows (2 to 9 times), all
/// contenders in turn and in random order.
inline nlohmann::json time_all(Case& now, double seconds) {
  const auto block = [](const Contender& contender, std::size_t runs) {
    const double begin = seconds_now();
    for (std::size_t i = 0; i < runs; ++i) contender.run();
    return seconds_now() - begin;
  };
  const std::vector<Contender>& contenders = now.contenders();
  for (std::size_t i = now.runs.size(); i < contenders.size(); ++i) {
    block(contenders[i], 1);
    const double once = std::max(block(contenders[i], 1), 1e-8);
    now.runs.push_back(static_cast<std::size_t>(std::clamp(4e-3 / once, 1.0, 1e4)));
    now.one_round += once * static_cast<double>(now.runs.back());
  }
  static std::mt19937 generator(1);
  std::vector<std::size_t> order(contenders.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  nlohmann::json result;
  for (int left = static_cast<int>(std::clamp(seconds / now.one_round, 2.0, 9.0)); left > 0;
       --left) {
    std::shuffle(order.begin(), order.end(), generator);
    for (const std::size_t i : order) {
      // Unmeasured, so that none finds the cache as the one before it left it.
      block(contenders[i], std::min<std::size_t>(now.runs[i], 3));
      const double rotations = static_cast<double>(now.runs[i] * contenders[i].rotations);
      result[contenders[i].name].push_back(block(contenders[i], now.runs[i]) / rotations);
    }
  }
  return result;
}

/// Answers requests until there are none. `make` returns the case of a request, checked, or throws.
inline int serve(const nlohmann::json& hello,
                 const std::function<std::unique_ptr<Case>(const Request&)>& make) {
  std::cout << hello.dump() << '\n' << std::flush;
  std::string line, current;
  std::unique_ptr<Case> now;
  while (std::getline(std::cin, line)) {
    nlohmann::json answer;
    try {
      const Request request(nlohmann::json::parse(line));
      if (line != current) {
        now.reset();
        now = make(request);
        current = line;
      }
      answer["seconds"] = time_all(*now, request.seconds);
    } catch (const std::exception& error) {
      current.clear();
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump() << '\n' << std::flush;
  }
  return 0;
}

}  // namespace peers
