// The sparse solver against the dense one on the same problems, its order of elimination and its factor against plain loops.
#include "contact/sparse_scratch.h"
#include "problems.h"

/// A case as rows stored tie by tie: one tie a contact with what rides on it, or one a row.
typedef struct sparse_case {
    kki_sparse_problem p;
    kki_tie tie[CASE_BLOCKS];
    int32_t first[CASE_BODIES + 1], nv[CASE_BODIES];
    double *Y;
    kki_sparse_work work;
} sparse_case;

static bool rides(const kki_block *b) {
    return b->law == KKI_LAW_TORSION || b->law == KKI_LAW_ROLLING;
}

static bool touches(const contact_case *c, const kki_tie *t, int body) {
    for (int r = t->row; r < t->row + t->nrow; r++) {
        for (int k = 0; k < 6; k++) {
            if (c->J[r * 6 * CASE_BODIES + 6 * body + k] != 0) {
                return true;
            }
        }
    }
    return false;
}

/// Bodies of the tie by what its rows are, and their share of Y.
static void fill_tie(const contact_case *c, sparse_case *s, kki_tie *t, int32_t *used) {
    int count = 0;
    t->body[0] = t->body[1] = -1;
    for (int b = 0; b < c->nbody && count < 2; b++) {
        if (touches(c, t, b)) {
            t->body[count++] = b;
        }
    }
    for (int side = 0; side < 2; side++) {
        t->side[side] = *used;
        for (int r = 0; r < t->nrow && t->body[side] >= 0; r++) {
            for (int k = 0; k < 6; k++) {
                const int at = 6 * t->body[side] + k;
                s->Y[*used + k] = c->J[(t->row + r) * 6 * CASE_BODIES + at] * sqrt(c->inverse_mass[at]);
            }
            *used += 8;
        }
    }
}

static void sparse_of(const contact_case *c, sparse_case *s) {
    int32_t used = 0;
    memset(s->Y, 0, sizeof(double) * 16 * CASE_ROWS);
    s->p =
        (kki_sparse_problem){.rows = c->p, .nbody = c->nbody, .first = s->first, .nv = s->nv, .tie = s->tie, .Y = s->Y};
    s->p.rows.G = s->p.rows.Y = NULL;
    for (int b = 0; b <= c->nbody; b++) {
        s->first[b] = 8 * b;
        s->nv[b < c->nbody ? b : 0] = 6;
    }
    for (int b = 0; b < c->p.nblock;) {
        kki_tie *t = &s->tie[s->p.ntie++];
        *t = (kki_tie){.row = c->block[b].row, .block = b};
        do {
            t->nrow += kki_law_rows(c->block[b].law);
            t->nblock++;
            b++;
        } while (b < c->p.nblock && rides(&c->block[b]));
        fill_tie(c, s, t, &used);
    }
}

static sparse_case *sparse_create_with(bool has_factor) {
    sparse_case *s = case_zeros(sizeof *s / sizeof(double) + 8);
    s->Y = case_zeros(16 * CASE_ROWS);
    kki_sparse_size size = kki_sparse_size_for(CASE_BODIES, CASE_BLOCKS, CASE_ROWS, CASE_BLOCKS, 8 * CASE_BODIES, 8);
    size.fill = has_factor ? size.fill : 0;
    size.factor_room = has_factor ? size.factor_room : 0;
    KK_CHECK_EQ_INT(kki_sparse_work_create(&s->work, NULL, size), KK_OK);
    return s;
}

static sparse_case *sparse_create(void) {
    return sparse_create_with(true);
}

static void sparse_free(sparse_case *s) {
    kki_sparse_work_destroy(&s->work);
    free(s->Y);
    free(s);
}

// the same u, the same scales, the same worst block, whatever λ is
KK_TEST(sparse_certificate_is_the_dense_one) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    kk_random r = {5, 5, 0};
    double z[8 * CASE_BODIES], u[CASE_ROWS];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        kki_certificate dense, sparse;
        case_random(c, seed, 12);
        sparse_of(c, s);
        for (int i = 0; i < c->p.nrow; i++) {
            c->lambda[i] = kk_random_next_normal(&r);
        }
        kki_certify_baseline(&c->p, c->lambda, c->u, &dense);
        kki_sparse_certify_baseline(&s->p, c->lambda, z, u, &sparse);
        for (int i = 0; i < c->p.nrow; i++) {
            KK_CHECK_NEAR(u[i], c->u[i], 1e-11 * (1 + fabs(c->u[i])));
        }
        KK_CHECK_NEAR(sparse.residual, dense.residual, 1e-10 * (1 + dense.residual));
        KK_CHECK_NEAR(sparse.cone, dense.cone, 1e-10 * (1 + dense.cone));
        KK_CHECK_EQ_INT(sparse.worst, dense.worst);
    }
    sparse_free(s);
    case_free(c);
}

// every law, cold: the certificate says that it is solved, and is believed because of the test above
KK_TEST(sparse_solves_random_problems) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    const int count = kk_test_is_quick() ? 100 : 400;
    int solved = 0;
    for (int seed = 1; seed <= count; seed++) {
        kki_certificate proof;
        case_random(c, (uint64_t)seed, 12);
        sparse_of(c, s);
        KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, c->lambda, c->u, &proof, &c->stats), KK_OK);
        kki_certify_baseline(&c->p, c->lambda, c->u, &c->certificate);
        KK_CHECK_NEAR(proof.residual, c->certificate.residual, 1e-11);
        solved += c->stats.solved;
    }
    KK_CHECK(solved >= count * 97 / 100);
    sparse_free(s);
    case_free(c);
}

// stacks to 1:1e4, at rest and sliding on a smoother floor, against the motion that the law of friction gives
KK_TEST(sparse_solves_stacks) {
    static const double ratios[] = {1, 100, 10000}, tilts[] = {0, 0.17, 0.6};
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    for (int k = 0; k < 9; k++) {
        const double tilt = tilts[k % 3], mu = 0.5;
        kki_certificate proof;
        case_stack(c, 10, ratios[k / 3], tilt, 0.9, false);
        for (int b = 0; b < 4; b++) { // the lowest slab's corners
            c->block[b].friction = mu;
        }
        sparse_of(c, s);
        KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, c->lambda, c->u, &proof, &c->stats), KK_OK);
        KK_CHECK(c->stats.solved);
        const double slides = tilt > 0.5 ? 1e-3 * 9.81 * (sin(tilt) - mu * cos(tilt)) : 0;
        for (int b = 0; b < 10; b++) {
            KK_CHECK_NEAR(case_velocity(c, 6 * b), slides, 1e-8);
            KK_CHECK_NEAR(case_velocity(c, 6 * b + 2), 0, 1e-8);
        }
    }
    sparse_free(s);
    case_free(c);
}

// all interfaces on the verge of sliding: the hardest of stacks for Newton
KK_TEST(sparse_solves_stacks_on_the_verge) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    for (int k = 0; k < 3; k++) {
        kki_certificate proof;
        case_stack(c, 10, k == 0 ? 1 : k == 1 ? 100 : 10000, 0.6, 0.5, false);
        sparse_of(c, s);
        KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, c->lambda, c->u, &proof, &c->stats), KK_OK);
        KK_CHECK(c->stats.solved);
    }
    sparse_free(s);
    case_free(c);
}

// where no factor fits: a stack of ten held by friction, and one that slides
KK_TEST(sparse_solves_stacks_without_a_factor) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create_with(false);
    for (int k = 0; k < 3; k++) {
        kki_certificate proof;
        case_stack(c, 10, 1, k == 0 ? 0.1 : k == 1 ? 0.4 : 0.6, k == 2 ? 0.9 : 0.5, false);
        for (int b = 0; b < 4; b++) { // the lowest slab's corners
            c->block[b].friction = 0.5;
        }
        sparse_of(c, s);
        KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, c->lambda, c->u, &proof, &c->stats), KK_OK);
        kki_certify_baseline(&c->p, c->lambda, c->u, &c->certificate);
        KK_CHECK(c->certificate.residual <= 1e-9);
        KK_CHECK_EQ_INT(c->stats.factorizations, 0);
    }
    sparse_free(s);
    case_free(c);
}

// and every law at random, cold
KK_TEST(sparse_solves_random_problems_without_a_factor) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create_with(false);
    for (int seed = 1; seed <= 100; seed++) {
        kki_certificate proof;
        case_random(c, (uint64_t)seed, 12);
        sparse_of(c, s);
        KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, c->lambda, c->u, &proof, &c->stats), KK_OK);
        kki_certify_baseline(&c->p, c->lambda, c->u, &c->certificate);
        KK_CHECK_NEAR(proof.residual, c->certificate.residual, 1e-11);
        KK_CHECK(c->stats.solved && c->certificate.residual <= c->options.tolerance);
    }
    sparse_free(s);
    case_free(c);
}

// a warm start that solves it is handed back bit by bit, and nothing of an earlier call shows in a later one
KK_TEST(sparse_result_depends_on_its_arguments_alone) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    double first[CASE_ROWS], again[CASE_ROWS] = {0};
    kki_certificate proof;
    case_stack(c, 12, 10, 0.3, 0.5, false);
    sparse_of(c, s);
    KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, c->lambda, c->u, &proof, &c->stats), KK_OK);
    memcpy(first, c->lambda, sizeof first);
    KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, c->lambda, c->u, &proof, &c->stats), KK_OK);
    KK_CHECK(memcmp(first, c->lambda, sizeof(double) * (size_t)c->p.nrow) == 0);
    KK_CHECK_EQ_INT(c->stats.factorizations, 0);
    case_random(c, 3, 12); // another graph in between
    sparse_of(c, s);
    KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, c->lambda, c->u, &proof, &c->stats), KK_OK);
    case_stack(c, 12, 10, 0.3, 0.5, false);
    sparse_of(c, s);
    KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, again, c->u, &proof, &c->stats), KK_OK);
    KK_CHECK(memcmp(first, again, sizeof(double) * (size_t)c->p.nrow) == 0);
    sparse_free(s);
    case_free(c);
}

// ---- the factor

/// H x by plain loops: x + Y R Yᵀ x.
static void multiply(const kki_sparse_problem *p, const double *R, const double *x, double *out) {
    memcpy(out, x, sizeof(double) * (size_t)p->first[p->nbody]);
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        double u[KKI_TIE_ROWS] = {0}, f[KKI_TIE_ROWS] = {0};
        for (int side = 0; side < 2; side++) {
            for (int r = 0; r < t->nrow && t->body[side] >= 0; r++) {
                for (int k = 0; k < 8; k++) {
                    u[r] += p->Y[t->side[side] + 8 * r + k] * x[8 * t->body[side] + k];
                }
            }
        }
        for (int r = 0; r < t->nrow; r++) {
            for (int e = 0; e < t->nrow; e++) {
                f[r] += R[6 * (t->row + r) + e] * u[e];
            }
        }
        for (int side = 0; side < 2; side++) {
            for (int r = 0; r < t->nrow && t->body[side] >= 0; r++) {
                for (int k = 0; k < 8; k++) {
                    out[8 * t->body[side] + k] += p->Y[t->side[side] + 8 * r + k] * f[r];
                }
            }
        }
    }
}

/// A wall of bricks: every body touches those beside and below it.
static void wall(contact_case *c, int width, int height, kk_random *r) {
    case_clear(c);
    for (int b = 0; b < width * height; b++) {
        const int row = b / width;
        const double p[3] = {b % width, row, 0};
        case_body(c, kk_random_next_between(r, 0.5, 2), 0.1, 0.2, 0.3, p);
    }
    for (int b = 0; b < width * height; b++) {
        const int row = b / width;
        const double n[3] = {0, 1, 0}, m[3] = {1, 0, 0}, p[3] = {b % width + 0.3, row - 0.5, 0.1};
        case_contact(c, b, b - width >= 0 ? b - width : -1, p, n, 0.5);
        if (b % width > 0) {
            case_contact(c, b, b - 1, p, m, 0.5);
        }
    }
    case_finish(c, false);
}

static void check_factor(sparse_case *s, const kki_sparse_kernels *kernels, bool symmetric, kk_random *r) {
    kki_sparse_scratch *w = s->work.scratch;
    double x[8 * CASE_BODIES] = {0}, b[8 * CASE_BODIES];
    memset(w->R, 0, sizeof(double) * 6 * (size_t)s->p.rows.nrow);
    for (int i = 0; i < s->p.rows.nrow; i++) {
        w->R[6 * i + i % 3] = kk_random_next_between(r, 0, 10);
        w->R[6 * i] += symmetric ? 0 : kk_random_next_between(r, -1, 1);
    }
    for (int i = 0; i < 8 * s->p.nbody; i++) {
        x[i] = i % 8 < 6 ? kk_random_next_normal(r) : 0;
    }
    multiply(&s->p, w->R, x, b);
    KK_CHECK(kki_sparse_order(&s->p, &s->work.size, &w->pattern, &w->graph, w->factor.spot));
    w->factor.symmetric = symmetric;
    kernels->assemble(&s->p, w->R, &w->factor);
    KK_CHECK(kernels->factor(&w->factor));
    kernels->solve(&s->p, &w->factor, b);
    for (int i = 0; i < 8 * s->p.nbody; i++) {
        KK_CHECK_NEAR(b[i], x[i], 1e-10);
    }
}

KK_TEST(sparse_factor_solves_what_loops_multiply) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    kk_random r = {9, 9, 0};
    for (int k = 0; k < 3; k++) {
        const kki_sparse_kernels *kernels = kki_sparse_kernels_at(k);
        for (int height = 1; height <= (kk_test_is_quick() ? 5 : 8) && kernels; height++) {
            wall(c, 8, height, &r);
            sparse_of(c, s);
            check_factor(s, kernels, true, &r);
            check_factor(s, kernels, false, &r);
        }
    }
    sparse_free(s);
    case_free(c);
}

/// What kernels say of |Y| times sizes from coordinate `first` to `end` − 1, against plain loops.
static void check_sizes(const sparse_case *s, const kki_sparse_kernels *kernels, const double *size, int first,
                        int end) {
    _Alignas(64) double z[8 * CASE_BODIES] = {0}, terms[8 * CASE_BODIES] = {0};
    double expected[8 * CASE_BODIES] = {0}, rows[8 * CASE_BODIES] = {0};
    for (int i = 0; i < 2 * s->p.ntie; i++) {
        const kki_tie *t = &s->p.tie[i / 2];
        const int at = t->body[i % 2] < 0 ? -1 : s->first[t->body[i % 2]];
        for (int r = 0; r < t->nrow && at >= first && at < end; r++) {
            rows[at]++;
            for (int k = 0; k < 8; k++) {
                expected[at + k] += fabs(s->Y[t->side[i % 2] + 8 * r + k]) * size[t->row + r];
            }
        }
    }
    kernels->sizes(&s->p, size, first, end, z, terms);
    KK_CHECK_BYTES(z, expected, sizeof(double) * 8 * (size_t)s->p.nbody);
    KK_CHECK_BYTES(terms, rows, sizeof(double) * 8 * (size_t)s->p.nbody);
}

KK_TEST(sparse_sizes_are_those_of_loops) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    kk_random r = {12, 9, 0};
    double size[CASE_ROWS];
    wall(c, 6, 6, &r);
    sparse_of(c, s);
    for (int i = 0; i < c->p.nrow; i++) {
        size[i] = fabs(kk_random_next_normal(&r));
    }
    for (int k = 0; k < 3; k++) {
        const kki_sparse_kernels *kernels = kki_sparse_kernels_at(k);
        if (kernels) {
            check_sizes(s, kernels, size, 0, 8 * c->nbody);
            check_sizes(s, kernels, size, 8, 16);
        }
    }
    sparse_free(s);
    case_free(c);
}

KK_TEST(sparse_rows_combine_alike) {
    _Alignas(64) double T[48] = {0}, first[24], Y[24];
    double w[3 * 14];
    kk_random r = {13, 9, 0};
    for (int i = 0; i < 48; i++) {
        T[i] = i % 8 < 6 ? kk_random_next_normal(&r) : 0;
    }
    for (int i = 0; i < 3 * 14; i++) {
        w[i] = kk_random_next_normal(&r);
    }
    for (int k = 0; k < 3; k++) {
        const kki_sparse_kernels *kernels = kki_sparse_kernels_at(k);
        if (kernels) {
            kernels->combine(T, w, 14, 3, k == 0 ? first : Y);
            KK_CHECK_BYTES(k == 0 ? first : Y, first, sizeof first);
        }
    }
    double expected = 0;
    for (int c = 0; c < 6; c++) {
        expected += T[8 * c + 5] * w[2 * 14 + c];
    }
    KK_CHECK_NEAR(first[8 * 2 + 5], expected, 1e-13);
}

// all instruction sets give the same bits
KK_TEST(sparse_kernels_agree) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    kk_random r = {10, 9, 0};
    double first[CASE_ROWS], lambda[CASE_ROWS], u[CASE_ROWS];
    wall(c, 6, 6, &r);
    for (int i = 0; i < c->p.nrow; i++) {
        c->g[i] = kk_random_next_normal(&r);
    }
    sparse_of(c, s);
    for (int k = 0; k < 3; k++) {
        kki_certificate proof;
        s->work.kernels = kki_sparse_kernels_at(k);
        if (!s->work.kernels) {
            continue;
        }
        memset(lambda, 0, sizeof lambda);
        KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, lambda, u, &proof, &c->stats), KK_OK);
        KK_CHECK(c->stats.solved);
        if (k == 0) {
            memcpy(first, lambda, sizeof first);
        }
        KK_CHECK(memcmp(first, lambda, sizeof(double) * (size_t)c->p.nrow) == 0);
    }
    sparse_free(s);
    case_free(c);
}

// ---- few digits

// few digits from nothing and from a start that is wrong by a hundredth, on every instruction set the same bits
KK_TEST(sparse_few_digits_of_walls) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    kk_random r = {13, 9, 0};
    double first[CASE_ROWS];
    c->options.tolerance = 1e-6;
    for (int n = 0; n < 6; n++) {
        wall(c, 6, 6, &r);
        for (int i = 0; i < c->p.nrow; i++) {
            c->g[i] = kk_random_next_normal(&r);
            c->lambda[i] = n % 2 ? 0.01 * kk_random_next_normal(&r) : 0;
        }
        memcpy(first, c->lambda, sizeof(double) * (size_t)c->p.nrow);
        sparse_of(c, s);
        double found[2][CASE_ROWS];
        for (int k = 0; k < 2; k++) {
            kki_certificate proof;
            s->work.kernels = k == 0 ? kki_sparse_kernels_at(0) : kki_sparse_kernels_best();
            memcpy(found[k], first, sizeof(double) * (size_t)c->p.nrow);
            KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, found[k], c->u, &proof, &c->stats), KK_OK);
            KK_CHECK(c->stats.solved);
            KK_CHECK(proof.residual <= 1e-6);
        }
        KK_CHECK(memcmp(found[0], found[1], sizeof(double) * (size_t)c->p.nrow) == 0);
    }
    sparse_free(s);
    case_free(c);
}

// no more factors than allowed, and the result says that it is not solved
KK_TEST(sparse_solver_keeps_to_its_factors) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    kk_random r = {14, 9, 0};
    wall(c, 6, 6, &r);
    for (int i = 0; i < c->p.nrow; i++) {
        c->g[i] = kk_random_next_normal(&r);
    }
    sparse_of(c, s);
    for (int k = 0; k < 4; k++) {
        kki_certificate proof;
        c->options.tolerance = k < 2 ? 1e-6 : 1e-9;
        c->options.factors = 1 + 2 * (k % 2);
        memset(c->lambda, 0, sizeof(double) * (size_t)c->p.nrow);
        KK_CHECK_EQ_INT(kki_sparse_solve(&s->p, &c->options, &s->work, c->lambda, c->u, &proof, &c->stats), KK_OK);
        KK_CHECK(c->stats.factorizations <= c->options.factors);
        KK_CHECK(!c->stats.solved);
        KK_CHECK(proof.residual > c->options.tolerance);
    }
    sparse_free(s);
    case_free(c);
}

// ---- the order

/// Blocks below the diagonal that eliminating in the given order really makes.
static int fill_of(const kki_sparse_pattern *s) {
    static bool edge[CASE_BODIES][CASE_BODIES];
    int count = 0;
    memset(edge, 0, sizeof edge);
    for (int i = 0; i < s->npair; i++) {
        const int a = s->place[s->pair[2 * i]], b = s->place[s->pair[2 * i + 1]];
        edge[a][b] = edge[b][a] = true;
    }
    for (int k = 0; k < s->nbody; k++) {
        for (int i = k + 1; i < s->nbody; i++) {
            count += edge[k][i];
            for (int j = k + 1; j < s->nbody && edge[k][i]; j++) {
                edge[i][j] = edge[i][j] || (i != j && edge[k][j]);
            }
        }
    }
    return count;
}

KK_TEST(sparse_pattern_is_what_elimination_fills) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    kki_sparse_scratch *w = s->work.scratch;
    kk_random r = {11, 9, 0};
    for (int k = 2; k <= 8; k++) {
        wall(c, k, k, &r);
        sparse_of(c, s);
        KK_CHECK(kki_sparse_order(&s->p, &s->work.size, &w->pattern, &w->graph, w->factor.spot));
        KK_CHECK_EQ_INT(w->pattern.column[w->pattern.nbody], fill_of(&w->pattern));
        for (int i = 0; i < s->p.ntie; i++) {
            const int spot = w->factor.spot[i], *body = s->tie[i].body;
            if (body[1] >= 0) {
                const int a = w->pattern.place[body[0]], b = w->pattern.place[body[1]];
                KK_CHECK_EQ_INT(w->pattern.row[spot], a > b ? a : b);
            }
        }
    }
    // a grid of n × n keeps close to the n² log n of nested dissection: half of what a band would fill
    KK_CHECK(fill_of(&w->pattern) < 8 * 64 * 2 / 3);
    sparse_free(s);
    case_free(c);
}

// ---- bundles

/// g, compliance, bundles and what the ties outside need, for a case.
static void bundle_up(sparse_case *s, const kki_bundle_kernels *kernels) {
    kki_sparse_scratch *w = s->work.scratch;
    w->bundles.kernels = kernels;
    kki_sparse_system_make(&s->p, s->work.kernels, 1e-13, w);
    kki_bundles_make(&s->p, w->system.soft, &w->bundles);
}

// the one thing that sweeps in lanes and by several workers stand on
KK_TEST(bundles_of_a_color_share_no_body) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    for (uint64_t seed = 1; seed <= 60; seed++) {
        case_random(c, seed, 12);
        sparse_of(c, s);
        bundle_up(s, kki_bundle_kernels_at(0));
        const kki_bundles *b = &s->work.scratch->bundles;
        int seen[CASE_BLOCKS] = {0}, total = 0;
        for (int color = 0; color < b->colors; color++) {
            int used[CASE_BODIES] = {0};
            for (int i = KKI_LANES * b->start[color]; i < KKI_LANES * b->start[color + 1]; i++) {
                const int tie = b->bundle[i / KKI_LANES].tie[i % KKI_LANES];
                for (int side = 0; side < 2 && tie >= 0; side++) {
                    const int body = s->tie[tie].body[side];
                    KK_CHECK(body < 0 || used[body]++ == 0);
                }
                total += tie >= 0 && seen[tie]++ == 0;
            }
        }
        for (int i = 0; i < b->nrest; i++) {
            total += seen[b->rest[i]]++ == 0;
        }
        KK_CHECK_EQ_INT(total, s->p.ntie);
    }
    sparse_free(s);
    case_free(c);
}

/// Ties in the order in which bundles have them.
static int list_in_order(const kki_bundles *b, int32_t *list) {
    int n = 0;
    for (int i = 0; i < KKI_LANES * b->count; i++) {
        const int tie = b->bundle[i / KKI_LANES].tie[i % KKI_LANES];
        if (tie >= 0) {
            list[n++] = tie;
        }
    }
    for (int i = 0; i < b->nrest; i++) {
        list[n++] = b->rest[i];
    }
    return n;
}

// three sweeps over bundles, against contact by contact in the same order; and one instruction set against the other
KK_TEST(bundles_sweep_as_contacts_do_one_by_one) {
    contact_case *c = case_create();
    sparse_case *s = sparse_create();
    kk_random r = {6, 6, 0};
    enum { WIDTH = 8 * CASE_BODIES + 8 };
    _Alignas(64) double z[3][WIDTH];
    double lambda[3][CASE_ROWS];
    int32_t list[CASE_BLOCKS];
    for (uint64_t seed = 1; seed <= 100; seed++) {
        case_random(c, seed, 12);
        sparse_of(c, s);
        for (int k = 0; k < 3; k++) {
            memset(z[k], 0, sizeof z[k]);
            for (int i = 0; i < c->p.nrow; i++) {
                lambda[k][i] = k ? lambda[0][i] : 0.1 * kk_random_next_normal(&r);
            }
            s->work.kernels->motion(&s->p, lambda[k], z[k]);
        }
        const kki_sparse_system *system = &s->work.scratch->system;
        for (int k = 0; k < 2; k++) {
            const kki_bundle_kernels *kernels = kki_bundle_kernels_at(k);
            bundle_up(s, kernels ? kernels : kki_bundle_kernels_at(0));
            kki_bundles_sweep(system, &s->work.scratch->bundles, 3, lambda[k], z[k]);
        }
        const int n = list_in_order(&s->work.scratch->bundles, list);
        for (int k = 0; k < 3; k++) {
            s->work.kernels->sweep_listed(system, list, n, lambda[2], z[2]);
        }
        double largest = 1;
        for (int i = 0; i < c->p.nrow; i++) {
            largest = fabs(lambda[2][i]) > largest ? fabs(lambda[2][i]) : largest;
        }
        for (int i = 0; i < c->p.nrow; i++) {
            KK_CHECK(memcmp(&lambda[0][i], &lambda[1][i], sizeof(double)) == 0);
            KK_CHECK_NEAR(lambda[0][i], lambda[2][i], 1e-10 * largest);
        }
    }
    sparse_free(s);
    case_free(c);
}
