#include "collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <karakuri/hash.h>
#include <karakuri/simulate.h>

#include "../../tools/cli/render/deflate.h"
#include "contact/dense_kernels.h"
#include "simulate/island.h"
#include "support/corpus_engine.h"

/// How hard a problem is for the solver of today, by its factorizations.
enum { WARM, EASY, FAIR, HARD, HARDEST, UNSOLVED, LEVELS };
enum { SIGNATURES = 4096, LARGE_ROWS = 700, LARGE_EVERY = 40, MOST_OF_HARD = 24, MOST_OF_EASY = 200 };

static struct {
    FILE *records, *index;
    const char *family, *source;
    uint64_t key[SIGNATURES];
    int seen[SIGNATURES];
    long serial, posed, large;
    long all_posed, all_handed, first_handed; ///< problems, calls of the ladder, problems that came to it
    bool is_fresh;                            ///< the last call showed a problem that was just posed
} my;

// ---- from the simulator

/// How a step stands to the island's rows: in Y of all trees, in that of a basis, or tie by tie.
static const double *y_row(const kki_island *I, int k) {
    return I->scratch->Y + (size_t)k * (size_t)I->stride;
}

/// Bodies of an island that is solved densely: its trees where no constraint acts on more than two; else one.
static int list_trees(const kk_simulator *s, const kki_island *I, int32_t *first) {
    const kk_model *m = s->model;
    int n = 0;
    if (I->has_wrench_basis) {
        first[0] = 0;
        first[1] = I->nv;
        return 1;
    }
    for (int t = 0; t < I->ntree; t++) {
        const int tree = s->islands.tree_order[I->first_tree + t];
        first[n++] = s->islands.tree_local[tree];
        first[n] = s->islands.tree_local[tree] + m->tree_first_dof[tree + 1] - m->tree_first_dof[tree];
    }
    return n;
}

static bool acts_on(const kki_island *I, const kki_constraint *c, int first, int end) {
    const int row = c->row - I->first_row;
    for (int k = first; k < end; k++) {
        for (int r = 0; r < c->nrow; r++) {
            if (y_row(I, k)[row + r] != 0) {
                return true;
            }
        }
    }
    return false;
}

/// Bodies of one constraint; how many.
static int bodies_of(const kki_island *I, const kki_constraint *c, int n, const int32_t *first, int32_t body[2]) {
    int count = 0;
    body[0] = 0;
    body[1] = -1;
    for (int b = 0; b < n; b++) {
        if (acts_on(I, c, first[b], first[b + 1])) {
            if (count < 2) {
                body[count] = b;
            }
            count++;
        }
    }
    return count;
}

static const kki_constraint *constraint_at(const kk_simulator *s, const kki_island *I, int i) {
    return &s->constraints.list[s->constraints.order[I->first_constraint + i]];
}

static corpus_tie tie_of(const kki_island *I, const kki_constraint *c) {
    return (corpus_tie){.row = c->row - I->first_row,
                        .nrow = c->nrow,
                        .block = c->block - I->first_block,
                        .nblock = c->nblock,
                        .kind = c->kind};
}

static void fill_dense(const kk_simulator *s, const kki_island *I, int n, const int32_t *first, corpus_problem *p) {
    int32_t used = 0;
    for (int b = 0; b < n; b++) {
        p->nv[b] = first[b + 1] - first[b];
    }
    for (int i = 0; i < p->ntie; i++) {
        const kki_constraint *c = constraint_at(s, I, i);
        corpus_tie *t = &p->tie[i];
        *t = tie_of(I, c);
        bodies_of(I, c, n, first, t->body);
        t->first = used;
        for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
            for (int r = 0; r < t->nrow; r++) {
                for (int k = first[t->body[side]]; k < first[t->body[side] + 1]; k++) {
                    p->Y[used++] = y_row(I, k)[t->row + r];
                }
            }
        }
    }
}

static bool from_dense(const kk_simulator *s, const kki_island *I, corpus_problem *p) {
    int32_t *first = malloc(((size_t)I->ntree + 2) * sizeof *first), body[2];
    int n = first ? list_trees(s, I, first) : 0;
    for (int i = 0; i < I->nconstraint && n > 1; i++) {
        if (bodies_of(I, constraint_at(s, I, i), n, first, body) > 2) {
            n = 1;
            first[1] = I->nv;
        }
    }
    p->nbody = n;
    p->width = I->nv;
    p->count = 0;
    for (int i = 0; i < I->nconstraint && n > 0; i++) {
        const kki_constraint *c = constraint_at(s, I, i);
        bodies_of(I, c, n, first, body);
        for (int side = 0; side < 2 && body[side] >= 0; side++) {
            p->count += c->nrow * (first[body[side] + 1] - first[body[side]]);
        }
    }
    const bool good = n > 0 && corpus_allocate(p);
    if (good) {
        fill_dense(s, I, n, first, p);
    }
    free(first);
    return good;
}

static bool from_wide(const kk_simulator *s, const kki_island *I, corpus_problem *p) {
    const kki_sparse_problem w = kki_sparse_rows_problem(s, I);
    p->nbody = w.nbody;
    for (int b = 0; b < w.nbody; b++) {
        p->width += w.nv[b];
    }
    for (int i = 0; i < w.ntie; i++) {
        for (int side = 0; side < 2 && w.tie[i].body[side] >= 0; side++) {
            p->count += w.tie[i].nrow * w.nv[w.tie[i].body[side]];
        }
    }
    if (!corpus_allocate(p)) {
        return false;
    }
    memcpy(p->nv, w.nv, (size_t)w.nbody * sizeof *p->nv);
    double *to = p->Y;
    for (int i = 0; i < w.ntie; i++) {
        const kki_tie *t = &w.tie[i];
        p->tie[i] = tie_of(I, constraint_at(s, I, i));
        p->tie[i].first = (int32_t)(to - p->Y);
        for (int side = 0; side < 2; side++) {
            const int body = p->tie[i].body[side] = t->body[side];
            for (int r = 0; r < t->nrow && body >= 0; r++) {
                memcpy(to, w.Y + t->side[side] + r * (w.first[body + 1] - w.first[body]),
                       (size_t)w.nv[body] * sizeof *to);
                to += w.nv[body];
            }
        }
    }
    return true;
}

/// y without impulses, without the padding of wide islands.
static void fill_free(const kk_simulator *s, const kki_island *I, corpus_problem *p) {
    double *all = calloc((size_t)I->nv + 8, sizeof *all), *to = p->free;
    if (!all) {
        return;
    }
    kki_island_gather(s->model, s, I, s->kick.y_free, all);
    if (!I->is_sparse) {
        memcpy(to, all, (size_t)I->nv * sizeof *to);
    } else {
        const kki_sparse_problem w = kki_sparse_rows_problem(s, I);
        for (int b = 0; b < w.nbody; b++) {
            memcpy(to, all + w.first[b], (size_t)w.nv[b] * sizeof *to);
            to += w.nv[b];
        }
    }
    free(all);
}

static bool from_island(const kk_simulator *s, const kki_island *I, const kki_problem *problem,
                        const kki_solver_options *options, const double *lambda, corpus_problem *p) {
    *p = (corpus_problem){.ntie = I->nconstraint, .nblock = I->nblock, .nrow = I->nrow};
    if (!(I->is_sparse ? from_wide(s, I, p) : from_dense(s, I, p))) {
        return false;
    }
    const size_t rows = (size_t)I->nrow * sizeof(double);
    const kki_solver_options o = options ? *options : kki_island_solver_options(s, I);
    const int most = I->has_robot ? KKI_ROBOT_ROWS : KKI_DENSE_ROWS;
    const bool matrix = !I->is_sparse && !I->has_wrench_basis && I->nrow <= KKI_MOST_MATRIX_ROWS &&
                        !(I->nrow > most && I->nrow > I->nv);
    memcpy(p->block, problem->block, (size_t)I->nblock * sizeof *p->block);
    memcpy(p->g, problem->g, rows);
    memcpy(p->lambda, lambda, rows);
    if (problem->compliance) {
        memcpy(p->compliance, problem->compliance, rows);
    }
    if (problem->before) {
        memcpy(p->before, problem->before, rows);
    }
    p->flags = (I->is_sparse ? CORPUS_WIDE : 0) | (matrix ? CORPUS_MATRIX : 0) | (o.moves ? CORPUS_MOVES : 0) |
               (problem->before ? CORPUS_BEFORE : 0) | (options ? CORPUS_HANDED : 0);
    p->factors = o.factors > 0 ? o.factors : 0;
    p->timestep = s->h;
    p->tolerance = o.tolerance;
    p->floor = o.floor;
    fill_free(s, I, p);
    snprintf(p->family, sizeof p->family, "%s", my.family);
    snprintf(p->source, sizeof p->source, "%s", my.source);
    snprintf(p->name, sizeof p->name, "%s-%ld", my.source, my.serial++);
    return true;
}

// ---- which are worth keeping

static int level_of(const kki_solver_stats *stats, const kki_certificate *proof, double tolerance) {
    const int n = stats->factorizations;
    return !(proof->residual <= tolerance) ? UNSOLVED
           : n == 0                        ? WARM
           : n <= 3                        ? EASY
           : n <= 10                       ? FAIR
           : n <= 40                       ? HARD
                                           : HARDEST;
}

static int bits_of(int n) {
    int bits = 0;
    for (; n > 0; n /= 2) {
        bits++;
    }
    return bits;
}

/// What a problem is like: sizes in powers of two, laws, kinds, hardness.
static uint64_t signature_of(const corpus_problem *p, int level) {
    uint64_t laws = 0, kinds = 0, soft = 0;
    for (int b = 0; b < p->nblock; b++) {
        laws |= UINT64_C(1) << p->block[b].law;
    }
    for (int i = 0; i < p->ntie; i++) {
        kinds |= UINT64_C(1) << p->tie[i].kind;
    }
    for (int r = 0; r < p->nrow; r++) {
        soft |= p->compliance[r] > 0;
    }
    const uint64_t words[] = {laws,
                              kinds,
                              soft,
                              (uint64_t)level,
                              (uint64_t)bits_of(p->nrow),
                              (uint64_t)bits_of(p->nbody),
                              (uint64_t)p->flags & (CORPUS_HANDED | CORPUS_WIDE)};
    return kk_hash_bytes(words, sizeof words, 0) | 1;
}

/// How many of its kind were there before it.
static int count_signature(uint64_t key) {
    for (int i = (int)(key % SIGNATURES), n = 0; n < SIGNATURES; n++, i = (i + 1) % SIGNATURES) {
        if (my.key[i] == 0 || my.key[i] == key) {
            my.key[i] = key;
            return my.seen[i]++;
        }
    }
    return MOST_OF_EASY;
}

/// Of easy ones the 1st, 2nd, 4th, 8th …; of hard ones the first few.
static bool is_wanted(int level, int before) {
    const int n = before + 1;
    return level >= HARD ? before < MOST_OF_HARD : before < MOST_OF_EASY && (n & (n - 1)) == 0;
}

static void put(unsigned char *at, uint64_t value, int bytes) {
    for (int k = 0; k < bytes; k++) {
        at[k] = (unsigned char)(value >> (8 * k));
    }
}

static void write_record(const corpus_problem *p, const kki_solver_stats *stats, const kki_certificate *proof,
                         int level, double seconds) {
    size_t size;
    unsigned char *payload = corpus_payload(p, &size), header[CORPUS_HEADER] = "KKCORPUS";
    cli_text packed = {0};
    if (!payload) {
        return;
    }
    deflate_zlib(&packed, payload, size);
    put(header + 8, 1, 4);
    put(header + 12, packed.size, 4);
    put(header + 16, size, 8);
    put(header + 24, kk_hash_bytes(payload, size, 0), 8);
    const long at = ftell(my.records);
    fwrite(header, 1, sizeof header, my.records);
    fwrite(packed.bytes, 1, packed.size, my.records);
    fprintf(my.index,
            "{\"at\": %ld, \"size\": %zu, \"name\": \"%s\", \"family\": \"%s\", \"source\": \"%s\", \"flags\": %d, "
            "\"rows\": %d, "
            "\"blocks\": %d, \"bodies\": %d, \"width\": %d, \"level\": %d, \"factorizations\": %d, \"residual\": %.3g, "
            "\"tolerance\": %.3g, \"seconds\": %.3g, \"signature\": \"%016llx\", \"kinds\": [",
            at, sizeof header + packed.size, p->name, p->family, p->source, p->flags, p->nrow, p->nblock, p->nbody,
            p->width, level, stats->factorizations, proof->residual, p->tolerance, seconds,
            (unsigned long long)signature_of(p, level));
    for (int kind = 0, any = 0; kind < 12; kind++) {
        bool has = false;
        for (int i = 0; i < p->ntie && !has; i++) {
            has = p->tie[i].kind == kind;
        }
        if (has) {
            fprintf(my.index, "%s\"%s\"", any ? ", " : "", corpus_kind_name(kind));
            any = 1;
        }
    }
    fprintf(my.index, "]}\n");
    text_free(&packed);
    free(payload);
}

static void weigh(const corpus_problem *p) {
    corpus_case c;
    kki_solver_stats stats;
    if (!corpus_case_make(p, &c)) {
        return;
    }
    const kki_certificate proof = corpus_engine(&c, &stats);
    const int level = level_of(&stats, &proof, p->tolerance);
    if (is_wanted(level, count_signature(signature_of(p, level)))) {
        write_record(p, &stats, &proof, level, c.seconds);
    }
    corpus_case_free(&c);
}

/// Every problem at first, then fewer and fewer.
static bool is_next_due(void) {
    const long n = my.posed++;
    return n % (1 + n / 300) == 0;
}

/// The step's own numbers are not touched.
static void collect(const kk_simulator *s, const kki_island *I, const kki_problem *problem,
                    const kki_solver_options *options, const double *lambda, void *user) {
    corpus_problem p;
    (void)user;
    my.all_posed += !options;
    my.all_handed += options != NULL;
    my.first_handed += options && my.is_fresh;
    my.is_fresh = !options;
    const bool is_exact = s->effort.sweeps == 0 && s->effort.newton == 0 && !s->retry.degrades && !s->paper;
    const bool is_due = options || is_next_due();
    const bool is_small = I->nrow <= LARGE_ROWS || my.large++ % LARGE_EVERY == 0;
    if (is_exact && is_due && is_small && I->nrow > 0 && from_island(s, I, problem, options, lambda, &p)) {
        weigh(&p);
        corpus_free(&p);
    }
}

// ---- every step of the program

kk_status __real_kk_step(const kk_model *model, kk_state *state, kk_simulator *simulator, const kk_input *input,
                         kk_error *error);
kk_status __wrap_kk_step(const kk_model *model, kk_state *state, kk_simulator *simulator, const kk_input *input,
                         kk_error *error);

kk_status __wrap_kk_step(const kk_model *model, kk_state *state, kk_simulator *simulator, const kk_input *input,
                         kk_error *error) {
    if (simulator && my.records) {
        simulator->hooks.capture = collect;
    }
    return __real_kk_step(model, state, simulator, input, error);
}

int collect_begin(const char *path, const char *family, const char *source) {
    char index[1024];
    snprintf(index, sizeof index, "%s.index", path);
    my.records = fopen(path, "wb");
    my.index = fopen(index, "w");
    my.family = family;
    my.source = source;
    if (!my.records || !my.index) {
        fprintf(stderr, "collect: cannot write %s\n", path);
        return 0;
    }
    return 1;
}

void collect_end(void) {
    if (my.records) {
        fprintf(my.index, "{\"family\": \"%s\", \"source\": \"%s\", \"posed\": %ld, \"handed\": %ld, \"calls\": %ld}\n",
                my.family, my.source, my.all_posed, my.first_handed, my.all_handed);
        fclose(my.records);
        fclose(my.index);
        my.records = NULL;
    }
}
