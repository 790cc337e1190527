#include "search/beam.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/fnv.h"
#include "program/generate.h"
#include "search/candidates.h"
#include "search/judge.h"
#include "search/model.h"
#include "search/steps.h"

namespace etch {
namespace {

constexpr std::size_t kMostSteps = 3000;   // UOps of a kernel: larger ones take long to compile and are not fast
constexpr std::size_t kFirstProblems = 5;  // that are told

struct Candidate {
  Variant variant;
  std::optional<KernelWork> work;  // of all its kernels, for the model
};

struct Kept {
  Variant variant;
  Cost cost;
  std::optional<KernelWork> work;
};

class Beam {
 public:
  Beam(const Task& task, const MeasureVariants& measure, const SearchOptions& options)
      : task_(task), measure_(measure), options_(options) {}

  SearchResult run() {
    const Subject& first = task_.subjects[0];
    result_.before = choose_opts(first.ast, first.arguments, first.options).applied();
    result_.best = result_.before;
    measure({result_.before}, false);
    std::vector<std::vector<Opt>> next{{}};
    next.insert(next.end(), task_.known.begin(), task_.known.end());
    int idle = 0;  // rounds without gain
    for (int round = 0; round <= options_.most_rounds && idle < std::min(kPatience, options_.width); round++) {
      const double best = kept_.empty() ? 0 : score(kept_[0].cost);
      measure(next, options_.by_model && round > 0);  // what is known is measured whatever a model says
      if (kept_.empty()) return result_;              // not even the heuristics' kernel runs
      idle = round > 0 && score(kept_[0].cost) > best * gain() ? idle + 1 : 0;
      next.clear();
      for (const Kept& k : kept_)
        for (std::vector<Opt>& opts : neighbours(first.ast, first.options, k.variant.opts)) next.push_back(std::move(opts));
    }
    choose();
    return result_;
  }

 private:
  static constexpr double kGain = 0.999;  // more is no gain
  static constexpr int kPatience = 2;     // two changes may pay together where neither pays alone

  double score(const Cost& cost) const { return score_of(cost, options_.byte_price); }
  double gain() const { return base_ ? gain_over(*base_, kGain) : kGain; }

  void measure(const std::vector<std::vector<Opt>>& lists, bool by_model) {
    std::vector<Candidate> candidates;
    for (const std::vector<Opt>& opts : lists)
      if (tried_.insert(to_text(opts)).second) make(opts, candidates);
    if (by_model)
      measure_some(std::move(candidates));
    else
      measure_all(candidates);
    if (!base_) kept_.clear();
    for (const Kept& k : kept_)
      if (is_better(k.cost, best_)) best_ = k.cost, result_.best = k.variant.opts;
    std::ranges::sort(kept_, {}, [&](const Kept& k) { return std::pair(score(k.cost), to_text(k.variant.opts)); });
    if (kept_.size() > static_cast<std::size_t>(options_.width)) kept_.resize(static_cast<std::size_t>(options_.width));
    if (options_.step && base_) options_.step(result_.measured, best_ ? std::min(1.0, score(*best_) / score(*base_)) : 1.0);
  }

  // Those that the model takes for the best, at first with some of the others to fit it; then those that it takes for as good as the best
  // that is known, within its error, until there are none.
  void measure_some(std::vector<Candidate> candidates) {
    constexpr std::size_t kBatch = 12, kOthers = 6;
    for (bool is_first = true; !candidates.empty(); is_first = false) {
      const std::optional<ModelFit> fit = model_.fit();
      std::ranges::stable_sort(candidates, {}, [&](const Candidate& c) { return told(c.variant, c.work); });
      if (fit && !is_first) {
        const double most = told_of_best() * (1 + fit->median_error);
        const auto is_worse = [&](const Candidate& c) { return told(c.variant, c.work) > most; };
        result_.left_to_model += static_cast<int>(std::erase_if(candidates, is_worse));
        if (candidates.empty()) break;
      }
      std::vector<Candidate> batch;
      const std::size_t best = std::min(candidates.size(), kBatch);
      std::ranges::move(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(best), std::back_inserter(batch));
      candidates.erase(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(best));
      const std::size_t others = fit ? 0 : std::min(candidates.size(), kOthers);
      for (std::size_t i = 0; i < others; i++) {  // spread evenly: two programs of half the batch take as long
        const auto spread = candidates.begin() + static_cast<std::ptrdiff_t>(i * candidates.size() / kOthers);
        batch.insert(batch.begin() + static_cast<std::ptrdiff_t>(std::min(3 * i, batch.size())), std::move(*spread));
        candidates.erase(spread);
      }
      measure_all(batch);
    }
  }

  static double steps_in(const Variant& variant) {
    double steps = 0;
    for (const ProgramKernel& kernel : variant.kernels) steps += static_cast<double>(kernel.code.order.size());
    return steps;
  }

  // The score by the model, with as many bytes of code for each step of the text as those measured have.
  double told(const Variant& variant, const std::optional<KernelWork>& work) const {
    if (!work) return 0;  // is measured
    const double bytes_of_step = measured_steps_ > 0 ? measured_bytes_ / measured_steps_ : 0;
    return model_.cost(*work) + options_.byte_price * bytes_of_step * steps_in(variant);
  }

  // What it says of the best that was measured: it is wrong by about the same of kernels that are alike.
  double told_of_best() const {
    const auto best = std::ranges::min_element(kept_, {}, [&](const Kept& k) { return score(k.cost); });
    return best == kept_.end() || !best->work ? std::numeric_limits<double>::infinity() : told(best->variant, best->work);
  }

  void measure_all(std::vector<Candidate>& candidates) {
    std::vector<Variant> variants;
    for (Candidate& c : candidates) variants.push_back(std::move(c.variant));
    const std::vector<Measured> measured = measure_(task_, variants);
    check(measured.size() == variants.size(), "each variant is measured");
    for (std::size_t i = 0; i < variants.size(); i++) take(variants[i], candidates[i].work, measured[i]);
  }

  void take(Variant& variant, const std::optional<KernelWork>& work, const Measured& measured) {
    const bool is_first = variant.opts == result_.before;
    if (is_first) judge_.emplace(task_, measured.outputs);
    const Verdict verdict = verdict_of(measured);
    if (verdict == Verdict::OtherFloats) {
      result_.other_floats++;
      return;
    }
    const std::string problem = verdict == Verdict::OtherIntegers ? "computes something else" : measured.problem;
    if (!problem.empty()) tell(to_text(variant.opts) + ": " + problem);
    if (!measured.cost || verdict != Verdict::Same) return;
    result_.measured++;
    if (is_first) result_.cost_before = result_.cost = *measured.cost;
    if (is_first) base_ = measured.cost;
    if (work && time_of(*measured.cost) > 0) model_.add(*work, time_of(*measured.cost));
    measured_bytes_ += static_cast<double>(measured.cost->code_bytes);
    measured_steps_ += steps_in(variant);
    if (is_first || measured.cost->stack_bytes <= most_stack()) kept_.push_back({std::move(variant), *measured.cost, work});
  }

  // Without the heuristics' outputs, as where their kernel can't be made, none is the same.
  Verdict verdict_of(const Measured& measured) const {
    if (!measured.cost) return Verdict::Same;  // its problem is told
    if (!judge_) return measured.outputs.empty() ? Verdict::Same : Verdict::OtherIntegers;
    return judge_->verdict(measured.outputs);
  }

  // The kernels with these steps, unless they are as others that were made before, or an error says that they can't be made.
  void make(const std::vector<Opt>& opts, std::vector<Candidate>& candidates) {
    Variant variant{opts, {}};
    std::string text;
    const std::string name = fmt::format("t{:016x}", fnv1a_64(to_text(opts)));  // the same in every search, as a cache wants it
    try {
      for (std::size_t s = 0; s < task_.subjects.size(); s++) {
        const Subject& subject = task_.subjects[s];
        CodegenOptions options = subject.options;
        options.opts = opts;
        KernelSignature signature{fmt::format("{}_{}", name, s), subject.arguments, {}};
        variant.kernels.push_back(generate_kernel(subject.ast, std::move(signature), *options_.language, options));
        if (variant.kernels.back().code.order.size() > kMostSteps) return;
        text += variant.kernels.back().uops;
      }
    } catch (const std::invalid_argument&) {
      return;  // legal for the first subject alone
    } catch (const std::exception& error) {
      tell(to_text(opts) + ": " + error.what());
      return;
    }
    const bool is_new = texts_.insert(std::move(text)).second;
    if (!is_new || runs_further_ahead(variant)) return;
    const std::vector<std::vector<double>> turns = turns_of_all(variant);
    if (is_hopeless(variant, turns)) return;
    const std::optional<KernelWork> work = options_.by_model ? work_of_all(variant, turns) : std::nullopt;
    candidates.push_back({std::move(variant), work});
  }

  // How often the steps of each kernel run; nothing if that of one is not known.
  static std::vector<std::vector<double>> turns_of_all(const Variant& variant) {
    std::vector<std::vector<double>> all;
    for (const ProgramKernel& kernel : variant.kernels) {
      std::optional<std::vector<double>> turns = turns_of(kernel.code);
      if (!turns) return {};
      all.push_back(std::move(*turns));
    }
    return all;
  }

  std::optional<KernelWork> work_of_all(const Variant& variant, const std::vector<std::vector<double>>& turns) const {
    if (turns.empty()) return std::nullopt;
    KernelWork all{};
    for (std::size_t s = 0; s < turns.size(); s++) {
      const KernelWork one = work_of(variant.kernels[s].code, turns[s], task_.subjects[s].options);
      for (std::size_t k = 0; k < all.size(); k++) all[k] += task_.subjects[s].calls * one[k];
    }
    return all;
  }

  // Far more steps than the heuristics' kernel takes: nothing that a compiler does makes up for that.
  bool is_hopeless(const Variant& variant, const std::vector<std::vector<double>>& turns) {
    constexpr double kMost = 1.3;
    if (turns.empty()) return false;
    double steps = 0;
    for (std::size_t s = 0; s < turns.size(); s++) steps += task_.subjects[s].calls * steps_executed(variant.kernels[s].code, turns[s]);
    if (variant.opts == result_.before) steps_before_ = steps;
    return steps_before_ && steps > kMost * *steps_before_;
  }

  // Whether an output could lie less far over an input than with the heuristics' steps.
  bool runs_further_ahead(const Variant& variant) {
    if (variant.opts == result_.before) {
      for (const ProgramKernel& k : variant.kernels) distances_.push_back(k.distances);
      return false;
    }
    for (std::size_t s = 0; s < std::min(distances_.size(), variant.kernels.size()); s++) {
      const std::vector<ArgumentDistance>&before = distances_[s], &now = variant.kernels[s].distances;
      if (now.size() != before.size()) return true;
      for (std::size_t d = 0; d < now.size(); d++)
        if (now[d].below > before[d].below || now[d].above > before[d].above) return true;
    }
    return false;
  }

  std::int64_t most_stack() const { return std::max(options_.stack_bytes, base_ ? base_->stack_bytes : 0); }

  // Both figures are at most the heuristics', and together they are less than the best so far.
  bool is_better(const Cost& cost, const std::optional<Cost>& best) const {
    if (cost.instructions > base_->instructions || cost.cycles > base_->cycles) return false;
    return !best || score(cost) < score(*best) * kGain;
  }

  void choose() {
    if (options_.by_model) result_.fit = model_.fit();
    if (!best_ || score(*best_) >= score(*base_) * gain())
      result_.best = result_.before;
    else
      result_.cost = *best_;
  }

  void tell(std::string problem) {
    if (result_.problems.size() < kFirstProblems) result_.problems.push_back(std::move(problem));
  }

  const Task& task_;
  const MeasureVariants& measure_;
  const SearchOptions& options_;
  SearchResult result_;
  std::optional<Judge> judge_;
  CostModel model_;
  double measured_bytes_ = 0, measured_steps_ = 0;  // of code, and UOps in their text, of all that was measured
  std::set<std::string> tried_, texts_;
  std::vector<std::vector<ArgumentDistance>> distances_;
  std::vector<Kept> kept_;
  std::optional<Cost> base_, best_;
  std::optional<double> steps_before_;
};

}  // namespace

SearchResult search_opts(const Task& task, const MeasureVariants& measure, const SearchOptions& options) {
  return Beam(task, measure, options).run();
}

std::optional<Cost> cost_of_heuristics(const Task& task, const MeasureVariants& measure, const Language& language) {
  SearchOptions options{.language = &language};
  options.most_rounds = -1;
  const SearchResult result = Beam(task, measure, options).run();
  return result.measured > 0 ? std::optional(result.cost_before) : std::nullopt;
}

}  // namespace etch
