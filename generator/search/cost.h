// What a kernel or a program costs in a target's emulator or on this machine, and what more of one figure is worth in another.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace etch {

/// Of all calls of a task's kernels in a run of the program, or of the run itself. What was timed has no instructions.
struct Cost {
  std::int64_t instructions = 0, cycles = 0, code_bytes = 0, stack_bytes = 0;
  bool operator==(const Cost&) const = default;
};

/// For nlohmann::json: the four figures as an array.
void to_json(nlohmann::ordered_json& json, const Cost& cost);
void from_json(const nlohmann::ordered_json& json, Cost& cost);

inline bool is_timed(const Cost& cost) { return cost.instructions == 0 && cost.cycles > 0; }
/// A score has to be less than `cost`'s times this to be a gain: counts are exact, and `counted` says from where on they matter; times of
/// small programs spread by half a percent, and more where other things run beside.
inline double gain_over(const Cost& cost, double counted) { return is_timed(cost) ? 0.97 : counted; }
/// The factor by which the cost of a program may grow and still count as unchanged.
inline double spread_of(const Cost& cost) { return is_timed(cost) ? 1.005 : 1; }

/// Instructions and cycles, as one figure.
inline double time_of(const Cost& cost) { return static_cast<double>(cost.instructions + cost.cycles); }
/// The less, the better. `byte_price`: the time that a byte of flash has to save.
inline double score_of(const Cost& cost, double byte_price) { return time_of(cost) + byte_price * static_cast<double>(cost.code_bytes); }

/// Bytes of flash that are worth as much as all the time of a run, and where flash counts.
inline constexpr double kFlashWorth = 0x1p18, kScarceFlashWorth = 0x1p15;
/// Bytes of stack that a program may always take.
inline constexpr std::int64_t kProgramStack = 512;

}  // namespace etch
