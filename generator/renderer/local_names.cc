#include "renderer/local_names.h"

#include <algorithm>

namespace etch {
namespace {

bool is_const(const UOp* u) { return u->uop == UOpKind::Const; }

bool is_sum(const UOp* u) { return u->uop == UOpKind::Alu && u->exact && (u->op == Op::Add || u->op == Op::Sub); }

std::string joined(const std::vector<std::string>& letters) {
  std::string text;
  for (const std::string& l : letters) text += l;
  return text;
}

// "c" of "c_tile"
std::string letters_of(const std::string& axis) { return axis.substr(0, axis.find('_')); }

}  // namespace

LocalNames::LocalNames(const UOpList& uops, const KernelSignature& signature) : signature_(signature) {
  find_letters(uops);
  find_subscripts(uops);
}

void LocalNames::find_letters(const UOpList& uops) {
  for (const UOp* u : uops.order) {
    Facts& facts = facts_[u];
    if (u->exact && is_named(u)) {  // a variable of its own
      facts.letters = {letters_of(u->name)};
      facts.is_index = true;
      continue;
    }
    const bool is_variable = u->uop == UOpKind::Loop || u->uop == UOpKind::Special;
    if (is_variable || u->uop == UOpKind::DefineVar) {
      facts.letters.push_back(is_variable ? letters_of(u->hint) : u->name);
      facts.is_index = true;
      continue;
    }
    const bool is_sharp = u->exact || u->uop == UOpKind::Cast || u->dtype == DType::Bool;
    facts.is_index = is_sharp || is_const(u);
    for (const UOp* s : u->src) {
      const Facts& below = facts_[s];
      facts.is_index = facts.is_index && below.is_index;
      for (const std::string& l : below.letters)
        if (std::ranges::find(facts.letters, l) == facts.letters.end()) facts.letters.push_back(l);
    }
    // A position that the kernel computes from data is a variable of its own.
    if (u->exact && !u->hint.empty() && !facts.is_index) {
      facts.letters = {u->hint};
      facts.is_index = true;
    }
  }
}

void LocalNames::find_subscripts(const UOpList& uops) {
  for (auto it = uops.order.rbegin(); it != uops.order.rend(); it++) {
    const UOp* u = *it;
    if (u->uop == UOpKind::Load || u->uop == UOpKind::Store || u->uop == UOpKind::StoreColumns || u->uop == UOpKind::Prefetch) {
      const std::string buffer = buffer_name(u->src[0]);
      const UOp* at = u->src[1];
      facts_[at].subscripts.insert(buffer);
      const auto is_near = [](const UOp* s) { return is_const(s) || s->uop == UOpKind::Loop; };
      while (is_sum(at) && is_near(at->src[1])) facts_[at = at->src[0]].subscripts.insert(buffer);
    }
    if (u->uop != UOpKind::Alu || !u->exact) continue;
    const Facts mine = facts_[u];
    for (const UOp* s : u->src)
      for (const auto* buffers : {&mine.subscripts, &mine.part_of}) facts_[s].part_of.insert(buffers->begin(), buffers->end());
  }
}

std::string LocalNames::buffer_name(const UOp* buffer) const {
  return buffer->uop == UOpKind::DefineGlobal ? signature_.arguments[static_cast<std::size_t>(buffer->number)].name : buffer->name;
}

std::string LocalNames::index_name(const UOp* u) const {
  const Facts& facts = facts_.at(u);
  const std::string letters = joined(facts.letters);
  if (facts.subscripts.size() == 1) return *facts.subscripts.begin() + "_at";
  if (!facts.subscripts.empty() || letters.empty()) return "at";
  if (facts.part_of.size() == 1) return *facts.part_of.begin() + "_" + letters;
  if (!facts.part_of.empty()) return "at_" + letters;
  const bool is_multiple = u->op == Op::Mul && facts.letters.size() == 1 && is_const(u->src[1]) && u->src[1]->value->as_int() > 1;
  return is_multiple ? letters + "_times_" + std::to_string(u->src[1]->value->as_int()) : letters;
}

std::string LocalNames::mask_name(const UOp* u) const {
  const Facts& facts = facts_.at(u);
  const std::string letters = joined(facts.letters);
  if (u->uop != UOpKind::Alu || !facts.is_index || letters.empty())
    return (u->uop == UOpKind::Alu && u->op != Op::And && u->op != Op::Or ? std::string(info(u->op).word) : "mask") + u->hint;
  const UOp* compared = u->src[is_const(u->src[0]) ? 1 : 0];
  const std::string subject = compared->uop == UOpKind::Loop ? compared->name : letters;
  if (u->op == Op::CmpLt && is_const(u->src[0]) && u->src[0]->value->as_int() >= 0)
    return subject + "_above_" + std::to_string(u->src[0]->value->as_int());
  if (u->op == Op::CmpLt && is_const(u->src[1]) && u->src[1]->value->as_int() >= 0)
    return subject + "_below_" + std::to_string(u->src[1]->value->as_int());
  return letters + "_inside";
}

std::string LocalNames::of(const UOp* u) const {
  const Facts& facts = facts_.at(u);
  if (is_named(u)) return u->name;
  if (u->uop == UOpKind::Special) return u->hint;
  if (u->uop == UOpKind::DefineAcc) return u->name + u->hint;
  if (u->uop == UOpKind::DefineLocal) return u->name;
  if (u->uop == UOpKind::Load) {
    const std::string letters = joined(facts.letters);
    return buffer_name(u->src[0]) + (!u->hint.empty() ? u->hint : "_" + (letters.empty() ? "value" : letters));
  }
  if (u->dtype == DType::Bool) return mask_name(u);
  if (u->exact && !u->hint.empty()) return u->hint;
  if (u->exact && facts.is_index) return index_name(u);
  if (u->uop == UOpKind::Alu && u->op == Op::Where && u->src[0]->op == Op::CmpLt && u->src[0]->src[0] == u->src[2] &&
      u->src[0]->src[1] == u->src[1])
    return "larger" + u->hint;
  if (u->uop == UOpKind::Alu) return std::string(info(u->op).word) + u->hint;
  return (u->uop == UOpKind::Vectorize ? "vector" : "value") + u->hint;
}

}  // namespace etch
