/// The simulator: room for everything a step needs, made once.
#include "simulate/simulator.h"
#include "simulate/tendons.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "base/missing.h"
#include "contact/dense_kernels.h"
#include "dynamics/diagonals.h"
#include "model/warm.h"
#include "simulate/implicit.h"
#include "simulate/paper.h"

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
    status = status ? status : check_number("paper.spring_stiffness", o->paper.spring_stiffness, error);
    status = status ? status : check_number("paper.spring_damping", o->paper.spring_damping, error);
    status = status ? status : check_number("paper.spring_depth", o->paper.spring_depth, error);
    if (status == KK_OK && !kk_solver_name(o->solver)[0]) {
        status = kki_error_set(error, KK_INVALID_ARGUMENT, "the option solver is %d, which is none of kk_solver",
                               (int)o->solver);
    }
    if (status == KK_OK && o->iterations < 0) {
        status = kki_error_set(error, KK_INVALID_ARGUMENT, "the option iterations must not be negative");
    }
    if (status == KK_OK && (unsigned)o->effort > KK_EFFORT_SWEEPS) {
        status = kki_error_set(error, KK_INVALID_ARGUMENT, "the option effort must be one of kk_effort");
    }
    if (status == KK_OK && (unsigned)o->detection > KK_DETECTION_OVERLAP) {
        status = kki_error_set(error, KK_INVALID_ARGUMENT, "the option detection must be one of kk_detection");
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

/// Iterations by what they count. Those of a paper are its own.
static kki_effort effort_of(const kk_step_options *o) {
    const int is_paper = o->solver != KK_SOLVER_EXACT;
    return (kki_effort){.rounds = is_paper && o->effort == KK_EFFORT_SWEEPS ? o->iterations : 0,
                        .sweeps = !is_paper && o->effort == KK_EFFORT_SWEEPS ? o->iterations : 0,
                        .newton = o->effort == KK_EFFORT_NEWTON ? o->iterations : 0};
}

kk_status kk_simulator_set_options(kk_simulator *simulator, const kk_step_options *options, kk_error *error) {
    if (kki_is_missing(simulator)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    static const kk_step_options defaults = {0};
    const kk_step_options *o = options ? options : &defaults;
    kk_status status = check_options(o, error);
    if (status == KK_OK && kki_paper_of(o->solver) != simulator->paper) {
        status = kki_error_set(error, KK_INVALID_ARGUMENT, "a simulator keeps its solver; make another one for \"%s\"",
                               kk_solver_name(o->solver));
    }
    if (status == KK_OK && worker_count(o) > simulator->workers.count) {
        status = kki_error_set(error, KK_INVALID_ARGUMENT, "the simulator was made for %d workers, not %d",
                               (int)simulator->workers.count, worker_count(o));
    }
    if (status == KK_OK) {
        simulator->options = filled(simulator->model, *o);
        simulator->effort = effort_of(o);
        kki_tendons_choose(simulator->model, simulator);
        simulator->cached.is_known = 0;
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

static int has_compensation(const kk_model *m) {
    int any = 0;
    for (int i = 1; i < m->nbody; i++) {
        any |= m->body[i].gravity_compensation != 0;
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
kki_solver_size kki_simulator_dense_size(const kk_model *m, const kk_simulator *s) {
    const int rows = s->room.dense_rows;
    kki_solver_size size = {
        .rows = rows, .blocks = rows, .nv = s->islands.padded_width > 0 ? s->islands.most_dense_width : m->nv};
    size.dense = size.nv > KKI_FORMED_ROWS ? size.nv : KKI_FORMED_ROWS;
    return size;
}

/// Papers have no wide islands.
static void measure_trees(const kk_model *m, kk_simulator *s) {
    for (int t = 0; m->ntree >= KKI_SPARSE_TREES && !s->paper && t < m->ntree; t++) {
        const int width = kki_round8(m->tree_first_dof[t + 1] - m->tree_first_dof[t]);
        s->islands.padded_width += width;
        s->islands.widest_tree = width > s->islands.widest_tree ? width : s->islands.widest_tree;
    }
    const int64_t few = (int64_t)(KKI_SPARSE_ROWS + 1) * s->islands.widest_tree;
    s->islands.most_dense_width = few < s->islands.padded_width ? (int32_t)few : s->islands.padded_width;
}

/// Constraints that are there without any contact, but for loops.
static int count_single(const kk_model *m, const kk_simulator *s) {
    return count_friction(m) + count_limits(m) + m->ncoupling + count_motors(m) + 5 * m->ntendon +
           s->constraints.paper_rows;
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
                      .swarm_bundles = touches && s->islands.padded_width > 0 ? FIRST_BUNDLES : 0,
                      .swarm_blocks = touches && s->islands.padded_width > 0 ? FIRST_BUNDLES : 0,
                      .dense_rows = rows < FIRST_DENSE_ROWS ? rows : FIRST_DENSE_ROWS};
}

void kki_simulator_count_room(const kk_model *m, kk_simulator *s) {
    const kki_room *room = &s->room;
    const int single = s->variation.most_single, loops = m->nloop,
              a_contact = s->traits.has_plain_contacts ? 3 : KKI_MOST_ROWS;
    const int constraints = room->held + single + loops;
    s->contacts.max = s->contacts.max_touching = room->contacts;
    s->constraints.max = constraints;
    s->solution.max_rows =
        a_contact * room->held + KKI_MOST_ROWS * loops + single + 4 * (m->ntree < constraints ? m->ntree : constraints);
    s->solution.max_blocks = (s->traits.has_plain_contacts ? 1 : 3) * room->held + KKI_MOST_BLOCKS * loops + single;
    s->constraints.max_parts = a_contact * room->held + KKI_MOST_ROWS * loops + 2 * single + kki_tendon_part_count(m);
    s->free_bodies.room = s->islands.padded_width > 0 ? room->contacts : 0;
    s->free_bodies.bundle_room = room->swarm_bundles;
    s->free_bodies.block_room = room->swarm_blocks;
}

static void count(const kk_model *m, kk_simulator *s) {
    s->constraints.paper_rows = s->paper ? m->nv + m->nactuator : 0;
    s->warm_start.layout = kki_warm_layout_of(m);
    s->traits.has_springs = has_springs(m);
    s->traits.has_stiffness = has_stiffness(m);
    s->forces.motors.count = has_only_motors(m) ? m->nactuator : 0;
    s->traits.has_plain_contacts = kki_has_plain_contacts(m);
    s->traits.has_dry_friction = count_friction(m) > 0 && m->options.integrator != KK_INTEGRATOR_RK4;
    s->traits.has_spatial_tendons = kki_has_spatial_tendons(m) || kki_has_transmission(m, KK_TRANSMISSION_CRANK);
    s->traits.has_history = kki_has_history(m);
    s->traits.has_compensation = has_compensation(m);
    s->traits.has_only_free_bodies = kki_has_only_free_bodies(m) && m->nactuator == 0 && count_friction(m) == 0 &&
                                     !s->traits.has_compensation && !s->paper;
    s->variation.most_single = count_single(m, s);
    measure_trees(m, s);
    s->room = first_room(m, s);
}

/// What acted in the last step, of cached_step.c.
static void place_acting(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    KKI_LAYOUT_ARRAY(layout, s->cached.acting[0], (size_t)m->nactuator);
    KKI_LAYOUT_ARRAY(layout, s->cached.acting[1], (size_t)m->nv);
    KKI_LAYOUT_ARRAY(layout, s->cached.acting[2], 6 * (size_t)m->nbody);
}

/// What workers find, island by island and pair by pair.
static void place_workers(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    const size_t met = s->workers.count > 1 ? (size_t)(m->has_pairs ? m->npair : s->room.near) : 0;
    KKI_LAYOUT_ARRAY(layout, s->workers.met, met);
    KKI_LAYOUT_ARRAY(layout, s->workers.meetings, met / KKI_MEETINGS + 2);
}

/// What readers ask for (readout.c).
static void place_readings(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    const size_t padded = ((size_t)m->nv + 7) & ~(size_t)3;
    KKI_LAYOUT_ARRAY(layout, s->retry.start, KKI_MOST_KICKED_AGAIN);
    KKI_LAYOUT_ARRAY(layout, s->readout.view_v, padded);
    KKI_LAYOUT_ARRAY(layout, s->readout.view_a, padded);
    KKI_LAYOUT_ARRAY(layout, s->readout.seen.q, (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, s->readout.seen.v, (size_t)m->nv);
    KKI_LAYOUT_ARRAY(layout, s->readout.outside, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, s->readout.body_force, (size_t)m->nbody);
    KKI_LAYOUT_ARRAY(layout, s->readout.wrench, (size_t)m->nbody);
    KKI_LAYOUT_ARRAY(layout, s->forces.drive, (size_t)m->nactuator);
    KKI_LAYOUT_ARRAY(layout, s->forces.tendon, (size_t)m->ntendon);
    KKI_LAYOUT_ARRAY(layout, s->variation.own.tendon, (size_t)m->ntendon);
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
    KKI_LAYOUT_ARRAY(layout, s->motion.q, (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, s->motion.v, padded);
    KKI_LAYOUT_ARRAY(layout, s->motion.activation, (size_t)m->nactivation);
    double **const vectors[] = {&s->forces.tau,
                                &s->forces.diagonal,
                                &s->kick.E,
                                &s->kick.y,
                                &s->kick.y_free,
                                &s->kick.y_end,
                                &s->kick.y_drift,
                                &s->kick.dv,
                                &s->motion.v_drift,
                                &s->motion.acceleration,
                                &s->forces.servo_slope,
                                &s->forces.passive_slope,
                                &s->motion.v_before,
                                &s->rk4.slip,
                                &s->rk4.v_part,
                                &s->motion.v_after,
                                &s->motion.v_bias,
                                &s->motion.v_mean};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        KKI_LAYOUT_ARRAY(layout, *vectors[i], padded);
    }
    for (int i = 0; i < KK_FORCE_SOURCE_COUNT; i++) {
        KKI_LAYOUT_ARRAY(layout, s->forces.by_source[i], padded);
    }
}

/// What touches, and what must not happen.
static void place_constraints(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    const size_t nv = (size_t)m->nv;
    KKI_LAYOUT_ARRAY(layout, s->shapes.X_WS, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, s->shapes.sphere, 4 * (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, s->shapes.reach, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, s->shapes.placed, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, s->constraints.limited, s->traits.has_only_free_bodies ? 0 : nv);
    KKI_LAYOUT_ARRAY(layout, s->constraints.branch, nv);
    KKI_LAYOUT_ARRAY(layout, s->islands.tree_island, (size_t)m->ntree);
    KKI_LAYOUT_ARRAY(layout, s->islands.tree_order, (size_t)m->ntree);
    KKI_LAYOUT_ARRAY(layout, s->islands.tree_local, (size_t)m->ntree);
}

static void place(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    const size_t padded = ((size_t)m->nv + 7) & ~(size_t)3;
    place_motion(layout, m, s, padded);
    place_constraints(layout, m, s);
    double **const springs[] = {&s->forces.stiffness, &s->forces.damping, &s->forces.rest, &s->forces.mobility};
    for (size_t i = 0; i < sizeof springs / sizeof *springs; i++) {
        KKI_LAYOUT_ARRAY(layout, *springs[i], padded);
    }
    place_motors(layout, &s->forces.motors);
    KKI_LAYOUT_ARRAY(layout, s->energy.audited.q, s->traits.has_only_free_bodies ? 0 : (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, s->energy.audited.v, s->traits.has_only_free_bodies ? 0 : (size_t)m->nv);
    const size_t audited_trees = s->traits.has_only_free_bodies ? 0 : (size_t)m->ntree;
    KKI_LAYOUT_ARRAY(layout, s->energy.audited.tree, audited_trees);
    KKI_LAYOUT_ARRAY(layout, s->energy.audited.tree_before, audited_trees);
    KKI_LAYOUT_ARRAY(layout, s->energy.balance.group, audited_trees);
    KKI_LAYOUT_ARRAY(layout, s->energy.balance.work, audited_trees);
    KKI_LAYOUT_ARRAY(layout, s->rk4.q_part, (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, s->motion.q_middle, (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, s->projection.q, (size_t)m->nq);
    KKI_LAYOUT_ARRAY(layout, s->projection.v, (size_t)m->nv);
    place_readings(layout, m, s);
    KKI_LAYOUT_ARRAY(layout, s->constraints.loop_switch, (size_t)m->nloop);
    KKI_LAYOUT_ARRAY(layout, s->forces.wanted, (size_t)m->nactuator);
    KKI_LAYOUT_ARRAY(layout, s->forces.servo_mode, (size_t)m->nactuator);
    KKI_LAYOUT_ARRAY(layout, s->forces.saturated, (size_t)m->nv);
    KKI_LAYOUT_ARRAY(layout, s->only_free.is_ball, s->traits.has_only_free_bodies ? (size_t)m->nnode : 0);
    KKI_LAYOUT_ARRAY(layout, s->only_free.fall, s->traits.has_only_free_bodies ? (size_t)m->nnode : 0);
    KKI_LAYOUT_ARRAY(layout, s->only_free.kinetic, s->traits.has_only_free_bodies ? (size_t)m->nnode : 0);
    KKI_LAYOUT_ARRAY(layout, s->momentum.in_flight, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, s->momentum.tie, (size_t)m->ntree);
    KKI_LAYOUT_ARRAY(layout, s->energy.tree_energy, 2 * (size_t)m->ntree);
    KKI_LAYOUT_ARRAY(layout, s->energy.koenig, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, s->momentum.flight, (size_t)m->nnode);
    KKI_LAYOUT_ARRAY(layout, s->warm_start.value, (size_t)s->warm_start.layout.size);
    place_acting(layout, m, s);
    KKI_LAYOUT_ARRAY(layout, s->workers.fault, (size_t)s->workers.count);
    KKI_LAYOUT_ARRAY(layout, s->workers.fault_island, (size_t)s->workers.count);
    kki_free_bodies_place(layout, m, s);
}

/// What room is counted for.
static void place_room(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    const size_t rows = (size_t)s->solution.max_rows + 8;
    KKI_LAYOUT_ARRAY(layout, s->contacts.manifold, (size_t)s->room.manifolds);
    KKI_LAYOUT_ARRAY(layout, s->contacts.list, (size_t)s->contacts.max);
    KKI_LAYOUT_ARRAY(layout, s->contacts.told, (size_t)s->contacts.max);
    KKI_LAYOUT_ARRAY(layout, s->contacts.touching, (size_t)s->contacts.max_touching + 1);
    KKI_LAYOUT_ARRAY(layout, s->fast.struck, (size_t)s->contacts.max_touching);
    KKI_LAYOUT_ARRAY(layout, s->constraints.list, (size_t)s->constraints.max);
    KKI_LAYOUT_ARRAY(layout, s->constraints.order, (size_t)s->constraints.max);
    KKI_LAYOUT_ARRAY(layout, s->constraints.part, (size_t)s->constraints.max_parts);
    KKI_LAYOUT_ARRAY(layout, s->solution.block, (size_t)s->solution.max_blocks);
    const size_t islands =
        (size_t)(m->ntree < s->constraints.max ? m->ntree : s->constraints.max); // each has a constraint
    KKI_LAYOUT_ARRAY(layout, s->islands.list, islands);
    KKI_LAYOUT_ARRAY(layout, s->islands.outcome, islands);
    double **const row_vectors[] = {
        &s->solution.lambda,  &s->solution.u,      &s->solution.g,     &s->solution.compliance, &s->solution.bias,
        &s->solution.lambda2, &s->solution.kept,   &s->solution.u2,    &s->solution.u0,         &s->solution.u_start,
        &s->solution.u_end,   &s->solution.travel, &s->solution.total, &s->solution.gain};
    for (size_t i = 0; i < sizeof row_vectors / sizeof *row_vectors; i++) {
        KKI_LAYOUT_ARRAY(layout, *row_vectors[i], rows);
    }
    place_workers(layout, m, s);
    kki_free_bodies_place_room(layout, s);
    KKI_LAYOUT_ARRAY(layout, s->workers.scratch, (size_t)s->workers.count);
    kki_island_scratch first = {.size = 0};
    kki_scratch_place(layout, m, s, &first);
    if (layout->block) {
        s->workers.scratch[0] = first;
    }
}

// ---- creation

static kk_status allocate(const kk_model *m, const kki_paper *paper, int workers, const kk_allocator *allocator,
                          kk_simulator **simulator) {
    kk_simulator header = {.workers.count = workers,
                           .allocator = kki_allocator_or_default(allocator),
                           .paper = paper,
                           .model = m,
                           .model_hash = m->hash,
                           .variation = {.made_for = m, .made_for_hash = m->hash}};
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
    *simulator = s;
    return KK_OK;
}

kk_status kki_simulator_make_room(const kk_model *m, kk_simulator *s, const kki_solver_work *dense) {
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
    s->workers.scratch[0].solver = dense ? *dense : (kki_solver_work){0};
    return kki_scratch_create(m, s);
}

void kki_simulator_release_room(kk_simulator *s) {
    if (s->room_block) {
        kki_scratch_free(s);
    }
    kki_release(&s->allocator, s->room_block, s->room_bytes);
    s->room_block = NULL;
}

static void fill_springs(const kk_model *m, kk_simulator *s) {
    for (int k = 0; k < m->nv; k++) {
        s->forces.stiffness[k] = m->dof[k].stiffness;
        s->forces.damping[k] = m->dof[k].damping;
        s->forces.rest[k] = m->dof[k].rest;
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
    double *mobility = s->forces.mobility, *inverse = s->kick.E;
    mark_implicit(m, mobility);
    kk_status status = KK_OK;
    if (!s->paper) {
        status = kki_inertia_diagonals(m, s->data, s->data->neutral, &s->allocator, s->kick.y, inverse);
        status = status == KK_SINGULAR ? KK_OK : status; // a step will say so
    }
    for (int k = 0; k < m->nv; k++) {
        const double own = kki_is_finite(inverse[k]) && inverse[k] > 0 ? inverse[k] : 0;
        mobility[k] = s->paper ? KKI_ANY_MOBILITY : mobility[k] == 0 ? 0 : own;
    }
    memset(s->kick.E, 0, (size_t)m->nv * sizeof *s->kick.E);
    memset(s->kick.y, 0, (size_t)m->nv * sizeof *s->kick.y);
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
        s->constraints.branch[k] = (uint64_t)1 << (at & 63) | (parent >= 0 ? s->constraints.branch[parent] : 0);
    }
}

kki_constants kki_simulator_constants(const kk_simulator *s) {
    return (kki_constants){.traits = s->traits,
                           .single = count_single(s->model, s),
                           .nlimited = s->constraints.nlimited,
                           .limited = s->constraints.limited,
                           .motors = s->forces.motors,
                           .stiffness = s->forces.stiffness,
                           .damping = s->forces.damping,
                           .rest = s->forces.rest,
                           .mobility = s->forces.mobility,
                           .koenig = s->energy.koenig,
                           .tendon = s->variation.own.tendon};
}

static void keep_constants(const kk_model *m, kk_simulator *s) {
    if (m->ntendon > 0) {
        memcpy(s->variation.own.tendon, s->forces.tendon, (size_t)m->ntendon * sizeof *s->forces.tendon);
    }
    s->variation.own = kki_simulator_constants(s);
}

/// @param dense  the solver's memory; NULL: none is given
static kk_status fill(const kk_model *m, kk_simulator *s, const kki_solver_work *dense) {
    fill_springs(m, s);
    fill_branches(m, s);
    fill_motors(m, &s->forces.motors);
    s->constraints.nlimited = s->traits.has_only_free_bodies ? 0 : kki_list_limited(m, s->constraints.limited);
    kki_fill_konig(m, s->energy.koenig);
    // forward dynamics in link frames are asked for by tendons alone; readers ask for kinematics and inverse dynamics
    const unsigned links = m->ntendon > 0 ? 0 : KKI_LACKS_LINKS;
    kk_status status = kki_data_create_without(m, KKI_LACKS_OTHER | links, &s->allocator, &s->data);
    status = status ? status
                    : kki_data_create_without(m, KKI_LACKS_OTHER | KKI_LACKS_WORLD, &s->allocator, &s->readout.view);
    status = status ? status : kk_state_create(m, &s->allocator, &s->trial);
    if (status == KK_OK) {
        kki_tendons_fill(m, s);
        status = fill_mobility(m, s);
        keep_constants(m, s);
    }
    status = status ? status : kki_near_create(&s->near, m, s->room.near, s->workers.count > 1, &s->allocator);
    status = status ? status : kki_simulator_make_room(m, s, dense);
    kki_free_bodies_fill(m, s);
    kki_only_free_fill(m, s);
    return status;
}

/// Whether a simulator's solver has the size that another one needs, which begins with the same room.
static int can_give(const kk_simulator *donor, kk_simulator *s) {
    if (!donor || donor->paper != s->paper || donor->model->nv != s->model->nv ||
        donor->model->ntree != s->model->ntree || donor->islands.most_dense_width != s->islands.most_dense_width) {
        return 0;
    }
    kki_room_join(&s->room, &donor->room);
    return donor->room.dense_rows == s->room.dense_rows;
}

static kk_status fill_from(kk_simulator *donor, const kk_model *m, const kk_step_options *options, kk_simulator *s,
                           kk_error *error) {
    const int gives = can_give(donor, s);
    kki_solver_work *given = gives ? &donor->workers.scratch->solver : NULL;
    kk_status status = fill(m, s, given);
    if (status != KK_OK) {
        kki_error_set(error, status, "no memory for a simulator of %d degrees of freedom", (int)m->nv);
    }
    status = status ? status : kk_simulator_set_options(s, options, error);
    status = status || !s->paper ? status : s->paper->create(m, s, error);
    if (gives) {
        kki_solver_work *own = s->room_block ? &s->workers.scratch->solver : NULL;
        kki_solver_work *other = status ? own : given; // one of both goes on with it
        if (other) {
            *other = (kki_solver_work){0};
        }
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

kk_status kk_simulation_begin(const kk_model *model, const kk_step_options *options, const kk_allocator *allocator,
                              kk_state **state, kk_simulator **simulator, kk_error *error) {
    if (!model || !state || !simulator) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "the model or the place for the state or the simulator is NULL");
    }
    *state = NULL;
    *simulator = NULL;
    kk_status status = kk_state_create(model, allocator, state);
    if (status != KK_OK) {
        return kki_error_set(error, status, "no memory for a state of %d coordinates", (int)model->nq);
    }
    status = kk_simulator_create(model, options, allocator, simulator, error);
    if (status != KK_OK) {
        kk_state_free(*state);
        *state = NULL;
    }
    return status;
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
        kk_data_free(simulator->readout.axes);
        kk_data_free(simulator->readout.view);
        kk_data_free(simulator->data);
        kki_release(&allocator, simulator, simulator->size);
    }
}

// ---- results

const kk_report *kk_simulator_report(kk_simulator *simulator) {
    kki_settle_energies(simulator);
    return &simulator->report;
}

int kk_simulator_ncontact(const kk_simulator *simulator) {
    return simulator->contacts.count;
}

static kk_contact told(const kk_simulator *s, const kki_contact *c) {
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

const kk_contact *kk_simulator_contacts(kk_simulator *simulator) {
    kk_simulator *s = simulator;
    for (; s->contacts.ntold < s->contacts.count; s->contacts.ntold++) {
        s->contacts.told[s->contacts.ntold] = told(s, &s->contacts.list[s->contacts.ntold]);
    }
    return s->contacts.told;
}

const double *kk_simulator_acceleration(const kk_simulator *simulator) {
    return kki_acceleration(simulator);
}
