/// One step, as a story: where is everything → how would it move if it touched nothing → what touches what → what must not
/// happen → move → prove it. A step is a transaction: the state is written at the very end, or not at all.
///
/// Time is split in the middle. Positions drift for half a step with the velocity they have; forces and impulses kick
/// velocities there, with inertia, contact points and gaps of the middle; positions drift on. (Störmer and Verlet; for
/// contacts, Moreau's midpoint rule.)
#include <karakuri/number.h>
#include <string.h>

#include "base/error.h"
#include "base/float_bits.h"
#include "model/warm.h"
#include "simulate/activation.h"
#include "simulate/audit.h"
#include "simulate/balance.h"
#include "simulate/degrade.h"
#include "simulate/drift.h"
#include "simulate/paper.h"
#include "simulate/predict.h"
#include "simulate/simulator.h"
#include "simulate/touch.h"

const char *kk_stage_name(kk_stage stage) {
    static const char *const names[KK_STAGE_COUNT] = {"begin",     "kinematics", "forces", "factor", "detect",
                                                      "constrain", "solve",      "move",   "prove"};
    return stage >= 0 && stage < KK_STAGE_COUNT ? names[stage] : "";
}

static double now(const kk_simulator *s) {
    return s->options.clock ? s->options.clock(s->options.clock_user) : 0;
}

/// Books the time since `start` on a stage and gives the time of now.
static double book(kk_simulator *s, kk_stage stage, double start) {
    const double t = now(s);
    s->report.seconds[stage] += t - start;
    if (s->hooks.probe) {
        s->hooks.probe(s, stage, s->hooks.probe_user);
    }
    return t;
}

// ---- where is everything

static kk_status check(const kk_model *m, kk_simulator *s, const kk_state *state, kk_error *error) {
    const int is_known = s->model == m && s->model_hash == kk_model_hash(m);
    const kk_status status = is_known ? KK_OK : kki_simulator_turn_to(s, m, error);
    return status ? status : kk_state_check(m, state, error);
}

static void copy_motion(const kk_model *m, kk_simulator *s, const kk_state *state) {
    memcpy(s->motion.q, kk_state_q_const(state), (size_t)m->nq * sizeof *s->motion.q);
    memcpy(s->motion.v, kk_state_v_const(state), (size_t)m->nv * sizeof *s->motion.v);
}

/// What a kick begins with, whatever the last one came to.
static void begin_kick(const kk_model *m, kk_simulator *s, const kk_state *state) {
    memcpy(s->motion.activation, kk_state_activation_const(state),
           (size_t)m->nactivation * sizeof *s->motion.activation);
    memcpy(s->constraints.loop_switch, kki_state_warm_const(state) + s->warm_start.layout.first_switch,
           (size_t)m->nloop * sizeof *s->constraints.loop_switch);
    memset(s->forces.servo_mode, KKI_SERVO_NEW, (size_t)m->nactuator * sizeof *s->forces.servo_mode);
    kki_saturated_begin(m, s, state);
    s->constraints.count = s->constraints.nparts = s->islands.count = 0;
    s->readout.owes_energy = s->readout.owes_outside = 0;
    s->energy.balanced = 0;
}

static void begin(const kk_model *m, kk_simulator *s, const kk_state *state, double h) {
    if (!s->traits.has_only_free_bodies) { // which goes to the middle from the state itself
        copy_motion(m, s, state);
    }
    begin_kick(m, s, state);
    s->contacts.count = s->contacts.ntouching = 0;
    s->free_bodies.npoint = s->free_bodies.islands = s->free_bodies.largest = 0;
    s->fast.meeting = s->fast.touch = -1;
    s->motion.start = state;
    s->energy.work_before = s->report.constraint_work;
    s->h = h;
}

// ---- how would it move if it touched nothing

static void move_freely(const kk_model *m, kk_simulator *s) {
    if (s->traits.has_only_free_bodies) {
        kki_only_free_move_freely(m, s);
        return;
    }
    s->data->kernels->kick_factor(m, &s->data->scratch, s->forces.diagonal, s->forces.tau, s->motion.v, s->kick.E,
                                  s->kick.y);
    const double h = s->h, *y = s->kick.y, *E = s->kick.E;
    double *restrict y_free = s->kick.y_free, *restrict y_end = s->kick.y_end, *restrict y_drift = s->kick.y_drift;
    for (int k = 0; k < m->nv; k++) {
        y_free[k] = y_end[k] = y_drift[k] = y[k] + h * E[k];
    }
}

// ---- move

/// What y differs by from the step's start.
static void change_of(const kk_model *m, const kk_simulator *s, const double *y, double *restrict dv) {
    const double *restrict y0 = s->kick.y;
    for (int k = 0; k < m->nv; k++) {
        dv[k] = y[k] - y0[k];
    }
}

/// Velocities of y, as v + X (y − y₀): what feels no force keeps its bits, and a tree whose y is nothing stands still.
static void add_velocities(const kk_model *m, const kk_simulator *s, const double *y, double *restrict v) {
    const double *restrict v0 = s->motion.v;
    for (int k = 0; k < m->nv; k++) {
        v[k] += v0[k];
    }
    for (int t = 0; t < m->ntree; t++) {
        const int first = m->tree_first_dof[t], count = m->tree_first_dof[t + 1] - first;
        if (kki_is_zero(y + first, count)) {
            memset(v + first, 0, (size_t)count * sizeof *v);
        }
    }
}

/// Velocities at the end of the step, and those that positions drift with, which are mostly the same.
static void find_velocities(const kk_model *m, kk_simulator *s) {
    const size_t bytes = (size_t)m->nv * sizeof(double);
    const int same = memcmp(s->kick.y_drift, s->kick.y_end, bytes) == 0;
    change_of(m, s, s->kick.y_end, s->motion.v_after);
    if (same) {
        s->data->kernels->kick_apply(m, &s->data->scratch, s->motion.v_after, s->motion.v_after);
    } else {
        change_of(m, s, s->kick.y_drift, s->motion.v_drift);
        s->data->kernels->kick_apply_both(m, &s->data->scratch, s->motion.v_after, s->motion.v_drift);
    }
    add_velocities(m, s, s->kick.y_end, s->motion.v_after);
    if (same) {
        memcpy(s->motion.v_drift, s->motion.v_after, bytes);
    } else {
        add_velocities(m, s, s->kick.y_drift, s->motion.v_drift);
    }
}

static void move(const kk_model *m, kk_simulator *s) {
    if (s->traits.has_only_free_bodies) {
        kki_only_free_move(m, s);
        return;
    }
    const double h = s->h, *kicked = s->motion.v_after;
    double *restrict acceleration = s->motion.acceleration, *restrict kick = s->motion.v_before,
                     *restrict v = s->motion.v;
    for (int k = 0; k < m->nv; k++) {
        acceleration[k] = (kicked[k] - v[k]) / h;
        kick[k] = v[k];
        v[k] = kicked[k];
    }
    kki_drift_along(m, 0.5 * s->h, s->motion.v_drift, s->motion.q, s->motion.v);
}

// ---- prove it

/// A number that is not one, by the name of its joint; −1 if all are good.
static int first_bad(const kk_model *m, const kk_simulator *s) {
    if (kki_are_finite(s->motion.q, m->nq) && kki_are_finite(s->motion.v, m->nv)) {
        return -1;
    }
    for (int i = 1; i < m->nbody; i++) {
        const kki_body *b = &m->body[i];
        double sum = 0;
        for (int k = 0; k < b->nq; k++) {
            sum += s->motion.q[b->q_index + k] * 0;
        }
        for (int k = 0; k < b->nv; k++) {
            sum += s->motion.v[b->v_index + k] * 0;
        }
        if (!(sum == 0)) {
            return i;
        }
    }
    return -1;
}

/// How often the mean velocity of a rough step is corrected; each time what is off becomes smaller by a factor of the order of the turn in a step.
enum { MOST_CORRECTIONS = 2 };
/// Limits may be passed by this, rad or m.
static const double UNFORESEEN = 1e-6;

/// Whether another attempt can do better, where effort is not bounded by its count.
static int may_retry(const kk_simulator *s) {
    return !s->retry.degrades && !s->rk4.is_used && s->effort.sweeps == 0 && s->effort.newton == 0 && !s->paper;
}

/// How far q is beyond the limits of joints.
static double overshoot_of(const kk_simulator *s, const double *q) {
    double most = 0;
    const kki_limited *end = s->constraints.limited + s->constraints.nlimited;
    for (const kki_limited *d = s->constraints.limited; d < end; d++) {
        const double below = d->lower - q[d->q], above = q[d->q] - d->upper, beyond = below > above ? below : above;
        most = beyond > most ? beyond : most;
    }
    return most;
}

/// Limits at the end of the step. What began beyond them, or open, is eased back over steps. A joint that was thrown at its limit by what came in the step is seen when it is
/// taken again.
static void prove_positions(kk_simulator *s, const kk_state *state) {
    kk_report *r = &s->report;
    const double before = overshoot_of(s, kk_state_q_const(state)), after = overshoot_of(s, s->motion.q);
    r->overshoot = after > r->overshoot ? after : r->overshoot;
    if (after - before > UNFORESEEN && s->retry.attempts < MOST_CORRECTIONS && may_retry(s)) {
        s->retry.is_rough = 1;
    } else if (after - before > KKI_MOST_OPENED) {
        kki_note_flaw(r, KK_STEP_DEGRADED, KK_FLAW_POSITION, KK_STAGE_MOVE, NULL, after);
    }
}

static kk_status prove(const kk_model *m, kk_simulator *s, const kk_state *state, kk_error *error) {
    if (s->retry.degrades) {
        kki_hold_bad_trees(m, s, state);
    }
    prove_positions(s, state);
    const int bad = first_bad(m, s);
    if (bad >= 0) {
        return kki_error_set(
            error, KK_NOT_FINITE,
            "move: joint \"%s\" runs away; a shorter time step, or smaller gains or forces on it, help",
            kki_model_name(m, m->body[bad].joint_name));
    }
    double deepest = s->report.penetration;
    for (int i = 0; i < s->contacts.count && s->free_bodies.npoint < s->contacts.count;
         i++) { // the swarm reports its own
        const double depth = -s->contacts.list[i].gap;
        deepest = depth > deepest ? depth : deepest;
    }
    s->report.penetration = deepest;
    s->report.overlap = s->free_bodies.npoint > 0 && deepest > s->report.overlap ? deepest : s->report.overlap;
    s->report.contacts = s->contacts.count;
    s->report.islands = s->islands.count + s->free_bodies.islands;
    s->report.rows += 3 * s->free_bodies.npoint;
    if (s->free_bodies.largest > s->report.largest_island) {
        s->report.largest_island = s->free_bodies.largest;
    }
    for (int i = 0; i < s->islands.count; i++) {
        const int rows = s->islands.list[i].nrow;
        s->report.rows += rows;
        s->report.largest_island = rows > s->report.largest_island ? rows : s->report.largest_island;
    }
    return KK_OK;
}

static kk_status tell_gain(kk_simulator *s, double energy, kk_error *error) {
    char number[KK_NUMBER_TEXT_SIZE];
    kk_number_format(energy, number);
    s->retry.gained = 1;
    return kki_error_set(error, KK_NOT_CONVERGED, "move: %s J come from nowhere; a shorter time step helps", number);
}

/// Whether nothing drives what moves and nothing touches: there what steps are off by adds up, and nothing takes it or hides it.
static int keeps_energy(const kk_simulator *s) {
    return s->contacts.count == 0 && s->report.audit.actuators == 0 && s->report.audit.applied == 0;
}

/// Whether a step is off by so much that shares of it are worth their time.
static int is_coarse(const kk_simulator *s) {
    const kk_audit *a = &s->report.audit;
    if (!keeps_energy(s)) {
        return 0;
    }
    return a->error > KKI_COARSE * a->scale || -a->error > KKI_COARSE_LOSS * a->scale;
}

/// Energy from nowhere is never certified: the step is taken again, better, or what it gained is told.
static kk_status audit(const kk_model *m, kk_simulator *s, const kk_state *state, kk_error *error) {
    if (s->traits.has_only_free_bodies || s->effort.sweeps > 0 || s->effort.newton > 0 ||
        (s->rk4.is_used && s->forces.is_pushed)) {
        return KK_OK; // bodies alone keep their energy by themselves; real-time mode proves nothing; no stage's pushes are those of the step
    }
    if (s->retry.is_rough) {
        return KK_OK; // it is taken again anyway
    }
    kki_audit(m, s, state);
    const kki_verdict_of_audit verdict = kki_audit_verdict(s);
    const int is_rough = verdict != KKI_AUDIT_ACCURATE || (s->motion.is_fresh && keeps_energy(s)) ||
                         (s->retry.shares > 0 && s->retry.attempts == 0);
    if (is_rough && s->retry.attempts < MOST_CORRECTIONS && !s->retry.degrades && !s->rk4.is_used) {
        s->retry.is_rough = 1;
        return KK_OK;
    }
    if (verdict != KKI_AUDIT_GAINS) {
        const int may_share =
            s->retry.shares == 0 && !s->retry.degrades && !s->retry.may_yield && !s->retry.takes_coarse;
        s->retry.was_coarse = may_share && is_coarse(s);
        return s->retry.was_coarse ? tell_gain(s, s->report.audit.error, error) : KK_OK;
    }
    if (s->retry.degrades) {
        kki_note_flaw(&s->report, KK_STEP_DEGRADED, KK_FLAW_ENERGY, KK_STAGE_MOVE, NULL, s->report.audit.error);
        return KK_OK;
    }
    return tell_gain(s, s->report.audit.error, error);
}

/// Whether the state has room for what is to be written into it; kk_step makes it otherwise, outside the step, and repeats the step.
static kk_status find_room_in(kk_simulator *s, const kk_state *state, size_t words) {
    s->lacking.words = words > kki_state_room(state) ? words : 0;
    return kki_room_status(s);
}

static void commit(const kk_model *m, kk_simulator *s, kk_state *state) {
    s->energy.balanced_before += s->energy.balanced;
    kki_cached_begin(m, s, state);
    memcpy(kk_state_q(state), s->motion.q, (size_t)m->nq * sizeof *s->motion.q);
    memcpy(kk_state_v(state), s->motion.v, (size_t)m->nv * sizeof *s->motion.v);
    memcpy(kk_state_activation(state), s->motion.activation, (size_t)m->nactivation * sizeof *s->motion.activation);
    kki_warm_commit(s, state);
    kk_state_set_time(state, kk_state_time(state) + s->h);
}

// ---- the story

/// What must not happen: constraints of what touches, sorted into islands.
static kk_status constrain(const kk_model *m, kk_simulator *s, double *t, kk_error *error) {
    kki_find_pivots(m, s);
    kk_status status = kki_constrain(m, s);
    status = status ? status : kki_find_islands(m, s, error);
    *t = book(s, KK_STAGE_CONSTRAIN, *t);
    return status;
}

/// Whether this step is one for Runge and Kutta: asked for, and nothing but dry friction holds anything.
static int is_smooth(const kk_model *m, const kk_simulator *s) {
    int smooth = m->options.integrator == KK_INTEGRATOR_RK4 && s->free_bodies.npoint == 0;
    for (int i = 0; i < s->constraints.count && smooth; i++) {
        smooth = s->constraints.list[i].kind == KKI_ON_JOINT_FRICTION;
    }
    return smooth;
}

/// Forces, free motion and impulses; velocities at the end, into s->motion.v_after.
static kk_status kick_once(const kk_model *m, kk_simulator *s, const kk_state *state, const kk_input *input, double *t,
                           kk_error *error) {
    kk_status status = kki_apply_forces(m, s, input, error);
    *t = book(s, KK_STAGE_FORCES, *t);
    if (status != KK_OK) {
        return status;
    }
    move_freely(m, s);
    *t = book(s, KK_STAGE_FACTOR, *t);
    status = kki_resolve_islands(m, s, state, error);
    *t = book(s, KK_STAGE_SOLVE, *t);
    if (status == KK_OK && !s->traits.has_only_free_bodies) { // no servos there that would have to know
        find_velocities(m, s);
    }
    return status;
}

/// Back to before the kick, with servos that are beyond their limits among the constraints.
static kk_status prepare_again(const kk_model *m, kk_simulator *s, const kk_state *state, const kk_report *before,
                               kk_error *error) {
    const kk_report spent = s->report; // of time only
    s->report = *before;
    memcpy(s->report.seconds, spent.seconds, sizeof spent.seconds);
    memcpy(s->motion.activation, kk_state_activation_const(state),
           (size_t)m->nactivation * sizeof *s->motion.activation);
    s->data->kernels->kick_prepare(m, &s->data->scratch, s->motion.q, s->motion.v,
                                   s->motion.v_bias); // takes the caller's wrenches out again
    const kk_status status = kki_constrain(m, s);
    return status ? status : kki_find_islands(m, s, error);
}

/// Once; and again where servos turn out to be beyond their limits. Each time there are more of them, so it ends.
static kk_status kick(const kk_model *m, kk_simulator *s, const kk_state *state, const kk_input *input, double *t,
                      kk_error *error) {
    const kk_report before = s->report;
    s->forces.settles = 1;
    kk_status status = kick_once(m, s, state, input, t, error);
    while (status == KK_OK && (kki_find_saturated(m, s) | kki_find_unsaturated(m, s))) {
        status = prepare_again(m, s, state, &before, error);
        status = status ? status : kick_once(m, s, state, input, t, error);
    }
    s->forces.settles = 0;
    if (status == KK_OK) {
        kki_audit_pushes(m, s);
        move(m, s);
        *t = book(s, KK_STAGE_MOVE, *t);
    }
    return status;
}

static void go_to_middle(const kk_model *m, kk_simulator *s, const kk_state *state) {
    if (s->traits.has_only_free_bodies) {
        kki_only_free_go_to_middle(m, s);
        return;
    }
    kki_drift(m, 0.5 * s->h, s->motion.q, s->motion.v);
    kki_predict_velocity(m, s, state);
    if (s->retry.attempts > 0) { // the last attempt says what the mean velocity was
        memcpy(s->motion.v_bias, s->motion.v_mean, (size_t)m->nv * sizeof *s->motion.v_bias);
    }
    // Runge and Kutta where nothing can ever hold anything: nobody asks for the poses of the middle
    if (m->options.integrator != KK_INTEGRATOR_RK4 || s->constraints.max > 0) {
        s->data->kernels->kick_prepare(m, &s->data->scratch, s->motion.q, s->motion.v, s->motion.v_bias);
    }
    memcpy(s->motion.q_middle, s->motion.q, (size_t)m->nq * sizeof *s->motion.q);
}

/// Runge and Kutta where they can, the kick otherwise.
static kk_status integrate(const kk_model *m, kk_simulator *s, const kk_state *state, const kk_input *input, double *t,
                           kk_error *error) {
    int sticks = 1;
    s->rk4.is_used = is_smooth(m, s);
    if (s->rk4.is_used) {
        const kk_status status = kki_rk4(m, s, state, input, &sticks, error);
        if (status != KK_OK || !sticks) {
            return status;
        }
        s->rk4.is_used = 0;
        memcpy(s->motion.activation, kk_state_activation_const(state),
               (size_t)m->nactivation * sizeof *s->motion.activation);
        copy_motion(m, s, state);
        go_to_middle(m, s, state);
    }
    return kick(m, s, state, input, t, error);
}

/// Where is everything in the middle of the step, and what touches what there. Where fast bodies meet in it, s->fast.meeting says when.
static kk_status find_contacts(const kk_model *m, kk_simulator *s, const kk_state *state, double h,
                               kki_fast_policy looks) {
    double t = now(s);
    begin(m, s, state, h);
    s->fast.policy = looks;
    t = book(s, KK_STAGE_BEGIN, t);
    go_to_middle(m, s, state);
    t = book(s, KK_STAGE_KINEMATICS, t);
    const kk_status status = kki_detect(m, s, state);
    book(s, KK_STAGE_DETECT, t);
    return status;
}

/// What a kick from the middle changes of contacts, to begin another one with.
static void remember_contacts(kk_simulator *s) {
    const int may_be_kicked = s->contacts.count <= KKI_MOST_KICKED_AGAIN && !s->traits.has_only_free_bodies;
    s->retry.contacts = may_be_kicked ? s->contacts.count : -1;
    for (int i = 0; i < s->retry.contacts; i++) {
        const kki_contact *c = &s->contacts.list[i];
        s->retry.start[i] = (kki_contact_start){c->impulse, c->kept, c->moment, c->kept_moment, c->open};
    }
}

/// Back to the middle of the step as it was found, but with the mean velocity that the last attempt came to. 0 where not all of it is remembered.
static int return_to_middle(const kk_model *m, kk_simulator *s, const kk_state *state) {
    for (int i = 0; i < s->retry.contacts; i++) {
        kki_contact *c = &s->contacts.list[i];
        const kki_contact_start *was = &s->retry.start[i];
        c->impulse = was->impulse;
        c->kept = was->kept;
        c->moment = was->moment;
        c->kept_moment = was->kept_moment;
        c->open = was->open;
        c->swing = c->friction = 0;
        c->velocity = kk_vec3_make(0, 0, 0);
    }
    if (s->retry.contacts < 0) {
        return 0;
    }
    memcpy(s->motion.q, s->motion.q_middle, (size_t)m->nq * sizeof *s->motion.q);
    memcpy(s->motion.v, s->motion.v_before, (size_t)m->nv * sizeof *s->motion.v);
    memcpy(s->motion.v_bias, s->motion.v_mean, (size_t)m->nv * sizeof *s->motion.v_bias);
    begin_kick(m, s, state);
    s->data->kernels->kick_prepare(m, &s->data->scratch, s->motion.q, s->motion.v, s->motion.v_bias);
    return 1;
}

/// From the middle on, with what touches there. Where its bias forces can be had better, s->retry.is_rough says so and the state stays.
static kk_status kick_and_prove(const kk_model *model, kk_simulator *s, kk_state *state, const kk_input *input,
                                kk_error *error) {
    double t = now(s);

    // what must not happen, how would it move if it touched nothing, what do the constraints make of it, and where does it go
    kk_status status = constrain(model, s, &t, error);
    if (status == KK_OK) {
        status = integrate(model, s, state, input, &t, error);
    }
    if (status != KK_OK || kki_seek_touch(s)) {
        return status;
    }

    // prove it
    if (s->traits.has_history) {
        kki_remember_controls(model, s, input ? input->control : NULL);
    }
    kki_finish(model, s);
    if (!s->rk4.is_used) {
        kki_keep_momentum(model, s, state);
    }
    kki_warm_store(s);
    kki_find_balanced(model, s);
    kki_close_loops(model, s);
    if (!s->rk4.is_used) {
        kki_remember_flights(model, s);
    }
    status = prove(model, s, state, error);
    status = status ? status : audit(model, s, state, error);
    if (status == KK_OK && !s->retry.is_rough) {
        status = find_room_in(s, state, kki_warm_needs(s, state));
    }
    if (status == KK_OK && !s->retry.is_rough) {
        kki_remember_acceleration(model, s); // behind all that changes velocities
        commit(model, s, state);
        book(s, KK_STAGE_PROVE, t);
    }
    return status;
}

/// The mean of the velocities before and after the kick, which the next attempt takes its bias forces of.
static void remember_mean_velocity(const kk_model *m, kk_simulator *s) {
    for (int k = 0; k < m->nv; k++) {
        s->motion.v_mean[k] = 0.5 * (s->motion.v_before[k] + s->motion.v_after[k]);
    }
}

/// One step, or a part of one, of length h. Where fast bodies meet in it, s->fast.meeting says when and the state stays.
static kk_status attempt(const kk_model *m, kk_simulator *s, kk_state *state, const kk_input *input, double h,
                         kki_fast_policy looks, kk_error *error) {
    const kk_report before = s->report;
    s->retry.is_rough = s->retry.attempts = 0;
    kk_status status = find_contacts(m, s, state, h, looks);
    kk_report found = s->report;
    while (status == KK_OK && s->fast.meeting < 0) {
        remember_contacts(s);
        s->retry.is_rough = 0;
        status = kick_and_prove(m, s, state, input, error);
        if (status != KK_OK || !s->retry.is_rough) {
            break;
        }
        remember_mean_velocity(m, s);
        s->retry.attempts++;
        s->report = found;
        if (!return_to_middle(m, s, state)) {
            s->report = before;
            status = find_contacts(m, s, state, h, looks);
            found = s->report;
        }
    }
    s->report.corrections += s->retry.attempts > 0;
    return status;
}

/// Pairs that may meet in a part of a step which is cut for the first of them, and near pairs that may be looked at before the last cut of a step: hundreds
/// of cuts for a bullet, few in a heap. Beyond, what meets gets contacts of its impacts.
enum { MOST_MEETINGS = 4, MOST_LOOKS = 4000 };
/// Looks at touches in a step, and in a part of it: beyond, what touches leaves along the normal of a part's middle.
enum { MOST_TOUCHES = 64, MOST_LOOKS_AT_TOUCH = 12 };
/// Shares that a step which cannot be proved is taken in: before contacts give way, and behind that.
enum { FEW_SHARES = 4, MOST_SHARES = 32, MOST_SHARES_OF_GAINS = 128 };
/// Shares of a step that is coarse, behind which it is taken as it is unless it gains.
enum { ENOUGH_SHARES = 8 };

/// Fast pairs are followed up to their meetings; where many meet, they get contacts of their impacts in what is left.
static kki_fast_policy policy_of(const kk_simulator *s, int looked_at) {
    return s->options.detection ? KKI_FAST_AT_MIDDLE : looked_at >= MOST_LOOKS ? KKI_FAST_IMPACTS : KKI_FAST_AHEAD;
}

/// What each part may gain must not add up to more than a step may.
static kk_status audit_parts(kk_simulator *s, kk_error *error) {
    const kk_audit *a = &s->report.audit;
    const int gains = a->error - s->energy.balanced_before > KKI_MOST_GAIN * a->scale;
    if (!gains && !(is_coarse(s) && s->retry.shares > 0 && s->retry.shares < ENOUGH_SHARES)) {
        return KK_OK;
    }
    if (s->retry.degrades) {
        kki_note_flaw(&s->report, KK_STEP_DEGRADED, KK_FLAW_ENERGY, KK_STAGE_MOVE, NULL, a->error);
        return KK_OK;
    }
    return tell_gain(s, a->error, error);
}

/// Where a step in parts has come to.
typedef struct progress {
    double left;   ///< s
    double length; ///< of the part at hand, s
    double ahead;  ///< 0, or how long behind the part at hand something touches, s
    int looked_at, touched;
} progress;

/// What the last attempt saw coming makes the part shorter.
static kki_fast_policy shorten(const kk_simulator *s, kki_fast_policy looks, progress *p) {
    p->ahead = 0;
    if (s->fast.touch >= 0) {
        p->touched++;
        p->length = s->fast.meeting;
        p->ahead = s->fast.touch > p->length ? s->fast.touch - p->length : 0;
        return looks;
    }
    if (s->fast.nmeeting > MOST_MEETINGS) {
        p->looked_at = MOST_LOOKS;
        return KKI_FAST_IMPACTS;
    }
    p->length = s->fast.meeting;
    p->looked_at += s->fast.nnear;
    return KKI_FAST_AT_MIDDLE;
}

/// One part: what was predicted from afar is looked at again on the way, so it may become shorter several times.
static kk_status step_part(const kk_model *m, kk_simulator *s, const kk_input *input, int is_known, progress *p,
                           kk_error *error) {
    kki_fast_policy looks = policy_of(s, p->looked_at);
    kk_status status = KK_OK;
    if (!is_known) {
        p->ahead = 0;
        s->fast.seeks_touch = p->touched < MOST_TOUCHES && s->options.detection == KK_DETECTION_CONTINUOUS;
        status = attempt(m, s, s->trial, input, p->length, looks, error);
    }
    for (int looked = 1; status == KK_OK && s->fast.meeting >= 0; looked++) {
        looks = shorten(s, looks, p);
        s->fast.seeks_touch &= looked < MOST_LOOKS_AT_TOUCH;
        status = attempt(m, s, s->trial, input, p->length, looks, error);
    }
    return status;
}

/// A step in parts, on a copy of the state: from meeting to meeting of fast bodies, and none longer than `longest`.
/// @param meets  whether the first meeting is known
static kk_status step_in_parts(const kk_model *m, kk_simulator *s, kk_state *state, const kk_input *input, double h,
                               double longest, int meets, kk_error *error) {
    progress p = {.left = h};
    s->energy.balanced_before = 0;
    int parts = 0;
    kk_status status = kk_state_copy(s->trial, state);
    for (; status == KK_OK && p.left > 1e-9 * h; parts++) {
        p.length = p.left > 1.5 * longest ? longest : p.left;
        p.length = p.ahead > 0 && 2 * p.ahead < p.length ? 2 * p.ahead : p.length; // the touch in its middle
        status = step_part(m, s, input, parts == 0 && meets, &p, error);
        p.left -= p.length;
    }
    s->report.substeps = parts;
    status = status ? status : audit_parts(s, error);
    const kki_warm_list list = kki_state_list(s->trial);
    status = status ? status : find_room_in(s, state, kki_warm_words(&list));
    if (status == KK_OK) {
        const double time = kk_state_time(state) + h;
        status = kk_state_copy(state, s->trial);
        kk_state_set_time(state, time);
    }
    return status;
}

/// In its place: as a value it would be written twice.
static void blank_report(kk_report *report) {
    memset(report, 0, sizeof *report);
    report->worst_body[0] = report->worst_body[1] = -1;
    report->flaw_body[0] = report->flaw_body[1] = -1;
    report->substeps = 1;
}

/// What cannot be proved in one go often can in two: points that lose and find each other are then in other places.
static kk_status step_in_shares(const kk_model *m, kk_simulator *s, kk_state *state, const kk_input *input, double h,
                                int first, int last, kk_error *error) {
    kk_status status = KK_NOT_CONVERGED;
    for (int n = first; status == KK_NOT_CONVERGED && n <= last; n *= 2) {
        blank_report(&s->report);
        s->retry.gained = 0;
        s->retry.shares = n;
        status = step_in_parts(m, s, state, input, h, h / n, 0, error);
    }
    s->retry.shares = 0;
    return status;
}

/// What cannot be proved in a few shares either may be when contacts give way a little; the report says by how much.
static kk_status step_yielding(const kk_model *m, kk_simulator *s, kk_state *state, const kk_input *input, double h,
                               kk_error *error) {
    blank_report(&s->report);
    s->retry.may_yield = 1;
    const kk_status status = step_in_parts(m, s, state, input, h, h, 0, error);
    s->retry.may_yield = 0;
    if (status == KK_OK && s->report.contact_yield > 0) {
        kki_note_flaw(&s->report, KK_STEP_DEGRADED, KK_FLAW_RESIDUAL, KK_STAGE_SOLVE, s->report.worst_body,
                      s->report.contact_yield);
    }
    return status;
}

/// The best answer that bounded effort finds.
static kk_status step_degraded(const kk_model *m, kk_simulator *s, kk_state *state, const kk_input *input, double h,
                               kk_error *error) {
    blank_report(&s->report);
    s->retry.degrades = 1;
    const kk_status status = step_in_parts(m, s, state, input, h, h, 0, error);
    s->retry.degrades = 0;
    if (status == KK_OK) {
        kki_note_flaw(&s->report, KK_STEP_DEGRADED, KK_FLAW_RESIDUAL, KK_STAGE_SOLVE, s->report.worst_body,
                      s->report.residual);
    }
    return status;
}

/// Whether many short parts of a step are cheap: no island of the last attempt was large.
static int is_small(const kk_simulator *s) {
    int most = 0;
    for (int i = 0; i < s->islands.count; i++) {
        most = s->islands.list[i].nrow > most ? s->islands.list[i].nrow : most;
    }
    return most <= KKI_ROBOT_ROWS;
}

static kk_status step_otherwise(const kk_model *m, kk_simulator *s, kk_state *state, const kk_input *input, double h,
                                kk_error *error) {
    kk_status status = step_in_shares(m, s, state, input, h, 2, FEW_SHARES, error);
    const int gained = s->retry.gained; // then every share had its impulses, and contacts need not give way for them
    status = status == KK_NOT_CONVERGED && !gained ? step_yielding(m, s, state, input, h, error) : status;
    if (status == KK_NOT_CONVERGED && (s->options.strict || gained || is_small(s))) {
        const int most = gained ? MOST_SHARES_OF_GAINS : MOST_SHARES;
        status = step_in_shares(m, s, state, input, h, 2 * FEW_SHARES, most, error);
    }
    return status;
}

/// A coarse step for which shares have no answer, whole as it was.
static kk_status step_coarse(const kk_model *m, kk_simulator *s, kk_state *state, const kk_input *input, double h,
                             kk_error *error) {
    blank_report(&s->report);
    s->retry.takes_coarse = 1;
    const kk_status status = step_in_parts(m, s, state, input, h, h, 0, error);
    s->retry.takes_coarse = 0;
    return status;
}

/// A step as a paper has it: between our checks and our commit.
static kk_status step_by_paper(const kk_model *m, kk_simulator *s, kk_state *state, const kk_input *input,
                               kk_error *error) {
    double t = now(s);
    begin(m, s, state, s->options.timestep);
    s->fast.policy = KKI_FAST_AT_MIDDLE;
    memcpy(s->motion.q_middle, s->motion.q, (size_t)m->nq * sizeof *s->motion.q);
    kk_status status = s->paper->step(m, s, state, input, error);
    t = book(s, KK_STAGE_SOLVE, t);
    status = status ? status : prove(m, s, state, error);
    status = status ? status : find_room_in(s, state, kki_warm_needs(s, state));
    if (status == KK_OK) {
        commit(m, s, state);
        book(s, KK_STAGE_PROVE, t);
    }
    return status;
}

/// The last step once more: its results and its proof stand.
static void repeat(kk_simulator *s, kk_state *state) {
    const double t = now(s);
    memset(s->report.seconds, 0, sizeof s->report.seconds);
    s->report.is_cached = 1;
    kk_state_set_time(state, kk_state_time(state) + s->h);
    book(s, KK_STAGE_PROVE, t);
}

/// All of a step: whatever it lacks room for it says, with KK_LIMIT_EXCEEDED.
static kk_status step(const kk_model *m, kk_simulator *s, kk_state *state, const kk_input *input, kk_error *error) {
    const double h = s->options.timestep;
    s->cached.is_known = s->cached.may_be = 0;
    s->retry.was_coarse = 0;
    blank_report(&s->report);
    if (s->paper) {
        return step_by_paper(m, s, state, input, error);
    }
    s->fast.seeks_touch = s->options.detection == KK_DETECTION_CONTINUOUS;
    kk_status status = attempt(m, s, state, input, h, policy_of(s, 0), error);
    if (status == KK_OK && s->fast.meeting >= 0) {
        status = step_in_parts(m, s, state, input, h, h, 1, error);
    } else if (status == KK_OK) {
        kki_cached_end(m, s, state, input);
    }
    const int was_coarse = s->retry.was_coarse;
    if (status == KK_NOT_CONVERGED) {
        status = step_otherwise(m, s, state, input, h, error);
    }
    if (status == KK_NOT_CONVERGED && was_coarse) {
        status = step_coarse(m, s, state, input, h, error);
    }
    if (status != KK_OK && kki_may_degrade(m, s, input, status)) {
        status = step_degraded(m, s, state, input, h, error);
    }
    return status;
}

/// The input without forces that are nothing: arrays of zeros give the same bits as none.
static kk_input without_zeros(const kk_model *m, kk_input input) {
    input.tau = input.tau && kki_is_zero(input.tau, m->nv) ? NULL : input.tau;
    const double *wrench = (const double *)(const void *)input.wrench;
    input.wrench = wrench && kki_is_zero(wrench, 6 * m->nbody) ? NULL : input.wrench;
    return input;
}

kk_status kk_step(const kk_model *model, kk_state *state, kk_simulator *simulator, const kk_input *given,
                  kk_error *error) {
    kk_simulator *s = simulator;
    if (!model || !state || !s) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "begin: the model, state or simulator is NULL");
    }
    s->contacts.ntold = s->readout.seen.has = 0;
    const kk_input acting = given ? without_zeros(model, *given) : (kk_input){0};
    const kk_input *input = given ? &acting : NULL;
    kk_status status = check(model, s, state, error);
    if (status == KK_OK && kki_is_cached(model, s, state, input)) {
        repeat(s, state);
        return KK_OK;
    }
    status = status ? status : kki_room_begin(s, state, error);
    if (status != KK_OK) {
        return status;
    }
    do {
        status = step(model, s, state, input, error);
    } while (kki_room_grow(s, state, &status, error));
    return status;
}
