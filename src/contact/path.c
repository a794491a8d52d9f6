/// The path, a parametric active set: from the warm start to the answer along a line of problems, one change of mode at a time.
///
/// Any λ answers *some* problem: with u₀ a velocity that agrees with λ's modes, the one of g₀ = u₀ − G λ. From g₀ a straight line
/// leads to g, g − (1 − τ) r with r = G λ + g − u₀, and along it the answer moves in straight pieces,
///     x = −B T r,    dλ = C x,    du₀ = G dλ + r,    B = (T G C)⁻¹,
/// each as far as the first block that leaves its mode. That one changes, B follows by a bordering step, and on until τ = 1.
///
/// A Newton step that changes all modes at once holds too much where rows say almost the same thing (feet that stick, in joints that
/// stick), and then leaps; here a row comes in only where its own velocity gets to zero. So that rows that say exactly the same leave B
/// regular, G carries a proximal term w (λ − λ̄) around the pass's start: a pass ends with an error of w times what λ has moved, and the next
/// pass, from there, takes most of that away. Discs that slide are linearized, their direction stays for a pass, a turn is a straight line.
///
/// References: Cottle, Monotone solutions of the parametric linear complementarity problem (1972); Cottle, Pang, Stone, The Linear
/// Complementarity Problem (1992), 4.5; Josephy, Newton's method for generalized equations (1979); for warm starts Ferreau, Bock, Diehl, An
/// online active set strategy (2008); Rockafellar (1976) for the proximal term.
#include <string.h>

#include "contact/cones.h"
#include "contact/modes.h"
#include "contact/scratch.h"

enum { OPEN = KKI_MODE_OPEN, HELD = KKI_MODE_HELD, SLIDING = KKI_MODE_SLIDING, UPPER = KKI_MODE_UPPER };

/// The proximal weight, in the block's scale: to begin with, where a pass fails, where passes stand still, the most that is tried, and where what holds contradicts itself.
static const double WEIGHT = 1e-7, RAISED = 100, LOWERED = 0.1, HEAVIEST = 0.1, LIGHTEST = 1e-11;
/// Share of the residual to which a pass must come down for its inverse to serve the next one.
static const double GAIN = 0.01;
/// Changes of mode without progress; passes; passes that gain little.
enum { MOST_IDLE = 4, MOST_PASSES = 12, MOST_STALE = 3 };

typedef struct path {
    const kki_system *s;
    kki_solver_scratch *w;
    kki_unknown *unknown;
    int n, nturn;
    int32_t *row;                   ///< [padded n] of each unknown
    int32_t *turn;                  ///< [nturn] unknowns that are turns
    bool incomplete;                ///< a disc slides that had no friction to turn when it was listed
    double *B;                      ///< [n × s->stride] transposed: B[l × stride + k] is B(k, l)
    double *lambda, *u0;            ///< [stride] the point on the path
    double *r, *dl, *du;            ///< [stride]
    double *b, *x, *column, *along; ///< [stride] scratch
} path;

// ---- blocks

static bool rides(const kki_block *block) {
    return block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
}

/// The contact that a block rides on, or itself.
static int leader_of(const path *p, int b) {
    const kki_block *block = &p->s->problem->block[b];
    return rides(block) ? block->contact : b;
}

/// End of the blocks that change together with a leader.
static int end_of_group(const path *p, int leader) {
    const kki_block *block = p->s->problem->block;
    int b = leader + 1;
    while (b < p->s->nblock && rides(&block[b]) && block[b].contact == leader) {
        b++;
    }
    return b;
}

/// First of the two rows that lie in a disc; −1: none.
static int disc_row(const kki_block *block) {
    return block->law == KKI_LAW_CONTACT ? block->row + 1 : block->law == KKI_LAW_ROLLING ? block->row : -1;
}

static double normal_of(const path *p, int b) {
    return p->lambda[p->s->problem->block[leader_of(p, b)].row];
}

/// How fast a disc slides against its friction.
static double speed_of(const path *p, int b, const double *velocity) {
    const int row = disc_row(&p->s->problem->block[b]);
    const double *d = p->w->direction + 2 * b;
    return -(d[0] * velocity[row] + d[1] * velocity[row + 1]);
}

// ---- unknowns: what moves, and the row or turn that stays zero

static kki_unknown *open_unknown(path *p, int b, int row) {
    kki_unknown *x = &p->unknown[p->n];
    *x = (kki_unknown){.block = b, .row = row, .count = 1, .index = {row}, .value = {1}};
    return x;
}

static void extend(kki_unknown *x, int row, double value) {
    x->index[x->count] = row;
    x->value[x->count++] = value;
}

/// The part of the normal's column that friction at its bound adds.
static void add_rider(const path *p, int b, kki_unknown *x) {
    const kki_block *block = &p->s->problem->block[b];
    const int mode = p->w->mode[b], row = disc_row(block);
    const double f = block->friction, *d = p->w->direction + 2 * b;
    if (mode == HELD || f == 0 || x->count + 2 > KKI_UNKNOWN_ENTRIES) {
        return;
    }
    if (block->law == KKI_LAW_TORSION) {
        extend(x, block->row, mode == OPEN ? -f : f);
    } else if (mode == SLIDING) {
        extend(x, row, f * d[0]);
        extend(x, row + 1, f * d[1]);
    }
}

static void point_turn(const path *p, kki_unknown *x) {
    const double *d = p->w->direction + 2 * x->block;
    x->value[0] = -d[1];
    x->value[1] = d[0];
    x->turns = d[0] != 0 || d[1] != 0;
}

/// A contact's normal, with all that goes with it where it slides.
static void point_normal(const path *p, kki_unknown *x) {
    const kki_block *block = &p->s->problem->block[x->block];
    const double *d = p->w->direction + 2 * x->block;
    x->count = 1;
    if (block->law == KKI_LAW_CONTACT && p->w->mode[x->block] == SLIDING && block->friction > 0) {
        extend(x, block->row + 1, block->friction * d[0]);
        extend(x, block->row + 2, block->friction * d[1]);
    }
    for (int b = x->block + 1; b < end_of_group(p, x->block); b++) {
        add_rider(p, b, x);
    }
}

/// The directions of sliding as they are now.
static void point_all(path *p) {
    for (int k = 0; k < p->n; k++) {
        kki_unknown *x = &p->unknown[k];
        if (x->turns) {
            point_turn(p, x);
        } else if (x->row == p->s->problem->block[x->block].row && leader_of(p, x->block) == x->block) {
            point_normal(p, x);
        }
    }
}

/// The turn of a disc that slides; none while its friction is still zero and any direction would do.
static bool open_turn(path *p, int b) {
    const kki_block *block = &p->s->problem->block[b];
    const double rim = block->friction * normal_of(p, b), speed = speed_of(p, b, p->u0);
    if (!(rim > 0) || speed > 1e12 * rim * p->s->scale[b]) {
        p->incomplete = true;
        return false;
    }
    kki_unknown *x = open_unknown(p, b, disc_row(block));
    extend(x, x->row + 1, 0);
    point_turn(p, x);
    x->diagonal = speed > 0 ? speed / rim : 0;
    return true;
}

// ---- the inverse

/// G times a column, the proximal term included.
static const double *times_column(const path *p, int count, const int32_t *index, const double *value, double *out) {
    const kki_system *s = p->s;
    memcpy(out, s->G + index[0] * s->stride, sizeof(double) * (size_t)s->stride);
    for (int i = 0; i < s->stride && value[0] != 1; i++) {
        out[i] *= value[0];
    }
    for (int e = 1; e < count; e++) {
        s->kernels->add(s->stride, value[e], s->G + index[e] * s->stride, out);
    }
    for (int e = 0; e < count; e++) {
        out[index[e]] += s->shift[index[e]] * value[e];
    }
    return out;
}

static double test(const kki_unknown *x, const double *v) {
    return x->turns ? x->value[0] * v[x->row] + x->value[1] * v[x->row + 1] : v[x->row];
}

/// Of all unknowns the tested row, or the first of two; what is behind them is any number.
static void pick_rows(const path *p, const double *v, double *out) {
    const int32_t *row = p->row;
    for (int k = 0; k < p->n; k += 4) {
        *(kki_quad *)(out + k) = (kki_quad){v[row[k]], v[row[k + 1]], v[row[k + 2]], v[row[k + 3]]};
    }
}

/// The tests of all unknowns.
static void test_all(const path *p, const double *v, double *out) {
    pick_rows(p, v, out);
    for (int i = 0; i < p->nturn; i++) {
        out[p->turn[i]] = test(&p->unknown[p->turn[i]], v);
    }
}

static double along_column(const kki_unknown *x, const double *v) {
    double sum = 0;
    for (int e = 0; e < x->count; e++) {
        sum += x->value[e] * v[x->index[e]];
    }
    return sum;
}

/// Products with the columns of all unknowns, and zeros up to `width`.
static void along_all(const path *p, const double *v, int width, double *out) {
    for (int k = 0; k < p->n; k++) {
        out[k] = along_column(&p->unknown[k], v);
    }
    for (int k = p->n; k < width; k++) {
        out[k] = 0;
    }
}

/// The unknown behind the last one is one of them.
static bool count(path *p) {
    const int k = p->n++;
    const kki_unknown *x = &p->unknown[k];
    p->row[k] = x->row;
    p->turn[p->nturn] = k;
    p->nturn += x->turns;
    return true;
}

/// Takes the unknown behind the last one into the inverse.
static bool border(path *p) {
    const kki_system *s = p->s;
    const int n = p->n, stride = s->stride, width = kki_round4(n + 1);
    const kki_unknown *x = &p->unknown[n];
    double *a = p->b, *Ba = p->x, *c = p->along;
    const double *v = times_column(p, x->count, x->index, x->value, p->column);
    test_all(p, v, a);
    double left = test(x, v) + x->diagonal;
    if (x->count > 1 && !x->turns) { // the test is not what moves: the row of the matrix is that of the test times G
        v = times_column(p, 1, &x->row, (double[]){1}, p->column);
    }
    along_all(p, v, width, c);
    s->kernels->combine(n, width, stride, a, p->B, Ba);
    for (int k = 0; k < n; k++) {
        left -= c[k] * Ba[k];
    }
    if (!(__builtin_fabs(left) > 1e-300)) {
        return false;
    }
    const double f = 1 / left;
    double *last = p->B + n * stride, *cB = p->column; // whose G is no longer needed
    s->kernels->rank_one(n, width, stride, f, c, 0, Ba, p->B, cB);
    memset(last, 0, sizeof(double) * (size_t)stride);
    for (int k = 0; k < n; k++) {
        p->B[k * stride + n] = -f * cB[k];
        last[k] = -f * Ba[k];
    }
    last[n] = f;
    return count(p);
}

/// k leaves a list of unknowns; the last one is called k from now on.
static int forget(int n, int32_t *list, int k, int last) {
    int left = 0;
    for (int i = 0; i < n; i++) {
        const int32_t x = list[i];
        list[left] = x == last ? k : x;
        left += x != k;
    }
    return left;
}

/// Takes unknown k out of the list; the last one takes its place.
static void unlist(path *p, int k) {
    const int last = --p->n;
    if (k != last) {
        p->unknown[k] = p->unknown[last];
        p->row[k] = p->row[last];
    }
    p->nturn = forget(p->nturn, p->turn, k, last);
}

/// Takes unknown k out of the inverse as well.
static bool unborder(path *p, int k) {
    const int stride = p->s->stride, width = kki_round4(p->n), last = p->n - 1;
    const double *row = p->B + k * stride, own = row[k];
    if (!(__builtin_fabs(own) > 1e-300)) {
        return false;
    }
    memcpy(p->along, row, sizeof(double) * (size_t)width);
    p->s->kernels->rank_one(p->n, width, stride, -1 / own, NULL, k, p->along, p->B, p->column);
    if (k != last) {
        memcpy(p->B + k * stride, p->B + last * stride, sizeof(double) * (size_t)width);
    }
    for (int l = 0; l < last; l++) {
        p->B[l * stride + k] = p->B[l * stride + last];
        p->B[l * stride + last] = 0;
    }
    unlist(p, k);
    return true;
}

/// A leader's first row; it is handed to `take`, as all unknowns that are listed.
static bool list_normal(path *p, int leader, bool (*take)(path *)) {
    point_normal(p, open_unknown(p, leader, p->s->problem->block[leader].row));
    return take(p);
}

/// Rows from `first` on where the block is held, or the turn where it slides.
static bool list_rows(path *p, int b, int first, bool (*take)(path *)) {
    const kki_block *block = &p->s->problem->block[b];
    bool good = true;
    if (disc_row(block) >= 0 && p->w->mode[b] == SLIDING && block->friction > 0) {
        good = !open_turn(p, b) || take(p);
    }
    for (int k = first; p->w->mode[b] == HELD && k < kki_law_rows(block->law) && good; k++) {
        open_unknown(p, b, block->row + k);
        good = take(p);
    }
    return good;
}

static bool is_active(const path *p, int leader) {
    return p->w->mode[leader] == HELD || p->w->mode[leader] == SLIDING;
}

static bool list_leader(path *p, int leader, bool (*take)(path *)) {
    return !is_active(p, leader) || (list_normal(p, leader, take) && list_rows(p, leader, 1, take));
}

static bool list_riders(path *p, int leader, bool (*take)(path *)) {
    bool good = true;
    for (int b = leader + 1; b < end_of_group(p, leader) && is_active(p, leader) && good; b++) {
        good = list_rows(p, b, 0, take);
    }
    return good;
}

/// Whether a leader holds and nothing rides on it: its columns are its tests.
static bool is_plain(const path *p, int leader) {
    return p->w->mode[leader] == HELD && end_of_group(p, leader) == leader + 1;
}

/// All unknowns, those of plain leaders first. Gives how many these are: of their part of the matrix, which is symmetric and positive, no pivot has to be looked for.
static int list_all(path *p) {
    const kki_system *s = p->s;
    p->n = p->nturn = 0;
    p->incomplete = false;
    for (int b = 0; b < s->nblock; b = end_of_group(p, b)) {
        if (is_plain(p, b)) {
            list_leader(p, b, count);
        }
    }
    const int sure = p->n;
    for (int b = 0; b < s->nblock; b = end_of_group(p, b)) {
        if (!is_plain(p, b)) {
            list_leader(p, b, count);
            list_riders(p, b, count);
        }
    }
    return sure;
}

/// Column l of the matrix.
static void fill_column(const path *p, int l) {
    const kki_unknown *x = &p->unknown[l];
    const int stride = p->s->stride, is_single = x->count == 1;
    const double *v = is_single ? p->s->G + x->row * stride : times_column(p, x->count, x->index, x->value, p->column);
    double *out = p->B + l * stride;
    test_all(p, v, out);
    memset(out + p->n, 0, sizeof(double) * (size_t)(stride - p->n));
    out[l] += x->diagonal + (is_single ? p->s->shift[x->row] : 0);
}

/// All unknowns, their matrix and its inverse.
static bool begin(path *p) {
    const int sure = list_all(p);
    for (int l = 0; l < p->n; l++) {
        fill_column(p, l);
    }
    return p->s->kernels->invert(p->n, sure, p->s->stride, p->B, p->w->reduced.pivot);
}

// ---- u₀

/// A velocity of the sign that a bound asks for: that of before, the true one, or as much to the other side.
static double agreeing(double u, double before, double sign) {
    return sign * before > 0 ? before : sign * __builtin_fabs(u) + 0.0;
}

/// @param u  velocities now    @param before  those that the modes are of, or u again
static void start_block(path *p, int b, const double *u, const double *before) {
    const kki_block *block = &p->s->problem->block[b];
    const int row = block->row, mode = p->w->mode[b], disc = disc_row(block);
    const double *d = p->w->direction + 2 * b;
    for (int k = 0; k < kki_law_rows(block->law); k++) {
        p->u0[row + k] = mode == HELD ? 0 : u[row + k];
    }
    if (mode == HELD || (rides(block) && (block->friction == 0 || p->w->mode[block->contact] == OPEN))) {
        return;
    }
    if (block->law == KKI_LAW_CONTACT) {
        p->u0[row] = mode == OPEN ? agreeing(u[row], before[row], 1) : 0;
    }
    if (disc < 0) {
        p->u0[row] = agreeing(u[row], before[row], mode == UPPER ? -1 : 1);
    } else if (mode == SLIDING && block->friction > 0) {
        const double speed = agreeing(speed_of(p, b, u), speed_of(p, b, before), 1);
        p->u0[disc] = -speed * d[0];
        p->u0[disc + 1] = -speed * d[1];
    }
}

// ---- how far

/// The next change of mode.
typedef struct change {
    double at; ///< share of the way
    int block, mode;
} change;

static void propose(change *c, double at, int block, int mode) {
    if (at < c->at) {
        *c = (change){at, block, mode};
    }
}

/// Where a value that is not negative, and falls at this rate, is zero. Most are not before the first change so far, which a product tells: it is not below the value where the
/// quotient would be below c->at. One branch, and one that can be foreseen.
static void propose_zero(change *c, double value, double rate, double noise, int block, int mode) {
    if ((rate < -noise) & !(value > c->at * -rate)) {
        propose(c, value > 0 ? value / -rate : 0, block, mode);
    }
}

/// Where |t + a t'| reaches rim + a rim'; 2 if that is at `before` or later for sure, by a room that both of its slopes together do not use up till then.
static double leaves_disc(const double *t, const double *dt, double rim, double drim, double before) {
    const double A = drim * drim - dt[0] * dt[0] - dt[1] * dt[1], B = rim * drim - t[0] * dt[0] - t[1] * dt[1];
    const double room = rim * rim - t[0] * t[0] - t[1] * t[1], C = room > 1e-14 * rim * rim ? room : 0;
    const double slope = B < 0 ? -2 * B : 0, bend = A < 0 ? -A : 0, D = B * B - A * C;
    if (C > (1 + 1e-9) * before * (slope + before * bend)) {
        return 2;
    }
    if (C == 0 && (B < 0 || (B == 0 && A < 0))) {
        return 0;
    }
    if (D < 0 || (B >= 0 && A >= 0)) {
        return 2;
    }
    return B < 0 ? C / (-B + __builtin_sqrt(D)) : (B + __builtin_sqrt(D)) / -A;
}

static void limit_disc(const path *p, int b, double rim, double drim, double noise, change *c) {
    const int row = disc_row(&p->s->problem->block[b]), mode = p->w->mode[b];
    if (mode == HELD) {
        propose(c, leaves_disc(p->lambda + row, p->dl + row, rim, drim, c->at), b, SLIDING);
    } else if (mode == SLIDING) {
        propose_zero(c, speed_of(p, b, p->u0), speed_of(p, b, p->du), noise, b, HELD);
    }
}

static void limit_interval(const path *p, int b, const double bound[2], const double rate[2], double noise, change *c) {
    const int row = p->s->problem->block[b].row, mode = p->w->mode[b];
    if (mode == HELD) {
        propose_zero(c, p->lambda[row] - bound[0], p->dl[row] - rate[0], 0, b, OPEN);
        propose_zero(c, bound[1] - p->lambda[row], rate[1] - p->dl[row], 0, b, UPPER);
    } else {
        const double sign = mode == UPPER ? -1 : 1;
        propose_zero(c, sign * p->u0[row], sign * p->du[row], noise, b, HELD);
    }
}

static void limit_block(const path *p, int b, double noise, change *c) {
    const kki_block *block = &p->s->problem->block[b];
    const int row = block->row, mode = p->w->mode[b], normal = p->s->problem->block[leader_of(p, b)].row;
    const double rim = block->friction * p->lambda[normal], drim = block->friction * p->dl[normal];
    switch (block->law) {
    case KKI_LAW_CONTACT:
        if (mode == OPEN) {
            propose_zero(c, p->u0[row], p->du[row], noise, b, SLIDING);
            return;
        }
        if (block->friction > 0) {
            limit_disc(p, b, rim, drim, noise, c);
        }
        propose_zero(c, p->lambda[row], p->dl[row], 0, b, OPEN);
        return;
    case KKI_LAW_LIMIT:
    case KKI_LAW_BOX: {
        const bool box = block->law == KKI_LAW_BOX;
        limit_interval(p, b, (double[]){box ? block->lower : 0, box ? block->upper : __builtin_inf()}, (double[]){0, 0},
                       noise, c);
        return;
    }
    case KKI_LAW_TORSION:
    case KKI_LAW_ROLLING:
        if (p->w->mode[block->contact] == OPEN || block->friction == 0) {
            return;
        }
        if (block->law == KKI_LAW_ROLLING) {
            limit_disc(p, b, rim, drim, noise, c);
        } else {
            limit_interval(p, b, (double[]){-rim, rim}, (double[]){-drim, drim}, noise, c);
        }
        return;
    default: return;
    }
}

/// Velocities of held rows should not move at all: by how much they do is how much can be believed of the others.
static double noise_of(const path *p) {
    double noise = 1e-14 * p->s->size;
    for (int k = 0; k < p->n; k++) {
        const double e = p->unknown[k].turns ? 0 : 10 * __builtin_fabs(p->du[p->row[k]]);
        noise = e > noise ? e : noise;
    }
    return noise;
}

static change next_change(const path *p) {
    change c = {1, -1, 0};
    const double noise = noise_of(p);
    for (int b = 0; b < p->s->nblock; b++) {
        limit_block(p, b, noise, &c);
    }
    return c;
}

// ---- on the way

/// dλ = C x.
static void move(path *p) {
    memset(p->dl, 0, sizeof(double) * (size_t)p->s->stride);
    for (int k = 0; k < p->n; k++) {
        const kki_unknown *x = &p->unknown[k];
        for (int e = 0; e < x->count; e++) {
            p->dl[x->index[e]] += x->value[e] * p->x[k];
        }
    }
}

static void direction(path *p) {
    const kki_system *s = p->s;
    test_all(p, p->r, p->b);
    for (int k = 0; k < p->n; k++) {
        p->b[k] = -p->b[k];
    }
    s->kernels->combine(p->n, kki_round4(p->n), s->stride, p->b, p->B, p->x);
    move(p);
    s->kernels->multiply(s->nrow, s->stride, s->G, p->dl, p->r, p->du);
    for (int i = 0; i < s->nrow; i++) {
        p->du[i] += s->shift[i] * p->dl[i];
    }
}

static void advance(path *p, double a) {
    for (int i = 0; i < p->s->nrow; i++) {
        p->lambda[i] += a * p->dl[i];
        p->u0[i] += a * p->du[i];
        p->r[i] *= 1 - a;
    }
}

/// u₀ of a row takes this value; what it loses, r gains.
static void set_velocity(path *p, int row, double value) {
    p->r[row] += p->u0[row] - value;
    p->u0[row] = value;
}

/// Where a disc begins to slide: along its friction, or where that would leave to; against its velocity where it comes from nothing.
static bool point_disc(path *p, int b, bool from_open) {
    const int row = disc_row(&p->s->problem->block[b]);
    const double *l = p->lambda + row, *v = p->u0 + row, *dl = p->dl + row;
    const double sign = from_open ? -1 : 1, *of = from_open ? v : l[0] != 0 || l[1] != 0 ? l : dl;
    const double size = kki_norm2(of[0], of[1]);
    p->w->direction[2 * b] = size > 0 ? sign * of[0] / size : 0;
    p->w->direction[2 * b + 1] = size > 0 ? sign * of[1] / size : 0;
    return size > 0;
}

/// Riders of a contact that closes are at the bounds that their velocities ask for.
static void close_riders(path *p, int leader) {
    for (int b = leader + 1; b < end_of_group(p, leader); b++) {
        const kki_block *block = &p->s->problem->block[b];
        const double u = p->u0[block->row];
        if (block->friction == 0) {
            continue;
        }
        if (block->law == KKI_LAW_TORSION) {
            p->w->mode[b] = (int8_t)(u > 0 ? OPEN : u < 0 ? UPPER : HELD);
        } else {
            p->w->mode[b] = (int8_t)(point_disc(p, b, true) ? SLIDING : HELD);
        }
    }
}

static void set_mode(path *p, int b, int to) {
    const kki_block *block = &p->s->problem->block[b];
    const int from = p->w->mode[b], disc = disc_row(block), contact = block->law == KKI_LAW_CONTACT;
    if (to == SLIDING && block->friction > 0 && !point_disc(p, b, from == OPEN)) {
        to = HELD;
    }
    p->w->mode[b] = (int8_t)to;
    for (int c = b + 1; contact && to == OPEN && c < end_of_group(p, b); c++) {
        p->w->mode[c] = OPEN;
    }
    if (contact && from == OPEN) {
        close_riders(p, b);
    }
    if (!contact || to != OPEN) {
        set_velocity(p, block->row, 0); // it has just got there
    }
    for (int k = 0; disc >= 0 && from != OPEN && k < 2; k++) {
        set_velocity(p, disc + k, 0);
    }
}

/// Takes out the unknowns of blocks first … end − 1, and the normal of a leader among whose riders they are.
static bool take_out(path *p, int leader, int first, int end) {
    const int normal = p->s->problem->block[leader].row;
    for (int k = p->n - 1; k >= 0; k--) {
        const kki_unknown *x = &p->unknown[k];
        const bool goes = ((x->block >= first) & (x->block < end)) | (x->row == normal); // one branch for all
        if (goes && !unborder(p, k)) {
            return false;
        }
    }
    return true;
}

/// Unknowns whose column or test stays are left in the inverse.
static bool apply_change(path *p, const change *c) {
    const int leader = leader_of(p, c->block), end = end_of_group(p, leader);
    const bool rides = c->block != leader, all = !rides && (c->mode == OPEN || p->w->mode[leader] == OPEN);
    if (!take_out(p, leader, rides ? c->block : leader, all ? end : c->block + 1)) {
        return false;
    }
    set_mode(p, c->block, c->mode);
    if (rides) {
        return list_normal(p, leader, border) && list_rows(p, c->block, 0, border);
    }
    return list_leader(p, leader, border) && (!all || list_riders(p, leader, border));
}

static bool walk(path *p, int limit, kki_solver_stats *stats) {
    for (int k = 0, idle = 0; k < limit && idle <= MOST_IDLE; k++) {
        stats->path++;
        direction(p);
        const change c = next_change(p);
        if (!(c.at >= 0)) {
            return false; // a number that is none
        }
        advance(p, c.at);
        if (c.block < 0) {
            return true;
        }
        idle = c.at == 0 ? idle + 1 : 0;
        if (!apply_change(p, &c)) {
            return false;
        }
    }
    return false;
}

/// From λ to the answer of the problem with the proximal term around λ and the directions of sliding as they are. The inverse of the
/// last pass will do where that gained much: it belongs to the modes that it ended with, and directions have turned little since.
static bool pass(path *p, const kki_system *s, bool again, kki_iterate *at, const double *before, int limit,
                 kki_solver_stats *stats) {
    memset(p->u0, 0, sizeof(double) * (size_t)s->stride);
    for (int b = 0; b < s->nblock; b++) {
        start_block(p, b, at->u, before ? before : at->u);
    }
    for (int i = 0; i < s->stride; i++) {
        p->r[i] = at->u[i] - p->u0[i];
    }
    stats->newton++;
    if (again && !p->incomplete) {
        point_all(p);
        return walk(p, limit, stats);
    }
    stats->factorizations++;
    return begin(p) && walk(p, limit, stats);
}

static void put_on_modes(const kki_system *s, kki_solver_scratch *w, kki_iterate *at) {
    kki_newton_enforce(s, w, at->lambda);
    kki_system_judge(s, at);
}

static void restart(const kki_system *s, kki_solver_scratch *w, const kki_iterate *it, kki_iterate *at) {
    kki_iterate_copy(s, it, at);
    kki_newton_read_modes(s, w, at->lambda);
    put_on_modes(s, w, at);
}

/// The modes that a pass ended with, solved to the end. Mostly the first pass has found them, and the next ones would only turn directions, at an inverse each.
/// @param enough  residual of a solution
static bool is_solved(const kki_system *s, kki_solver_scratch *w, const kki_iterate *at, double enough,
                      kki_solver_stats *stats) {
    const kki_problem plain = {
        .nblock = s->nblock, .nrow = s->nrow, .stride = s->stride, .block = s->problem->block, .G = s->G, .g = s->g};
    kki_iterate *end = &w->iterate[KKI_IT_NEWTON];
    kki_modes x;
    kki_certificate proof = {.residual = __builtin_inf()};
    if (s->shifted || s->nrow > KKI_MODES_ROWS || !kki_modes_list(&plain, at->lambda, &x) || x.slides.n == 0) {
        return false;
    }
    x.shift = WEIGHT;
    kki_iterate_copy(s, at, end);
    stats->factorizations++;
    if (!kki_modes_factor(&plain, s->kernels, w->held, &x)) {
        return false;
    }
    const kki_modes_goal goal = {s->floor, enough, enough};
    const bool good = kki_modes_solve(&plain, s->kernels, w->held, &x, kki_modes_off(&x, end->u), &goal, end->lambda,
                                      end->u, &proof, stats);
    end->residual = proof.residual;
    return good;
}

/// Whether two residuals are of the same λ, but for what another weight changes.
static bool is_about(double a, double b) {
    return a > 0.9 * b && a < 1.1 * b;
}

/// What passes learn from each other.
typedef struct search {
    double weight;
    double last;  ///< residual behind the last pass
    double led;   ///< what the last pass from the best λ led to
    int stale;    ///< passes that gained little
    bool again;   ///< by the inverse of the last pass
    bool anew;    ///< from the best λ so far
    bool lets_go; ///< of λ, as far as it takes for something that holds to slide
} search;

static path make_path(const kki_system *s, kki_solver_scratch *w, kki_iterate *at) {
    double **const v = w->walk;
    path p = {.s = &w->proximal, .w = w, .unknown = w->unknown, .B = w->reduced.A, .lambda = at->lambda};
    w->reduced.split.is_ready = false;
    p.row = w->reduced.row, p.turn = w->reduced.index;
    p.u0 = v[0], p.r = v[1], p.dl = v[2], p.du = v[3], p.b = v[4], p.x = v[5], p.column = v[6], p.along = v[7];
    memset(p.row, 0, sizeof *p.row * (size_t)s->stride); // behind the unknowns it may be any row, but must be one
    return p;
}

/// A pass, and its end put on its modes; the best λ is kept in `it`. False where it fails, or the same way would be gone again.
static bool take_pass(path *p, const kki_system *s, search *x, kki_iterate *at, const double **before, int limit,
                      kki_iterate *it, kki_solver_stats *stats) {
    kki_system_regularize(s, x->weight, at->lambda, &p->w->proximal);
    bool good = pass(p, s, x->again, at, *before, limit, stats);
    if (good) {
        *before = NULL;
        kki_newton_follow(s, p->w, at->lambda);
        put_on_modes(s, p->w, at);
    }
    const bool gains = good && at->residual < it->residual;
    good = good && !(x->anew && !gains && is_about(at->residual, x->led));
    x->led = gains ? 0 : good && x->anew ? at->residual : x->led;
    if (gains) {
        kki_iterate_copy(s, at, it);
    }
    return good;
}

/// The next pass starts from the best λ, with another weight and an inverse of its own.
static void begin_anew(const kki_system *s, kki_solver_scratch *w, const kki_iterate *it, double weight, search *x,
                       kki_iterate *at) {
    restart(s, w, it, at);
    x->weight = weight;
    x->again = false;
    x->anew = true;
}

/// The next pass goes on where this one ended, unless its inverse was too old. @param start  residual that it began with
static void go_on(const kki_system *s, kki_solver_scratch *w, const kki_iterate *it, double start, search *x,
                  kki_iterate *at) {
    const bool loses = at->residual > 0.5 * x->last;
    x->anew = loses && x->again; // too old, and no fault of the weight's
    x->again = at->residual <= GAIN * start;
    if (x->anew) {
        restart(s, w, it, at);
    } else if (loses) {
        x->weight *= LOWERED;
        x->stale++;
    }
    x->last = at->residual;
}

void kki_path(const kki_system *s, kki_solver_scratch *w, kki_iterate *it, const kki_path_options *options,
              kki_solver_stats *stats) {
    kki_iterate *at = &w->iterate[KKI_IT_PATH];
    const double *before = options->before, enough = options->fine > s->floor ? options->fine : s->floor;
    path p = make_path(s, w, at);
    search x = {.weight = WEIGHT, .last = 1e300, .anew = true};
    restart(s, w, it, at);
    for (int k = 0; k < MOST_PASSES && it->residual > (x.again ? s->floor : enough) && x.stale <= MOST_STALE; k++) {
        const double start = at->residual;
        const bool is_old = x.again;
        const int pieces = stats->path;
        if (!take_pass(&p, s, &x, at, &before, options->limit, it, stats)) {
            if (x.weight * RAISED > HEAVIEST || x.lets_go) {
                break;
            }
            begin_anew(s, w, it, x.weight * RAISED, &x, at);
            continue;
        }
        if (options->moves && it->residual > enough && is_solved(s, w, at, enough, stats)) {
            kki_iterate_copy(s, &w->iterate[KKI_IT_NEWTON], it);
            break;
        }
        // what holds and does not change by an inverse of its own contradicts itself
        const bool contradicts = !is_old && p.nturn == 0 && stats->path == pieces + 1 && at->residual > 0.5 * start;
        if (x.lets_go || (contradicts && !options->moves)) {
            break;
        }
        if (contradicts) {
            x.lets_go = true;
            begin_anew(s, w, it, LIGHTEST, &x, at);
            continue;
        }
        go_on(s, w, it, start, &x, at);
    }
}
