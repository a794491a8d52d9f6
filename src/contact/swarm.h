/// Bodies that only touch: sweeps of a fixed budget in the bodies' own velocities.
///
/// A *face* is what two bodies touch with along one normal, up to eight points. Faces get colours so that no two of a colour share a moving
/// body; four of a colour are a bundle, a face a lane. Within a colour the order does not matter, so lanes and workers take what comes, and
/// the result depends on the list of faces alone.
///
/// Rows are never formed. With the arms r of a point from both centres of mass, and the face's axes D = (n, t₁, t₂),
///     u = Dᵀ ((v_B + ω_B × r_B) − (v_A + ω_A × r_A)) + g,     Δv = F/m,   Δω = J (r × F),   F = D Δλ,
/// which reads half the numbers that rows of both bodies have: a sweep waits for memory more than for sums.
#ifndef KKI_CONTACT_SWARM_H
#define KKI_CONTACT_SWARM_H

#include <karakuri/workers.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KKI_SWARM_LANES = 4, KKI_SWARM_COLOURS = 64, KKI_SWARM_POINTS = 8, KKI_SWARM_BODY = 8 };

/// Of each body, eight doubles: velocity of the centre and angular velocity, or force and moment about the centre, each padded to four.
/// What answers: 1/m, xx, yy, zz, xy, xz, yz of J = I⁻¹ in world axes, 0.

/// Four faces.
typedef struct kki_swarm_bundle {
    _Alignas(64) double axis[3][3][KKI_SWARM_LANES]; ///< n, t₁, t₂ by components
    double friction[KKI_SWARM_LANES];
    int32_t at[2][KKI_SWARM_LANES]; ///< where its bodies' numbers begin: A, B; the zeros behind all bodies: none
    int32_t contact[KKI_SWARM_LANES]; ///< the caller's number of the first point; −1: the lane is empty
    int32_t count[KKI_SWARM_LANES];   ///< points of each
    int32_t first, points;            ///< in the lists of points: where they begin, and how many the longest lane has
} kki_swarm_bundle;

/// One point of each of four faces: what a sweep reads.
typedef struct kki_swarm_point {
    _Alignas(64) double arm[2][3][KKI_SWARM_LANES]; ///< from the centres of A and B
    double inverse_n[KKI_SWARM_LANES];              ///< 1/Gnn; 0: nothing moves it
    double across[2][KKI_SWARM_LANES];              ///< Gn1, Gn2
    double inverse_t[3][KKI_SWARM_LANES];           ///< of the tangential 2 × 2: 11, 12, 22
    double step[KKI_SWARM_LANES];                   ///< 1 over its larger eigenvalue
    double g[3][KKI_SWARM_LANES];
    double lambda[3][KKI_SWARM_LANES];
} kki_swarm_point;

/// The same points: what only their beginning and their end need.
typedef struct kki_swarm_end {
    _Alignas(64) double u[3][KKI_SWARM_LANES]; ///< Dᵀ of the velocities, without g
    double scale[KKI_SWARM_LANES];             ///< the largest of G's diagonal
    double residual[KKI_SWARM_LANES];          ///< of the natural map, squared
    double rate[KKI_SWARM_LANES]; ///< in: speed that would close the gap in the rest of the step, without u; out: of the position pass
} kki_swarm_end;

/// The largest of a bundle's points, a lane each.
typedef struct kki_swarm_proof {
    _Alignas(64) double residual[KKI_SWARM_LANES]; ///< squared
    double cone[KKI_SWARM_LANES], signorini[KKI_SWARM_LANES];
    double turned[KKI_SWARM_LANES];  ///< of friction against slip: |sin|/(|sin| + |cos|), 2 minus that beyond a right angle
    double fastest[KKI_SWARM_LANES]; ///< |g + Dᵀ of the free velocities|
    double deepest[KKI_SWARM_LANES]; ///< the least rate
} kki_swarm_proof;

struct kki_swarm_kernels;

typedef struct kki_swarm {
    const struct kki_swarm_kernels *kernels; ///< what this CPU runs
    const kk_workers *workers;               ///< NULL: the calling thread alone
    int32_t nbody, count, colours;
    int32_t start[KKI_SWARM_COLOURS + 1]; ///< first bundle of each colour
    kki_swarm_bundle *bundle;
    kki_swarm_point *point;
    kki_swarm_end *end;
    kki_swarm_proof *proof;   ///< by bundle
    double *velocity, *wrench; ///< [8 × (bodies + 1)]
    double *free;              ///< [8 × (bodies + 1)] velocities without contacts
    double *inverse;           ///< [8 × (bodies + 1)] what answers
} kki_swarm;

typedef struct kki_swarm_kernels {
    /// inverse_n … step and the scale, from arms and axes; u, proof.fastest of the free velocities.
    void (*prepare)(const kki_swarm *s, int bundle);
    /// Wrenches += those of λ.
    void (*push)(const kki_swarm *s, int bundle);
    /// One pass over bundles of one colour.
    void (*sweep)(const kki_swarm *s, int first, int end, bool backwards);
    /// u, residual and proof of λ at the velocities.
    void (*judge)(const kki_swarm *s, int bundle);
    /// Poses the position pass. @param least, most  speeds: below the first nothing is repaired, beyond the second no more
    void (*repose)(const kki_swarm *s, int bundle, double least, double most);
    /// Velocities of bodies first … end − 1 = base + what their wrenches do. @param base [8 × bodies], NULL: zero
    void (*answer)(const kki_swarm *s, const double *base, int first, int end);
} kki_swarm_kernels;

/// index 0: baseline; 1: AVX2; NULL where build or CPU has none.
const kki_swarm_kernels *kki_swarm_kernels_at(int index);
const kki_swarm_kernels *kki_swarm_kernels_best(void);

/// Blocks of four points, at most, where each colour's faces are sorted by their number of points.
static inline size_t kki_swarm_room(int points) {
    return (size_t)points / KKI_SWARM_LANES + (size_t)(KKI_SWARM_COLOURS * KKI_SWARM_POINTS);
}

/// What depends on arms and axes; and velocities = free ones and what λ does.
void kki_swarm_begin(kki_swarm *s);
/// `sweeps` passes over all faces, there and back in turn.
void kki_swarm_sweep(kki_swarm *s, int sweeps);
/// Wrenches of λ, summed anew; velocities = base and what they do. @param base  NULL: zero
void kki_swarm_end_of(kki_swarm *s, const double *base);
/// The proof of λ at these velocities.
void kki_swarm_judge(kki_swarm *s);
/// The position pass from zero; false where nothing is deeper than `least`.
bool kki_swarm_repair(kki_swarm *s, int sweeps, double least, double most);

#endif
