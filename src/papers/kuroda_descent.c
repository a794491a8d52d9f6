/// S1 3.3 and 4: forces f_c that keep constrained springs within their limits (2.31) at the end of the step.
///
///     minimize P(f_c) = Σ max(0, g_i)²,   g_i = |stretch of spring i at t + Δt| − w            (4.3, squared)
///     s(t + Δt) = s + u(t + Δt) Δt,  u(t + Δt) = u + (f_c + f_ext) Δt                          (3.19, 3.20)
///
/// by steepest descent from f_c = 0 with Armijo's rule (4.6). Stretches are linear in f_c within a descent: ends move with the velocities of the step's end on
/// the arms of its start; by how much they bend off that is seen behind it, and taken as given in the next. Contacts push along their normal only; a spring of a hinge may pull any way. ξ is 0.1 and the first
/// step tried is the minimum of the quadratic that the broken limits make, where the thesis is silent.
#include <string.h>

#include "papers/kuroda.h"

static const double ARMIJO = 0.1;
/// Share of w by which a limit may stay broken.
static const double ENOUGH = 1e-3;

static int is_contact(const kuroda_spring *s) {
    return s->kind != KURODA_HINGE;
}

/// g_i, and the direction in which the stretch breaks the limit.
static double excess(const kuroda_spring *s, kk_vec3 d, kk_vec3 *way) {
    if (is_contact(s)) {
        *way = kk_vec3_scale(s->normal, -1);
        return -kk_vec3_dot(s->normal, d) - s->w;
    }
    const double length = kk_vec3_norm(d);
    *way = kk_vec3_scale(d, length > 0 ? 1 / length : 0);
    return length - s->w;
}

// ---- from forces to stretches

static void push(kuroda *K, const kuroda_spring *s, kk_vec3 f) {
    for (int side = 0; side < 2; side++) {
        kuroda_body *b = &K->body[s->body[side]];
        const kk_vec3 g = side ? f : kk_vec3_scale(f, -1);
        b->push = kk_vec3_add(b->push, g);
        b->push_torque = kk_vec3_add(b->push_torque, kk_vec3_cross(kki_kuroda_arm(K, s, side), g));
    }
}

static void clear(kuroda *K) {
    for (int i = 0; i < K->model->nnode; i++) {
        K->body[i].push = K->body[i].push_torque = kk_vec3_make(0, 0, 0);
    }
}

static kk_vec3 force_of(const kuroda_spring *s, const double *f) {
    return is_contact(s) ? kk_vec3_scale(s->normal, f[0]) : kk_vec3_make(f[0], f[1], f[2]);
}

/// Acceleration of a spring's second end against its first by what the bodies are pushed with.
static kk_vec3 answer(const kuroda *K, const kuroda_spring *s) {
    kk_vec3 a[2];
    for (int side = 0; side < 2; side++) {
        const kuroda_body *b = &K->body[s->body[side]];
        const kk_vec3 turn = kk_sym3_mul_vec(b->inverse, b->push_torque);
        const kk_vec3 move = kk_vec3_scale(b->push, b->mass > 0 ? 1 / b->mass : 0);
        a[side] = kk_vec3_add(move, kk_vec3_cross(turn, kki_kuroda_arm(K, s, side)));
    }
    return kk_vec3_sub(a[1], a[0]);
}

/// Stretches at the step's end without constraint forces.
static void stretch_freely(kuroda *K) {
    for (int i = 0; i < K->nspring; i++) {
        const kuroda_spring *s = &K->spring[i];
        kk_vec3 v[2];
        for (int side = 0; side < 2; side++) {
            const kuroda_body *b = &K->body[s->body[side]];
            v[side] = kk_vec3_add(b->v_free, kk_vec3_cross(b->w_free, kki_kuroda_arm(K, s, side)));
        }
        const kk_vec3 d = kk_vec3_sub(kki_kuroda_end(K, s, 1), kki_kuroda_end(K, s, 0));
        K->stretch[i] = kk_vec3_add(s->curve, kk_vec3_add(d, kk_vec3_scale(kk_vec3_sub(v[1], v[0]), K->s->h)));
    }
}

/// Stretch of a spring where the bodies will be, in the axes that its first body has now.
static kk_vec3 stretch_ahead(const kuroda *K, const kuroda_spring *s) {
    kk_vec3 end[2];
    for (int side = 0; side < 2; side++) {
        const kuroda_body *b = &K->body[s->body[side]];
        end[side] = kk_vec3_add(b->x_next, kk_mat3_mul_vec(b->turn_next, s->arm[side]));
    }
    const kuroda_body *first = &K->body[s->body[0]];
    return kk_mat3_mul_vec(first->turn, kk_mat3_tmul_vec(first->turn_next, kk_vec3_sub(end[1], end[0])));
}

double kki_kuroda_bend(kuroda *K) {
    double worst = 0;
    for (int i = 0; i < K->nspring; i++) {
        kuroda_spring *s = &K->spring[i];
        kk_vec3 v[2], way;
        for (int side = 0; side < 2; side++) {
            const kuroda_body *b = &K->body[s->body[side]];
            v[side] = kk_vec3_add(b->v_next, kk_vec3_cross(b->w_next, kki_kuroda_arm(K, s, side)));
        }
        const kk_vec3 d = kk_vec3_sub(kki_kuroda_end(K, s, 1), kki_kuroda_end(K, s, 0)), ahead = stretch_ahead(K, s);
        s->curve = kk_vec3_sub(ahead, kk_vec3_add(d, kk_vec3_scale(kk_vec3_sub(v[1], v[0]), K->s->h)));
        const double g = excess(s, ahead, &way);
        worst = g > worst ? g : worst;
    }
    return worst;
}

static kk_vec3 stretch_of(const kuroda *K, int i) {
    const double dt = K->s->h;
    return kk_vec3_add(K->stretch[i], kk_vec3_scale(answer(K, &K->spring[i]), dt * dt));
}

static void push_all(kuroda *K, const double *f) {
    clear(K);
    for (int i = 0; i < K->nspring; i++) {
        push(K, &K->spring[i], force_of(&K->spring[i], f + 3 * i));
    }
}

typedef struct penalty {
    double P, worst;
} penalty;

/// P(f) and the largest g_i.
static penalty measure(kuroda *K, const double *f) {
    penalty x = {0, 0};
    push_all(K, f);
    for (int i = 0; i < K->nspring; i++) {
        kk_vec3 way;
        const double g = excess(&K->spring[i], stretch_of(K, i), &way);
        x.P += g > 0 ? g * g : 0;
        x.worst = g > x.worst ? g : x.worst;
    }
    return x;
}

// ---- descent

/// −∇P at f: every broken limit pushes back by its excess, and every spring's force answers with how far its ends come by that.
static double descend(kuroda *K, const double *f) {
    const double dt = K->s->h;
    double squared = 0;
    push_all(K, f);
    for (int i = 0; i < K->nspring; i++) {
        kk_vec3 way;
        const double g = excess(&K->spring[i], stretch_of(K, i), &way);
        K->back[i] = kk_vec3_scale(way, g > 0 ? g : 0);
    }
    clear(K);
    for (int i = 0; i < K->nspring; i++) {
        push(K, &K->spring[i], K->back[i]);
    }
    for (int i = 0; i < K->nspring; i++) {
        const kk_vec3 a = kk_vec3_scale(answer(K, &K->spring[i]), -2 * dt * dt);
        double *d = K->slope + 3 * i;
        if (is_contact(&K->spring[i])) {
            d[0] = kk_vec3_dot(a, K->spring[i].normal);
            d[1] = d[2] = 0;
        } else {
            d[0] = a.x;
            d[1] = a.y;
            d[2] = a.z;
        }
        squared += d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    }
    return squared;
}

/// Where the quadratic of the limits broken now has its minimum along the slope.
static double first_trial(kuroda *K) {
    const double dt = K->s->h;
    double along = 0, curve = 0;
    push_all(K, K->slope);
    for (int i = 0; i < K->nspring; i++) {
        const double g = kk_vec3_norm(K->back[i]);
        if (g > 0) {
            const double d = dt * dt * kk_vec3_dot(answer(K, &K->spring[i]), K->back[i]) / g;
            along -= g * d;
            curve += d * d;
        }
    }
    return curve > 0 ? along / curve : 0;
}

/// f + α d, contacts kept from pulling; ∇P·(step).
static double go(kuroda *K, double alpha) {
    double along = 0;
    for (int i = 0; i < 3 * K->nspring; i++) {
        const double x = K->unknown[i] + alpha * K->slope[i];
        K->trial[i] = is_contact(&K->spring[i / 3]) && x < 0 ? 0 : x;
        along -= K->slope[i] * (K->trial[i] - K->unknown[i]);
    }
    return along;
}

/// One step of 4.3 by (4.6); false where nothing is gained.
static int step_down(kuroda *K, penalty *now) {
    if (!(descend(K, K->unknown) > 0)) {
        return 0;
    }
    double alpha = first_trial(K);
    for (int i = 0; i < 40 && alpha > 0; i++) {
        const double along = go(K, alpha);
        const penalty next = measure(K, K->trial);
        if (next.P <= now->P + ARMIJO * along && next.P < now->P) {
            memcpy(K->unknown, K->trial, (size_t)(3 * K->nspring) * sizeof *K->unknown);
            *now = next;
            return 1;
        }
        alpha *= 0.5;
    }
    return 0;
}

static void take(kuroda *K) {
    const double dt = K->s->h;
    push_all(K, K->unknown);
    for (int i = 1; i < K->model->nnode; i++) {
        kuroda_body *b = &K->body[i];
        b->v_next = kk_vec3_add(b->v_free, kk_vec3_scale(b->push, dt / b->mass));
        b->w_next = kk_vec3_add(b->w_free, kk_vec3_scale(kk_sym3_mul_vec(b->inverse, b->push_torque), dt));
    }
    for (int i = 0; i < K->nspring; i++) {
        K->spring[i].held = force_of(&K->spring[i], K->unknown + 3 * i);
    }
}

int kki_kuroda_constrain(kuroda *K) {
    const int most = K->s->effort.rounds > 0 ? K->s->effort.rounds : KKI_PAPER_DESCENTS_KURODA;
    memset(K->unknown, 0, (size_t)(3 * K->nspring) * sizeof *K->unknown);
    stretch_freely(K);
    penalty now = measure(K, K->unknown);
    int count = 0;
    while (now.worst > ENOUGH * K->depth && count < most && step_down(K, &now)) {
        count++;
    }
    take(K);
    return count;
}
