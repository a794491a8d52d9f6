// Refuses to compile where the compiler may change the value of a floating-point expression.
//
// Equal bits on every machine need three things of a compiler: no algebra on floats (fast-math), every operation rounded to its own
// type (FLT_EVAL_METHOD 0; x87 fails here) and IEEE 754 doubles. Contraction to fused multiply-add has no macro to test; the build
// turns it off with -ffp-contract=off and tests/determinism would see it.
#ifndef KKI_BASE_STRICT_FLOAT_H
#define KKI_BASE_STRICT_FLOAT_H

#include <float.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "Karakuri must not be compiled with -ffast-math, -Ofast or -ffinite-math-only"
#endif

#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD != 0
#error "Karakuri needs FLT_EVAL_METHOD == 0 (on 32-bit x86: -msse2 -mfpmath=sse)"
#endif

_Static_assert(sizeof(double) == 8 && DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024 && FLT_RADIX == 2,
               "double must be the IEEE 754 binary64");

#endif
