/// Colors, bundles and sweeps of a fixed budget; see bundles.h.
#include "contact/bundles.h"

#include <string.h>

#include "base/workers.h"
#include "contact/sparse_scratch.h"

/// Bundles of a color that are worth a worker's while.
enum { SWEEP_GRAIN = 100, PACK_GRAIN = 64 };

// ---- colors

static bool is_lone(const kki_sparse_problem *p, int body) {
    return body < 0 || p->first[body + 1] - p->first[body] == KKI_BODY_PAD;
}

/// A point between lone bodies, or between one and the world, without torsion or rolling.
static bool is_plain(const kki_sparse_problem *p, const kki_tie *t) {
    return t->nrow == 3 && t->nblock == 1 && p->rows.block[t->block].law == KKI_LAW_CONTACT && is_lone(p, t->body[0]) &&
           is_lone(p, t->body[1]) && p->nv[t->body[0]] <= 6 && (t->body[1] < 0 || p->nv[t->body[1]] <= 6);
}

/// The first color that neither body has; −1 where there is none left.
static int take_color(const kki_tie *t, uint64_t *taken) {
    const uint64_t free = ~(taken[t->body[0]] | (t->body[1] >= 0 ? taken[t->body[1]] : 0));
    if (free == 0) {
        return -1;
    }
    taken[t->body[0]] |= free & -free;
    if (t->body[1] >= 0) {
        taken[t->body[1]] |= free & -free;
    }
    return __builtin_ctzll(free);
}

/// In the order of ties; how many each color has.
static void color_ties(const kki_sparse_problem *p, kki_bundles *b, int32_t *size) {
    memset(b->taken, 0, sizeof *b->taken * (size_t)p->nbody);
    memset(size, 0, sizeof *size * KKI_COLORS);
    b->colors = b->nrest = 0;
    for (int i = 0; i < p->ntie; i++) {
        const int c = is_plain(p, &p->tie[i]) ? take_color(&p->tie[i], b->taken) : -1;
        b->color[i] = (int8_t)c;
        if (c < 0) {
            b->rest[b->nrest++] = i;
        } else {
            size[c]++;
            b->colors = c >= b->colors ? c + 1 : b->colors;
        }
    }
}

static void fill_bundles(const kki_sparse_problem *p, kki_bundles *b) {
    int32_t size[KKI_COLORS], next[KKI_COLORS];
    color_ties(p, b, size);
    b->start[0] = 0;
    for (int c = 0; c < b->colors; c++) {
        next[c] = KKI_LANES * b->start[c];
        b->start[c + 1] = b->start[c] + (size[c] + KKI_LANES - 1) / KKI_LANES;
        for (int l = 0; l < KKI_LANES && size[c] > 0; l++) { // of the last one some stay empty
            b->bundle[b->start[c + 1] - 1].tie[l] = -1;
        }
    }
    b->count = b->start[b->colors];
    for (int i = 0; i < p->ntie; i++) {
        if (b->color[i] >= 0) {
            const int at = next[b->color[i]]++;
            b->bundle[at / KKI_LANES].tie[at % KKI_LANES] = i;
        }
    }
}

// ---- rows

typedef struct packing {
    const kki_sparse_problem *p;
    const double *soft;
    kki_bundles *bundles;
} packing;

static void pack_some(void *context, int first, int end, int worker) {
    const packing *x = context;
    (void)worker;
    for (int i = first; i < end; i++) {
        x->bundles->kernels->pack(x->p, x->soft, &x->bundles->bundle[i]);
    }
}

void kki_bundles_make(const kki_sparse_problem *p, const double *soft, kki_bundles *bundles) {
    if (p->stamp != 0 && bundles->stamp == p->stamp) {
        return;
    }
    packing x = {p, soft, bundles};
    fill_bundles(p, bundles);
    kki_workers_share(p->workers, bundles->count, PACK_GRAIN, pack_some, &x);
    bundles->stamp = p->stamp;
}

// ---- sweeps

typedef struct sweeping {
    const kki_sparse_system *s;
    kki_bundles *bundles;
    int first; ///< bundle of the color
    double *lambda, *z;
} sweeping;

static void take_in(void *context, int first, int end, int worker) {
    const sweeping *x = context;
    (void)worker;
    for (int i = first; i < end; i++) {
        kki_bundle *b = &x->bundles->bundle[i];
        for (int l = 0; l < KKI_LANES && b->tie[l] >= 0; l++) {
            const kki_tie *t = &x->s->problem->tie[b->tie[l]];
            const int row = t->row;
            b->friction[l] = x->s->problem->rows.block[t->block].friction; // what breaks loose changes it
            for (int r = 0; r < 3; r++) {
                b->g[r][l] = x->s->g[row + r];
                b->lambda[r][l] = x->lambda[row + r];
            }
        }
    }
}

static void give_out(void *context, int first, int end, int worker) {
    const sweeping *x = context;
    (void)worker;
    for (int i = first; i < end; i++) {
        const kki_bundle *b = &x->bundles->bundle[i];
        for (int l = 0; l < KKI_LANES && b->tie[l] >= 0; l++) {
            const int row = x->s->problem->tie[b->tie[l]].row;
            for (int r = 0; r < 3; r++) {
                x->lambda[row + r] = b->lambda[r][l];
            }
        }
    }
}

static void sweep_some(void *context, int first, int end, int worker) {
    const sweeping *x = context;
    (void)worker;
    x->bundles->kernels->sweep(x->bundles->bundle + x->first + first, end - first, x->s->width, x->z);
}

void kki_bundles_sweep(const kki_sparse_system *s, kki_bundles *bundles, int sweeps, double *lambda, double *z) {
    const kk_workers *workers = s->problem->workers;
    sweeping x = {s, bundles, 0, lambda, z};
    memset(z + s->width, 0, sizeof *z * KKI_BODY_PAD);
    kki_workers_share(workers, bundles->count, PACK_GRAIN, take_in, &x);
    for (int k = 0; k < sweeps; k++) {
        for (int c = 0; c < bundles->colors; c++) {
            x.first = bundles->start[c];
            kki_workers_share(workers, bundles->start[c + 1] - x.first, SWEEP_GRAIN, sweep_some, &x);
        }
        s->kernels->sweep_listed(s, bundles->rest, bundles->nrest, lambda, z);
    }
    kki_workers_share(workers, bundles->count, PACK_GRAIN, give_out, &x);
}
