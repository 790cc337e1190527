#include "schedule/rewrite_ast.h"

namespace etch {

const LazyOp* with_sources(LazyOps& ops, const LazyOp* op, const std::vector<const LazyOp*>& src) {
  if (op->op == Op::Load) return ops.load_at(op->mem().index, op->dtype, op->st(), src[0]);
  if (op->op == Op::Store) return ops.store(op->mem().index, src[0], op->st(), {src.begin() + 1, src.end()});
  if (op->op == Op::Cast) return ops.cast(src[0], op->dtype);
  return ops.rebuild(op, src, op->shape);
}

}  // namespace etch
