/// The table of kernels: one source compiled for several shapes of data and instruction sets, chosen at run time.
#ifndef KKI_DYNAMICS_KERNELS_KERNELS_H
#define KKI_DYNAMICS_KERNELS_KERNELS_H

#include "base/arena.h"
#include "model/model.h"

/// Four entries of the joint-space inertia, from `column` on.
typedef struct kki_chunk {
    int32_t row, column;
} kki_chunk;

enum {
    KKI_LACKS_WORLD = 1,          ///< forward dynamics in world axes, and the kick
    KKI_LACKS_LINKS = 2,          ///< inverse and forward dynamics in link frames
    KKI_LACKS_OTHER = 4,          ///< composite inertias, Jacobians, derivatives
    KKI_LACKS_ALL_BUT_POSES = 15, ///< of those who call kk_kinematics and read what it leaves
};

/// A node's inertia about its center of mass, for its kinetic energy by König's theorem; in its frame, padded as kki_node.
typedef struct kki_koenig {
    _Alignas(32) double center[4];
    double moments[3][4];
} kki_koenig;

/// Of a tree.
typedef struct kki_energy {
    double kinetic, potential;
} kki_energy;

/// Scratch of one robot, or of a laneful of robots: everything a kernel writes. Element types are in scratch.h and differ by shape;
/// for one robot they always begin with the layouts of data.h.
typedef struct kki_scratch {
    int has_matrices;      ///< whether the arrays of nv × nv exist; set before `place`
    unsigned lacks;        ///< KKI_LACKS_…: what has no arrays, because nobody will call it; likewise
    void *nodes;           ///< [nnode] the model's nodes with their numbers spread; lanes only, filled by `fill`
    double *sine, *cosine; ///< [nnode padded to 4] of every node's first coordinate
    void *work_pose; ///< [nnode] world_node: as much of the poses as forward dynamics or inertia needs, not for readers
    void *pose;      ///< [nnode] world_node: poses in world axes
    void *rates;     ///< [nnode] world_rates: velocities and accelerations in world axes; one robot only
    void *motion;    ///< [nnode] world_motion: velocities, bias accelerations in world axes
    void *local;     ///< [nnode] local_node: motion and load in link frames
    void *swing;         ///< [nnode] swing: motion and gravity in link frames; one robot only
    void *local_pose;    ///< [nnode] local_pose: joints that are not plain hinges, in the parent's frame
    void *rigid;         ///< [nnode] link_inertia: each node's own, filled by `fill`
    void *link;          ///< [nnode] link_inertia: articulated inertias in link frames
    void *deviation;     ///< [nnode] link_motion
    void *articulated;   ///< [nnode] articulated inertias in world axes
    void *pivot;         ///< [nv] eliminated degrees of freedom
    void *composite;     ///< [nnode] composite inertias
    void *axis;          ///< [nv padded] spatial: motion axes, world axes about the root's origin
    void *axis_rate;     ///< [nv padded] spatial: their rates; one robot only
    void *load;          ///< [nv padded] spatial: composite inertia × axis, likewise
    double *load_rows;   ///< [6][nv padded] the loads by rows; one robot only
    kki_chunk *chunk;    ///< the upper triangle's branches in chunks, kind by kind; one robot only, filled by `fill`
    size_t chunk_end[3]; ///< where the chunks of each kind end
    void *bundle;        ///< [nnode] subtree sums of the derivatives; one robot only
    void *derivative;    ///< [nv padded] terms of the derivatives, see derivatives.h; one robot only
    double *derivative_rows; ///< [terms][nv padded] some of them by rows; one robot only
    double *inertia;         ///< [nv][nv padded] joint-space inertia, upper triangle
} kki_scratch;

/// Branch-sparse factor of the joint-space inertia (kernels/factor.h); one robot only.
typedef struct kki_factor {
    size_t stride;     ///< of T and L: the deepest branch, padded
    int32_t *depth;    ///< [nv] degrees of freedom between this one and the world
    int32_t *path;     ///< [stride] scratch: ancestors by depth
    double *T, *L;     ///< [nv][stride] rows by depth of the ancestor; T = D L
    double *inverse_D; ///< [nv]
    double *inverse;   ///< [nv padded][nv padded] scratch of the inverse
} kki_factor;

typedef struct kki_kernels {
    const char *name;
    int lanes;
    /// Lays the scratch out; called with a counting layout first (base/arena.h).
    void (*place)(kki_layout *layout, const kk_model *m, kki_scratch *S);

    /// Fills what is constant of the scratch.
    void (*fill)(const kk_model *m, kki_scratch *S);

    // states lie `stride` doubles apart by coordinate: x[i * stride + lane]; stride is 1 for one robot
    void (*kinematics)(const kk_model *m, kki_scratch *S, const double *q, size_t stride);
    void (*rnea)(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *a, double *tau,
                 size_t stride);
    void (*aba)(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *tau, double *a,
                size_t stride);
    void (*crba)(const kk_model *m, kki_scratch *S, const double *q, size_t stride);
    void (*read_inertia)(const kk_model *m, const kki_scratch *S, double *M, size_t stride);
    void (*read_poses)(const kk_model *m, const kki_scratch *S, double *poses, size_t stride);

    // one robot only: sines and cosines of angles alone; poses of some nodes; axes and their rates, behind the poses
    void (*angles)(const kk_model *m, kki_scratch *S, const double *q);
    // poses of nodes with from[i] ≥ 0 as if that one were their parent
    void (*kinematics_from)(const kk_model *m, kki_scratch *S, const double *q, const int32_t *from);
    void (*axes)(const kk_model *m, kki_scratch *S, const double *q);
    void (*axes_rates)(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *zero);
    kk_vec3 (*center_of_mass)(const kk_model *m, kki_scratch *S, const double *q, double *J);
    void (*centroidal)(const kk_model *m, kki_scratch *S, const double *q, double *A);
    void (*centroidal_rate)(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *zero,
                            double *A, double *dA);
    void (*rnea_derivatives)(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *a,
                             double *dq, double *dv, size_t stride);

    // one robot only: motion behind the poses, and halves between which forces on bodies can be put
    void (*rates)(const kk_model *m, kki_scratch *S, const double *v, const double *a);
    double (*energies)(const kk_model *m, kki_scratch *S, const kki_koenig *koenig, const double *q, const double *v,
                       kki_energy *energy); ///< of the trees, kernels/energy.h
    void (*rnea_outward)(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *a);
    void (*rnea_inward)(const kk_model *m, kki_scratch *S, const double *a, double *tau);
    void (*aba_prepare)(const kk_model *m, kki_scratch *S, const double *q, const double *v);
    void (*aba_push)(kki_scratch *S, int node, kk_force force); ///< a force on a node, world axes about its origin
    void (*aba_solve)(const kk_model *m, kki_scratch *S, const double *tau, double *a);

    // one robot only: the factor of M. `factor` is false where a pivot is not positive; rows of X are 32-byte aligned and padded
    int (*factor)(const kk_model *m, kki_factor *F, const double *inertia);
    void (*solve_rows)(const kk_model *m, const kki_factor *F, double *X, size_t columns, size_t stride);
    void (*inverse)(const kk_model *m, const kki_factor *F, double *out);

    // one robot only: the Delassus matrix (kernels/delassus.h). Pivots at q; four pairs of wrenches climb into four columns of Y,
    // whose first row is that of degree of freedom `base`; `quads` registers of a row of Yᵀ Z over the listed degrees of freedom
    void (*delassus_prepare)(const kk_model *m, kki_scratch *S, const double *q, const double *zero);
    void (*delassus_climb)(const kk_model *m, const kki_scratch *S, int i, const double wi[6][4], int j,
                           const double wj[6][4], int base, double *Y, size_t stride);
    // four wrenches of six numbers side by side: a new one of the next, or on top of what it holds
    void (*delassus_lay)(const double *const row[4], int is_new, double to[6][4]);
    // wrenches on several nodes of one tree, no node twice; overwrites `node` and `w`
    void (*delassus_climb_set)(const kk_model *m, const kki_scratch *S, int count, int32_t *node, double (*w)[6][4],
                               int base, double *Y, size_t stride);
    void (*delassus_row)(const double *Yr, const double *Z, size_t stride, const int32_t *list, int count, size_t quads,
                         double *G);

    // one robot only: the kick of a step (kernels/kick.h). Poses, velocities and the bias forces of v_bias, which is v or a better guess of the mean
    // velocity of the step; then (forces may be pushed with aba_push in
    // between) the factor with scaled forces E and velocities y, on which delassus_climb works, too; then Δv of Δy
    void (*kick_prepare)(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *v_bias);
    void (*kick_factor)(const kk_model *m, kki_scratch *S, const double *diagonal, const double *tau, const double *v,
                        double *E, double *y);
    void (*kick_apply)(const kk_model *m, kki_scratch *S, const double *dy, double *dv);
    void (*kick_apply_both)(const kk_model *m, kki_scratch *S, double *one, double *other); // in place, of two at once
    // the same for nodes first … end − 1, which neither need nor are needed by others; the first behind kick_begin, whose q may be NULL where no
    // node turns by an angle
    void (*kick_begin)(const kk_model *m, kki_scratch *S, const double *q);
    void (*kick_prepare_some)(const kk_model *m, kki_scratch *S, const double *q, const double *v, int first, int end,
                              int loads);
    // weights of lone bodies about their centers of mass, which kick_prepare_some leaves to this where `loads` is 0
    void (*kick_load_some)(const kk_model *m, kki_scratch *S, int first, int end);
    void (*kick_factor_some)(const kk_model *m, kki_scratch *S, const double *diagonal, const double *tau,
                             const double *v, double *E, double *y, int first, int end);
    void (*kick_apply_some)(const kk_model *m, kki_scratch *S, const double *dy, double *dv, int first, int end);
} kki_kernels;

/// Rounds a count up to whole SIMD registers of one robot.
static inline size_t kki_padded(int n) {
    return ((size_t)n + 3) & ~(size_t)3;
}

/// The best one-robot kernels of this CPU.
const kki_kernels *kki_kernels_one(void);
/// The widest lanes of this CPU.
const kki_kernels *kki_kernels_widest(void);
/// Every variant this build and CPU have, NULL behind the last.
const kki_kernels *kki_kernels_at(int index);

#endif
