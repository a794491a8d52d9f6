/// Order of elimination by minimum degree, and with it the pattern of the factor.
///
/// Eliminating a body ties all its neighbors together: it becomes an *element*, whose list is the pattern of its column. What has been
/// eliminated is kept as elements only, so the graph never grows; degrees are bounds that count overlapping elements once where that is cheap
/// (Amestoy, Davis, Duff, An approximate minimum degree ordering algorithm, SIAM J. Matrix Anal. 17, 1996). Bodies of equal degree go
/// in an order that depends on the graph alone.
#include <string.h>

#include "contact/sparse_scratch.h"

// ---- the graph

/// Pairs of bodies with a tie, each once and sorted. False where there are too many.
static bool list_pairs(const kki_sparse_problem *p, int most, int32_t *pair, int32_t *count, kki_sparse_graph *g) {
    // bucket by the first body, then each bucket by insertion: ties come almost sorted
    int32_t *start = g->start;
    memset(start, 0, sizeof *start * (size_t)(p->nbody + 1));
    int total = 0;
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        const bool again = i > 0 && t[-1].body[0] == t->body[0] && t[-1].body[1] == t->body[1];
        if (t->body[1] >= 0 && !again) {
            const int a = t->body[0] < t->body[1] ? t->body[0] : t->body[1];
            start[a + 1]++;
            total++;
        }
    }
    if (total > most) {
        return false;
    }
    for (int i = 0; i < p->nbody; i++) {
        start[i + 1] += start[i];
    }
    int32_t *filled = g->count;
    memset(filled, 0, sizeof *filled * (size_t)p->nbody);
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        const bool again = i > 0 && t[-1].body[0] == t->body[0] && t[-1].body[1] == t->body[1];
        if (t->body[1] < 0 || again) {
            continue;
        }
        const int a = t->body[0] < t->body[1] ? t->body[0] : t->body[1], b = t->body[0] + t->body[1] - a;
        int32_t *list = g->list + start[a];
        int k = filled[a];
        while (k > 0 && list[k - 1] > b) {
            k--;
        }
        if (k > 0 && list[k - 1] == b) {
            continue;
        }
        memmove(list + k + 1, list + k, sizeof *list * (size_t)(filled[a] - k));
        list[k] = b;
        filled[a]++;
    }
    int n = 0;
    for (int a = 0; a < p->nbody; a++) {
        for (int k = 0; k < filled[a]; k++, n++) {
            pair[2 * n] = a;
            pair[2 * n + 1] = g->list[start[a] + k];
        }
    }
    *count = n;
    return true;
}

static void build_graph(const kki_sparse_pattern *s, kki_sparse_graph *g) {
    const int n = s->nbody;
    memset(g->start, 0, sizeof *g->start * (size_t)(n + 1));
    for (int i = 0; i < 2 * s->npair; i++) {
        g->start[s->pair[i] + 1]++;
    }
    for (int i = 0; i < n; i++) {
        g->start[i + 1] += g->start[i];
        g->variables[i] = g->elements[i] = 0;
        g->mark[i] = g->weight[i] = -1;
    }
    for (int i = 0; i < s->npair; i++) {
        const int a = s->pair[2 * i], b = s->pair[2 * i + 1];
        g->list[g->start[a] + g->variables[a]++] = b;
        g->list[g->start[b] + g->variables[b]++] = a;
    }
}

// ---- lists by degree

static void put(kki_sparse_graph *g, int i) {
    const int d = g->degree[i];
    g->next[i] = g->head[d];
    g->previous[i] = -1;
    if (g->head[d] >= 0) {
        g->previous[g->head[d]] = i;
    }
    g->head[d] = i;
}

static void take(kki_sparse_graph *g, int i) {
    if (g->previous[i] >= 0) {
        g->next[g->previous[i]] = g->next[i];
    } else {
        g->head[g->degree[i]] = g->next[i];
    }
    if (g->next[i] >= 0) {
        g->previous[g->next[i]] = g->previous[i];
    }
}

// ---- elimination; a body's place in `place` is −1 while it lives, an element is dead where its count is −1

static int32_t *element(const kki_sparse_graph *g, int i, int k) {
    return &g->list[g->start[i + 1] - 1 - k];
}

/// The column of pivot p: its neighbors, and those of its elements. Gives the length; −1: no room.
static int gather_column(const kki_sparse_pattern *s, kki_sparse_graph *g, int p, int from, int most) {
    int n = 0;
    g->mark[p] = p;
    for (int k = 0; k < g->variables[p]; k++) {
        const int i = g->list[g->start[p] + k];
        if (from + n == most) {
            return -1;
        }
        g->mark[i] = p;
        s->row[from + n++] = i;
    }
    for (int k = 0; k < g->elements[p]; k++) {
        const int e = *element(g, p, k);
        const int32_t *list = s->row + g->from[e];
        for (int q = 0; q < g->element_count[e]; q++) {
            if (g->mark[list[q]] != p) {
                if (from + n == most) {
                    return -1;
                }
                g->mark[list[q]] = p;
                s->row[from + n++] = list[q];
            }
        }
        g->element_count[e] = -1;
    }
    return n;
}

/// weight: of elements that meet the column, how many of their bodies are outside it. @param stamp  above all earlier weights
static void weigh_elements(const kki_sparse_pattern *s, kki_sparse_graph *g, const int32_t *column, int n) {
    (void)s;
    for (int k = 0; k < n; k++) {
        for (int q = 0; q < g->elements[column[k]]; q++) {
            g->weight[*element(g, column[k], q)] = -1;
        }
    }
    for (int k = 0; k < n; k++) {
        for (int q = 0; q < g->elements[column[k]]; q++) {
            const int e = *element(g, column[k], q);
            if (g->element_count[e] >= 0) {
                g->weight[e] = (g->weight[e] < 0 ? g->element_count[e] : g->weight[e]) - 1;
            }
        }
    }
}

/// Body i of the column of p: edges inside the column and dead elements go, the new element comes, the degree is bounded anew.
static void update_body(kki_sparse_graph *g, int p, int i, int n, int left) {
    int32_t *list = g->list + g->start[i];
    int kept = 0, degree = n - 1;
    for (int k = 0; k < g->variables[i]; k++) {
        if (g->mark[list[k]] != p) {
            list[kept++] = list[k];
        }
    }
    g->variables[i] = kept;
    degree += kept;
    kept = 0;
    for (int k = 0; k < g->elements[i]; k++) {
        const int e = *element(g, i, k);
        // one that lies inside the column is absorbed by it
        if (g->element_count[e] >= 0 && g->weight[e] > 0) {
            *element(g, i, kept++) = e;
            degree += g->weight[e];
        }
    }
    *element(g, i, kept++) = p;
    g->elements[i] = kept;
    const int bound = g->degree[i] + n - 1;
    degree = degree < bound ? degree : bound;
    take(g, i);
    g->degree[i] = degree < left ? degree : left;
    put(g, i);
}

static bool eliminate_all(kki_sparse_pattern *s, kki_sparse_graph *g, int most) {
    const int n = s->nbody;
    for (int i = 0; i < n; i++) {
        g->head[i] = -1;
        s->place[i] = -1;
    }
    for (int i = n - 1; i >= 0; i--) {
        g->degree[i] = g->variables[i];
        put(g, i);
    }
    int from = 0, least = 0;
    for (int k = 0; k < n; k++) {
        for (least = 0; g->head[least] < 0; least++) {
        }
        const int p = g->head[least];
        take(g, p);
        const int count = gather_column(s, g, p, from, most);
        if (count < 0) {
            return false;
        }
        s->order[k] = p;
        s->place[p] = k;
        s->column[k] = from;
        g->from[p] = from;
        g->element_count[p] = count;
        weigh_elements(s, g, s->row + from, count);
        for (int q = 0; q < count; q++) {
            update_body(g, p, s->row[from + q], count, n - k - 2);
        }
        from += count;
    }
    s->column[n] = from;
    return true;
}

/// Rows of all columns as places, rising: sorted by rows, then dealt out to the columns.
static void sort_rows(kki_sparse_pattern *s, kki_sparse_graph *g) {
    const int n = s->nbody;
    int32_t *start = g->count, *by_row = g->spare;
    memset(start, 0, sizeof *start * (size_t)(n + 1));
    for (int q = 0; q < s->column[n]; q++) {
        s->row[q] = s->place[s->row[q]];
        start[s->row[q] + 1]++;
    }
    for (int r = 0; r < n; r++) {
        start[r + 1] += start[r];
    }
    for (int k = 0; k < n; k++) {
        for (int q = s->column[k]; q < s->column[k + 1]; q++) {
            by_row[start[s->row[q]]++] = k;
        }
    }
    for (int k = 0; k < n; k++) {
        g->degree[k] = s->column[k];
    }
    int q = 0;
    for (int r = 0; r < n; r++) {
        for (; q < start[r]; q++) {
            s->row[g->degree[by_row[q]]++] = r;
        }
    }
}

/// Where the numbers of each block begin. False where they do not fit.
static bool measure(const kki_sparse_problem *p, const kki_sparse_size *size, kki_sparse_pattern *s) {
    const int n = s->nbody;
    size_t at = 0, own = 0;
    for (int k = 0; k < n; k++) {
        const int body = s->order[k];
        s->nv[k] = p->nv[body];
        s->width[k] = p->first[body + 1] - p->first[body];
    }
    for (int k = 0; k < n; k++) {
        s->own[k] = (int32_t)own;
        own += (size_t)s->nv[k] * (size_t)s->width[k] / 8;
        for (int q = s->column[k]; q < s->column[k + 1]; q++) {
            s->at[q] = (int32_t)at;
            at += (size_t)s->nv[k] * (size_t)s->width[s->row[q]] / 8;
            if (8 * at > size->factor_room) {
                return false;
            }
        }
    }
    s->own[n] = (int32_t)own;
    s->at[s->column[n]] = (int32_t)at;
    return true;
}

// ---- ties

static int find(const kki_sparse_pattern *s, int row, int column) {
    int low = s->column[column], high = s->column[column + 1] - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (s->row[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void find_spots(const kki_sparse_problem *p, const kki_sparse_pattern *s, int32_t *spot) {
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        if (t->body[1] < 0) {
            spot[i] = -1;
        } else if (i > 0 && t[-1].body[0] == t->body[0] && t[-1].body[1] == t->body[1]) {
            spot[i] = spot[i - 1];
        } else {
            const int a = s->place[t->body[0]], b = s->place[t->body[1]];
            spot[i] = a > b ? find(s, a, b) : find(s, b, a);
        }
    }
}

static bool same_graph(const kki_sparse_problem *p, const kki_sparse_pattern *s, const int32_t *pair, int count) {
    if (s->nbody != p->nbody || s->npair != count || memcmp(s->pair, pair, sizeof *pair * 2 * (size_t)count) != 0) {
        return false;
    }
    for (int i = 0; i < p->nbody; i++) {
        if (s->nv[s->place[i]] != p->nv[i]) {
            return false;
        }
    }
    return true;
}

bool kki_sparse_order(const kki_sparse_problem *p, const kki_sparse_size *size, kki_sparse_pattern *s,
                      kki_sparse_graph *g, int32_t *spot) {
    // the new list stands behind the old one
    int32_t *fresh = s->pair + 2 * (size_t)size->pairs, count = 0;
    if (!list_pairs(p, size->pairs, fresh, &count, g)) {
        return false;
    }
    if (!same_graph(p, s, fresh, count)) {
        s->nbody = p->nbody;
        s->npair = count;
        memcpy(s->pair, fresh, sizeof *fresh * 2 * (size_t)count);
        build_graph(s, g);
        const bool fits = eliminate_all(s, g, size->fill);
        if (fits) {
            sort_rows(s, g);
        }
        if (!fits || !measure(p, size, s)) {
            s->nbody = -1;
            return false;
        }
    }
    find_spots(p, s, spot);
    return true;
}
