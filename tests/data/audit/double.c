// options: single
#include <math.h>
#include <stdint.h>
float half(float x) { return x * 0.5; }  // expect: double
float half_f(float x) { return x * 0.5f; }
float root(float x) { return (float)sqrt((double)x); }  // expect: double
float root_f(float x) { return sqrtf(x); }
float mean(const double *x) { return (float)(x[0] + x[1]); }  // expect: double
void copy(const double *from, double *to) { *to = *from; }
float folded(void) { return 1.0 / 3.0; }
float table(int i) {
  static const float t[3] = {0.1, 1e-3, -2.0};
  return t[i] + (float)3.5;
}
double widened(float x) { return x; }  // expect: double
int whole(double x) { return (int)x; }  // expect: double
double from_int(int64_t x) { return (double)x; }  // expect: double
int less(double a, double b) { return a < b; }  // expect: double
void add(float *x) { *x += 0.25; }  // expect: double
void add_f(float *x) { *x += 0.25f; }
double minus(double x) { return -x; }  // expect: double
long double longer(long double x) { return x * x; }  // expect: double
typedef double pair __attribute__((vector_size(16)));
pair both(pair x) { return x * x; }  // expect: double
typedef float four __attribute__((vector_size(16)));
four all(four x) { return x * x; }
static inline float unused(float x) { return (float)(x + 1.0); }
static inline float used(float x) { return (float)(x + 1.0); }  // expect: double
static inline float used_by_used(float x) { return used(x); }
float user(float x) { return used_by_used(x); }
typedef float (*etch_function)(float x);
static float in_a_table(float x) { return (float)(x + 1.0); }  // expect: double
const etch_function functions[1] = {in_a_table};
static float passed_on(float x) { return (float)(x + 1.0); }  // expect: double
etch_function chosen(void) { return passed_on; }
