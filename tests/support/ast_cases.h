// The kernels of tests/data/conformance/ast_cases.json as LazyOps, for tests.
#pragma once

#include <cmath>

#include "conformance/ast.h"

namespace etch::test {

using etch::AstCase;
using etch::read_ast_cases;

}  // namespace etch::test
