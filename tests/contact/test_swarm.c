// The swarm: its kernels against each other bit by bit, its proof against plain loops over points, and a body on the ground in closed form.
#include "contact/cones.h"
#include "contact/swarm.h"
#include "harness.h"

#include <karakuri/math.h>
#include <karakuri/random.h>
#include <string.h>

enum { BODIES = 12, BUNDLES = 6, BLOCKS = BUNDLES * 4, NUMBERS = KKI_SWARM_BODY * (BODIES + 1) };

typedef struct flock {
    _Alignas(64) double velocity[NUMBERS], wrench[NUMBERS], before[NUMBERS], free[NUMBERS], inverse[NUMBERS];
    kki_swarm_proof proof[BUNDLES];
    kki_swarm_ball ball[BUNDLES];
    kki_swarm_end end[BLOCKS];
    kki_swarm_bundle bundle[BUNDLES];
    kki_swarm_point point[BLOCKS];
    kki_swarm_point world[BLOCKS]; ///< as they were made: arms in world axes
    kki_swarm s;
    int sweeps;
    kki_swarm_batch batch;
    kki_swarm_chunk chunk;
    uint8_t is_ball[BUNDLES];
} flock;

static void link_up(flock *f, const kki_swarm_kernels *kernels) {
    f->s.kernels = kernels;
    f->s.batch = &f->batch;
    f->s.chunk = &f->chunk;
    f->s.bundle = f->bundle;
    f->s.is_ball = f->is_ball;
    f->s.ball = f->ball;
    f->s.point = f->point;
    f->s.end = f->end;
    f->s.proof = f->proof;
    f->s.velocity = f->velocity;
    f->s.wrench = f->wrench;
    f->s.before = f->before;
    f->s.free = f->free;
    f->s.inverse = f->inverse;
}

static double draw(kk_random *r, double size) {
    return kk_random_next_between(r, -size, size);
}

/// Bodies of a kilogram or so that fall; their moments are full matrices, or those of balls.
static void make_bodies(flock *f, kk_random *r, int round) {
    f->s.nbody = f->batch.body_end = BODIES;
    for (int i = 0; i < BODIES; i++) {
        double *k = f->inverse + KKI_SWARM_BODY * i;
        k[0] = kk_random_next_between(r, 0.5, 2);
        for (int c = 1; c < 4; c++) {
            k[c] = kk_random_next_between(r, 300, 600);
            k[3 + c] = round ? 0 : draw(r, 60);
            k[c] = round ? k[1] : k[c];
        }
        k[7] = round;
        for (int c = 0; c < 7; c++) {
            f->before[KKI_SWARM_BODY * i + c] = c == 3 ? 0 : draw(r, 0.3);
            f->free[KKI_SWARM_BODY * i + c] = f->before[KKI_SWARM_BODY * i + c] - (c == 2 ? 0.0981 : 0);
        }
    }
}

/// One number after the other: in a list of arguments their order would be the compiler's.
static kk_vec3 draw3(kk_random *r, double size) {
    const double x = draw(r, size), y = draw(r, size), z = draw(r, size);
    return kk_vec3_make(x, y, z);
}

static void put(double to[3][KKI_SWARM_LANES], int lane, kk_vec3 a) {
    to[0][lane] = a.x;
    to[1][lane] = a.y;
    to[2][lane] = a.z;
}

static kk_vec3 take(const double from[3][KKI_SWARM_LANES], int lane) {
    return kk_vec3_make(from[0][lane], from[1][lane], from[2][lane]);
}

static kk_vec3 unit(kk_vec3 a) {
    return kk_vec3_scale(a, 1 / kk_vec3_norm(a));
}

static void make_axes(kki_swarm_bundle *b, int lane, kk_random *r) {
    const kk_vec3 n = unit(kk_vec3_add(draw3(r, 1), kk_vec3_make(0, 0, 2)));
    const kk_vec3 t = unit(kk_vec3_cross(n, kk_vec3_make(1, 0, 0)));
    put(b->axis[0], lane, n);
    put(b->axis[1], lane, t);
    put(b->axis[2], lane, kk_vec3_cross(n, t));
}

/// Two colors of two bundles with the world below, and one of bodies between each other; lanes have one to four points, one bundle
/// has a single one, and the last lane none.
static flock make_flock(unsigned seed, const kki_swarm_kernels *kernels) {
    flock f;
    memset(&f, 0, sizeof f);
    kk_random r = {.seed = seed};
    make_bodies(&f, &r, seed % 3 == 0);
    f.chunk.colors = 3;
    f.batch.chunk_end = 1;
    f.batch.bundle_end = BUNDLES;
    for (int i = 0; i < BUNDLES; i++) {
        kki_swarm_bundle *b = &f.bundle[i];
        const int color = i / 2, pair = color == 2, most = i == 2 ? 1 : 4;
        f.chunk.start[color + 1] = i + 1;
        b->first = 4 * i;
        b->points = most;
        for (int l = 0; l < KKI_SWARM_LANES; l++) {
            const int lane = KKI_SWARM_LANES * (i % 2) + l, is_empty = i == 1 && l == 3;
            b->count[l] = is_empty ? 0 : 4 - l < most ? 4 - l : most;
            b->contact[l] = is_empty ? -1 : 16 * i + 4 * l;
            b->friction[l] = is_empty ? 0 : 0.5;
            b->at[0][l] = KKI_SWARM_BODY * (pair && lane < BODIES / 2 ? lane + BODIES / 2 : BODIES);
            b->at[1][l] =
                KKI_SWARM_BODY * (is_empty || (pair && lane >= BODIES / 2) ? BODIES : lane + 4 * (color == 1));
            make_axes(b, l, &r);
            for (int k = 0; k < b->count[l]; k++) {
                put(f.point[b->first + k].arm[0], l, draw3(&r, 0.05));
                put(f.point[b->first + k].arm[1], l, draw3(&r, 0.05));
                f.point[b->first + k].g[0][l] = k == 3 ? 0.02 : 0;
                f.end[b->first + k].rate[l] = k == 0 ? -0.1 : 0.1;
            }
        }
    }
    f.s.count = BUNDLES;
    f.s.nbatch = 1;
    f.batch.points = BLOCKS * KKI_SWARM_LANES;
    memcpy(f.world, f.point, sizeof f.point);
    link_up(&f, kernels);
    return f;
}

static void solve_one(void *context, const kki_swarm_batch *batch, const kk_workers *workers) {
    flock *f = context;
    kki_swarm_run(&f->s, batch, workers, f->sweeps, &(kki_swarm_visits){0}, NULL);
}

static void solve(flock *f, int sweeps) {
    f->sweeps = sweeps;
    kki_swarm_each(&f->s, solve_one, f);
}

static bool repair(flock *f) {
    for (int i = 0; i < BUNDLES; i++) {
        f->s.kernels->repose(&f->s, i, 1);
    }
    return kki_swarm_repair(&f->s, &f->batch, NULL, 4);
}

static void check_kernels(unsigned seed) {
    flock plain = make_flock(seed, kki_swarm_kernels_at(0)), fast = make_flock(seed, kki_swarm_kernels_best());
    flock *const both[] = {&plain, &fast};
    for (int k = 0; k < 2; k++) {
        link_up(both[k], k ? kki_swarm_kernels_best() : kki_swarm_kernels_at(0));
        solve(both[k], 10);
    }
    KK_CHECK(memcmp(plain.point, fast.point, sizeof plain.point) == 0);
    KK_CHECK(memcmp(plain.end, fast.end, sizeof plain.end) == 0);
    KK_CHECK(memcmp(plain.proof, fast.proof, sizeof plain.proof) == 0);
    KK_CHECK(memcmp(plain.velocity, fast.velocity, sizeof plain.velocity) == 0);
    for (int k = 0; k < 2; k++) {
        KK_CHECK(repair(both[k]));
    }
    KK_CHECK(memcmp(plain.velocity, fast.velocity, sizeof plain.velocity) == 0);
}

KK_TEST(swarm_kernels_give_the_same_bits) {
    check_kernels(3); // of balls
    check_kernels(4);
}

/// What the first face of each bundle does to its bodies, with all others at rest on rough ground or sliding on ice.
static flock solve_beside(unsigned seed, const kki_swarm_kernels *kernels, double others) {
    flock f = make_flock(seed, kernels);
    for (int k = 0; k < BUNDLES; k++) {
        for (int l = 0; l < KKI_SWARM_LANES; l++) {
            f.bundle[k].friction[l] = l == 0 ? 10 : others;
        }
    }
    f.chunk.colors = 1;
    return f;
}

// what a face does must not depend on which others are beside it
KK_TEST(swarm_lanes_know_nothing_of_each_other) {
    for (unsigned seed = 1; seed < 30; seed++) {
        const kki_swarm_kernels *kernels = kki_swarm_kernels_best();
        flock f = solve_beside(seed, kernels, 10), g = solve_beside(seed, kernels, 0.01);
        link_up(&f, kernels);
        link_up(&g, kernels);
        solve(&f, 10);
        solve(&g, 10);
        KK_CHECK(memcmp(f.velocity, g.velocity, sizeof(double) * KKI_SWARM_BODY) == 0);
    }
}

// ---- balls

/// One point a face, on the normal through both centers: as any other point, and as balls.
static flock make_balls(unsigned seed, bool as_balls, const kki_swarm_kernels *kernels) {
    flock f = make_flock(3 * seed, kernels); // round
    for (int i = 0; i < BUNDLES; i++) {
        kki_swarm_bundle *b = &f.bundle[i];
        kki_swarm_ball *to = &f.ball[i];
        b->points = 1;
        f.is_ball[i] = as_balls;
        memcpy(to->at, b->at, sizeof to->at);
        memcpy(to->normal, b->axis[0], sizeof to->normal);
        memcpy(to->friction, b->friction, sizeof to->friction);
        for (int l = 0; l < KKI_SWARM_LANES; l++) {
            const kk_vec3 n = take(b->axis[0], l);
            b->count[l] = b->count[l] > 0;
            to->arm[0][l] = 0.05;
            to->arm[1][l] = -0.04;
            to->g[l] = 0.001 * l;
            put(f.point[b->first].arm[0], l, kk_vec3_scale(n, to->arm[0][l]));
            put(f.point[b->first].arm[1], l, kk_vec3_scale(n, to->arm[1][l]));
            put(f.point[b->first].g, l, kk_vec3_make(to->g[l], 0, 0));
            put(f.point[b->first].lambda, l, kk_vec3_make(0.01, 0.001, 0));
            put(to->lambda, l, kk_vec3_add(kk_vec3_scale(n, 0.01), kk_vec3_scale(take(b->axis[1], l), 0.001)));
        }
    }
    return f;
}

static kk_vec3 total_of(const flock *f, int bundle, int lane) {
    const kki_swarm_bundle *b = &f->bundle[bundle];
    const kk_vec3 l = take(f->is_ball[bundle] ? f->ball[bundle].total : f->point[b->first].total, lane);
    if (f->is_ball[bundle]) {
        return l;
    }
    return kk_vec3_add(
        kk_vec3_scale(take(b->axis[0], lane), l.x),
        kk_vec3_add(kk_vec3_scale(take(b->axis[1], lane), l.y), kk_vec3_scale(take(b->axis[2], lane), l.z)));
}

static void check_balls(const flock *x, const flock *y) {
    for (int i = 0; i < BUNDLES; i++) {
        for (int l = 0; l < KKI_SWARM_LANES && x->bundle[i].count[l]; l++) {
            KK_CHECK(kk_vec3_norm(kk_vec3_sub(total_of(x, i, l), total_of(y, i, l))) < 1e-12);
        }
        KK_CHECK_NEAR(x->proof[i].residual, y->proof[i].residual, 1e-12);
        KK_CHECK_NEAR(x->proof[i].signorini, y->proof[i].signorini, 1e-12);
        KK_CHECK_NEAR(x->proof[i].turned, y->proof[i].turned, 1e-6);
        KK_CHECK(x->proof[i].fastest > 0 && y->proof[i].fastest > 0);
    }
    for (int i = 0; i < NUMBERS; i++) {
        KK_CHECK_NEAR(x->velocity[i], y->velocity[i], 1e-10);
    }
}

// sliding, sticking and open ones, and the repair of their overlap
KK_TEST(swarm_balls_move_as_points_do) {
    for (unsigned seed = 1; seed < 10; seed++) {
        flock balls = make_balls(seed, true, kki_swarm_kernels_best()),
              points = make_balls(seed, false, kki_swarm_kernels_best());
        link_up(&balls, kki_swarm_kernels_best());
        link_up(&points, kki_swarm_kernels_best());
        solve(&balls, 10);
        solve(&points, 10);
        check_balls(&balls, &points);
        KK_CHECK(repair(&balls) && repair(&points));
        for (int i = 0; i < NUMBERS; i++) {
            KK_CHECK_NEAR(balls.velocity[i], points.velocity[i], 1e-10);
        }
    }
}

KK_TEST(swarm_balls_have_the_same_bits_by_all_kernels) {
    flock plain = make_balls(2, true, kki_swarm_kernels_at(0)), fast = make_balls(2, true, kki_swarm_kernels_best());
    link_up(&plain, kki_swarm_kernels_at(0));
    link_up(&fast, kki_swarm_kernels_best());
    solve(&plain, 10);
    solve(&fast, 10);
    KK_CHECK(memcmp(plain.ball, fast.ball, sizeof plain.ball) == 0);
    KK_CHECK(memcmp(plain.proof, fast.proof, sizeof plain.proof) == 0);
    KK_CHECK(memcmp(plain.velocity, fast.velocity, sizeof plain.velocity) == 0);
}

// ---- the proof, by plain loops

static kk_vec3 turned_by(const double *k, kk_vec3 n) {
    return kk_vec3_make(k[1] * n.x + k[4] * n.y + k[5] * n.z, k[4] * n.x + k[2] * n.y + k[6] * n.z,
                        k[5] * n.x + k[6] * n.y + k[3] * n.z);
}

/// Velocities of `total`, point by point from the free ones.
static void velocities_of(const flock *f, double z[NUMBERS]) {
    memcpy(z, f->free, sizeof f->free);
    for (int i = 0; i < BUNDLES; i++) {
        const kki_swarm_bundle *b = &f->bundle[i];
        for (int l = 0; l < KKI_SWARM_LANES; l++) {
            for (int k = 0; k < b->count[l]; k++) {
                const kki_swarm_point *p = &f->point[b->first + k];
                kk_vec3 F = kk_vec3_make(0, 0, 0);
                for (int r = 0; r < 3; r++) {
                    F = kk_vec3_add(F, kk_vec3_scale(take(b->axis[r], l), p->total[r][l]));
                }
                for (int side = 0; side < 2; side++) {
                    const double *inverse = f->inverse + b->at[side][l], sign = side ? 1 : -1;
                    double *v = z + b->at[side][l];
                    const kk_vec3 w = turned_by(inverse, kk_vec3_cross(take(f->world[b->first + k].arm[side], l), F));
                    v[0] += sign * inverse[0] * F.x;
                    v[1] += sign * inverse[0] * F.y;
                    v[2] += sign * inverse[0] * F.z;
                    v[4] += sign * w.x;
                    v[5] += sign * w.y;
                    v[6] += sign * w.z;
                }
            }
        }
    }
}

static kk_vec3 velocity_at(const double *v, kk_vec3 arm) {
    return kk_vec3_add(kk_vec3_make(v[0], v[1], v[2]), kk_vec3_cross(kk_vec3_make(v[4], v[5], v[6]), arm));
}

/// Of a point of a bundle in lane l, squared. @param z  velocities
static double residual_at(const flock *f, const double *z, const kki_swarm_bundle *b, int l, int point) {
    const kki_swarm_point *p = &f->point[point], *world = &f->world[point];
    const kk_vec3 v = kk_vec3_sub(velocity_at(z + b->at[1][l], take(world->arm[1], l)),
                                  velocity_at(z + b->at[0][l], take(world->arm[0], l)));
    double u[3], scale = 0;
    for (int r = 0; r < 3; r++) {
        const kk_vec3 d = take(b->axis[r], l);
        double own = 0;
        for (int side = 0; side < 2; side++) {
            const double *inverse = f->inverse + b->at[side][l];
            const kk_vec3 x = kk_vec3_cross(take(world->arm[side], l), d);
            own += inverse[0] + kk_vec3_dot(x, turned_by(inverse, x));
        }
        scale = own > scale ? own : scale;
        u[r] = kk_vec3_dot(d, v) + p->g[r][l];
    }
    const double l3[3] = {p->total[0][l], p->total[1][l], p->total[2][l]};
    return kki_contact_map_squared(b->friction[l], scale, l3, u);
}

/// The largest residual of all points that there are.
static double residual_of(const flock *f) {
    double z[NUMBERS], worst = 0;
    velocities_of(f, z);
    for (int i = 0; i < BUNDLES; i++) {
        const kki_swarm_bundle *b = &f->bundle[i];
        for (int l = 0; l < KKI_SWARM_LANES; l++) {
            for (int k = 0; k < b->count[l]; k++) {
                const double r = residual_at(f, z, b, l, b->first + k);
                worst = r > worst ? r : worst;
            }
        }
    }
    return kk_sqrt(worst);
}

static double proved_residual(const flock *f) {
    double worst = 0;
    for (int i = 0; i < BUNDLES; i++) {
        worst = f->proof[i].residual > worst ? f->proof[i].residual : worst;
    }
    return kk_sqrt(worst);
}

KK_TEST(swarm_proof_is_that_of_plain_loops) {
    for (unsigned seed = 1; seed < 20; seed++) {
        flock f = make_flock(seed, kki_swarm_kernels_best());
        link_up(&f, kki_swarm_kernels_best());
        solve(&f, 3);
        const double plain = residual_of(&f);
        KK_CHECK(plain > 1e-6); // three sweeps leave something to see
        KK_CHECK_NEAR(proved_residual(&f), plain, 1e-12);
    }
}

/// Residual of bodies that fall from rest on to what they touch, in n shares of the step.
static double residual_from_rest(flock *f, int n) {
    memset(f->before, 0, sizeof f->before);
    memset(f->free, 0, sizeof f->free);
    for (int i = 0; i < BODIES; i++) {
        f->free[KKI_SWARM_BODY * i + 2] = -0.0981;
    }
    for (int i = 0; i < BLOCKS; i++) {
        memset(f->point[i].g, 0, sizeof f->point[i].g);
    }
    solve(f, n);
    return proved_residual(f);
}

// what starts from rest slides one way only, so the shares of a step add up to what the whole step has; how it begins counts for less the more there are
KK_TEST(swarm_sweeps_converge) {
    for (unsigned seed = 1; seed < 7; seed++) {
        flock few = make_flock(seed, kki_swarm_kernels_best()), many = few;
        link_up(&few, kki_swarm_kernels_best());
        link_up(&many, kki_swarm_kernels_best());
        const double some = residual_from_rest(&few, 100), less = residual_from_rest(&many, 6400);
        KK_CHECK(some < 1e-2);
        KK_CHECK(less < 0.3 * some);
        for (int i = 0; i < BUNDLES; i++) {
            KK_CHECK(many.proof[i].cone < 1e-12);
        }
    }
}

// points that a lane does not have do nothing, whatever the bodies do
KK_TEST(swarm_lanes_have_no_points_but_their_own) {
    flock f = make_flock(5, kki_swarm_kernels_best());
    link_up(&f, kki_swarm_kernels_best());
    solve(&f, 10);
    for (int i = 0; i < BUNDLES; i++) {
        for (int l = 0; l < KKI_SWARM_LANES; l++) {
            for (int k = f.bundle[i].count[l]; k < f.bundle[i].points; k++) {
                const kki_swarm_point *p = &f.point[f.bundle[i].first + k];
                KK_CHECK(p->total[0][l] == 0 && p->total[1][l] == 0 && p->total[2][l] == 0);
            }
        }
    }
}
