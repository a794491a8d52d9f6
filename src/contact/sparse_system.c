/// Memory, and the problem in the solver's variables; see sparse_scratch.h.
#include <string.h>

#include "base/allocator.h"
#include "contact/cones.h"
#include "contact/sparse_scratch.h"

#define ABS(x) __builtin_fabs(x)

// ---- memory

/// Piles in space fill up like n log n at first, and like n^{4/3} later.
enum { FILL_A_BODY = 64, MOST_FILL = 1 << 16 };

/// Blocks that the factor of so many bodies may have.
static int32_t most_fill(int bodies) {
    const int64_t all = (int64_t)bodies * (bodies - 1) / 2, some = (int64_t)FILL_A_BODY * bodies;
    const int64_t fill = all < some ? all : some;
    return (int32_t)(fill < MOST_FILL ? fill : MOST_FILL);
}

kki_sparse_size kki_sparse_size_within(kki_sparse_size size, int all_bodies) {
    const int64_t most = most_fill(all_bodies), own = (int64_t)size.bodies * (size.bodies - 1) / 2;
    const size_t widest = (size_t)size.widest, room = (size_t)most * 6 * widest;
    size.pairs = size.ties;
    size.fill = (int32_t)(own < most ? own : most);
    size.factor_room = (size_t)size.fill * widest * widest;
    size.factor_room = size.factor_room < room ? size.factor_room : room;
    return size;
}

kki_sparse_size kki_sparse_size_for(int bodies, int ties, int rows, int blocks, int width, int widest) {
    const kki_sparse_size size = {
        .bodies = bodies, .ties = ties, .rows = rows, .blocks = blocks, .width = width, .widest = widest};
    return kki_sparse_size_within(size, bodies);
}

static void place_pattern(kki_layout *layout, const kki_sparse_size *size, kki_sparse_pattern *s) {
    const size_t bodies = (size_t)size->bodies, fill = (size_t)size->fill;
    KKI_LAYOUT_ARRAY(layout, s->pair, 4 * (size_t)size->pairs);
    KKI_LAYOUT_ARRAY(layout, s->order, bodies);
    KKI_LAYOUT_ARRAY(layout, s->place, bodies);
    KKI_LAYOUT_ARRAY(layout, s->column, bodies + 1);
    KKI_LAYOUT_ARRAY(layout, s->row, fill);
    KKI_LAYOUT_ARRAY(layout, s->at, fill + 1);
    KKI_LAYOUT_ARRAY(layout, s->own, bodies + 1);
    KKI_LAYOUT_ARRAY(layout, s->nv, bodies);
    KKI_LAYOUT_ARRAY(layout, s->width, bodies);
}

static void place_graph(kki_layout *layout, const kki_sparse_size *size, kki_sparse_graph *g) {
    const size_t bodies = (size_t)size->bodies;
    int32_t **const lists[] = {&g->start,  &g->variables, &g->elements, &g->element_count, &g->from,     &g->mark,
                               &g->weight, &g->degree,    &g->head,     &g->next,          &g->previous, &g->count};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        KKI_LAYOUT_ARRAY(layout, *lists[i], bodies + 1);
    }
    KKI_LAYOUT_ARRAY(layout, g->list, 2 * (size_t)size->pairs);
    KKI_LAYOUT_ARRAY(layout, g->spare, (size_t)size->fill);
}

static void place_factor(kki_layout *layout, const kki_sparse_size *size, kki_sparse_factor *f) {
    const size_t widest = (size_t)size->widest, own = (size_t)size->width * widest;
    KKI_LAYOUT_ARRAY(layout, f->L, size->factor_room);
    KKI_LAYOUT_ARRAY(layout, f->U, size->factor_room);
    KKI_LAYOUT_ARRAY(layout, f->D, own);
    KKI_LAYOUT_ARRAY(layout, f->inverse, own);
    KKI_LAYOUT_ARRAY(layout, f->x, (size_t)size->width);
    KKI_LAYOUT_ARRAY(layout, f->spare, widest * (widest + 16));
    KKI_LAYOUT_ARRAY(layout, f->start, (size_t)size->bodies);
    KKI_LAYOUT_ARRAY(layout, f->spot, (size_t)size->ties);
}

static void place_history(kki_layout *layout, size_t rows, kki_sparse_history *h) {
    for (int k = 0; k < KKI_SPARSE_HISTORY; k++) {
        KKI_LAYOUT_ARRAY(layout, h->dx[k], rows);
        KKI_LAYOUT_ARRAY(layout, h->df[k], rows);
    }
    KKI_LAYOUT_ARRAY(layout, h->last, rows);
    KKI_LAYOUT_ARRAY(layout, h->last_change, rows);
    KKI_LAYOUT_ARRAY(layout, h->change, rows);
}

static void place_sweeps(kki_layout *layout, const kki_sparse_size *size, kki_sparse_scratch *w) {
    KKI_LAYOUT_ARRAY(layout, w->bundles.bundle, (size_t)kki_bundles_room(size->ties));
    KKI_LAYOUT_ARRAY(layout, w->bundles.taken, (size_t)size->bodies);
    KKI_LAYOUT_ARRAY(layout, w->bundles.color, (size_t)size->ties);
    KKI_LAYOUT_ARRAY(layout, w->bundles.rest, (size_t)size->ties);
    place_history(layout, (size_t)size->rows, &w->history);
}

static void place(kki_layout *layout, const kki_sparse_size *size, kki_sparse_scratch *w) {
    const size_t rows = (size_t)size->rows, blocks = (size_t)size->blocks, width = (size_t)size->width;
    KKI_LAYOUT_ARRAY(layout, w->system.g, rows);
    KKI_LAYOUT_ARRAY(layout, w->system.soft, rows);
    KKI_LAYOUT_ARRAY(layout, w->system.own, 6 * blocks);
    KKI_LAYOUT_ARRAY(layout, w->system.scale, blocks);
    place_pattern(layout, size, &w->pattern);
    place_graph(layout, size, &w->graph);
    place_factor(layout, size, &w->factor);
    for (int k = 0; k < KKI_SPARSE_ITERATES; k++) {
        KKI_LAYOUT_ARRAY(layout, w->iterate[k].lambda, rows);
        KKI_LAYOUT_ARRAY(layout, w->iterate[k].u, rows);
        KKI_LAYOUT_ARRAY(layout, w->iterate[k].z, width + KKI_BODY_PAD);
    }
    if (size->bodies > 1) { // sweeps over one body are not accelerated
        place_sweeps(layout, size, w);
    }
    KKI_LAYOUT_ARRAY(layout, w->R, 6 * rows);
    KKI_LAYOUT_ARRAY(layout, w->e, rows);
    KKI_LAYOUT_ARRAY(layout, w->dz, width);
    KKI_LAYOUT_ARRAY(layout, w->du, rows);
    KKI_LAYOUT_ARRAY(layout, w->error, width);
    KKI_LAYOUT_ARRAY(layout, w->center, rows);
    KKI_LAYOUT_ARRAY(layout, w->mode, blocks);
}

kk_status kki_sparse_work_create(kki_sparse_work *work, const kk_allocator *allocator, kki_sparse_size size) {
    *work = (kki_sparse_work){.allocator = kki_allocator_or_default(allocator), .size = size};
    kki_sparse_scratch header = {0};
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, &size, &header);
    work->memory = kki_allocate(&work->allocator, layout.size);
    if (!work->memory) {
        return KK_OUT_OF_MEMORY;
    }
    work->bytes = layout.size;
    work->scratch = work->memory;
    *work->scratch = header;
    layout = kki_layout_over(work->memory);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, &size, work->scratch);
    work->scratch->factor.pattern = &work->scratch->pattern;
    work->kernels = kki_sparse_kernels_best();
    work->scratch->bundles.kernels = kki_bundle_kernels_best();
    return KK_OK;
}

void kki_sparse_work_destroy(kki_sparse_work *work) {
    kki_release(&work->allocator, work->memory, work->bytes);
    *work = (kki_sparse_work){.memory = NULL};
}

// ---- products

void kki_sparse_velocity(const kki_sparse_problem *p, const kki_sparse_work *work, const double *z, double *u) {
    work->kernels->velocity(p, z, u);
}

void kki_sparse_motion(const kki_sparse_problem *p, const kki_sparse_work *work, const double *lambda, double *z) {
    work->kernels->motion(p, lambda, z);
}

/// Σ over the body's velocities of two rows of a tie.
static double row_product(const kki_sparse_problem *p, const kki_tie *t, int i, int j) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        const int body = t->body[side], w = body < 0 ? 0 : p->first[body + 1] - p->first[body];
        const double *Y = p->Y + t->side[side], *a = Y + i * w, *b = Y + j * w;
        for (int k = 0; k < w; k += 8) {
            double part[4];
            for (int c = 0; c < 4; c++) {
                part[c] = a[k + c] * b[k + c] + a[k + 4 + c] * b[k + 4 + c];
            }
            sum += (part[0] + part[2]) + (part[1] + part[3]);
        }
    }
    return sum;
}

void kki_sparse_own(const kki_sparse_problem *p, const kki_tie *t, int row, int rows, double *own) {
    for (int i = 0, k = 0; i < rows; i++) {
        for (int j = i; j < rows; j++) {
            own[k++] = row_product(p, t, row + i, row + j);
        }
    }
}

// ---- the system

/// A block's own part of G with its compliance, and the largest of the diagonal.
static double own_block(const kki_sparse_system *s, const kki_tie *t, const kki_block *block, double *own) {
    static const int diagonal[3][3] = {{0}, {0, 2}, {0, 3, 5}};
    const int n = kki_law_rows(block->law);
    double most = 0;
    kki_sparse_own(s->problem, t, block->row - t->row, n, own);
    for (int i = 0; i < n; i++) {
        own[diagonal[n - 1][i]] += s->soft[block->row + i];
        most = own[diagonal[n - 1][i]] > most ? own[diagonal[n - 1][i]] : most;
    }
    return most > 0 ? most : 1;
}

/// g' = g − (G + R) a n: adhesion is a constant pull.
static void shift_adhesion(kki_sparse_system *s, double *pull, double *z, double *u) {
    const kki_problem *p = &s->problem->rows;
    bool any = false;
    memset(pull, 0, sizeof *pull * (size_t)s->nrow);
    for (int b = 0; b < s->nblock; b++) {
        if (p->block[b].law == KKI_LAW_CONTACT && p->block[b].adhesion > 0) {
            pull[p->block[b].row] = -p->block[b].adhesion;
            any = true;
        }
    }
    if (!any) {
        return;
    }
    memset(z, 0, sizeof *z * (size_t)s->width);
    s->kernels->motion(s->problem, pull, z);
    s->kernels->velocity(s->problem, z, u);
    for (int i = 0; i < s->nrow; i++) {
        s->g[i] += u[i] + s->soft[i] * pull[i];
    }
}

/// Largest |g|; of unilateral rows only where they approach.
static double size_of(const kki_sparse_system *s) {
    const kki_problem *p = &s->problem->rows;
    double size = 0;
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &p->block[b];
        const bool opens = (block->law == KKI_LAW_CONTACT || block->law == KKI_LAW_LIMIT) && s->g[block->row] > 0;
        for (int k = opens ? kki_law_rows(block->law) : 0; k < kki_law_rows(block->law); k++) {
            size = ABS(s->g[block->row + k]) > size ? ABS(s->g[block->row + k]) : size;
        }
    }
    return size > 0 ? size : 1e-12;
}

void kki_sparse_system_own(kki_sparse_system *s, const kki_tie *t) {
    for (int b = t->block; b < t->block + t->nblock; b++) {
        s->scale[b] = own_block(s, t, &s->problem->rows.block[b], s->own + 6 * (size_t)b);
    }
}

void kki_sparse_system_begin(const kki_sparse_problem *p, const kki_sparse_kernels *kernels, double floor,
                             kki_sparse_scratch *w) {
    kki_sparse_system *s = &w->system;
    s->problem = p;
    s->kernels = kernels;
    s->nrow = p->rows.nrow;
    s->nblock = p->rows.nblock;
    s->width = p->first[p->nbody];
    for (int i = 0; i < s->nrow; i++) {
        s->g[i] = p->rows.g[i];
        s->soft[i] = p->rows.compliance ? p->rows.compliance[i] : 0;
    }
    shift_adhesion(s, w->e, w->dz, w->du);
    double fastest = 1;
    for (int i = 0; i < s->nrow; i++) {
        fastest = ABS(s->g[i]) > fastest ? ABS(s->g[i]) : fastest;
    }
    s->floor = floor * fastest;
}

void kki_sparse_system_make(const kki_sparse_problem *p, const kki_sparse_kernels *kernels, double floor,
                            kki_sparse_scratch *w) {
    kki_sparse_system_begin(p, kernels, floor, w);
    for (int i = 0; i < p->ntie; i++) {
        kki_sparse_system_own(&w->system, &p->tie[i]);
    }
    w->system.size = size_of(&w->system);
}

double kki_sparse_residual(const kki_sparse_system *s, const double *lambda, const double *u) {
    const kki_problem *p = &s->problem->rows;
    double worst = 0;
    for (int b = 0; b < s->nblock; b++) {
        const kki_block *block = &p->block[b];
        const bool rides = block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
        const double normal = rides ? lambda[p->block[block->contact].row] : 0;
        const double r = kki_map_squared(block, s->scale[b], normal, lambda + block->row, u + block->row);
        worst = r <= worst ? worst : r;
    }
    return __builtin_sqrt(worst);
}

void kki_sparse_judge(const kki_sparse_system *s, kki_sparse_iterate *it) {
    memset(it->z, 0, sizeof *it->z * (size_t)s->width);
    s->kernels->motion(s->problem, it->lambda, it->z);
    kki_sparse_judge_motion(s, it);
}

void kki_sparse_judge_motion(const kki_sparse_system *s, kki_sparse_iterate *it) {
    s->kernels->velocity(s->problem, it->z, it->u);
    for (int i = 0; i < s->nrow; i++) {
        it->u[i] += s->g[i] + s->soft[i] * it->lambda[i];
    }
    it->residual = kki_sparse_residual(s, it->lambda, it->u);
}

/// A row of |Y| times what bodies have, or to them. @param pass  0: to bodies
static double absolute_row(const kki_sparse_problem *p, const kki_tie *t, int r, int pass, double lambda, double *z) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        const int body = t->body[side], w = body < 0 ? 0 : p->first[body + 1] - p->first[body];
        const double *Y = p->Y + t->side[side] + r * w;
        double *x = z + (body < 0 ? 0 : p->first[body]);
        for (int k = 0; k < w; k++) {
            if (pass) {
                sum += ABS(Y[k]) * x[k];
            } else {
                x[k] += ABS(Y[k]) * ABS(lambda);
            }
        }
    }
    return sum;
}

/// |Y| times x, by tie: to bodies, then to rows.
static double absolute_products(const kki_sparse_problem *p, const double *lambda, double *z) {
    double most = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < p->ntie; i++) {
            const kki_tie *t = &p->tie[i];
            for (int r = 0; r < t->nrow; r++) {
                const double sum = absolute_row(p, t, r, pass, lambda[t->row + r], z);
                most = sum > most ? sum : most;
            }
        }
    }
    return most;
}

double kki_sparse_rounding(const kki_sparse_system *s, const kki_sparse_iterate *it, double *z) {
    double most = 0;
    memset(z, 0, sizeof *z * (size_t)s->width);
    for (int i = 0; i < s->nrow; i++) {
        const double own = ABS(s->g[i]) + s->soft[i] * ABS(it->lambda[i]);
        most = own > most ? own : most;
    }
    return 4 * 2.220446049250313e-16 * (most + absolute_products(s->problem, it->lambda, z));
}

void kki_sparse_copy(const kki_sparse_system *s, const kki_sparse_iterate *from, kki_sparse_iterate *to) {
    memcpy(to->lambda, from->lambda, sizeof(double) * (size_t)s->nrow);
    memcpy(to->u, from->u, sizeof(double) * (size_t)s->nrow);
    memcpy(to->z, from->z, sizeof(double) * (size_t)s->width);
    to->residual = from->residual;
}
