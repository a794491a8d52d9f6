// The corpus of contact problems (tests/corpus): its records are whole, and whatever its manifest says is solved goes on being solved, with its certificate.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "support/corpus_engine.h"

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(corpus_is_solved) {
    KK_SKIP("no folder to read the corpus from");
}
#else

enum { WORD = 64, LINE = 1024 };

/// A line of manifest.csv: family, name, source, rows, blocks, bodies, factorizations, residual, solved, kinds.
typedef struct entry {
    char family[WORD], name[WORD];
    int rows, blocks, bodies, solved;
} entry;

enum { FAMILY, NAME, SOURCE, ROWS, BLOCKS, BODIES, FACTORIZATIONS, RESIDUAL, SOLVED, KINDS, FIELDS };

static void copy_word(const char *from, char to[WORD]) {
    snprintf(to, WORD, "%s", from);
}

static bool read_entry(FILE *manifest, entry *e) {
    char line[LINE], *field[FIELDS] = {0};
    int count = 0;
    if (!fgets(line, sizeof line, manifest)) {
        return false;
    }
    for (char *at = line; at && count < FIELDS; count++) {
        field[count] = at;
        at = strchr(at, ',');
        if (at) {
            *at++ = 0;
        }
    }
    if (count < FIELDS) {
        KK_FAIL("a line of the manifest has %d fields", count);
        return false;
    }
    copy_word(field[FAMILY], e->family);
    copy_word(field[NAME], e->name);
    e->rows = (int)strtol(field[ROWS], NULL, 10);
    e->blocks = (int)strtol(field[BLOCKS], NULL, 10);
    e->bodies = (int)strtol(field[BODIES], NULL, 10);
    e->solved = (int)strtol(field[SOLVED], NULL, 10);
    return true;
}

/// A family's file, read record by record.
typedef struct reel {
    char family[WORD];
    unsigned char *bytes;
    size_t size, at;
} reel;

static bool load(reel *r, const char *family) {
    char path[LINE];
    free(r->bytes);
    *r = (reel){.at = 0};
    snprintf(r->family, sizeof r->family, "%s", family);
    snprintf(path, sizeof path, KK_SOURCE_DIR "/tests/corpus/%s.bin", family);
    r->bytes = corpus_load_file(path, &r->size);
    return KK_CHECK(r->bytes != NULL);
}

static FILE *open_manifest(void) {
    FILE *manifest = fopen(KK_SOURCE_DIR "/tests/corpus/manifest.csv", "r");
    char heads[LINE];
    if (!KK_CHECK(manifest != NULL) || !KK_CHECK(fgets(heads, sizeof heads, manifest) != NULL)) {
        return NULL;
    }
    return manifest;
}

/// What the judge says of the solution of today.
static void check_problem(const corpus_problem *p, const entry *e) {
    corpus_case c;
    kki_solver_stats stats;
    KK_CHECK_STR(p->name, e->name);
    KK_CHECK_EQ_INT(p->nrow, e->rows);
    KK_CHECK_EQ_INT(p->nblock, e->blocks);
    KK_CHECK_EQ_INT(p->nbody, e->bodies);
    if (!e->solved || !KK_CHECK(corpus_case_make(p, &c))) {
        return;
    }
    const kki_certificate proof = corpus_engine(&c, &stats);
    // asked for in m/s, relative to what moves faster than 1 m/s
    if (!(proof.residual <= p->tolerance)) {
        KK_FAIL("%s: residual %g of %g allowed", p->name, proof.residual, p->tolerance);
    }
    KK_CHECK(p->tolerance >= 1e-10 && proof.cone <= p->tolerance);
    corpus_case_free(&c);
}

/// Every record of the manifest, in order; of a quick run each tenth is solved.
static int check_all(FILE *manifest) {
    reel r = {.at = 0};
    entry e;
    int count = 0;
    while (read_entry(manifest, &e)) {
        corpus_problem p;
        if (strcmp(r.family, e.family) != 0 && !load(&r, e.family)) {
            break;
        }
        const char *fault = corpus_read(r.bytes, r.size, &r.at, &p);
        if (fault) {
            KK_FAIL("%s, %s: %s", e.family, e.name, fault);
            break;
        }
        e.solved &= !kk_test_is_quick() || count % 10 == 0;
        check_problem(&p, &e);
        corpus_free(&p);
        count++;
    }
    free(r.bytes);
    return count;
}

KK_TEST(corpus_is_solved) {
    FILE *manifest = open_manifest();
    if (manifest) {
        KK_CHECK(check_all(manifest) >= 500);
        fclose(manifest);
    }
}

/// Whether a record that is read holds the same as another one did.
static bool is_same(const corpus_problem *p, const unsigned char *payload, size_t size) {
    size_t own_size;
    unsigned char *own = corpus_payload(p, &own_size);
    const bool same = own && own_size == size && memcmp(own, payload, size) == 0;
    free(own);
    return same;
}

// a record with one bit changed is refused, whichever it is; but for those behind the end of a packed stream, which say nothing
KK_TEST(corpus_records_check_themselves) {
    size_t size, end = 0, payload_size = 0;
    unsigned char *bytes = corpus_load_file(KK_SOURCE_DIR "/tests/corpus/loops.bin", &size);
    corpus_problem p;
    if (!KK_CHECK(bytes != NULL) || !KK_CHECK(corpus_read(bytes, size, &end, &p) == NULL)) {
        free(bytes);
        return;
    }
    unsigned char *payload = corpus_payload(&p, &payload_size);
    int refused = 0, tried = 0;
    corpus_free(&p);
    for (size_t bit = 0; bit < 8 * end; bit += kk_test_is_quick() ? 1009 : 61, tried++) {
        const unsigned char mask = (unsigned char)(1 << bit % 8);
        size_t at = 0;
        bytes[bit / 8] ^= mask;
        const bool is_read = corpus_read(bytes, end, &at, &p) == NULL;
        KK_CHECK(!is_read || is_same(&p, payload, payload_size));
        refused += !is_read;
        bytes[bit / 8] ^= mask;
        corpus_free(&p);
    }
    KK_CHECK(refused >= tried - 1);
    size_t at = 0;
    KK_CHECK(corpus_read(bytes, end - 1, &at, &p) != NULL); // cut off
    free(payload);
    free(bytes);
}

static double term(double x, bool sizes) {
    return sizes ? fabs(x) : x;
}

/// y += Y λ, or u += Yᵀ y, of one tie and one of its bodies, whose rows begin at `row`. @param own  where the body's y begins
static void multiply(const corpus_problem *p, const corpus_tie *t, int nv, const double *row, bool sizes, bool is_back,
                     double *own, double *u) {
    for (int r = t->row; r < t->row + t->nrow; r++, row += nv) {
        for (int k = 0; k < nv; k++) {
            own[k] += is_back ? 0 : term(row[k] * p->lambda[r], sizes);
            u[r] += is_back ? term(row[k] * own[k], sizes) : 0;
        }
    }
}

static void multiply_all(const corpus_problem *p, bool sizes, bool is_back, double *y, double *u) {
    for (int i = 0; i < p->ntie; i++) {
        const corpus_tie *t = &p->tie[i];
        const double *row = p->Y + t->first;
        for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
            double *own = y;
            for (int b = 0; b < t->body[side]; b++) {
                own += p->nv[b];
            }
            multiply(p, t, p->nv[t->body[side]], row, sizes, is_back, own, u);
            row += t->nrow * p->nv[t->body[side]];
        }
    }
}

/// u = Yᵀ (y + Y λ) + bias + r λ by plain loops over bodies; or, with the sizes of all terms, what rounding is measured by.
static void velocities(const corpus_problem *p, bool sizes, double *y, double *u) {
    corpus_bias(p, u);
    for (int k = 0; k < p->width; k++) {
        y[k] = term(p->free[k], sizes);
    }
    for (int r = 0; r < p->nrow; r++) {
        u[r] = term(u[r], sizes) + term(p->compliance[r] * p->lambda[r], sizes);
    }
    multiply_all(p, sizes, false, y, u);
    multiply_all(p, sizes, true, y, u);
}

/// Both ways in which solvers take a problem say the same of its start, to rounding.
static void check_poses(const corpus_problem *p) {
    corpus_case c;
    const size_t rows = (size_t)p->nrow + 8;
    double *y = calloc((size_t)p->width + 8, sizeof *y), *u = calloc(2 * rows, sizeof *u), *size = u ? u + rows : NULL;
    if (KK_CHECK(corpus_case_make(p, &c)) && KK_CHECK(y && u)) {
        double most = 0;
        kki_certificate dense;
        memcpy(c.lambda, p->lambda, (size_t)p->nrow * sizeof *c.lambda);
        const kki_certificate sparse = corpus_judge(&c);
        velocities(p, false, y, u);
        velocities(p, true, y, size);
        for (int r = 0; r < p->nrow; r++) {
            KK_CHECK_NEAR(c.u[r], u[r], 1e-13 * size[r]);
            most = fmax(most, size[r]);
        }
        if (c.has_dense) {
            c.dense.problem.G = c.dense.G;
            kki_certify_baseline(&c.dense.problem, c.lambda, c.u, &dense);
            KK_CHECK_NEAR(dense.residual, sparse.residual, 1e-13 * most);
        }
        corpus_case_free(&c);
    }
    free(y);
    free(u);
}

KK_TEST(corpus_is_posed_alike_for_all_solvers) {
    static const char *const families[] = {"falling", "loops", "piles", "soft"};
    for (int f = 0; f < 4; f++) {
        reel r = {.at = 0};
        corpus_problem p;
        for (load(&r, families[f]); r.bytes && r.at < r.size;) {
            if (!KK_CHECK(corpus_read(r.bytes, r.size, &r.at, &p) == NULL)) {
                break;
            }
            check_poses(&p);
            corpus_free(&p);
        }
        free(r.bytes);
    }
}
#endif
