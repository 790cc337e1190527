/* etch runtime: determinants of double; see etch_det.h. */
#include "etch_det.h"

#define REAL double
#define NAME(function) function##_double
#include "etch_det_of.h"
