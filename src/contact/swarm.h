/// Bodies that only touch: sweeps of a fixed budget in the bodies' own velocities.
///
/// A *face* is what two bodies touch with along one normal, up to eight points. Faces get colors so that no two of a color share a moving
/// body; four of a color are a bundle, a face a lane. Within a color the order does not matter, so lanes and workers take what comes, and
/// the result depends on the list of faces alone.
///
/// Rows are never formed. With the arms r of a point from both centers of mass, and the face's axes D = (n, t₁, t₂),
///     u = Dᵀ ((v_B + ω_B × r_B) − (v_A + ω_A × r_A)) + g,     Δv = F/m,   Δω = J (r × F),   F = D Δλ,
/// which reads half the numbers that rows of both bodies have: a sweep waits for memory more than for sums.
///
/// Of n sweeps each has an n-th of the step, its forces and its impulses λₖ (Macklin et al., Small Steps in Physics Simulation, 2019): what a
/// sweep leaves undone acts for an n-th of the step only, and a column of ten boxes stands where n sweeps over the whole step let it
/// buckle. Rows stay those of the middle of the step, and λ = Σ λₖ is within the cones because they are convex; it is proved against the problem of the
/// whole step as any other λ. (What turns while it slides, or lands within the step, keeps a residual that more sweeps do not take away: its friction has
/// followed it, and the problem of the whole step knows one direction.) A sweep starts from the impulses of the one before, whose velocities it
/// therefore goes on with: v + (v − v before). It must have the same order: sweeps there and back in turn feed each other.
/// What bounces changes its velocity once in a step and cannot go on so: a batch with such a face is swept over the whole step.
#ifndef KKI_CONTACT_SWARM_H
#define KKI_CONTACT_SWARM_H

#include <karakuri/workers.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KKI_SWARM_LANES = 4, KKI_SWARM_COLORS = 64, KKI_SWARM_POINTS = 8, KKI_SWARM_BODY = 8 };

/// Of each body, eight doubles: velocity of the center and angular velocity, or force and moment about the center, each padded to four. Behind the
/// velocities that are swept stand 1/m and xx of J, so that who loads a body has them.
/// What answers: 1/m, xx, yy, zz, xy, xz, yz of J = I⁻¹ in world axes, and 1 where that is one number times the identity, else 0.

/// Four faces.
typedef struct kki_swarm_bundle {
    _Alignas(64) double axis[3][3][KKI_SWARM_LANES]; ///< n, t₁, t₂ by components
    double friction[KKI_SWARM_LANES];
    int32_t at[2][KKI_SWARM_LANES];   ///< where its bodies' numbers begin: A, B; the zeros behind all bodies: none
    int32_t contact[KKI_SWARM_LANES]; ///< the caller's number of the first point; −1: the lane is empty
    int32_t count[KKI_SWARM_LANES];   ///< points of each
    int32_t first, points;            ///< in the lists of points: where they begin, and how many the longest lane has
    int32_t bounces;                  ///< some face comes in and is to leave with a speed
    int32_t is_round;                 ///< all bodies answer alike in all directions
    /// 1/m of A and B, xx of their J, and yy, zz, xy, xz, yz of A's and of B's, which round ones do not need; of several points in the face's axes
    _Alignas(64) double answer[14][KKI_SWARM_LANES];
} kki_swarm_bundle;

/// One point of each of four faces: what a sweep reads.
typedef struct kki_swarm_point {
    _Alignas(64) double arm
        [2][3][KKI_SWARM_LANES]; ///< from the centers of A and B; once prepared, of several points in the face's axes
    double inverse_n[KKI_SWARM_LANES];    ///< 1/Gnn; 0: nothing moves it
    double inverse_t[3][KKI_SWARM_LANES]; ///< of the tangential 2 × 2: 11, 12, 22
    double follow[2][KKI_SWARM_LANES];    ///< the same times (Gn1, Gn2): friction that the normal impulse asks for
    double g[3][KKI_SWARM_LANES];
    double lambda[3][KKI_SWARM_LANES]; ///< of one sweep's share of the step
    double total[3][KKI_SWARM_LANES];  ///< of all so far
    double across[2][KKI_SWARM_LANES]; ///< Gn1, Gn2; with the next for what slides
    double step[KKI_SWARM_LANES];      ///< 1 over the larger eigenvalue of the tangential 2 × 2
} kki_swarm_point;

/// Four points that lie on the normal through the centers of both bodies, which answer alike in all directions: balls among each other, or on what
/// stands still. There Gnt = 0 and Gtt is a number, so friction is a vector across n in world axes and needs no axes of its own. A sweep reads two lines of
/// memory a contact instead of five.
typedef struct kki_swarm_ball {
    _Alignas(64) int32_t at[2][KKI_SWARM_LANES]; ///< as the bundle's
    double normal[3][KKI_SWARM_LANES];
    double arm[2][KKI_SWARM_LANES]; ///< along the normal: n · r
    double friction[KKI_SWARM_LANES];
    double g[KKI_SWARM_LANES]; ///< along the normal; across it none
    double inverse_n[KKI_SWARM_LANES], inverse_t[KKI_SWARM_LANES];
    double lambda[3][KKI_SWARM_LANES], total[3][KKI_SWARM_LANES]; ///< in world axes
} kki_swarm_ball;

/// The same points: what only their beginning and their end need.
typedef struct kki_swarm_end {
    _Alignas(64) double u[3][KKI_SWARM_LANES]; ///< Dᵀ of the velocities, without g; of balls in world axes
    double scale[KKI_SWARM_LANES];             ///< the largest of G's diagonal
    double residual[KKI_SWARM_LANES];          ///< of the natural map, squared
    double rate[KKI_SWARM_LANES];              ///< of the position pass: speed that would undo the overlap; ≥ 0: none
} kki_swarm_end;

/// The largest of a bundle's points.
typedef struct kki_swarm_proof {
    _Alignas(64) double residual; ///< squared
    double cone, signorini;
    double turned;  ///< of friction against slip: |sin|/(|sin| + |cos|), 2 minus that beyond a right angle
    double fastest; ///< |g + Dᵀ of the free velocities|
    double deepest; ///< the least rate
    double overlap; ///< the caller's
    int32_t worst;  ///< the caller's: who has the residual
} kki_swarm_proof;

struct kki_swarm_kernels;

/// Faces that are swept color by color. A large batch is cut into several, slabs of space one behind the other: faces of a chunk are between its own bodies and those of
/// the next. So every second one shares no body with the others, and a chunk can be swept again as soon as the next has been swept once (swarm.c, "the wave").
typedef struct kki_swarm_chunk {
    int32_t colors, start[KKI_SWARM_COLORS + 1]; ///< first bundle of each color
    int32_t body, body_end;                      ///< its own
    int32_t face, face_end;                      ///< the caller's
} kki_swarm_chunk;

/// Faces that share no body with those of other batches: islands, several where they are small. A batch is swept to its end before the next, so
/// that its numbers stay near the processor; and workers take one each.
typedef struct kki_swarm_batch {
    int32_t chunk, chunk_end;
    int32_t bundle, bundle_end;
    int32_t body, body_end;
    int32_t points;
} kki_swarm_batch;

/// Points from which on a batch is full, from which on it is cut into chunks, and of each of those or more.
enum { KKI_SWARM_BATCH = 1024, KKI_SWARM_LARGE = 8192, KKI_SWARM_CHUNK = 1024 };

typedef struct kki_swarm {
    const struct kki_swarm_kernels *kernels; ///< what this CPU runs
    const kk_workers *workers;               ///< NULL: the calling thread alone
    bool may_bounce;                         ///< some bundle may say so
    int32_t nbody, count, nbatch;            ///< count: of bundles
    kki_swarm_batch *batch;
    int32_t nchunk;
    int32_t points; ///< of all batches
    /// Points and their ends are wanted as long as their batch is worked on. Those of all batches stand in the same place where this is not 0, one beside the other for so many
    /// points a worker, so that they are near the processor from the beginning.
    int32_t stride;
    kki_swarm_chunk *chunk;
    kki_swarm_bundle *bundle;
    uint8_t *is_ball; ///< by bundle: its numbers are those of `ball`, not of axes and `point`; as the caller fills it
    kki_swarm_ball *ball; ///< by bundle
    kki_swarm_point *point;
    kki_swarm_end *end;
    kki_swarm_proof *proof;    ///< by bundle
    double *velocity, *wrench; ///< [8 × (bodies + 1)]
    double *before;            ///< [8 × (bodies + 1)] in: velocities at the start of the step
    double *free;              ///< [8 × (bodies + 1)] at its end without contacts
    double *inverse;           ///< [8 × (bodies + 1)] what answers
} kki_swarm;

typedef struct kki_swarm_kernels {
    /// inverse_n … step and the scale, from arms and axes; u, proof.fastest of the free velocities.
    void (*prepare)(const kki_swarm *s, int bundle);
    /// Wrenches += those of λ, or of its share.
    void (*push)(const kki_swarm *s, int bundle, bool total);
    /// One pass over bundles of one color.
    void (*sweep)(const kki_swarm *s, int first, int end, bool backwards);
    /// u, residual and proof of λ at the velocities.
    void (*judge)(const kki_swarm *s, int bundle);
    /// Poses the position pass. @param most  speed beyond which nothing is repaired
    void (*repose)(const kki_swarm *s, int bundle, double most);
    /// Velocities of bodies first … end − 1 are those at the step's start and a share of what forces add, with what their wrenches do.
    void (*answer)(const kki_swarm *s, double share, int first, int end);
    /// Velocities of bodies go on as they did.
    void (*coast)(const kki_swarm *s, int first, int end);
} kki_swarm_kernels;

/// index 0: baseline; 1: AVX2; NULL where build or CPU has none.
const kki_swarm_kernels *kki_swarm_kernels_at(int index);
const kki_swarm_kernels *kki_swarm_kernels_best(void);

/// Most batches, chunks, bundles, and blocks of four points, where each color's faces are sorted by their number of points.
static inline size_t kki_swarm_batches(int points) {
    return (size_t)points / KKI_SWARM_BATCH + 1;
}
static inline size_t kki_swarm_chunks(int points) {
    return (size_t)points / KKI_SWARM_CHUNK + kki_swarm_batches(points);
}
static inline size_t kki_swarm_bundles(int points) {
    return (size_t)points / KKI_SWARM_LANES + KKI_SWARM_COLORS * kki_swarm_chunks(points);
}
static inline size_t kki_swarm_blocks(int points) {
    return (size_t)points / KKI_SWARM_LANES + KKI_SWARM_COLORS * KKI_SWARM_POINTS * kki_swarm_chunks(points);
}

/// What is done with a batch from its beginning to its end. @param workers  that are free for it; NULL: none
typedef void kki_swarm_work(void *context, const kki_swarm_batch *batch, const kk_workers *workers);
/// All batches: a worker each, and large ones by all workers.
void kki_swarm_each(kki_swarm *s, kki_swarm_work *work, void *context);

/// What the caller does with a bundle, and with bodies first … end − 1.
typedef void kki_swarm_visit(void *context, int bundle);
typedef void kki_swarm_body_visit(void *context, int first, int end);

/// NULL: nothing.
typedef struct kki_swarm_visits {
    kki_swarm_body_visit *begin_bodies;  ///< velocities and what answers
    kki_swarm_visit *begin;              ///< a bundle and its points are filled; NULL: they are
    kki_swarm_visit *finish;             ///< behind the proof of a bundle
    kki_swarm_body_visit *finish_bodies; ///< behind the last velocities, which the position pass will write over
} kki_swarm_visits;

/// λ of the budget's sweeps, from each point's share in `lambda`, into `total`; and its proof, at velocities made anew from it.
void kki_swarm_run(kki_swarm *s, const kki_swarm_batch *batch, const kk_workers *workers, int sweeps,
                   const kki_swarm_visits *visits, void *context);
/// The caller's visit to all bodies of a batch.
void kki_swarm_visit_bodies(kki_swarm *s, const kki_swarm_batch *batch, const kk_workers *workers,
                            kki_swarm_body_visit *visit, void *context);
/// The position pass over bundles that it has been posed for (kernels, repose); false where there is nothing to repair. Velocities are those it
/// moves bodies with.
bool kki_swarm_repair(kki_swarm *s, const kki_swarm_batch *batch, const kk_workers *workers, int sweeps);

#endif
