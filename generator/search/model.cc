#include "search/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "ir/op.h"

namespace etch {
namespace {

constexpr std::size_t kKinds = static_cast<std::size_t>(WorkKind::kCount);
constexpr std::size_t kFewest = 10;  // measurements that say how well the model fits
constexpr std::size_t kParts = 5;    // of them, each of which is told by the others
constexpr int kSweeps = 200;         // of the descent
constexpr double kPull = 1e-3;       // towards equal weights, where measurements say nothing

double& at(KernelWork& work, WorkKind kind) { return work[static_cast<std::size_t>(kind)]; }
double product(const KernelWork& a, const KernelWork& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// Vectors that a value of so many lanes takes, 1 of a number.
double registers_of(const UOp* u, const CodegenOptions& options) {
  if (u->lanes == 1) return 1;
  const double bits = 8.0 * static_cast<double>(bytes_of(u->dtype)) * u->lanes;
  return std::max(1.0, std::ceil(bits / std::max(options.vector_bits, 32)));
}

bool is_integer(const UOp* u) { return u->lanes == 1 && !is_float(u->dtype); }

class Works {
 public:
  Works(const UOpList& uops, const std::vector<double>& turns, const CodegenOptions& options) : options_(options) {
    for (std::size_t i = 0; i < turns.size(); i++) {
      for (const UOp* source : uops.order[i]->src) {
        Use& use = uses_[source];
        use.last = i, use.count++;
      }
    }
    for (std::size_t i = 0; i < turns.size(); i++) {
      at_ = i;
      add(uops.order[i], turns[i]);
    }
  }

  const KernelWork& all() const { return work_; }

 private:
  void add(const UOp* u, double turns) {
    if (u->uop == UOpKind::Load) keep(u);
    const double registers = turns * registers_of(u, options_);
    const bool is_vector = u->lanes > 1;
    switch (u->uop) {
      case UOpKind::Alu:
        at(work_, kind_of(u)) += registers * std::max(info(u->op).cost, 1);
        break;
      case UOpKind::Cast:
      case UOpKind::Bitcast:
        at(work_, is_integer(u) ? WorkKind::Integers : is_vector ? WorkKind::VectorArithmetic : WorkKind::ScalarArithmetic) += registers;
        break;
      case UOpKind::Load:
        at(work_, is_vector ? WorkKind::VectorLoads : WorkKind::ScalarLoads) += registers;
        if (u->src.size() > 2) at(work_, WorkKind::Choices) += registers;
        break;
      case UOpKind::Store:
        at(work_, u->src[2]->lanes > 1 ? WorkKind::VectorStores : WorkKind::ScalarStores) += turns * registers_of(u->src[2], options_);
        break;
      case UOpKind::StoreColumns:
        at(work_, WorkKind::VectorStores) += turns * static_cast<double>(u->src.size() - kBeforeColumns);
        at(work_, WorkKind::Lanes) += turns * u->lanes;
        break;
      case UOpKind::Gep:
        at(work_, WorkKind::Lanes) += turns;
        break;
      case UOpKind::Vectorize:
        at(work_, WorkKind::Lanes) += turns * static_cast<double>(u->src.size());
        break;
      case UOpKind::Dot:
      case UOpKind::Wmma:
        at(work_, WorkKind::Products) += turns;
        break;
      case UOpKind::Prefetch:
        at(work_, WorkKind::Requests) += turns;
        break;
      case UOpKind::DefineGlobal:
      case UOpKind::DefineVar:
      case UOpKind::DefineLocal:
      case UOpKind::DefineAcc:
      case UOpKind::Special:
      case UOpKind::Loop:
      case UOpKind::If:
      case UOpKind::End:
      case UOpKind::Barrier:
      case UOpKind::Const:
      case UOpKind::Phi:
        add_scope(u, turns);
        break;
    }
  }

  static WorkKind kind_of(const UOp* u) {
    if (u->op == Op::Where) return WorkKind::Choices;
    if (info(u->op).cost > 1) return WorkKind::LongSteps;
    if (is_integer(u)) return WorkKind::Integers;
    return u->lanes > 1 ? WorkKind::VectorArithmetic : WorkKind::ScalarArithmetic;
  }

  // Sums, loops and conditions.
  void add_scope(const UOp* u, double turns) {
    if (u->uop == UOpKind::DefineAcc) sums_.back() += registers_of(u, options_);
    if (u->uop == UOpKind::If) at(work_, WorkKind::Choices) += turns;
    if (u->uop == UOpKind::Loop || u->uop == UOpKind::If) {
      sums_.push_back(sums_.back());
      alive_.clear();
      most_alive_ = 0;
    }
    if (u->uop != UOpKind::End) return;
    if (u->src[0]->uop == UOpKind::Loop) at(work_, WorkKind::Turns) += turns;
    const double spilled = sums_.back() + most_alive_ - options_.float_registers;
    at(work_, WorkKind::Spills) += turns * std::max(spilled, 0.0);
    most_alive_ = 0;  // what is around it holds no more than it does
    sums_.pop_back();
  }

  // Vectors, and numbers of floats, that are loaded and not yet used for the last time. A number that is used once can stay in memory.
  void keep(const UOp* u) {
    const auto use = uses_.find(u);
    std::erase_if(alive_, [&](const auto& a) { return a.first <= at_; });
    const bool is_value = u->lanes > 1 || is_float(u->dtype);
    if (!is_value || use == uses_.end() || (u->lanes == 1 && use->second.count < 2)) return;
    alive_.emplace_back(use->second.last, registers_of(u, options_));
    double alive = 0;
    for (const auto& [last, registers] : alive_) alive += registers;
    most_alive_ = std::max(most_alive_, alive);
  }

  struct Use {
    std::size_t last = 0;
    int count = 0;
  };

  const CodegenOptions& options_;
  KernelWork work_{};
  std::vector<double> sums_{0};  // registers that they want, of each scope that is open with those around it
  std::unordered_map<const UOp*, Use> uses_;
  std::size_t at_ = 0;                                 // where it is in the list
  std::vector<std::pair<std::size_t, double>> alive_;  // the last uses of values and the registers that they take
  double most_alive_ = 0;                              // of those of the scope that is open
};

}  // namespace

KernelWork work_of(const UOpList& uops, const std::vector<double>& turns, const CodegenOptions& options) {
  return Works(uops, turns, options).all();
}

void CostModel::add(const KernelWork& work, double cost) {
  samples_.push_back({work, cost});
  weights_.reset();
}

// The weights, none below 0, for which the squares of relative errors are least, by descent along one weight after the other.
KernelWork CostModel::weights_of(const std::vector<const Sample*>& samples) {
  KernelWork weights{};
  weights.fill(1);
  if (samples.empty()) return weights;
  std::vector<KernelWork> rows;
  for (const Sample* s : samples) {
    KernelWork& row = rows.emplace_back(s->work);
    for (double& x : row) x /= s->cost;
  }
  std::vector<double> scales;
  for (const KernelWork& row : rows) scales.push_back(1 / std::max(product(row, weights), 1e-30));
  std::ranges::nth_element(scales, scales.begin() + std::ssize(scales) / 2);
  const double usual = scales[scales.size() / 2];
  weights.fill(usual);
  for (int sweep = 0; sweep < kSweeps; sweep++)
    for (std::size_t k = 0; k < kKinds; k++) {
      double square = 0, missing = 0;
      for (const KernelWork& row : rows) {
        square += row[k] * row[k];
        missing += row[k] * (1 - product(row, weights) + row[k] * weights[k]);
      }
      if (square > 0) weights[k] = std::max(0.0, (missing + kPull * square * usual) / (square * (1 + kPull)));
    }
  return weights;
}

double CostModel::cost(const KernelWork& work) const {
  if (!weights_) {
    std::vector<const Sample*> all;
    for (const Sample& s : samples_) all.push_back(&s);
    weights_ = weights_of(all);
  }
  return product(*weights_, work);
}

std::optional<ModelFit> CostModel::fit() const {
  if (samples_.size() < kFewest) return std::nullopt;
  std::vector<double> told(samples_.size()), errors;
  for (std::size_t part = 0; part < kParts; part++) {
    std::vector<const Sample*> others;
    for (std::size_t i = 0; i < samples_.size(); i++)
      if (i % kParts != part) others.push_back(&samples_[i]);
    const KernelWork weights = weights_of(others);
    for (std::size_t i = part; i < samples_.size(); i += kParts) told[i] = product(weights, samples_[i].work);
  }
  ModelFit fit{.measured = samples_.size()};
  double pairs = 0, right = 0;
  for (std::size_t i = 0; i < samples_.size(); i++) {
    errors.push_back(std::abs(told[i] / samples_[i].cost - 1));
    for (std::size_t j = 0; j < i; j++) {
      const double ratio = samples_[i].cost / samples_[j].cost;
      if (ratio < 1.1 && ratio > 1 / 1.1) continue;
      pairs++;
      right += (told[i] > told[j]) == (ratio > 1) ? 1 : 0;
    }
  }
  std::ranges::sort(errors);
  fit.median_error = errors[errors.size() / 2];
  fit.large_error = errors[errors.size() * 9 / 10];
  fit.in_order = pairs > 0 ? right / pairs : 1;
  return fit;
}

}  // namespace etch
