#include "schedule/cost.h"

namespace etch {

int cost_of(Op op) {
  switch (op) {
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Expm1:
    case Op::Log1p:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Tanh:
    case Op::Asinh:
    case Op::Acosh:
    case Op::Atanh:
    case Op::Erf:
    case Op::Pow:
      return kExpensive;
    case Op::Sqrt:
    case Op::Div:
    case Op::Mod:
      return 4;
    case Op::Neg:
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Rint:
    case Op::Cast:
    case Op::Bitcast:
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Max:
    case Op::Min:
    case Op::CmpLt:
    case Op::CmpEq:
    case Op::CmpNe:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Shl:
    case Op::Shr:
    case Op::Where:
    case Op::MulAcc:
    case Op::ReduceSum:
    case Op::ReduceMax:
    case Op::ReduceMin:
    case Op::ReduceProd:
    case Op::Load:
    case Op::Const:
    case Op::Index:
    case Op::Store:
      return 1;
  }
  return 1;
}

}  // namespace etch
