/* etch runtime: determinants of float; see etch_det.h. */
#include "etch_det.h"

#define REAL float
#define NAME(function) function##_float
#include "etch_det_of.h"
