#include "support/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <karakuri/hash.h>

#include "contact/cones.h"
#include "contact/dense_kernels.h"
#include "io/inflate.h"

static const unsigned char MAGIC[8] = {'K', 'K', 'C', 'O', 'R', 'P', 'U', 'S'};
enum { VERSION = 1, COUNTS = 8, TIE_NUMBERS = 8, BLOCK_NUMBERS = 3, BLOCK_REALS = 4, MOST = 1 << 26 };

const char *corpus_kind_name(int kind) {
    static const char *const names[] = {"contact",     "limit",           "dry friction", "coupling",
                                        "loop",        "tendon",          "spring",       "servo",
                                        "servo limit", "tendon friction", "tendon held",  "tendon armature"};
    return kind >= 0 && kind < (int)(sizeof names / sizeof *names) ? names[kind] : "";
}

// ---- memory

/// Arrays out of one block: measured first, placed then.
typedef struct places {
    char *base;
    size_t size;
} places;

static void *place(places *p, size_t count, size_t size) {
    void *here = p->base ? p->base + p->size : NULL;
    p->size += (count * size + 63) & ~(size_t)63;
    return here;
}

static void *aligned_zeros(size_t size) {
    void *memory = aligned_alloc(64, (size + 64) & ~(size_t)63);
    if (memory) {
        memset(memory, 0, (size + 64) & ~(size_t)63);
    }
    return memory;
}

static void place_all(corpus_problem *p, places *a) {
    const size_t rows = (size_t)p->nrow;
    p->nv = place(a, (size_t)p->nbody, sizeof *p->nv);
    p->tie = place(a, (size_t)p->ntie, sizeof *p->tie);
    p->block = place(a, (size_t)p->nblock, sizeof *p->block);
    p->g = place(a, rows, sizeof *p->g);
    p->compliance = place(a, rows, sizeof *p->g);
    p->lambda = place(a, rows, sizeof *p->g);
    p->before = place(a, rows, sizeof *p->g);
    p->free = place(a, (size_t)p->width, sizeof *p->g);
    p->Y = place(a, (size_t)p->count, sizeof *p->g);
}

bool corpus_allocate(corpus_problem *p) {
    places a = {0};
    place_all(p, &a);
    p->memory = aligned_zeros(a.size);
    a = (places){.base = p->memory};
    if (p->memory) {
        place_all(p, &a);
    }
    return p->memory != NULL;
}

void corpus_free(corpus_problem *p) {
    free(p->memory);
    *p = (corpus_problem){0};
}

// ---- whole numbers and doubles, in one order for reading and writing

/// A tape that is written where `writes`, else read.
typedef struct tape {
    int32_t *whole;
    double *real;
    size_t nwhole, nreal; ///< so far
    bool writes;
} tape;

static void whole(tape *t, int32_t *x) {
    if (t->writes && t->whole) {
        t->whole[t->nwhole] = *x;
    } else if (!t->writes) {
        *x = t->whole[t->nwhole];
    }
    t->nwhole++;
}

static void reals(tape *t, double *x, size_t count) {
    if (count > 0 && t->writes && t->real) {
        memcpy(t->real + t->nreal, x, count * sizeof *x);
    } else if (count > 0 && !t->writes) {
        memcpy(x, t->real + t->nreal, count * sizeof *x);
    }
    t->nreal += count;
}

static void text(tape *t, char word[CORPUS_NAME]) {
    for (int k = 0; k < CORPUS_NAME; k += 4) {
        uint32_t four = 0;
        for (int b = 0; b < 4; b++) {
            four |= (uint32_t)(unsigned char)word[k + b] << (8 * b);
        }
        int32_t number = (int32_t)four;
        whole(t, &number);
        for (int b = 0; b < 4; b++) {
            word[k + b] = (char)((uint32_t)number >> (8 * b));
        }
    }
    word[CORPUS_NAME - 1] = 0;
}

/// Behind `counts` everything has its room.
static void walk_counts(tape *t, corpus_problem *p) {
    int32_t *const counts[COUNTS] = {&p->nbody, &p->ntie,  &p->nblock, &p->nrow,
                                     &p->width, &p->count, &p->flags,  &p->factors};
    for (int k = 0; k < COUNTS; k++) {
        whole(t, counts[k]);
    }
}

static void walk_rest(tape *t, corpus_problem *p) {
    text(t, p->name);
    text(t, p->family);
    text(t, p->source);
    reals(t, &p->timestep, 1);
    reals(t, &p->tolerance, 1);
    reals(t, &p->floor, 1);
    for (int i = 0; i < p->nbody; i++) {
        whole(t, &p->nv[i]);
    }
    for (int i = 0; i < p->ntie; i++) {
        corpus_tie *k = &p->tie[i];
        int32_t *const number[TIE_NUMBERS] = {&k->row,     &k->nrow,    &k->block, &k->nblock,
                                              &k->body[0], &k->body[1], &k->kind,  &k->first};
        for (int n = 0; n < TIE_NUMBERS; n++) {
            whole(t, number[n]);
        }
    }
    for (int i = 0; i < p->nblock; i++) {
        kki_block *b = &p->block[i];
        whole(t, &b->law);
        whole(t, &b->row);
        whole(t, &b->contact);
        reals(t, &b->friction, 1);
        reals(t, &b->adhesion, 1);
        reals(t, &b->lower, 1);
        reals(t, &b->upper, 1);
    }
    double *const rows[] = {p->g, p->compliance, p->lambda, p->before};
    for (int k = 0; k < 4; k++) {
        reals(t, rows[k], (size_t)p->nrow);
    }
    reals(t, p->free, (size_t)p->width);
    reals(t, p->Y, (size_t)p->count);
}

// ---- bytes

static void put(unsigned char *at, uint64_t value, int bytes) {
    for (int k = 0; k < bytes; k++) {
        at[k] = (unsigned char)(value >> (8 * k));
    }
}

static uint64_t get(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int k = 0; k < bytes; k++) {
        value |= (uint64_t)at[k] << (8 * k);
    }
    return value;
}

unsigned char *corpus_payload(const corpus_problem *p, size_t *size) {
    corpus_problem copy = *p; // the tape writes nothing into it
    tape t = {.writes = true};
    walk_counts(&t, &copy);
    walk_rest(&t, &copy);
    const size_t nwhole = t.nwhole, nreal = t.nreal;
    *size = 8 + 4 * nwhole + 8 * nreal;
    unsigned char *bytes = malloc(*size);
    int32_t *wholes = malloc(nwhole * sizeof *wholes);
    double *numbers = malloc((nreal + 1) * sizeof *numbers);
    if (bytes && wholes && numbers) {
        t = (tape){.whole = wholes, .real = numbers, .writes = true};
        walk_counts(&t, &copy);
        walk_rest(&t, &copy);
        put(bytes, nwhole, 4);
        put(bytes + 4, nreal, 4);
        for (size_t i = 0; i < nwhole; i++) {
            put(bytes + 8 + 4 * i, (uint32_t)wholes[i], 4);
        }
        for (size_t i = 0; i < nreal; i++) {
            uint64_t bits;
            memcpy(&bits, &numbers[i], sizeof bits);
            for (size_t k = 0; k < 8; k++) {
                bytes[8 + 4 * nwhole + k * nreal + i] = (unsigned char)(bits >> (8 * k));
            }
        }
    } else {
        free(bytes);
        bytes = NULL;
    }
    free(wholes);
    free(numbers);
    return bytes;
}

/// Whether what was read describes a problem: nothing of it reaches outside.
static bool is_sound(const corpus_problem *p) {
    int row = 0, block = 0, width = 0;
    size_t used = 0;
    for (int i = 0; i < p->nbody; i++) {
        width += p->nv[i] > 0 && p->nv[i] <= p->width ? p->nv[i] : MOST;
    }
    for (int i = 0; i < p->ntie; i++) {
        const corpus_tie *t = &p->tie[i];
        const bool fits = t->row == row && t->block == block && t->nrow > 0 && t->nrow <= KKI_TIE_ROWS &&
                          t->nblock > 0 && t->body[0] >= 0 && t->body[0] < p->nbody && t->body[1] >= -1 &&
                          t->body[1] < p->nbody && t->body[1] != t->body[0] && (size_t)t->first == used &&
                          t->nrow <= p->nrow - row && t->nblock <= p->nblock - block;
        if (!fits) {
            return false;
        }
        row += t->nrow;
        block += t->nblock;
        for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
            used += (size_t)t->nrow * (size_t)p->nv[t->body[side]];
        }
    }
    int rows = 0;
    for (int b = 0; b < p->nblock; b++) {
        const kki_block *k = &p->block[b];
        const bool rides = k->law == KKI_LAW_TORSION || k->law == KKI_LAW_ROLLING;
        if (k->law < KKI_LAW_CONTACT || k->law > KKI_LAW_ROLLING || k->row != rows ||
            (rides && (k->contact < 0 || k->contact >= b))) {
            return false;
        }
        rows += kki_law_rows(k->law);
    }
    return width == p->width && row == p->nrow && rows == p->nrow && block == p->nblock && used == (size_t)p->count;
}

static bool counts_fit(const corpus_problem *p) {
    const int32_t counts[] = {p->nbody, p->ntie, p->nblock, p->nrow, p->width, p->count};
    for (int k = 0; k < 6; k++) {
        if (counts[k] <= 0 || counts[k] > MOST) {
            return false;
        }
    }
    return true;
}

/// How many whole numbers and doubles a problem of these counts has.
static size_t size_of(const corpus_problem *p, size_t *nreal) {
    *nreal = 3 + (size_t)BLOCK_REALS * (size_t)p->nblock + 4 * (size_t)p->nrow + (size_t)p->width + (size_t)p->count;
    return COUNTS + 3 * CORPUS_NAME / 4 + (size_t)p->nbody + (size_t)TIE_NUMBERS * (size_t)p->ntie +
           (size_t)BLOCK_NUMBERS * (size_t)p->nblock;
}

static const char *read_numbers(int32_t *wholes, double *numbers, size_t nwhole, size_t nreal, corpus_problem *p) {
    tape t = {.whole = wholes, .real = numbers};
    size_t wanted;
    if (nwhole < COUNTS) {
        return "a record is shorter than its counts";
    }
    walk_counts(&t, p);
    if (!counts_fit(p) || size_of(p, &wanted) != nwhole || wanted != nreal) {
        return "counts and size of a record differ";
    }
    if (!corpus_allocate(p)) {
        return "out of memory";
    }
    walk_rest(&t, p);
    return is_sound(p) ? NULL : "rows, blocks and bodies of a record do not fit together";
}

static const char *read_payload(const unsigned char *bytes, size_t size, corpus_problem *p) {
    const size_t nwhole = size < 8 ? 0 : (size_t)get(bytes, 4), nreal = size < 8 ? 0 : (size_t)get(bytes + 4, 4);
    if (size < 8 || size != 8 + 4 * nwhole + 8 * nreal) {
        return "a record has another size than it says";
    }
    int32_t *wholes = malloc((nwhole + 1) * sizeof *wholes);
    double *numbers = malloc((nreal + 1) * sizeof *numbers);
    const char *fault = "out of memory";
    if (wholes && numbers) {
        for (size_t i = 0; i < nwhole; i++) {
            wholes[i] = (int32_t)get(bytes + 8 + 4 * i, 4);
        }
        for (size_t i = 0; i < nreal; i++) {
            uint64_t bits = 0;
            for (size_t k = 0; k < 8; k++) {
                bits |= (uint64_t)bytes[8 + 4 * nwhole + k * nreal + i] << (8 * k);
            }
            memcpy(&numbers[i], &bits, sizeof bits);
        }
        fault = read_numbers(wholes, numbers, nwhole, nreal, p);
    }
    free(wholes);
    free(numbers);
    return fault;
}

const char *corpus_read(const unsigned char *bytes, size_t size, size_t *at, corpus_problem *p) {
    const unsigned char *record = bytes + *at;
    *p = (corpus_problem){0};
    if (size - *at < CORPUS_HEADER || memcmp(record, MAGIC, sizeof MAGIC) != 0) {
        return "no record begins here";
    }
    const size_t packed = (size_t)get(record + 12, 4);
    const uint64_t plain = get(record + 16, 8);
    if (get(record + 8, 4) != VERSION || packed > size - *at - CORPUS_HEADER || plain > (uint64_t)MOST * 8) {
        return "another version, or a record that is cut off";
    }
    kki_inflated out = {0};
    const char *fault = "the payload cannot be unpacked";
    if (kki_inflate(record + CORPUS_HEADER, packed, (size_t)plain, NULL, &out) == KK_OK) {
        fault = out.size != plain || kk_hash_bytes(out.bytes, out.size, 0) != get(record + 24, 8)
                    ? "a record has another hash than it says"
                    : read_payload(out.bytes, out.size, p);
    }
    kki_inflated_release(&out);
    if (fault) {
        corpus_free(p);
    }
    *at += CORPUS_HEADER + packed;
    return fault;
}

unsigned char *corpus_load_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    *size = 0;
    if (!file) {
        return NULL;
    }
    for (size_t room = 1 << 16, got = 1; got > 0; room *= 2) {
        unsigned char *more = realloc(bytes, room);
        if (!more) {
            free(bytes);
            bytes = NULL;
            break;
        }
        bytes = more;
        got = fread(bytes + *size, 1, room - *size, file);
        *size += got;
        if (*size < room) {
            break;
        }
    }
    fclose(file);
    return bytes;
}

// ---- posed again

/// Row r of a tie's part for one of its bodies, [nv].
static const double *row_of(const corpus_problem *p, const corpus_tie *t, int side, int r) {
    const size_t skipped = side == 0 ? 0 : (size_t)t->nrow * (size_t)p->nv[t->body[0]];
    return p->Y + (size_t)t->first + skipped + (size_t)r * (size_t)p->nv[t->body[side]];
}

static int first_of(const corpus_problem *p, int body) {
    int first = 0;
    for (int i = 0; i < body; i++) {
        first += p->nv[i];
    }
    return first;
}

void corpus_bias(const corpus_problem *p, double *bias) {
    for (int i = 0; i < p->ntie; i++) {
        const corpus_tie *t = &p->tie[i];
        for (int r = 0; r < t->nrow; r++) {
            double sum = p->g[t->row + r];
            for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
                const double *y = p->free + first_of(p, t->body[side]), *row = row_of(p, t, side, r);
                for (int k = 0; k < p->nv[t->body[side]]; k++) {
                    sum -= row[k] * y[k];
                }
            }
            bias[t->row + r] = sum;
        }
    }
}

static bool is_soft(const corpus_problem *p) {
    for (int i = 0; i < p->nrow; i++) {
        if (p->compliance[i] != 0) {
            return true;
        }
    }
    return false;
}

bool corpus_make_dense(const corpus_problem *p, corpus_dense *d) {
    const int stride = kki_round4(p->nrow);
    const size_t padded = (size_t)stride * sizeof(double), rows = (size_t)p->nrow;
    double *Y = NULL, *g = NULL, *soft = NULL;
    places a = {0};
    *d = (corpus_dense){0};
    for (int pass = 0; pass < 2; pass++) {
        Y = place(&a, (size_t)p->width, padded);
        g = place(&a, 1, padded);
        soft = place(&a, 1, padded);
        d->G = place(&a, rows + 4, padded);
        if (pass == 0) {
            d->memory = aligned_zeros(a.size);
            a = (places){.base = d->memory};
            if (!d->memory) {
                return false;
            }
        }
    }
    for (int i = 0; i < p->ntie; i++) {
        const corpus_tie *t = &p->tie[i];
        for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
            const int first = first_of(p, t->body[side]);
            for (int r = 0; r < t->nrow; r++) {
                const double *row = row_of(p, t, side, r);
                for (int k = 0; k < p->nv[t->body[side]]; k++) {
                    Y[(size_t)(first + k) * (size_t)stride + (size_t)(t->row + r)] = row[k];
                }
            }
        }
    }
    memcpy(g, p->g, rows * sizeof *g);
    memcpy(soft, p->compliance, rows * sizeof *soft);
    d->problem = (kki_problem){.nblock = p->nblock,
                               .nrow = p->nrow,
                               .stride = stride,
                               .block = p->block,
                               .Y = Y,
                               .nv = p->width,
                               .g = g,
                               .compliance = is_soft(p) ? soft : NULL,
                               .before = p->flags & CORPUS_BEFORE ? p->before : NULL};
    return true;
}

void corpus_free_dense(corpus_dense *dense) {
    free(dense->memory);
    *dense = (corpus_dense){0};
}

bool corpus_make_sparse(const corpus_problem *p, corpus_sparse *s) {
    size_t count = 0;
    *s = (corpus_sparse){0};
    for (int i = 0; i < p->ntie; i++) {
        for (int side = 0; side < 2 && p->tie[i].body[side] >= 0; side++) {
            count += (size_t)p->tie[i].nrow * (size_t)kki_round8(p->nv[p->tie[i].body[side]]);
        }
    }
    double *Y = NULL;
    int32_t *first = NULL;
    kki_tie *tie = NULL;
    places a = {0};
    for (int pass = 0; pass < 2; pass++) {
        Y = place(&a, count, sizeof *Y);
        first = place(&a, (size_t)p->nbody + 1, sizeof *first);
        tie = place(&a, (size_t)p->ntie, sizeof *tie);
        if (pass == 0) {
            s->memory = aligned_zeros(a.size);
            a = (places){.base = s->memory};
            if (!s->memory) {
                return false;
            }
        }
    }
    for (int i = 0; i < p->nbody; i++) {
        const int width = kki_round8(p->nv[i]);
        first[i + 1] = first[i] + width;
        s->widest = width > s->widest ? width : s->widest;
    }
    size_t used = 0;
    for (int i = 0; i < p->ntie; i++) {
        const corpus_tie *t = &p->tie[i];
        tie[i] =
            (kki_tie){t->row, t->nrow, t->block, t->nblock, {t->body[0], t->body[1]}, {(int32_t)used, (int32_t)used}};
        for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
            const int nv = p->nv[t->body[side]], width = kki_round8(nv);
            tie[i].side[side] = (int32_t)used;
            for (int r = 0; r < t->nrow; r++) {
                memcpy(Y + used + (size_t)(r * width), row_of(p, t, side, r), (size_t)nv * sizeof *Y);
            }
            used += (size_t)(t->nrow * width);
        }
    }
    s->problem = (kki_sparse_problem){.rows = {.nblock = p->nblock,
                                               .nrow = p->nrow,
                                               .stride = kki_round4(p->nrow),
                                               .block = p->block,
                                               .nv = p->width,
                                               .g = p->g,
                                               .compliance = is_soft(p) ? p->compliance : NULL},
                                      .nbody = p->nbody,
                                      .ntie = p->ntie,
                                      .first = first,
                                      .nv = p->nv,
                                      .tie = tie,
                                      .Y = Y};
    return true;
}

void corpus_free_sparse(corpus_sparse *sparse) {
    free(sparse->memory);
    *sparse = (corpus_sparse){0};
}
