/* Compiled to LLVM IR when etch is built: the functions of etch_math.h for kernels in IR, each with a definition of its own. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define static extern
#include "etch_math.h"
