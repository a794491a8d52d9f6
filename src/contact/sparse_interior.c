/// An interior-point walk to Coulomb's law through islands of many contacts: interior.c's equations, with every contact's own eliminated.
///
/// A step solves (N + Yᵀ Y) δλ = b, N three by three a contact: the normal's y/λn, and in friction's rows W⁻² of its cone, the normal's column
/// included. With R = N⁻¹ that is
///     (1 + Y R Yᵀ) δz = Y R b,     δλ = R (b − Yᵀ δz),
/// the factor of a Newton step. Where Newton guesses every contact's mode and is often wrong about some of hundreds, the walk lets
/// all of them become clear together: some dozen steps from nothing, five from impulses that are wrong by a hundredth. For that the start is not the
/// center: λ and u of the start are moved inside to where all products are the same, as large as their error. Where
/// Mehrotra's second-order terms lead into a wall at once, the step is taken without them and towards the center; where steps stay
/// short, the walk has failed: with friction there is no theorem that it must not. A careful walk aims less far ahead and gets through more often.
///
/// References: as interior.c; Yildirim & Wright, Warm-start strategies in interior-point methods for linear programming, SIAM J. Optim. 12 (2002).
#include <string.h>

#include "contact/cones.h"
#include "contact/sparse_scratch.h"

/// Share of the way to the wall that a step takes; where what lies ahead is clear, and else.
static const double NEARLY = 0.95, CLEARLY = 0.99, CLEAR = 0.8;
/// On the diagonal, as a share of a contact's scale: what rests on more than three points is held more than once.
static const double TRACE = 1e-7;
/// Share of its bound by which friction stays inside at the start.
static const double LEAST_OFF = 1e-8;
/// A step so short is tried without second-order terms; one that is still so short gets nowhere, and after some of them the walk ends.
static const double SHORT = 0.1, STUCK = 0.3;
enum { MOST_STUCK = 5 };

bool kki_sparse_inside_fits(const kki_sparse_system *s) {
    const kki_sparse_problem *p = s->problem;
    bool fits = s->nrow == 3 * s->nblock && p->ntie == s->nblock;
    for (int b = 0; b < s->nblock && fits; b++) {
        fits = p->rows.block[b].law == KKI_LAW_CONTACT && p->rows.block[b].friction > 0;
    }
    return fits;
}

/// An empty lane: in the middle of its cone.
static void empty_lane(kki_inside_four *f, int l) {
    f->friction[l] = f->lambda[0][l] = f->y[l] = f->z[0][l] = f->trace[l] = 1;
    f->live[l] = 0;
    for (int r = 0; r < 3; r++) {
        f->u[r][l] = f->soft[r][l] = 0;
        f->lambda[r][l] = r == 0;
        f->z[r][l] = r == 0;
    }
}

/// The positive x with x (x − q) = product.
static double inside_of(double q, double product) {
    const double half = 0.5 * q, root = __builtin_sqrt(half * half + product);
    return half >= 0 ? half + root : product / (root - half);
}

/// The start moved inside: λ and partners whose products all are `gap`, and which lie as λ − u/s says.
static void fill_lane(const kki_sparse_system *s, int b, const kki_sparse_iterate *from, double gap, kki_inside_four *f,
                      int l) {
    const double *u = from->u + 3 * b, *lambda = from->lambda + 3 * b, mu = s->problem->rows.block[b].friction;
    const double inverse = 1 / s->scale[b], share = gap * inverse;
    const double normal = inside_of(lambda[0] - u[0] * inverse, share), rim = mu * normal;
    const double q[2] = {lambda[1] - u[1] * inverse, lambda[2] - u[2] * inverse}, t = kki_norm2(q[0], q[1]);
    // how far from its rim friction stays: not so little that rounding takes it over
    const double off = kki_clamp(inside_of(rim - t, share), LEAST_OFF * rim, rim), length = rim - off;
    const double each = t > 0 ? length / t : 0, inner = gap / (off * (rim + length));
    f->friction[l] = mu;
    f->trace[l] = TRACE * s->scale[b];
    f->live[l] = 1;
    f->lambda[0][l] = normal;
    f->y[l] = gap / normal;
    f->z[0][l] = inner * rim;
    f->soft[0][l] = s->soft[3 * b];
    for (int r = 1; r < 3; r++) {
        f->lambda[r][l] = each * q[r - 1];
        f->z[r][l] = -inner * f->lambda[r][l];
        f->soft[r][l] = s->soft[3 * b + r];
    }
}

/// Velocities into the lanes.
static void deal_out(kki_sparse_scratch *w, const kki_sparse_iterate *it) {
    kki_inside *x = &w->inside;
    for (int i = 0; i < x->contacts; i++) {
        for (int r = 0; r < 3; r++) {
            x->four[i / KKI_FOUR].u[r][i % KKI_FOUR] = it->u[3 * i + r];
        }
    }
}

void kki_sparse_inside_begin(kki_sparse_scratch *w, const kki_sparse_iterate *from, double share, bool is_careful,
                             kki_sparse_iterate *it) {
    const kki_sparse_system *s = &w->system;
    kki_inside *x = &w->inside;
    const double speed = share * s->size;
    double typical = 0;
    x->contacts = s->nblock;
    x->count = (s->nblock + KKI_FOUR - 1) / KKI_FOUR;
    x->short_steps = 0;
    x->is_careful = is_careful;
    for (int b = 0; b < s->nblock; b++) {
        typical += s->scale[b] / s->nblock;
    }
    for (int i = 0; i < KKI_FOUR * x->count; i++) {
        kki_inside_four *f = &x->four[i / KKI_FOUR];
        if (i < s->nblock) {
            fill_lane(s, i, from, speed * speed / typical, f, i % KKI_FOUR);
        } else {
            empty_lane(f, i % KKI_FOUR);
        }
        for (int r = 0; r < 3 && i < s->nblock; r++) {
            it->lambda[3 * i + r] = f->lambda[r][i % KKI_FOUR];
        }
    }
    memset(w->R, 0, sizeof *w->R * 6 * (size_t)s->nrow);
    memset(w->du + s->nrow, 0, sizeof *w->du * 3 * (KKI_FOUR - 1)); // what empty lanes read
    kki_sparse_judge(s, it);
    deal_out(w, it);
}

/// The step towards products of σ.
static void find_step(kki_sparse_scratch *w, double sigma, bool second, kki_inside_sums *sums) {
    const kki_sparse_system *s = &w->system;
    const kki_inside *x = &w->inside;
    x->kernels->aim(x->four, x->count, sigma, second, w->e);
    memset(w->dz, 0, sizeof *w->dz * (size_t)s->width);
    s->kernels->motion(s->problem, w->e, w->dz);
    s->kernels->solve(s->problem, &w->factor, w->dz);
    s->kernels->velocity(s->problem, w->dz, w->du);
    x->kernels->step(x->four, x->count, sigma, w->du, sums);
}

/// λ moves by `share` of the step, and with it z and u, whose change the step knows: Y δλ = δz.
static void take_step(kki_sparse_scratch *w, double share, kki_sparse_iterate *it) {
    const kki_sparse_system *s = &w->system;
    const kki_inside *x = &w->inside;
    for (int i = 0; i < s->width; i++) {
        it->z[i] += share * w->dz[i];
    }
    for (int i = 0; i < s->nrow; i++) {
        it->u[i] += share * w->du[i] - s->soft[i] * it->lambda[i];
    }
    x->kernels->go(x->four, x->count, share, it->lambda);
    for (int i = 0; i < s->nrow; i++) {
        it->u[i] += s->soft[i] * it->lambda[i];
    }
    it->residual = kki_sparse_residual(s, it->lambda, it->u);
    deal_out(w, it);
}

static double products_behind(const kki_inside_sums *sums, double t) {
    return sums->products[0] + t * (sums->products[1] + t * sums->products[2]);
}

bool kki_sparse_inside_advance(kki_sparse_scratch *w, kki_sparse_iterate *it, kki_solver_stats *stats) {
    const kki_sparse_system *s = &w->system;
    kki_inside *x = &w->inside;
    kki_inside_sums sums;
    x->kernels->scale(x->four, x->count, w->R);
    w->factor.symmetric = false;
    s->kernels->assemble(s->problem, w->R, &w->factor);
    stats->newton++;
    stats->factorizations++;
    if (!s->kernels->factor(&w->factor)) {
        return false;
    }
    find_step(w, 0, false, &sums);
    const double all = sums.products[0], gap = all / (2 * x->contacts), ahead = sums.longest;
    const double share = kki_clamp(products_behind(&sums, ahead) / all, 0, 1);
    find_step(w, (x->is_careful ? share : share * share) * gap, true, &sums);
    if (!(sums.longest >= SHORT)) {
        find_step(w, kki_clamp(share, 0.3, 0.9) * gap, false, &sums);
    }
    x->short_steps += !(sums.longest >= STUCK);
    if (x->short_steps >= MOST_STUCK) {
        return false;
    }
    take_step(w, (ahead > CLEAR ? CLEARLY : NEARLY) * sums.longest, it);
    return it->residual - it->residual == 0;
}
