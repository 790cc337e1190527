/* etch runtime: the functions of etch_det.h for elements of type REAL; NAME gives them their names. */
#include <stddef.h>

/* The row, from `column` down, that has the largest element in that column; or one that has a NaN there, so that it is seen. */
static int32_t NAME(pivot_of)(const REAL *work, int32_t n, int32_t column) {
  REAL largest = 0;
  int32_t pivot = column;
  int32_t row;
  for (row = column; row < n; row++) {
    const REAL element = work[(size_t)row * (size_t)n + (size_t)column];
    const REAL size = element < 0 ? -element : element;
    if (size <= largest) continue;
    largest = size;
    pivot = row;
    if (!(size >= 0)) break;
  }
  return pivot;
}

/* Subtracts multiples of row `column` from the rows below, so that they are 0 there; what is 0 is not written. */
static void NAME(eliminate)(REAL *work, int32_t n, int32_t column) {
  const REAL *const upper = work + (size_t)column * (size_t)n;
  int32_t row, c;
  for (row = column + 1; row < n; row++) {
    REAL *const lower = work + (size_t)row * (size_t)n;
    const REAL factor = lower[column] / upper[column];
    for (c = column + 1; c < n; c++) lower[c] -= factor * upper[c];
  }
}

static void NAME(swap_rows)(REAL *a, REAL *b, int32_t n) {
  int32_t c;
  for (c = 0; c < n; c++) {
    const REAL element = a[c];
    a[c] = b[c];
    b[c] = element;
  }
}

/* Destroys the matrix. */
static REAL NAME(determinant_of)(REAL *work, int32_t n) {
  REAL product = 1;
  int32_t column;
  for (column = 0; column < n; column++) {
    REAL *const upper = work + (size_t)column * (size_t)n;
    const int32_t pivot = NAME(pivot_of)(work, n, column);
    if (pivot != column) {
      NAME(swap_rows)(upper, work + (size_t)pivot * (size_t)n, n);
      product = -product;
    }
    product *= upper[column];
    if (upper[column] <= 0 && upper[column] >= 0) continue; /* nothing to eliminate; a NaN may stand behind it */
    NAME(eliminate)(work, n, column);
  }
  return product;
}

void NAME(etch_det)(REAL *determinant, REAL *work, const REAL *matrix, int32_t count, int32_t n) {
  const size_t elements = (size_t)n * (size_t)n;
  int32_t m;
  size_t i;
  for (m = 0; m < count; m++) {
    for (i = 0; i < elements; i++) work[i] = matrix[(size_t)m * elements + i];
    determinant[m] = NAME(determinant_of)(work, n);
  }
}
