/// The simulator: room for everything a step needs, made once.
#include "simulate/simulator.h"
#include "simulate/tendons.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "contact/dense_kernels.h"
#include "dynamics/diagonals.h"
#include "model/warm.h"
#include "simulate/implicit.h"
#include "simulate/paper.h"

/// Islands of more rows than this are solved without forming G.
enum { MOST_DENSE_ROWS = 256 };
/// Room that a new simulator begins with, unless options or model say otherwise.
enum { FIRST_CONTACTS = 64, FIRST_DENSE_ROWS = 192, FIRST_NEAR = 256, FIRST_MANIFOLDS = 16, FIRST_BUNDLES = 64 };

// ---- options

static kk_status check_number(const char *what, double x, kk_error *error) {
    if (!(x >= 0) || !__builtin_isfinite(x)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "the option %s must be a number from 0 on", what);
    }
    return KK_OK;
}

static kk_status check_options(const kk_step_options *o, kk_error *error) {
    kk_status status = check_number("timestep", o->timestep, error);
    status = status ? status : check_number("tolerance", o->tolerance, error);
    status = status ? status : check_number("restitution_speed", o->restitution_speed, error);
    status = status ? status : check_number("correction", o->correction, error);
    status = status ? status : check_number("spring_stiffness", o->spring_stiffness, error);
    status = status ? status : check_number("spring_damping", o->spring_damping, error);
    status = status ? status : check_number("spring_depth", o->spring_depth, error);
    if (status == KK_OK && !kk_solver_name(o->solver)[0]) {
        status = kki_error_set(error, KK_INVALID_ARGUMENT, "the option solver is %d, which is none of kk_solver",
                               (int)o->solver);
    }
    if (status == KK_OK && (o->max_sweeps < 0 || o->max_newton < 0 || o->budget < 0)) {
        status = kki_error_set(error, KK_INVALID_ARGUMENT,
                               "the options max_sweeps, max_newton and budget must not be negative");
    }
    if (status == KK_OK && (unsigned)o->restitution_law > KK_RESTITUTION_POISSON) {
        status =
            kki_error_set(error, KK_INVALID_ARGUMENT, "the option restitution_law must be one of kk_restitution_law");
    }
    return status;
}

const char *kk_solver_name(kk_solver solver) {
    static const char *const names[] = {"exact", "openhrp", "springhead", "kuroda"};
    return (unsigned)solver < sizeof names / sizeof *names ? names[solver] : "";
}

static int worker_count(const kk_step_options *o) {
    return o && o->workers.run && o->workers.count > 1 ? o->workers.count : 1;
}

static double or_default(double x, double value) {
    return x > 0 ? x : value;
}

static kk_step_options filled(const kk_model *m, kk_step_options o) {
    o.timestep = or_default(o.timestep, m->options.timestep);
    o.tolerance = or_default(o.tolerance, 1e-9);
    o.restitution_speed = or_default(o.restitution_speed, 0.01);
    o.correction = or_default(o.correction, 0.01);
    return o;
}

kk_status kk_simulator_set_options(kk_simulator *simulator, const kk_step_options *options, kk_error *error) {
    static const kk_step_options defaults = {0};
    const kk_step_options *o = options ? options : &defaults;
    kk_status status = check_options(o, error);
    if (status == KK_OK && kki_paper_of(o->solver) != simulator->paper) {
        status = kki_error_set(error, KK_INVALID_ARGUMENT, "a simulator keeps its solver; make another one for \"%s\"",
                               kk_solver_name(o->solver));
    }
    if (status == KK_OK && worker_count(o) > simulator->nworker) {
        status = kki_error_set(error, KK_INVALID_ARGUMENT, "the simulator was made for %d workers, not %d",
                               (int)simulator->nworker, worker_count(o));
    }
    if (status == KK_OK) {
        simulator->options = filled(simulator->model, *o);
        kki_tendons_choose(simulator->model, simulator);
        simulator->still.is_known = 0;
    }
    return status;
}

// ---- room

static int count_friction(const kk_model *m) {
    int n = 0;
    for (int k = 0; k < m->nv; k++) {
        n += m->dof[k].friction > 0;
    }
    return n;
}

static int count_limits(const kk_model *m) {
    int n = 0;
    for (int k = 0; k < m->nv; k++) {
        n += (m->dof[k].lower > -__builtin_inf()) + (m->dof[k].upper < __builtin_inf());
    }
    return n;
}

static int has_springs(const kk_model *m) {
    int any = 0;
    for (int k = 0; k < m->nv; k++) {
        any |= m->dof[k].stiffness != 0 || m->dof[k].damping != 0;
    }
    for (int i = 0; i < m->ntendon; i++) {
        const kki_model_tendon *t = &m->tendon[i];
        const int is_bounded = t->friction > 0 || t->lower > -__builtin_inf() || t->upper < __builtin_inf();
        any |= t->stiffness != 0 || t->damping != 0 || t->armature > 0 || (is_bounded && m->ntree > 2); // soft_bounds
    }
    return any;
}

static int has_stiffness(const kk_model *m) {
    int any = 0;
    for (int k = 0; k < m->nv; k++) {
        any |= m->dof[k].stiffness != 0;
    }
    return any;
}

int kki_has_transmission(const kk_model *m, kk_transmission transmission) {
    int any = 0;
    for (int i = 0; i < m->nactuator; i++) {
        any |= m->actuator[i].transmission == transmission;
    }
    return any;
}

int kki_has_history(const kk_model *m) {
    int any = 0;
    for (int i = 0; i < m->nactuator; i++) {
        any |= m->actuator[i].history_index >= 0;
    }
    return any;
}

static int has_only_motors(const kk_model *m) {
    int all = 1;
    for (int i = 0; i < m->nactuator; i++) {
        all &= m->actuator[i].is_motor;
    }
    return all;
}

/// Servos of joints with a limit of force: each may become a row.
static int count_motors(const kk_model *m) {
    int n = 0;
    for (int i = 0; i < m->nactuator; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        const int is_limited = a->force_lower > -__builtin_inf() || a->force_upper < __builtin_inf();
        n += a->transmission == KK_TRANSMISSION_JOINT && is_limited;
    }
    return n;
}

/// What the dense solver must hold: in models of many trees all but small islands, and those of few trees, are wide.
static kki_solver_size dense_size(const kk_model *m, const kk_simulator *s) {
    const int rows = s->room.dense_rows;
    kki_solver_size size = {.rows = rows, .blocks = rows, .nv = s->wide.width > 0 ? s->wide.handed : m->nv};
    size.dense = size.nv > KKI_ROBOT_ROWS ? size.nv : KKI_ROBOT_ROWS; // more rows than that are worked with as Yᵀ Y
    return size;
}

/// Papers have no wide islands.
static void measure_trees(const kk_model *m, kk_simulator *s) {
    for (int t = 0; m->ntree >= KKI_WIDE_TREES && !s->paper && t < m->ntree; t++) {
        const int width = kki_round8(m->tree_first_dof[t + 1] - m->tree_first_dof[t]);
        s->wide.width += width;
        s->wide.widest = width > s->wide.widest ? width : s->wide.widest;
    }
    const int64_t few = (int64_t)(KKI_WIDE_ROWS + 1) * s->wide.widest;
    s->wide.handed = few < s->wide.width ? (int32_t)few : s->wide.width;
}

/// Constraints that are there without any contact, but for loops.
static int count_single(const kk_model *m, const kk_simulator *s) {
    return count_friction(m) + count_limits(m) + m->ncoupling + count_motors(m) + 5 * m->ntendon + s->paper_rows;
}

/// Room to begin with.
static kki_room first_room(const kk_model *m, const kk_simulator *s) {
    const int64_t pairs = (int64_t)m->ncollider * (m->ncollider - 1) / 2,
                  held = count_single(m, s) + 6 * (int64_t)m->nloop;
    const int asked = m->options.max_contacts, few = asked ? asked : FIRST_CONTACTS;
    const int rows = KKI_MOST_ROWS * (few < FIRST_CONTACTS ? few : FIRST_CONTACTS) +
                     (held < FIRST_DENSE_ROWS ? (int)held : FIRST_DENSE_ROWS);
    const int touches = kki_can_touch(m);
    return (kki_room){.near = m->has_pairs || !touches ? 0
                              : pairs < FIRST_NEAR     ? (int)pairs
                                                       : FIRST_NEAR,
                      .contacts = touches ? few : 0,
                      .manifolds = touches ? FIRST_MANIFOLDS : 0,
                      .held = !touches               ? 0
                              : few < FIRST_CONTACTS ? few
                                                     : FIRST_CONTACTS,
                      .swarm_bundles = touches && s->wide.width > 0 ? FIRST_BUNDLES : 0,
                      .swarm_blocks = touches && s->wide.width > 0 ? FIRST_BUNDLES : 0,
                      .dense_rows = rows < FIRST_DENSE_ROWS ? rows : FIRST_DENSE_ROWS};
}

void kki_simulator_count_room(const kk_model *m, kk_simulator *s) {
    const kki_room *room = &s->room;
    const int single = s->most_single, loops = m->nloop, a_contact = s->has_plain_contacts ? 3 : KKI_MOST_ROWS;
    const int constraints = room->held + single + loops;
    s->max_contacts = s->max_touching = room->contacts;
    s->max_constraints = constraints;
    s->max_rows =
        a_contact * room->held + KKI_MOST_ROWS * loops + single + 4 * (m->ntree < constraints ? m->ntree : constraints);
    s->max_blocks = (s->has_plain_contacts ? 1 : 3) * room->held + KKI_MOST_BLOCKS * loops + single;
    s->max_parts = a_contact * room->held + KKI_MOST_ROWS * loops + 2 * single + kki_tendon_part_count(m);
    s->loose.room = s->wide.width > 0 ? room->contacts : 0;
    s->loose.bundle_room = room->swarm_bundles;
    s->loose.block_room = room->swarm_blocks;
}

static void count(const kk_model *m, kk_simulator *s) {
    s->paper_rows = s->paper ? m->nv + m->nactuator : 0;
    s->layout = kki_warm_layout_of(m);
    s->has_springs = has_springs(m);
    s->has_stiffness = has_stiffness(m);
    s->motors.count = has_only_motors(m) ? m->nactuator : 0;
    s->has_plain_contacts = kki_has_plain_contacts(m);
    s->has_dry = count_friction(m) > 0 && m->options.integrator != KK_INTEGRATOR_RK4;
    s->has_spatial = kki_has_spatial_tendons(m) || kki_has_transmission(m, KK_TRANSMISSION_CRANK);
    s->has_history = kki_has_history(m);
    s->is_crowd = kki_is_crowd(m) && m->nactuator == 0 && count_friction(m) == 0 && !s->paper;
    s->most_single = count_single(m, s);
    measure_trees(m, s);
    s->room = first_room(m, s);
}

static void place_wide(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    const size_t trees = s->wide.width > 0 ? (size_t)m->ntree : 0;
    const size_t bodies = (size_t)s->room.wide_bodies, ties = (size_t)s->room.wide_ties;
    KKI_LAYOUT_ARRAY(layout, s->wide.Y, 2 * (size_t)s->room.wide_rows * (size_t)s->wide.widest);
    KKI_LAYOUT_ARRAY(layout, s->wide.tie, ties);
    KKI_LAYOUT_ARRAY(layout, s->wide.is_built, ties);
    KKI_LAYOUT_ARRAY(layout, s->wide.first, bodies + 1);
    KKI_LAYOUT_ARRAY(layout, s->wide.nv, bodies);
    KKI_LAYOUT_ARRAY(layout, s->wide.body_of_tree, trees);
    KKI_LAYOUT_ARRAY(layout, s->wide.unit, 48 * bodies);
    KKI_LAYOUT_ARRAY(layout, s->wide.climbed, 4 * (size_t)s->wide.widest);
}

/// What acted in the last step, of repeat.c.
static void place_acting(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    KKI_LAYOUT_ARRAY(layout, s->still.acting[0], (size_t)m->nactuator);
    KKI_LAYOUT_ARRAY(layout, s->still.acting[1], (size_t)m->nv);
    KKI_LAYOUT_ARRAY(layout, s->still.acting[2], 6 * (size_t)m->nbody);
}

/// What workers find, island by island and pair by pair.
static void place_workers(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers
    KKI_LAYOUT_ARRAY(layout, s->mate, (size_t)s->nworker - 1);
    const size_t met = s->nworker > 1 ? (size_t)(m->has_pairs ? m->npair : s->room.near) : 0;
    KKI_LAYOUT_ARRAY(layout, s->met, met);
    KKI_LAYOUT_ARRAY(layout, s->meetings, met / KKI_MEETINGS + 2);
}

/// What readers ask for (readout.c).
static void place_readings(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    const size_t padded = ((size_t)m->nv + 7) & ~(size_t)3;
    KKI_LAYOUT_ARRAY(layout, s->view_v, padded);
    KKI_LAYOUT_ARRAY(layout, s->view_a, padded);
    KKI_LAYOUT_ARRAY(layout, s->outside, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, s->body_force, (size_t)m->nbody);
    KKI_LAYOUT_ARRAY(layout, s->wrench, (size_t)m->nbody);
    KKI_LAYOUT_ARRAY(layout, s->drive, (size_t)m->nactuator);
    KKI_LAYOUT_ARRAY(layout, s->tendon, (size_t)m->ntendon);
    KKI_LAYOUT_ARRAY(layout, s->own.tendon, (size_t)m->ntendon);
}

static void place_motors(kki_layout *layout, kki_motors *x) {
    double **const numbers[] = {&x->gear,          &x->gain,        &x->control_lower,
                                &x->control_upper, &x->force_lower, &x->force_upper};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        KKI_LAYOUT_ARRAY(layout, *numbers[i], (size_t)x->count);
    }
    KKI_LAYOUT_ARRAY(layout, x->dof, (size_t)x->count);
}

/// What is there for each degree of freedom.
static void place_motion(kki_layout *layout, const kk_model *m, kk_simulator *s, size_t padded) {
    KKI_LAYOUT_ARRAY(layout, s->q, (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, s->v, padded);
    KKI_LAYOUT_ARRAY(layout, s->lag, (size_t)m->nlag);
    double **const vectors[] = {&s->tau,      &s->diagonal, &s->E,      &s->y,     &s->y_free,
                                &s->y_end,    &s->y_drift,  &s->dv,     &s->drift, &s->acceleration,
                                &s->servo,    &s->passive,  &s->v_kick, &s->slip,  &s->v_part,
                                &s->v_kicked, &s->v_bias,   &s->v_mean};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        KKI_LAYOUT_ARRAY(layout, *vectors[i], padded);
    }
    for (int i = 0; i < KK_FORCE_SOURCE_COUNT; i++) {
        KKI_LAYOUT_ARRAY(layout, s->force[i], padded);
    }
}

/// What touches, and what must not happen.
static void place_constraints(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    const size_t nv = (size_t)m->nv;
    KKI_LAYOUT_ARRAY(layout, s->X_WS, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, s->ball, 4 * (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, s->reach, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, s->placed, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, s->limited, s->is_crowd ? 0 : nv);
    KKI_LAYOUT_ARRAY(layout, s->branch, nv);
    KKI_LAYOUT_ARRAY(layout, s->tree_island, (size_t)m->ntree);
    KKI_LAYOUT_ARRAY(layout, s->tree_order, (size_t)m->ntree);
    KKI_LAYOUT_ARRAY(layout, s->tree_local, (size_t)m->ntree);
}

static void place(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    const size_t padded = ((size_t)m->nv + 7) & ~(size_t)3;
    place_motion(layout, m, s, padded);
    place_constraints(layout, m, s);
    double **const springs[] = {&s->stiffness, &s->damping, &s->rest, &s->mobility};
    for (size_t i = 0; i < sizeof springs / sizeof *springs; i++) {
        KKI_LAYOUT_ARRAY(layout, *springs[i], padded);
    }
    place_motors(layout, &s->motors);
    KKI_LAYOUT_ARRAY(layout, s->audited.q, s->is_crowd ? 0 : (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, s->audited.v, s->is_crowd ? 0 : (size_t)m->nv);
    KKI_LAYOUT_ARRAY(layout, s->q_part, (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, s->q_middle, (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, s->shut.q, (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, s->shut.v, (size_t)m->nv);
    place_readings(layout, m, s);
    KKI_LAYOUT_ARRAY(layout, s->loop_switch, (size_t)m->nloop);
    KKI_LAYOUT_ARRAY(layout, s->wanted, (size_t)m->nactuator);
    KKI_LAYOUT_ARRAY(layout, s->servo_mode, (size_t)m->nactuator);
    KKI_LAYOUT_ARRAY(layout, s->glide, (size_t)m->nv);
    KKI_LAYOUT_ARRAY(layout, s->is_ball, s->is_crowd ? (size_t)m->nnode : 0);
    KKI_LAYOUT_ARRAY(layout, s->fall, s->is_crowd ? (size_t)m->nnode : 0);
    KKI_LAYOUT_ARRAY(layout, s->kinetic, s->is_crowd ? (size_t)m->nnode : 0);
    KKI_LAYOUT_ARRAY(layout, s->in_flight, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, s->tie, (size_t)m->ntree);
    KKI_LAYOUT_ARRAY(layout, s->tree_energy, 2 * (size_t)m->ntree);
    KKI_LAYOUT_ARRAY(layout, s->konig, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, s->flight, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, s->warm, (size_t)s->layout.size);
    place_acting(layout, m, s);
    KKI_LAYOUT_ARRAY(layout, s->fault, (size_t)s->nworker);
    KKI_LAYOUT_ARRAY(layout, s->fault_island, (size_t)s->nworker);
    kki_loose_place(layout, m, s);
}

/// What room is counted for.
static void place_room(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    const size_t rows = (size_t)s->max_rows + 8;
    KKI_LAYOUT_ARRAY(layout, s->manifold, (size_t)s->room.manifolds);
    KKI_LAYOUT_ARRAY(layout, s->contact, (size_t)s->max_contacts);
    KKI_LAYOUT_ARRAY(layout, s->touching, (size_t)s->max_touching + 1);
    KKI_LAYOUT_ARRAY(layout, s->struck, (size_t)s->max_touching);
    KKI_LAYOUT_ARRAY(layout, s->constraint, (size_t)s->max_constraints);
    KKI_LAYOUT_ARRAY(layout, s->order, (size_t)s->max_constraints);
    KKI_LAYOUT_ARRAY(layout, s->part, (size_t)s->max_parts);
    KKI_LAYOUT_ARRAY(layout, s->block, (size_t)s->max_blocks);
    const size_t islands =
        (size_t)(m->ntree < s->max_constraints ? m->ntree : s->max_constraints); // each has a constraint
    KKI_LAYOUT_ARRAY(layout, s->island, islands);
    KKI_LAYOUT_ARRAY(layout, s->outcome, islands);
    double **const row_vectors[] = {&s->lambda, &s->u,  &s->g,       &s->compliance, &s->bias,   &s->lambda2, &s->kept,
                                    &s->u2,     &s->u0, &s->u_start, &s->u_end,      &s->travel, &s->total,   &s->gain};
    for (size_t i = 0; i < sizeof row_vectors / sizeof *row_vectors; i++) {
        KKI_LAYOUT_ARRAY(layout, *row_vectors[i], rows);
    }
    place_workers(layout, m, s);
    kki_loose_place_room(layout, s);
    kki_simulator_place_scratch(layout, m, s);
}

void kki_simulator_place_scratch(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    const size_t padded = ((size_t)m->nv + 7) & ~(size_t)3;
    const kki_solver_size largest = dense_size(m, s);
    const size_t island_rows = (size_t)largest.rows + 8, island_nv = ((size_t)largest.nv + 7) & ~(size_t)3;
    const size_t dense = island_rows < MOST_DENSE_ROWS ? island_rows : MOST_DENSE_ROWS;
    const int widest = s->wide.handed > s->room.wide_coordinates ? s->wide.handed : s->room.wide_coordinates;
    const size_t island = s->wide.width > 0 ? (size_t)widest + 16 : padded; // coordinates of any island
    KKI_LAYOUT_ARRAY(layout, s->verdict, (size_t)s->max_constraints);
    KKI_LAYOUT_ARRAY(layout, s->held, island_rows);
    KKI_LAYOUT_ARRAY(layout, s->waiting, (size_t)s->max_constraints);
    KKI_LAYOUT_ARRAY(layout, s->stopping, (size_t)s->max_constraints);
    KKI_LAYOUT_ARRAY(layout, s->A, 128 * 128);
    s->Y_room = island_nv * island_rows;
    KKI_LAYOUT_ARRAY(layout, s->rows.Y, s->Y_room);
    s->Y = s->rows.Y;
    KKI_LAYOUT_ARRAY(layout, s->G, dense * dense + 4); // pieces of rows are read in fours
    const size_t narrow = padded < KKI_NARROW_DOFS ? padded : KKI_NARROW_DOFS;
    KKI_LAYOUT_ARRAY(layout, s->narrow.Q, narrow * narrow);
    KKI_LAYOUT_ARRAY(layout, s->narrow.R, narrow * narrow);
    KKI_LAYOUT_ARRAY(layout, s->narrow.wrench, 6 * island_rows);
    KKI_LAYOUT_ARRAY(layout, s->support, 2 * padded);
    KKI_LAYOUT_ARRAY(layout, s->span, 2 * padded);
    KKI_LAYOUT_ARRAY(layout, s->touch, KKI_GRAM_ROWS / 4);
    for (size_t i = 0; i < sizeof s->local / sizeof *s->local; i++) {
        KKI_LAYOUT_ARRAY(layout, s->local[i], island);
    }
    place_wide(layout, m, s);
}

// ---- creation

static kk_status allocate(const kk_model *m, const kki_paper *paper, int workers, const kk_allocator *allocator,
                          kk_simulator **simulator) {
    kk_simulator header = {.nworker = workers,
                           .allocator = kki_allocator_or_default(allocator),
                           .paper = paper,
                           .model = m,
                           .model_hash = m->hash,
                           .made_for = m,
                           .made_for_hash = m->hash};
    count(m, &header);
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, m, &header);
    kk_simulator *s = kki_allocate_zeroed(&header.allocator, layout.size);
    if (!s) {
        return KK_OUT_OF_MEMORY;
    }
    header.size = layout.size;
    *s = header;
    layout = kki_layout_over(s);
    kki_layout_take(&layout, 1, sizeof *s);
    place(&layout, m, s);
    s->most_dense_rows = MOST_DENSE_ROWS;
    *simulator = s;
    return KK_OK;
}

kk_status kki_simulator_make_room(const kk_model *m, kk_simulator *s) {
    kki_simulator_count_room(m, s);
    kki_layout layout = kki_layout_over(NULL);
    place_room(&layout, m, s);
    s->room_bytes = layout.size;
    s->room_block = kki_allocate_zeroed(&s->allocator, layout.size);
    if (!s->room_block) {
        return KK_OUT_OF_MEMORY;
    }
    layout = kki_layout_over(s->room_block);
    place_room(&layout, m, s);
    const kk_status status = kki_simulator_make_solvers(m, s);
    return status ? status : kki_crew_create(m, s);
}

void kki_simulator_release_room(kk_simulator *s) {
    if (s->room_block) {
        kki_crew_free(s);
    }
    kki_solver_work_destroy(&s->solver);
    kki_sparse_work_destroy(&s->wide.solver);
    kki_release(&s->allocator, s->room_block, s->room_bytes);
    s->room_block = NULL;
}

static void fill_springs(const kk_model *m, kk_simulator *s) {
    for (int k = 0; k < m->nv; k++) {
        s->stiffness[k] = m->dof[k].stiffness;
        s->damping[k] = m->dof[k].damping;
        s->rest[k] = m->dof[k].rest;
    }
}

/// Joints with a force that answers their rate.
static void mark_implicit(const kk_model *m, double *is_asked) {
    for (int k = 0; k < m->nv; k++) {
        is_asked[k] = m->dof[k].stiffness != 0 || m->dof[k].damping != 0;
    }
    for (int i = 0; i < m->nactuator; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        if (a->transmission == KK_TRANSMISSION_JOINT && !a->is_motor) {
            is_asked[a->v_index] = 1;
        }
    }
}

/// What a force of its own does to each joint in the neutral place, of which the rule of springs asks; of the others nobody does. Papers have their own rule, all
/// of it at the step's end.
static kk_status fill_mobility(const kk_model *m, kk_simulator *s) {
    double *mobility = s->mobility, *inverse = s->E;
    mark_implicit(m, mobility);
    kk_status status = KK_OK;
    if (!s->paper) {
        status = kki_inertia_diagonals(m, s->data, s->data->neutral, &s->allocator, s->y, inverse);
        status = status == KK_SINGULAR ? KK_OK : status; // a step will say so
    }
    for (int k = 0; k < m->nv; k++) {
        const double own = kki_is_finite(inverse[k]) && inverse[k] > 0 ? inverse[k] : 0;
        mobility[k] = s->paper ? KKI_ANY_MOBILITY : mobility[k] == 0 ? 0 : own;
    }
    memset(s->E, 0, (size_t)m->nv * sizeof *s->E);
    memset(s->y, 0, (size_t)m->nv * sizeof *s->y);
    return status;
}

static void fill_motors(const kk_model *m, kki_motors *x) {
    for (int i = 0; i < x->count; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        x->dof[i] = a->v_index;
        x->gear[i] = a->gear;
        x->gain[i] = a->gain;
        x->control_lower[i] = a->control_lower;
        x->control_upper[i] = a->control_upper;
        x->force_lower[i] = a->force_lower;
        x->force_upper[i] = a->force_upper;
    }
}

static void fill_branches(const kk_model *m, kk_simulator *s) {
    for (int k = 0; k < m->nv; k++) {
        const int parent = m->dof_parent[k], at = k - m->tree_first_dof[m->node_tree[m->dof_node[k]]];
        s->branch[k] = (uint64_t)1 << (at & 63) | (parent >= 0 ? s->branch[parent] : 0);
    }
}

kki_constants kki_simulator_constants(const kk_simulator *s) {
    return (kki_constants){.has_springs = s->has_springs,
                           .has_stiffness = s->has_stiffness,
                           .has_dry = s->has_dry,
                           .is_crowd = s->is_crowd,
                           .single = count_single(s->model, s),
                           .nlimited = s->nlimited,
                           .limited = s->limited,
                           .motors = s->motors,
                           .stiffness = s->stiffness,
                           .damping = s->damping,
                           .rest = s->rest,
                           .mobility = s->mobility,
                           .konig = s->konig,
                           .tendon = s->own.tendon};
}

static void keep_constants(const kk_model *m, kk_simulator *s) {
    if (m->ntendon > 0) {
        memcpy(s->own.tendon, s->tendon, (size_t)m->ntendon * sizeof *s->tendon);
    }
    s->own = kki_simulator_constants(s);
}

static kk_status fill(const kk_model *m, kk_simulator *s) {
    fill_springs(m, s);
    fill_branches(m, s);
    fill_motors(m, &s->motors);
    s->nlimited = s->is_crowd ? 0 : kki_list_limited(m, s->limited);
    kki_fill_konig(m, s->konig);
    // forward dynamics in link frames are asked for by tendons alone; readers ask for kinematics and inverse dynamics
    const unsigned links = m->ntendon > 0 ? 0 : KKI_LACKS_LINKS;
    kk_status status = kki_data_create_without(m, KKI_LACKS_OTHER | links, &s->allocator, &s->data);
    status = status ? status : kki_data_create_without(m, KKI_LACKS_OTHER | KKI_LACKS_WORLD, &s->allocator, &s->view);
    status = status ? status : kk_state_create(m, &s->allocator, &s->trial);
    if (status == KK_OK) {
        kki_tendons_fill(m, s);
        status = fill_mobility(m, s);
        keep_constants(m, s);
    }
    status = status ? status : kki_near_create(&s->near, m, s->room.near, s->nworker > 1, &s->allocator);
    status = status ? status : kki_simulator_make_room(m, s);
    kki_loose_fill(m, s);
    kki_crowd_fill(m, s);
    return status;
}

kk_status kki_simulator_make_solvers(const kk_model *m, kk_simulator *s) {
    kk_status status = kki_solver_work_create(&s->solver, &s->allocator, dense_size(m, s));
    if (status == KK_OK && s->wide.width > 0) {
        const kki_room *r = &s->room;
        const kki_sparse_size size = {.bodies = r->wide_bodies,
                                      .ties = r->wide_ties,
                                      .rows = r->wide_rows,
                                      .blocks = r->wide_blocks,
                                      .width = r->wide_coordinates,
                                      .widest = s->wide.widest};
        status = kki_sparse_work_create(&s->wide.solver, &s->allocator, kki_sparse_size_within(size, m->ntree));
    }
    return status;
}

/// Whether a simulator's solver has the size that another one needs, which begins with the same room.
static int can_give(const kk_simulator *donor, kk_simulator *s) {
    if (!donor || donor->paper != s->paper || donor->model->nv != s->model->nv ||
        donor->model->ntree != s->model->ntree || donor->wide.handed != s->wide.handed) {
        return 0;
    }
    kki_room_join(&s->room, &donor->room);
    return donor->room.dense_rows == s->room.dense_rows;
}

static kk_status fill_from(kk_simulator *donor, const kk_model *m, const kk_step_options *options, kk_simulator *s,
                           kk_error *error) {
    const int gives = can_give(donor, s);
    if (gives) {
        s->solver = donor->solver;
    }
    kk_status status = fill(m, s);
    if (status != KK_OK) {
        kki_error_set(error, status, "no memory for a simulator of %d degrees of freedom", (int)m->nv);
    }
    status = status ? status : kk_simulator_set_options(s, options, error);
    status = status || !s->paper ? status : s->paper->create(m, s, error);
    if (gives) {
        *(status ? &s->solver : &donor->solver) = (kki_solver_work){0};
    }
    return status;
}

kk_status kki_simulator_create_from(kk_simulator *donor, const kk_model *model, const kk_step_options *options,
                                    const kk_allocator *allocator, kk_simulator **simulator, kk_error *error) {
    *simulator = NULL;
    kk_simulator *s = NULL;
    if (kki_check_tendons(model, error) != KK_OK) {
        return KK_INVALID_MODEL;
    }
    if (allocate(model, options ? kki_paper_of(options->solver) : NULL, worker_count(options), allocator, &s) !=
        KK_OK) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for a simulator of %d degrees of freedom",
                             (int)model->nv);
    }
    const kk_status status = fill_from(donor, model, options, s, error);
    if (status != KK_OK) {
        kk_simulator_free(s);
        return status;
    }
    *simulator = s;
    return KK_OK;
}

kk_status kk_simulator_create(const kk_model *model, const kk_step_options *options, const kk_allocator *allocator,
                              kk_simulator **simulator, kk_error *error) {
    if (!model || !simulator) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "the model or the place for the simulator is NULL");
    }
    return kki_simulator_create_from(NULL, model, options, allocator, simulator, error);
}

void kk_simulator_free(kk_simulator *simulator) {
    if (simulator) {
        const kk_allocator allocator = simulator->allocator;
        if (simulator->paper) {
            simulator->paper->destroy(simulator);
        }
        kki_simulator_release_room(simulator);
        kki_near_destroy(&simulator->near);
        kk_state_free(simulator->trial);
        kk_data_free(simulator->view);
        kk_data_free(simulator->data);
        kki_release(&allocator, simulator, simulator->size);
    }
}

// ---- results

kk_report kk_simulator_report(const kk_simulator *simulator) {
    kk_report report = simulator->report;
    kki_fill_energies(simulator, &report);
    return report;
}

int kk_simulator_contact_count(const kk_simulator *simulator) {
    return simulator->ncontact;
}

kk_contact kk_simulator_contact(const kk_simulator *simulator, int index) {
    const kk_simulator *s = simulator;
    if (index < 0 || index >= s->ncontact) {
        return (kk_contact){.shape = {-1, -1}, .body = {-1, -1}};
    }
    const kki_contact *c = &s->contact[index];
    const kk_vec3 v = c->velocity;
    return (kk_contact){
        .shape = {c->shape[0], c->shape[1]},
        .body = {s->model->shape[c->shape[0]].body, s->model->shape[c->shape[1]].body},
        .position = c->position,
        .normal = c->normal,
        .force = kk_vec3_scale(c->impulse, 1 / s->h),
        .gap = c->gap,
        .velocity = kk_vec3_add(kk_vec3_scale(c->normal, v.x),
                                kk_vec3_add(kk_vec3_scale(c->tangent[0], v.y), kk_vec3_scale(c->tangent[1], v.z))),
        .friction = c->friction};
}

const double *kk_simulator_acceleration(const kk_simulator *simulator) {
    return kki_acceleration(simulator);
}
