/// Elementary functions that give the same bits everywhere.
///
/// The C library's sin, exp and friends differ in the last bit between vendors, versions and processors. These are
/// built only from + - * / and the square root, which IEEE 754 defines exactly, so a result depends on the argument
/// alone: not on the compiler, its optimization level, the instruction set or the operating system. Every function is
/// defined for every argument as in C17 Annex F, except that no floating-point flag and no errno is promised. The
/// largest error of each is in docs/maths/elementary.md; all are below one unit in the last place.
#ifndef KARAKURI_ELEMENTARY_H
#define KARAKURI_ELEMENTARY_H

#include <karakuri/api.h>

KK_BEGIN_DECLS

#define KK_PI 3.14159265358979323846      ///< nearest double to pi
#define KK_TWO_PI 6.28318530717958647693  ///< nearest double to 2 pi
#define KK_HALF_PI 1.57079632679489661923 ///< nearest double to pi / 2

/// Sine, cosine and tangent of an angle in radians; any finite angle, however large, is reduced exactly. NaN for an
/// infinite one.
KK_API double kk_sin(double x);
KK_API double kk_cos(double x);
KK_API double kk_tan(double x);
/// Sine and cosine with one reduction; the same bits as kk_sin and kk_cos.
KK_API void kk_sincos(double x, double *sine, double *cosine);

/// Inverse sine in [-pi/2, pi/2] and inverse cosine in [0, pi]; NaN outside |x| <= 1.
KK_API double kk_asin(double x);
KK_API double kk_acos(double x);
/// Inverse tangent in [-pi/2, pi/2].
KK_API double kk_atan(double x);
/// The angle of the point (x, y) in [-pi, pi]; zeros and infinities as in C17 F.10.1.4.
KK_API double kk_atan2(double y, double x);

/// e to the x; overflows to infinity, underflows gradually.
KK_API double kk_exp(double x);
/// Natural logarithm; -infinity at zero, NaN below.
KK_API double kk_log(double x);
/// x to the y; special cases as in C17 F.10.4.4, so kk_pow(x, 0) = kk_pow(1, y) = 1 for all x and y.
KK_API double kk_pow(double x, double y);

/// Square root, correctly rounded.
KK_API double kk_sqrt(double x);
#ifdef KKI_INLINE_SQRT // inside the library, whose flags make it one instruction
#define kk_sqrt(x) __builtin_sqrt(x)
#endif
/// Length of the vector (x, y) without undue overflow or underflow; infinite if either is.
KK_API double kk_hypot(double x, double y);

/// Largest whole number not above x, smallest not below x, x without its fraction.
KK_API double kk_floor(double x);
KK_API double kk_ceil(double x);
KK_API double kk_trunc(double x);
/// Nearest whole number, halves away from zero.
KK_API double kk_round(double x);
/// x - n*y with n = x/y without its fraction: exact, has the sign of x. NaN for y = 0 or infinite x.
KK_API double kk_fmod(double x, double y);

KK_END_DECLS
#endif
