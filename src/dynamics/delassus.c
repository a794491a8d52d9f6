/// Delassus matrix of constraint rows: unit forces climb the articulated-body factor (kernels/delassus.h), G = Yᵀ Y.
///
/// Y has a column a row and a line a degree of freedom. When the rows are more than the data has room for, Y is made of
/// two portions of columns at a time, and every pair of portions gives a block of G. Only the upper triangle is
/// computed, the lower is its mirror.
#include "base/missing.h"
#include "dynamics/data.h"

// ---- the product, for rows from anywhere

static void clear(const kk_model *m, const kki_rows *room, double *Y, int count) {
    const size_t padded = kki_padded(count);
    for (size_t k = 0; k < (size_t)m->nv; k++) {
        for (size_t c = 0; c < padded; c++) {
            Y[k * room->capacity + c] = 0;
        }
    }
}

/// A block of G: rows i0 … i0 + ni − 1 (climbed into Y) with rows j0 … (in Z), j not before i.
static void fill_block(const kk_model *m, const kk_data *d, const kki_row_source *source, int n, int i0, int ni,
                       const double *Y, int j0, int nj, const double *Z, double *G) {
    const kki_rows *room = &d->rows;
    for (int r = 0; r < ni; r++) {
        const int row = i0 + r, skip = (i0 == j0 ? r : 0) & ~3;
        const int count = source->support(m, source->rows, row, room->support);
        const size_t quads = (kki_padded(nj) - (size_t)skip) / 4;
        d->kernels->delassus_row(Y + r, Z + skip, room->capacity, room->support, count, quads, room->product);
        for (int c = i0 == j0 ? r : 0; c < nj; c++) {
            const double g = room->product[c - skip];
            G[(size_t)row * (size_t)n + (size_t)(j0 + c)] = g;
            G[(size_t)(j0 + c) * (size_t)n + (size_t)row] = g;
        }
    }
}

void kki_delassus(const kk_model *model, const kk_data *data, const kki_row_source *source, int n, double *G) {
    const int capacity = (int)data->rows.capacity, portion = n <= capacity ? n : capacity / 2;
    double *Y = data->rows.Y, *Z = Y + capacity / 2;
    for (int i = 0; i < n; i += portion) {
        const int ni = n - i < portion ? n - i : portion;
        clear(model, &data->rows, Y, ni);
        source->climb(model, data, source->rows, i, ni, Y);
        fill_block(model, data, source, n, i, ni, Y, i, ni, Y, G);
        for (int j = i + portion; j < n; j += portion) {
            const int nj = n - j < portion ? n - j : portion;
            clear(model, &data->rows, Z, nj);
            source->climb(model, data, source->rows, j, nj, Z);
            fill_block(model, data, source, n, i, ni, Y, j, nj, Z, G);
        }
    }
}

int kki_union_of_branches(const kk_model *model, int dof, int other, int32_t *list) {
    int count = 0;
    while (dof >= 0 || other >= 0) {
        const int k = dof > other ? dof : other;
        list[count++] = k;
        // a degree of freedom comes after its parent, so the two branches meet where they join
        dof = dof == k ? model->dof_parent[k] : dof;
        other = other == k ? model->dof_parent[k] : other;
    }
    return count;
}

// ---- rows on bodies

static int last_dof(const kk_model *m, int body) {
    const int node = m->body[body].node;
    return node == 0 ? -1 : m->node[node].v_index + m->node_nv[node] - 1;
}

static int support_of_row(const kk_model *m, const void *rows, int row, int32_t *list) {
    const kk_constraint_row *r = (const kk_constraint_row *)rows + row;
    return kki_union_of_branches(m, last_dof(m, r->body), last_dof(m, r->other), list);
}

/// A row's wrench about a node's origin, into a lane.
static void put_lane(kk_force direction, kk_vec3 origin, double sign, double w[6][4], int lane) {
    const kk_vec3 f = direction.linear, n = kk_vec3_sub(direction.angular, kk_vec3_cross(origin, f));
    const double x[6] = {n.x, n.y, n.z, f.x, f.y, f.z};
    for (int c = 0; c < 6; c++) {
        w[c][lane] = sign * x[c];
    }
}

/// Lanes from `lane` to the fourth whose rows pair the same bodies climb together; gives the lane behind the last.
static int climb_lanes(const kk_model *m, const kk_data *d, const kk_constraint_row *row, int lane, int lanes,
                       double *Y) {
    _Alignas(32) double wi[6][4] = {{0}}, wj[6][4] = {{0}};
    const int body = row[lane].body, other = row[lane].other;
    const int i = m->body[body].node, j = m->body[other].node;
    for (; lane < lanes && row[lane].body == body && row[lane].other == other; lane++) {
        put_lane(row[lane].direction, kki_vec3(kki_pose_of(d, i)->p), 1, wi, lane);
        put_lane(row[lane].direction, kki_vec3(kki_pose_of(d, j)->p), -1, wj, lane);
    }
    d->kernels->delassus_climb(m, &d->scratch, i, wi, j, wj, 0, Y, d->rows.capacity);
    return lane;
}

static void climb_rows(const kk_model *m, const kk_data *d, const void *rows, int first, int count, double *Y) {
    for (int c = 0; c < count; c += 4) {
        const kk_constraint_row *row = (const kk_constraint_row *)rows + first + c;
        const int lanes = count - c < 4 ? count - c : 4;
        for (int lane = 0; lane < lanes;) {
            lane = climb_lanes(m, d, row, lane, lanes, Y + c);
        }
    }
}

kk_status kk_delassus(const kk_model *model, kk_data *data, const double *q, const kk_constraint_row *rows, int n,
                      double *G) {
    if (kki_is_missing(model, data, q)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    if (n > 0 && kki_is_missing(rows, G)) {
        return KK_INVALID_ARGUMENT;
    }
    for (int r = 0; r < n; r++) {
        if (rows[r].body < 0 || rows[r].body >= model->nbody || rows[r].other < 0 || rows[r].other >= model->nbody) {
            return KK_INVALID_ARGUMENT;
        }
    }
    const kki_row_source source = {rows, climb_rows, support_of_row};
    data->kernels->delassus_prepare(model, &data->scratch, q, data->zero);
    kki_delassus(model, data, &source, n, G);
    return KK_OK;
}
