/// Inertias that no body can have, and links that move without any.
///
/// Impossible moments of inertia. With the eigenvalues e of I, the second moments of mass along the principal axes are
/// p_i = tr(I)/2 − e_i, which a body of positive density cannot have negative: that is both, positive definiteness and the
/// triangle inequality (Wensing, Kim, Slotine 2018: the pseudo-inertia is positive). The nearest possible inertia has
/// the negative ones set to zero, I' = tr(P') 1 − P'.
///
/// Links without inertia. URDF files use them for sensors and as dummies, also on joints that move, where they would make
/// the inertia matrix singular. Such a link gets a millionth of the robot's mass, as a ball of 1 cm.
#include <karakuri/elementary.h>

#include "base/allocator.h"
#include "base/print.h"
#include "io/text.h"
#include "io/urdf.h"
#include "math/dense.h"

static const double TINY_SHARE = 1e-6, TINY_RADIUS = 0.01;

// ---- impossible moments

/// One rotation of the cyclic Jacobi method that makes a[p][q] zero.
static void rotate(double a[3][3], double v[3][3], int p, int q) {
    if (a[p][q] == 0) {
        return;
    }
    const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    const double t = (theta >= 0 ? 1 : -1) / ((theta >= 0 ? theta : -theta) + kk_sqrt(theta * theta + 1));
    const double c = 1 / kk_sqrt(t * t + 1), s = t * c;
    for (int i = 0; i < 3; i++) {
        const double x = a[i][p], y = a[i][q];
        a[i][p] = c * x - s * y;
        a[i][q] = s * x + c * y;
    }
    for (int i = 0; i < 3; i++) {
        const double x = a[p][i], y = a[q][i];
        a[p][i] = c * x - s * y;
        a[q][i] = s * x + c * y;
        const double vx = v[i][p], vy = v[i][q];
        v[i][p] = c * vx - s * vy;
        v[i][q] = s * vx + c * vy;
    }
}

/// Eigenvalues and eigenvectors (columns of v) of a symmetric matrix.
static void principal(kk_sym3 I, double e[3], double v[3][3]) {
    enum { SWEEPS = 12 };
    double a[3][3] = {{I.xx, I.xy, I.xz}, {I.xy, I.yy, I.yz}, {I.xz, I.yz, I.zz}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            v[i][j] = i == j;
        }
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        rotate(a, v, 0, 1);
        rotate(a, v, 0, 2);
        rotate(a, v, 1, 2);
    }
    for (int i = 0; i < 3; i++) {
        e[i] = a[i][i];
    }
}

/// As the model's own check, so that what is good there is left as it is.
static bool is_possible(kk_sym3 I) {
    double e[3];
    kki_sym3_eigenvalues(I, e);
    return e[0] >= -1e-12 * e[2] && e[0] + e[1] >= (1 - 1e-9) * e[2];
}

bool kki_inertia_repair(kk_inertia *inertia) {
    double e[3], v[3][3], p[3], sum = 0;
    if (is_possible(inertia->moment)) {
        return false;
    }
    principal(inertia->moment, e, v);
    for (int i = 0; i < 3; i++) {
        p[i] = 0.5 * (e[0] + e[1] + e[2]) - e[i];
        p[i] = p[i] > 0 ? p[i] : 0;
        sum += p[i];
    }
    double m[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[i][j] =
                (i == j ? sum : 0) - (v[i][0] * p[0] * v[j][0] + v[i][1] * p[1] * v[j][1] + v[i][2] * p[2] * v[j][2]);
        }
    }
    inertia->moment = (kk_sym3){m[0][0], m[1][1], m[2][2], m[0][1], m[0][2], m[1][2]};
    return true;
}

// ---- links that move without inertia

/// What a body carries: of its own group (itself and what is fixed to it), and of everything behind its joint.
typedef struct load {
    kk_inertia group;   ///< in the body's frame
    double mass_behind; ///< of the subtree
    int movers;         ///< joints that move on the group, with mass behind them
    bool is_end;        ///< nothing moves on the group
} load;

static bool is_fixed(const kk_spec *s, int body) {
    return s->body[body].joint.type == KK_JOINT_FIXED;
}

static kk_inertia add_inertia(kk_inertia a, kk_inertia b) {
    return a.mass + b.mass > 0 ? kk_inertia_add(a, b) : a;
}

static void gather(const kk_spec *s, load *l) {
    for (int i = 0; i < s->nbody; i++) {
        l[i] = (load){.group = s->body[i].inertia, .mass_behind = s->body[i].inertia.mass, .is_end = true};
    }
    for (int i = s->nbody - 1; i > 0; i--) {
        load *parent = &l[s->body[i].parent];
        parent->mass_behind += l[i].mass_behind;
        if (is_fixed(s, i)) {
            const kk_transform X_PB = kk_transform_mul(s->body[i].joint.placement, s->body[i].offset);
            parent->group = add_inertia(parent->group, kk_inertia_to(X_PB, l[i].group));
            parent->movers += l[i].movers;
            parent->is_end = parent->is_end && l[i].is_end;
        } else {
            parent->movers += l[i].mass_behind > 0;
            parent->is_end = false;
        }
    }
}

/// The moment of the group about the joint's axis.
static double moment_about_axis(const kk_body_def *b, const kk_inertia *I) {
    // J's frame in B's
    const kk_transform X_BJ = kk_transform_inverse(b->offset);
    const kk_vec3 n = kk_mat3_mul_vec(X_BJ.R, b->joint.axis);
    const double length = kk_vec3_norm(n);
    if (!(length > 0)) {
        return 1;
    }
    const kk_vec3 unit = kk_vec3_scale(n, 1 / length), arm = kk_vec3_cross(kk_vec3_sub(I->com, X_BJ.p), unit);
    return kk_vec3_dot(unit, kk_sym3_mul_vec(I->moment, unit)) + I->mass * kk_vec3_dot(arm, arm);
}

static double trace(kk_sym3 I) {
    return I.xx + I.yy + I.zz;
}

/// Nothing resists the joint, in any pose. (Rarer cases, such as two coaxial joints around a massless link, are told by
/// the model's compilation.)
static bool is_weak(const kk_spec *s, const load *l, int body) {
    const kk_body_def *b = &s->body[body];
    const kk_inertia *I = &l[body].group;
    const double armature = b->joint.dof[0].armature + b->joint.dof[0].rotor_inertia;
    switch (b->joint.type) {
    case KK_JOINT_FIXED: return false;
    case KK_JOINT_SLIDE: return l[body].mass_behind == 0 && armature == 0;
    case KK_JOINT_HINGE:
    case KK_JOINT_SCREW:
        return armature == 0 && (l[body].mass_behind == 0 ||
                                 (l[body].is_end && !(moment_about_axis(b, I) > 1e-14 * (trace(I->moment) + I->mass))));
    case KK_JOINT_FREE:
        // what moves on a base with mass and no moments leaves it free to turn about the axis of a joint
        return l[body].mass_behind == 0 || (I->mass == 0 && l[body].movers <= 1) ||
               (I->mass > 0 && !(trace(I->moment) > 1e-14 * I->mass));
    default: return l[body].mass_behind == 0 || (l[body].is_end && trace(I->moment) == 0);
    }
}

static kk_inertia tiny_ball(double mass) {
    return kk_inertia_solid_sphere(mass, TINY_RADIUS);
}

static void strengthen(kki_urdf *u, int body, double mass) {
    kk_body_def *b = &u->spec->body[body];
    const bool is_root = b->parent == KK_WORLD && b->joint.type == KK_JOINT_FREE;
    b->inertia = add_inertia(b->inertia, tiny_ball(mass));
    kki_finding finding = {.severity = KKI_REPAIRED_WARNING,
                           .file = b->origin.file,
                           .line = b->origin.line,
                           .column = b->origin.column,
                           .remedy = is_root
                                         ? "give it an <inertial>, or hold the robot: call this link world, or load it "
                                           "with a fixed base (--base fixed)"
                                         : "give it an <inertial>, or make its joint fixed"};
    char text[256];
    kki_print(text, sizeof text,
              "link '%s' moves, but has no inertia about its joint; it gets a millionth of the robot's mass",
              kki_shorten_string(b->name).text);
    finding.text = text;
    kki_diagnostics_add(u->loader->diagnostics, &finding);
}

/// A free base that the options fix, later in standing.c: it moves no more than the world.
static bool will_be_held(const kki_urdf *u, int body) {
    const kk_body_def *b = &u->spec->body[body];
    return u->loader->options->base == KK_BASE_FIXED && b->parent == KK_WORLD && b->joint.type == KK_JOINT_FREE;
}

kk_status kki_urdf_repair(kki_urdf *u) {
    kk_spec *s = u->spec;
    if (u->loader->diagnostics->has_error) {
        return KK_OK;
    }
    load *l = kki_allocate_array(&u->loader->allocator, (size_t)s->nbody, sizeof *l);
    if (!l) {
        return kki_urdf_no_memory(u);
    }
    gather(s, l);
    // a robot without any mass counts as 1 kg
    const double mass = TINY_SHARE * (l[KK_WORLD].mass_behind > 0 ? l[KK_WORLD].mass_behind : 1);
    for (int i = 1; i < s->nbody; i++) {
        if (!will_be_held(u, i) && is_weak(s, l, i)) {
            strengthen(u, i, mass);
        }
    }
    kki_release_array(&u->loader->allocator, l, (size_t)s->nbody, sizeof *l);
    return KK_OK;
}
