/* etch runtime: determinants, for models that have them. C99, no heap, no state, no recursion; needs neither the C library nor the
 * rest of the runtime. */
#ifndef ETCH_DET_H
#define ETCH_DET_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* determinant[i] = det(matrix[i]), for `count` matrices of n x n elements in row-major order, by elimination with row pivots
 * (about n^3 / 3 multiplications each); `work` is room for one matrix. 0 for a singular one, NaN where the elimination meets one. */
void etch_det_float(float *determinant, float *work, const float *matrix, int32_t count, int32_t n);
void etch_det_double(double *determinant, double *work, const double *matrix, int32_t count, int32_t n);

#ifdef __cplusplus
}
#endif

#endif
