// For tests: the least that clang's CUDA mode needs to compile generated kernels without a CUDA toolkit, to be included first:
//   clang -x cuda -nocudainc -nocudalib -fdeclspec -include clang_cuda.h
// Functions of the C library are declared only: the PTX calls them.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
typedef decltype(sizeof 0) size_t;

#define ETCH_TEST_REGISTER(type, name)                                                      \
  struct type {                                                                             \
    __declspec(property(get = get_x)) unsigned x;                                           \
    __declspec(property(get = get_y)) unsigned y;                                           \
    __declspec(property(get = get_z)) unsigned z;                                           \
    static __device__ inline unsigned get_x() { return __nvvm_read_ptx_sreg_##name##_x(); } \
    static __device__ inline unsigned get_y() { return __nvvm_read_ptx_sreg_##name##_y(); } \
    static __device__ inline unsigned get_z() { return __nvvm_read_ptx_sreg_##name##_z(); } \
  }
ETCH_TEST_REGISTER(EtchThread, tid);
ETCH_TEST_REGISTER(EtchBlock, ctaid);
extern const __device__ EtchThread threadIdx;
ETCH_TEST_REGISTER(EtchSize, ntid);
extern const __device__ EtchBlock blockIdx;
extern const __device__ EtchSize blockDim;

static __device__ inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
static __device__ inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
static __device__ inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
static __device__ inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }

#define ETCH_TEST_UNARY(name)                \
  extern "C" __device__ double name(double); \
  extern "C" __device__ float name##f(float)
#define ETCH_TEST_BINARY(name)                       \
  extern "C" __device__ double name(double, double); \
  extern "C" __device__ float name##f(float, float)
ETCH_TEST_UNARY(acos);
ETCH_TEST_UNARY(acosh);
ETCH_TEST_UNARY(asin);
ETCH_TEST_UNARY(asinh);
ETCH_TEST_UNARY(atan);
ETCH_TEST_UNARY(atanh);
ETCH_TEST_UNARY(ceil);
ETCH_TEST_UNARY(cos);
ETCH_TEST_UNARY(cosh);
ETCH_TEST_UNARY(erf);
ETCH_TEST_UNARY(erfc);
ETCH_TEST_UNARY(exp);
ETCH_TEST_UNARY(exp2);
ETCH_TEST_UNARY(expm1);
ETCH_TEST_UNARY(floor);
ETCH_TEST_UNARY(log);
ETCH_TEST_UNARY(log1p);
ETCH_TEST_UNARY(log2);
ETCH_TEST_UNARY(rint);
ETCH_TEST_UNARY(sin);
ETCH_TEST_UNARY(sinh);
ETCH_TEST_UNARY(sqrt);
ETCH_TEST_UNARY(tan);
ETCH_TEST_UNARY(tanh);
ETCH_TEST_UNARY(trunc);
ETCH_TEST_BINARY(fmod);
ETCH_TEST_BINARY(pow);
