// Motion sequences from tables: columns are found by the names of joints (docs/guide/columns.md).
#include <karakuri/recording.h>
#include <karakuri/sequence.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/missing.h"

/// What stands behind the joint's name, by coordinate; "" for joints with one.
static const char *suffix_of(kk_joint_type type, int k) {
    static const char *const free_joint[] = {".qw", ".qx", ".qy", ".qz", ".x", ".y", ".z"};
    static const char *const cylindrical[] = {".angle", ".travel"};
    static const char *const universal[] = {".1", ".2"};
    static const char *const planar[] = {".x", ".y", ".angle"};
    switch (type) {
    case KK_JOINT_BALL:
    case KK_JOINT_FREE: return free_joint[k];
    case KK_JOINT_CYLINDRICAL: return cylindrical[k];
    case KK_JOINT_UNIVERSAL: return universal[k];
    case KK_JOINT_PLANAR: return planar[k];
    default: return "";
    }
}

/// What follows `start` in `text`; NULL where it does not start so.
static const char *behind(const char *text, const char *start) {
    const size_t length = strlen(start);
    return strncmp(text, start, length) == 0 ? text + length : NULL;
}

/// Is it "knee", "knee.q" or "base.q.qw"?
static int is_name_of(const char *column, const char *joint, const char *suffix) {
    const char *rest = behind(column, joint);
    const char *kind = rest ? behind(rest, ".q") : NULL;
    return rest && (strcmp(rest, suffix) == 0 || (kind && strcmp(kind, suffix) == 0));
}

/// Ends in .v, .a or .tau, or has these before a suffix: a number of the same joint that is no coordinate.
static int is_other_kind(const char *column, const char *joint) {
    static const char *const kinds[] = {".v", ".a", ".tau", ".power", ".control"};
    const char *rest = behind(column, joint);
    for (size_t i = 0; rest && i < sizeof kinds / sizeof *kinds; i++) {
        const char *more = behind(rest, kinds[i]);
        if (more && (*more == 0 || *more == '.')) {
            return 1;
        }
    }
    return 0;
}

/// Coordinate that a column is for; −1: a number of another kind; −2: nothing the model has.
static int coordinate_of(const kk_model *model, const char *column) {
    int other = 0;
    for (int b = 1; b < kk_model_nbody(model); b++) {
        const kk_joint_info j = kk_model_joint(model, b);
        for (int k = 0; k < j.nq; k++) {
            if (is_name_of(column, j.name, suffix_of(j.type, k))) {
                return j.q_index + k;
            }
        }
        other = other || is_other_kind(column, j.name);
    }
    return other || kk_log_is_aside(model, column) ? -1 : -2;
}

typedef struct reading {
    const kk_model *model;
    const kk_table *table;
    int nq, columns, time;
    int *coordinate;     ///< [columns]
    double *times, *row; ///< [rows], [rows × nq]
} reading;

static kk_status match(reading *r, int ignore_extra, kk_error *error) {
    r->time = kk_table_find_column(r->table, "time");
    if (r->time < 0 || kk_table_row_count(r->table) == 0) {
        return kki_error_at(error, KK_NOT_FOUND, NULL, kk_table_header_line(r->table), 1,
                            r->time < 0 ? "motion: there is no column 'time'; add it, in s"
                                        : "motion: there are no rows; add one");
    }
    for (int k = 0; k < r->columns; k++) {
        const char *name = kk_table_column_name(r->table, k);
        r->coordinate[k] = k == r->time ? -1 : coordinate_of(r->model, name);
        if (r->coordinate[k] == -2 && !ignore_extra) {
            return kki_error_at(error, KK_NOT_FOUND, NULL, kk_table_header_line(r->table), 1,
                                "motion: no joint of the model has a coordinate '%s'; correct the name, or skip "
                                "columns that are not of "
                                "the model",
                                name);
        }
    }
    return KK_OK;
}

static void fill(const reading *r, const double *rest) {
    const size_t rows = kk_table_row_count(r->table);
    for (size_t i = 0; i < rows; i++) {
        const double *from = kk_table_row(r->table, i);
        double *to = r->row + i * (size_t)r->nq;
        if (rest) {
            memcpy(to, rest, (size_t)r->nq * sizeof *to);
        } else {
            kk_model_neutral(r->model, to);
        }
        r->times[i] = from[r->time];
        for (int k = 0; k < r->columns; k++) {
            if (r->coordinate[k] >= 0) {
                to[r->coordinate[k]] = from[k];
            }
        }
        kk_couplings_apply(r->model, to, NULL);
    }
}

kk_status kk_sequence_from_table(const kk_model *model, const kk_table *table, const double *rest,
                                 const kk_sequence_options *options, const kk_allocator *allocator,
                                 kk_sequence **sequence, kk_error *error) {
    if (kki_is_missing(model, table, sequence)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    static const kk_sequence_options defaults = {0};
    const kk_allocator memory = kki_allocator_or_default(allocator);
    const size_t rows = kk_table_row_count(table), nq = (size_t)kk_model_nq(model);
    const size_t columns = (size_t)kk_table_column_count(table), numbers = rows * (nq + 1);
    options = options ? options : &defaults;
    *sequence = NULL;
    if (nq == 0 || rows > (size_t)1 << 30) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "motion: %s",
                             nq ? "the table has too many rows" : "nothing moves in the model");
    }
    double *block = kki_allocate_array(&memory, numbers + 1, sizeof *block);
    int *coordinate = kki_allocate_array(&memory, columns + 1, sizeof *coordinate);
    reading r = {.model = model,
                 .table = table,
                 .nq = (int)nq,
                 .columns = (int)columns,
                 .coordinate = coordinate,
                 .times = block};
    const bool has_room = block && coordinate;
    kk_status status = has_room ? match(&r, options->ignore_extra, error)
                                : kki_error_set(error, KK_OUT_OF_MEMORY, "motion: no memory for the table's rows");
    if (has_room && !status) {
        r.row = block + rows;
        fill(&r, rest);
        const kk_sequence_def def = {.model = model,
                                     .interpolation = options->interpolation,
                                     .ends = options->ends,
                                     .count = (int)rows,
                                     .width = (int)nq,
                                     .time = r.times,
                                     .value = r.row};
        status = kk_sequence_create(&def, allocator, sequence, error);
    }
    kki_release_array(&memory, block, numbers + 1, sizeof *block);
    kki_release_array(&memory, coordinate, columns + 1, sizeof *coordinate);
    return status;
}
