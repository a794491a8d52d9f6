/// The arithmetic of the kernels: one source, two shapes of data.
///
/// Kernels are written once against the types and operations of this file and compiled several times (kernels.c):
/// - KKI_LANES = 1 with AVX2, one robot: a 3-vector is one SIMD register (x, y, z, unused), so a rotation is three multiplications wide;
/// - KKI_LANES = 1 without: a 3-vector is three doubles (registers of two would be filled by shuffles alone);
/// - KKI_LANES = 4 or 8, a robot a lane: a 3-vector is three registers of `real`, one robot in each lane.
/// Every component of every result goes through the same operations in the same order in all shapes, so all give the same bits. That
/// is the invariant of this file: a change to one shape is a change to the other. Symmetric matrices stay *exactly* symmetric, because
/// one shape stores nine numbers and the other six.
#ifndef KKI_DYNAMICS_KERNELS_ALGEBRA_H
#define KKI_DYNAMICS_KERNELS_ALGEBRA_H

#include <stddef.h>
#include <stdint.h>

#include "base/strict_float.h"

#if !defined(KKI_LANES)
#error "KKI_LANES must say how many robots a kernel works on"
#endif

#define KKI_INLINE static inline __attribute__((always_inline))

typedef double quad __attribute__((vector_size(32)));
typedef int64_t quad_bits __attribute__((vector_size(32)));

#if KKI_LANES == 1
typedef double real;
#else
typedef double real __attribute__((vector_size(8 * KKI_LANES)));
typedef double real_unaligned __attribute__((vector_size(8 * KKI_LANES), aligned(8)));
typedef int64_t real_bits __attribute__((vector_size(8 * KKI_LANES)));
#endif

/// A constant of the model as the kernels read it: a double, or in lanes one that has already been spread, because a spread number is
/// the second operand of an instruction where a double first has to be loaded into all lanes.
#if KKI_LANES == 1
typedef double konst;
enum { KONST_PAD = 4 };
#else
typedef real konst;
enum { KONST_PAD = 3 };
#endif

#if KKI_LANES == 1 && defined(__AVX2__)
#define KKI_QUAD 1
typedef quad vec3;
typedef struct {
    vec3 c[3];
} sym3;
#else
#define KKI_QUAD 0
typedef struct {
    real x, y, z;
#if KKI_LANES == 1
    real unused; // so that one robot's scratch lies the same in both shapes
#endif
} vec3;
typedef struct {
    real xx, xy, xz, yy, yz, zz;
} sym3;
#endif

/// Columns.
typedef struct {
    vec3 c[3];
} mat3;

// ---- numbers

#if KKI_LANES == 1

KKI_INLINE real r_const(double a) {
    return a;
}
/// Coordinate i of a state; `stride` separates coordinates where states lie side by side.
KKI_INLINE real r_load(const double *x, size_t i, size_t stride) {
    (void)stride;
    return x[i];
}
KKI_INLINE void r_store(double *x, size_t i, size_t stride, real a) {
    (void)stride;
    x[i] = a;
}

#else

KKI_INLINE real r_const(double a) {
    return a - (real){0};
}
KKI_INLINE real r_load(const double *x, size_t i, size_t stride) {
    return *(const real_unaligned *)(x + i * stride);
}
KKI_INLINE void r_store(double *x, size_t i, size_t stride, real a) {
    *(real_unaligned *)(x + i * stride) = a;
}

#endif

// ---- 3-vectors

#if KKI_QUAD

#define V_PICK(a, i, j, k) __builtin_shufflevector(a, a, i, j, k, 3)
#define V_SPREAD(a, k) __builtin_shufflevector(a, a, k, k, k, k)

KKI_INLINE vec3 v_make(real x, real y, real z) {
    return (vec3){x, y, z, 0};
}
KKI_INLINE vec3 v_const(const konst a[KONST_PAD]) {
    return *(const quad *)a;
}
KKI_INLINE vec3 v_of_doubles(const double a[4]) {
    return *(const quad *)a;
}
KKI_INLINE vec3 v_zero(void) {
    return (vec3){0, 0, 0, 0};
}
KKI_INLINE vec3 v_spread(real s) {
    return (vec3){s, s, s, s};
}
KKI_INLINE real v_x(vec3 a) {
    return a[0];
}
KKI_INLINE real v_y(vec3 a) {
    return a[1];
}
KKI_INLINE real v_z(vec3 a) {
    return a[2];
}
KKI_INLINE vec3 v_add(vec3 a, vec3 b) {
    return a + b;
}
KKI_INLINE vec3 v_sub(vec3 a, vec3 b) {
    return a - b;
}
KKI_INLINE vec3 v_neg(vec3 a) {
    return -a;
}
KKI_INLINE vec3 v_scale(vec3 a, real s) {
    return a * v_spread(s);
}
/// Component by component.
KKI_INLINE vec3 v_hadamard(vec3 a, vec3 b) {
    return a * b;
}
/// a · b = (ax bx + ay by) + az bz.
KKI_INLINE real v_dot(vec3 a, vec3 b) {
    const vec3 t = a * b;
    return (t[0] + t[1]) + t[2];
}
/// a · b + c · d, component by component.
KKI_INLINE real v_dot2(vec3 a, vec3 b, vec3 c, vec3 d) {
    const vec3 t = a * b + c * d;
    return (t[0] + t[1]) + t[2];
}
KKI_INLINE vec3 v_cross(vec3 a, vec3 b) {
    return V_PICK(a * V_PICK(b, 1, 2, 0) - V_PICK(a, 1, 2, 0) * b, 1, 2, 0);
}
/// a × (0, 0, s) = (ay s, −ax s, 0).
KKI_INLINE vec3 v_cross_z(vec3 a, real s) {
    const vec3 t = __builtin_shufflevector(a, a, 1, 0, 2, 3) * (vec3){s, -s, s, s};
    return __builtin_shufflevector(t, v_zero(), 0, 1, 6, 7);
}
/// a + (0, 0, s).
KKI_INLINE vec3 v_add_z(vec3 a, real s) {
    return __builtin_shufflevector(a, a + v_spread(s), 0, 1, 6, 3);
}
/// Rows of a column triple times a vector: (c0 x + c1 y) + c2 z.
KKI_INLINE vec3 v_combine(vec3 c0, vec3 c1, vec3 c2, vec3 a) {
    return (c0 * V_SPREAD(a, 0) + c1 * V_SPREAD(a, 1)) + c2 * V_SPREAD(a, 2);
}

#else

KKI_INLINE vec3 v_make(real x, real y, real z) {
    return (vec3){.x = x, .y = y, .z = z};
}
KKI_INLINE vec3 v_const(const konst a[KONST_PAD]) {
    return v_make(a[0], a[1], a[2]);
}
KKI_INLINE vec3 v_of_doubles(const double a[4]) {
    return v_make(r_const(a[0]), r_const(a[1]), r_const(a[2]));
}
KKI_INLINE vec3 v_zero(void) {
    return v_make(r_const(0.0), r_const(0.0), r_const(0.0));
}
KKI_INLINE real v_x(vec3 a) {
    return a.x;
}
KKI_INLINE real v_y(vec3 a) {
    return a.y;
}
KKI_INLINE real v_z(vec3 a) {
    return a.z;
}
KKI_INLINE vec3 v_add(vec3 a, vec3 b) {
    return v_make(a.x + b.x, a.y + b.y, a.z + b.z);
}
KKI_INLINE vec3 v_sub(vec3 a, vec3 b) {
    return v_make(a.x - b.x, a.y - b.y, a.z - b.z);
}
KKI_INLINE vec3 v_neg(vec3 a) {
    return v_make(-a.x, -a.y, -a.z);
}
KKI_INLINE vec3 v_scale(vec3 a, real s) {
    return v_make(a.x * s, a.y * s, a.z * s);
}
KKI_INLINE vec3 v_hadamard(vec3 a, vec3 b) {
    return v_make(a.x * b.x, a.y * b.y, a.z * b.z);
}
KKI_INLINE real v_dot(vec3 a, vec3 b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}
KKI_INLINE real v_dot2(vec3 a, vec3 b, vec3 c, vec3 d) {
    return ((a.x * b.x + c.x * d.x) + (a.y * b.y + c.y * d.y)) + (a.z * b.z + c.z * d.z);
}
KKI_INLINE vec3 v_cross(vec3 a, vec3 b) {
    return v_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
KKI_INLINE vec3 v_cross_z(vec3 a, real s) {
    return v_make(a.y * s, a.x * -s, r_const(0.0));
}
KKI_INLINE vec3 v_add_z(vec3 a, real s) {
    return v_make(a.x, a.y, a.z + s);
}
KKI_INLINE vec3 v_combine(vec3 c0, vec3 c1, vec3 c2, vec3 a) {
    return v_make((c0.x * a.x + c1.x * a.y) + c2.x * a.z, (c0.y * a.x + c1.y * a.y) + c2.y * a.z,
                  (c0.z * a.x + c1.z * a.y) + c2.z * a.z);
}

#endif

// ---- 3 × 3 matrices

/// Component by component: GCC copies a struct from memory to memory in pieces of 16 bytes, and a load of 32 that follows has to wait
/// until both have left the core.
KKI_INLINE vec3 v_load(const vec3 *a) {
#if KKI_QUAD
    return *a;
#else
    return v_make(a->x, a->y, a->z);
#endif
}
KKI_INLINE void v_store(vec3 *a, vec3 x) {
#if KKI_QUAD
    *a = x;
#else
    a->x = x.x;
    a->y = x.y;
    a->z = x.z;
#endif
}

/// A component of a vector in memory: where it is to be spread, that is one load, and a shuffle less than of a vector in a register.
KKI_INLINE real v_pick(const vec3 *a, int k) {
    return ((const real *)a)[k];
}

KKI_INLINE void m_identity(mat3 *A) {
    const real o = r_const(0.0), i = r_const(1.0);
    *A = (mat3){{v_make(i, o, o), v_make(o, i, o), v_make(o, o, i)}};
}
KKI_INLINE mat3 m_const(const konst a[3][KONST_PAD]) {
    return (mat3){{v_const(a[0]), v_const(a[1]), v_const(a[2])}};
}
KKI_INLINE vec3 m_mul(const mat3 *A, vec3 x) {
    return v_combine(A->c[0], A->c[1], A->c[2], x);
}
/// A times a constant vector of the model, kept in memory so that its components are loaded ready spread.
KKI_INLINE vec3 m_mul_const(const mat3 *A, const konst a[KONST_PAD]) {
    return v_add(v_add(v_scale(A->c[0], a[0]), v_scale(A->c[1], a[1])), v_scale(A->c[2], a[2]));
}
/// Aᵀ x by dot products.
KKI_INLINE vec3 m_tmul(const mat3 *A, vec3 x) {
    return v_make(v_dot(A->c[0], x), v_dot(A->c[1], x), v_dot(A->c[2], x));
}
/// A times a constant matrix.
KKI_INLINE mat3 m_mul_m_const(const mat3 *A, const konst B[3][KONST_PAD]) {
    return (mat3){{m_mul_const(A, B[0]), m_mul_const(A, B[1]), m_mul_const(A, B[2])}};
}
KKI_INLINE mat3 m_mul_m(const mat3 *A, const mat3 *B) {
    return (mat3){{m_mul(A, B->c[0]), m_mul(A, B->c[1]), m_mul(A, B->c[2])}};
}
// sums and products that change a matrix in place: returned by value, compilers carry large structs through the stack

/// A ← A + B.
KKI_INLINE void m_gain(mat3 *A, const mat3 *B) {
    A->c[0] = v_add(A->c[0], B->c[0]);
    A->c[1] = v_add(A->c[1], B->c[1]);
    A->c[2] = v_add(A->c[2], B->c[2]);
}
/// A ← A − B.
KKI_INLINE void m_take(mat3 *A, const mat3 *B) {
    A->c[0] = v_sub(A->c[0], B->c[0]);
    A->c[1] = v_sub(A->c[1], B->c[1]);
    A->c[2] = v_sub(A->c[2], B->c[2]);
}
/// A ← A − (u wᵀ) s, the products u_i w_j first: exactly symmetric for u = w.
KKI_INLINE void m_take_outer(mat3 *A, vec3 u, vec3 w, real s) {
    A->c[0] = v_sub(A->c[0], v_scale(v_scale(u, v_x(w)), s));
    A->c[1] = v_sub(A->c[1], v_scale(v_scale(u, v_y(w)), s));
    A->c[2] = v_sub(A->c[2], v_scale(v_scale(u, v_z(w)), s));
}
/// r × each column.
KKI_INLINE mat3 m_cross(vec3 r, const mat3 *A) {
    return (mat3){{v_cross(r, A->c[0]), v_cross(r, A->c[1]), v_cross(r, A->c[2])}};
}

/// Rotation matrix of a unit quaternion (w, x, y, z).
KKI_INLINE mat3 m_from_quat(real w, real x, real y, real z) {
    const real one = r_const(1.0);
    const real x2 = x + x, y2 = y + y, z2 = z + z;
    const real xx = x * x2, yy = y * y2, zz = z * z2, xy = x * y2, xz = x * z2, yz = y * z2;
    const real wx = w * x2, wy = w * y2, wz = w * z2;
    return (mat3){{v_make(one - (yy + zz), xy + wz, xz - wy), v_make(xy - wz, one - (xx + zz), yz + wx),
                   v_make(xz + wy, yz - wx, one - (xx + yy))}};
}

#if KKI_QUAD

KKI_INLINE mat3 m_transpose(mat3 A) {
    const quad lo = __builtin_shufflevector(A.c[0], A.c[1], 0, 4, 2, 6); // x0 x1 z0 z1
    const quad hi = __builtin_shufflevector(A.c[0], A.c[1], 1, 5, 3, 7); // y0 y1 0 0
    return (mat3){{__builtin_shufflevector(lo, A.c[2], 0, 1, 4, 7), __builtin_shufflevector(hi, A.c[2], 0, 1, 5, 7),
                   __builtin_shufflevector(lo, A.c[2], 2, 3, 6, 7)}};
}

/// ω ωᵀ − |ω|² 1 + [α]: turns an arm r into the acceleration α × r + ω × (ω × r) of its end.
KKI_INLINE mat3 m_spin(vec3 w, vec3 al) {
    const quad ww = w * w;
    const real s = (ww[0] + ww[1]) + ww[2];
    const quad x = w * V_SPREAD(w, 0) + __builtin_shufflevector(al, al, 0, 2, 1, 3) * (quad){0, 1, -1, 0};
    const quad y = w * V_SPREAD(w, 1) + __builtin_shufflevector(al, al, 2, 1, 0, 3) * (quad){-1, 0, 1, 0};
    const quad z = w * V_SPREAD(w, 2) + __builtin_shufflevector(al, al, 1, 0, 2, 3) * (quad){1, -1, 0, 0};
    return (mat3){{x - (quad){s, 0, 0, 0}, y - (quad){0, s, 0, 0}, z - (quad){0, 0, s, 0}}};
}

#else

KKI_INLINE mat3 m_transpose(mat3 A) {
    return (mat3){{v_make(A.c[0].x, A.c[1].x, A.c[2].x), v_make(A.c[0].y, A.c[1].y, A.c[2].y),
                   v_make(A.c[0].z, A.c[1].z, A.c[2].z)}};
}

KKI_INLINE mat3 m_spin(vec3 w, vec3 al) {
    const real xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z, xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
    const real s = (xx + yy) + zz;
    return (mat3){{v_make(xx - s, xy + al.z, xz - al.y), v_make(xy - al.z, yy - s, yz + al.x),
                   v_make(xz + al.y, yz - al.x, zz - s)}};
}

#endif

// ---- symmetric 3 × 3 matrices

#if KKI_QUAD

KKI_INLINE vec3 s_mul(const sym3 *A, vec3 x) {
    return v_combine(A->c[0], A->c[1], A->c[2], x);
}
/// A ← A + B.
KKI_INLINE void s_gain(sym3 *A, const sym3 *B) {
    A->c[0] = A->c[0] + B->c[0];
    A->c[1] = A->c[1] + B->c[1];
    A->c[2] = A->c[2] + B->c[2];
}
KKI_INLINE sym3 s_const(const konst a[3][KONST_PAD]) {
    return (sym3){{v_const(a[0]), v_const(a[1]), v_const(a[2])}};
}
KKI_INLINE sym3 s_diagonal(real d) {
    const quad D = {d, d, d, d}, o = {0, 0, 0, 0};
    return (sym3){{__builtin_shufflevector(D, o, 0, 5, 6, 7), __builtin_shufflevector(D, o, 4, 1, 6, 7),
                   __builtin_shufflevector(D, o, 4, 5, 2, 7)}};
}
/// A ← A + d 1.
KKI_INLINE void s_gain_diagonal(sym3 *A, real d) {
    const sym3 D = s_diagonal(d);
    s_gain(A, &D);
}
/// A ← A − (u uᵀ) s.
KKI_INLINE void s_take_square(sym3 *A, vec3 u, real s) {
    A->c[0] = A->c[0] - (u * V_SPREAD(u, 0)) * v_spread(s);
    A->c[1] = A->c[1] - (u * V_SPREAD(u, 1)) * v_spread(s);
    A->c[2] = A->c[2] - (u * V_SPREAD(u, 2)) * v_spread(s);
}
/// A Aᵀ.
KKI_INLINE sym3 s_square(const mat3 *A) {
    const quad a = A->c[0], b = A->c[1], c = A->c[2];
    return (sym3){{(a * V_SPREAD(a, 0) + b * V_SPREAD(b, 0)) + c * V_SPREAD(c, 0),
                   (a * V_SPREAD(a, 1) + b * V_SPREAD(b, 1)) + c * V_SPREAD(c, 1),
                   (a * V_SPREAD(a, 2) + b * V_SPREAD(b, 2)) + c * V_SPREAD(c, 2)}};
}
/// P ← P + (A + (B + Bᵀ)).
KKI_INLINE void s_gain_symmetric(sym3 *P, const sym3 *A, const mat3 *B) {
    const mat3 T = m_transpose(*B);
    P->c[0] = P->c[0] + (A->c[0] + (B->c[0] + T.c[0]));
    P->c[1] = P->c[1] + (A->c[1] + (B->c[1] + T.c[1]));
    P->c[2] = P->c[2] + (A->c[2] + (B->c[2] + T.c[2]));
}
/// A ← A + 2 (t · r) 1 − (t rᵀ + r tᵀ).
KKI_INLINE void s_shift(sym3 *A, vec3 t, vec3 r) {
    const real d = v_dot(t, r);
    const sym3 D = s_diagonal(d + d);
    A->c[0] = A->c[0] - ((t * V_SPREAD(r, 0) + r * V_SPREAD(t, 0)) - D.c[0]);
    A->c[1] = A->c[1] - ((t * V_SPREAD(r, 1) + r * V_SPREAD(t, 1)) - D.c[1]);
    A->c[2] = A->c[2] - ((t * V_SPREAD(r, 2) + r * V_SPREAD(t, 2)) - D.c[2]);
}
/// Columns of A [r]: A1 rz − A2 ry, A2 rx − A0 rz, A0 ry − A1 rx.
KKI_INLINE vec3 s_mul_skew_x(const sym3 *A, vec3 r) {
    return A->c[1] * V_SPREAD(r, 2) - A->c[2] * V_SPREAD(r, 1);
}
KKI_INLINE vec3 s_mul_skew_y(const sym3 *A, vec3 r) {
    return A->c[2] * V_SPREAD(r, 0) - A->c[0] * V_SPREAD(r, 2);
}
KKI_INLINE vec3 s_mul_skew_z(const sym3 *A, vec3 r) {
    return A->c[0] * V_SPREAD(r, 1) - A->c[1] * V_SPREAD(r, 0);
}
KKI_INLINE mat3 s_columns(const sym3 *A) {
    return (mat3){{A->c[0], A->c[1], A->c[2]}};
}
/// A + d 1.
KKI_INLINE mat3 m_add_diagonal(mat3 A, real d) {
    const quad D = {d, d, d, d}, o = {0, 0, 0, 0};
    return (mat3){{A.c[0] + __builtin_shufflevector(D, o, 0, 5, 6, 7),
                   A.c[1] + __builtin_shufflevector(D, o, 4, 1, 6, 7),
                   A.c[2] + __builtin_shufflevector(D, o, 4, 5, 2, 7)}};
}
KKI_INLINE real s_xx(const sym3 *A) {
    return A->c[0][0];
}
KKI_INLINE real s_xy(const sym3 *A) {
    return A->c[0][1];
}
KKI_INLINE real s_xz(const sym3 *A) {
    return A->c[0][2];
}
KKI_INLINE real s_yy(const sym3 *A) {
    return A->c[1][1];
}
KKI_INLINE real s_yz(const sym3 *A) {
    return A->c[1][2];
}
KKI_INLINE real s_zz(const sym3 *A) {
    return A->c[2][2];
}

#else

KKI_INLINE vec3 s_mul(const sym3 *A, vec3 x) {
    return v_make((A->xx * x.x + A->xy * x.y) + A->xz * x.z, (A->xy * x.x + A->yy * x.y) + A->yz * x.z,
                  (A->xz * x.x + A->yz * x.y) + A->zz * x.z);
}
KKI_INLINE void s_gain(sym3 *A, const sym3 *B) {
    A->xx = A->xx + B->xx;
    A->xy = A->xy + B->xy;
    A->xz = A->xz + B->xz;
    A->yy = A->yy + B->yy;
    A->yz = A->yz + B->yz;
    A->zz = A->zz + B->zz;
}
KKI_INLINE sym3 s_const(const konst a[3][KONST_PAD]) {
    return (sym3){a[0][0], a[0][1], a[0][2], a[1][1], a[1][2], a[2][2]};
}
KKI_INLINE sym3 s_diagonal(real d) {
    return (sym3){d, r_const(0.0), r_const(0.0), d, r_const(0.0), d};
}
KKI_INLINE void s_gain_diagonal(sym3 *A, real d) {
    A->xx = A->xx + d;
    A->yy = A->yy + d;
    A->zz = A->zz + d;
}
KKI_INLINE void s_take_square(sym3 *A, vec3 u, real s) {
    A->xx = A->xx - (u.x * u.x) * s;
    A->xy = A->xy - (u.x * u.y) * s;
    A->xz = A->xz - (u.x * u.z) * s;
    A->yy = A->yy - (u.y * u.y) * s;
    A->yz = A->yz - (u.y * u.z) * s;
    A->zz = A->zz - (u.z * u.z) * s;
}
KKI_INLINE sym3 s_square(const mat3 *A) {
    const vec3 a = A->c[0], b = A->c[1], c = A->c[2];
    return (sym3){(a.x * a.x + b.x * b.x) + c.x * c.x, (a.x * a.y + b.x * b.y) + c.x * c.y,
                  (a.x * a.z + b.x * b.z) + c.x * c.z, (a.y * a.y + b.y * b.y) + c.y * c.y,
                  (a.y * a.z + b.y * b.z) + c.y * c.z, (a.z * a.z + b.z * b.z) + c.z * c.z};
}
KKI_INLINE void s_gain_symmetric(sym3 *P, const sym3 *A, const mat3 *B) {
    P->xx = P->xx + (A->xx + (B->c[0].x + B->c[0].x));
    P->xy = P->xy + (A->xy + (B->c[1].x + B->c[0].y));
    P->xz = P->xz + (A->xz + (B->c[2].x + B->c[0].z));
    P->yy = P->yy + (A->yy + (B->c[1].y + B->c[1].y));
    P->yz = P->yz + (A->yz + (B->c[2].y + B->c[1].z));
    P->zz = P->zz + (A->zz + (B->c[2].z + B->c[2].z));
}
KKI_INLINE void s_shift(sym3 *A, vec3 t, vec3 r) {
    const real d = v_dot(t, r), D = d + d;
    A->xx = A->xx - ((t.x * r.x + r.x * t.x) - D);
    A->xy = A->xy - (t.x * r.y + r.x * t.y);
    A->xz = A->xz - (t.x * r.z + r.x * t.z);
    A->yy = A->yy - ((t.y * r.y + r.y * t.y) - D);
    A->yz = A->yz - (t.y * r.z + r.y * t.z);
    A->zz = A->zz - ((t.z * r.z + r.z * t.z) - D);
}
KKI_INLINE vec3 s_mul_skew_x(const sym3 *A, vec3 r) {
    return v_make(A->xy * r.z - A->xz * r.y, A->yy * r.z - A->yz * r.y, A->yz * r.z - A->zz * r.y);
}
KKI_INLINE vec3 s_mul_skew_y(const sym3 *A, vec3 r) {
    return v_make(A->xz * r.x - A->xx * r.z, A->yz * r.x - A->xy * r.z, A->zz * r.x - A->xz * r.z);
}
KKI_INLINE vec3 s_mul_skew_z(const sym3 *A, vec3 r) {
    return v_make(A->xx * r.y - A->xy * r.x, A->xy * r.y - A->yy * r.x, A->xz * r.y - A->yz * r.x);
}
KKI_INLINE mat3 s_columns(const sym3 *A) {
    return (mat3){{v_make(A->xx, A->xy, A->xz), v_make(A->xy, A->yy, A->yz), v_make(A->xz, A->yz, A->zz)}};
}
KKI_INLINE mat3 m_add_diagonal(mat3 A, real d) {
    const real o = r_const(0.0);
    return (mat3){{v_add(A.c[0], v_make(d, o, o)), v_add(A.c[1], v_make(o, d, o)), v_add(A.c[2], v_make(o, o, d))}};
}
KKI_INLINE real s_xx(const sym3 *A) {
    return A->xx;
}
KKI_INLINE real s_xy(const sym3 *A) {
    return A->xy;
}
KKI_INLINE real s_xz(const sym3 *A) {
    return A->xz;
}
KKI_INLINE real s_yy(const sym3 *A) {
    return A->yy;
}
KKI_INLINE real s_yz(const sym3 *A) {
    return A->yz;
}
KKI_INLINE real s_zz(const sym3 *A) {
    return A->zz;
}

#endif

/// The matrix of a × : columns a × e_k.
KKI_INLINE mat3 m_skew(vec3 a) {
#if KKI_QUAD
    const quad o = {0, 0, 0, 0};
    const quad_bits x = {0, 0, INT64_MIN, 0}, y = {INT64_MIN, 0, 0, 0}, z = {0, INT64_MIN, 0, 0}; // signs to turn
    return (mat3){{(quad)((quad_bits)__builtin_shufflevector(a, o, 4, 2, 1, 7) ^ x),
                   (quad)((quad_bits)__builtin_shufflevector(a, o, 2, 5, 0, 7) ^ y),
                   (quad)((quad_bits)__builtin_shufflevector(a, o, 1, 0, 6, 7) ^ z)}};
#else
    const real o = r_const(0.0);
    return (mat3){{v_make(o, v_z(a), -v_y(a)), v_make(-v_z(a), o, v_x(a)), v_make(v_y(a), -v_x(a), o)}};
#endif
}

#endif
