/// Names: one pool, and ids sorted by name for binary search. Two items of a kind with one name are refused.
///
/// The sort is a bottom-up merge sort: stable, O(n log n) whatever the names, and without recursion.
#include <string.h>

#include "base/error.h"
#include "model/compile.h"

static int has_text(const char *text) {
    return text && text[0];
}

// ---- the pool

static size_t joint_name_size(const kk_body_def *body) {
    return has_text(body->joint.name) ? strlen(body->joint.name) + 1 : strlen(body->name) + sizeof "_joint";
}

size_t kki_names_size(const kk_spec *spec) {
    size_t size = 1;
    for (int i = 0; i < spec->nbody; i++) {
        size += strlen(spec->body[i].name) + 1;
        size += i == KK_WORLD ? 0 : joint_name_size(&spec->body[i]);
    }
    for (int i = 0; i < spec->nframe; i++) {
        size += strlen(spec->frame[i].name) + 1;
    }
    for (int i = 0; i < spec->ncoupling; i++) {
        size += has_text(spec->coupling[i].name) ? strlen(spec->coupling[i].name) + 1 : 0;
    }
    return size;
}

/// Appends text and suffix as one string; gives its offset.
static int32_t append(kk_model *m, size_t *used, const char *text, const char *suffix) {
    const size_t start = *used, length = strlen(text), suffix_length = strlen(suffix);
    memcpy(m->names + start, text, length);
    memcpy(m->names + start + length, suffix, suffix_length + 1);
    *used = start + length + suffix_length + 1;
    return (int32_t)start;
}

static void fill_pool(const kk_spec *spec, kk_model *m) {
    size_t used = 1;
    m->names[0] = 0;
    for (int i = 0; i < m->nbody; i++) {
        const kki_item joint = kki_item_joint(&spec->body[i]);
        m->body[i].name = append(m, &used, spec->body[i].name, "");
        m->body[i].joint_name = i == KK_WORLD ? 0 : append(m, &used, joint.name, joint.suffix);
    }
    for (int i = 0; i < m->nframe; i++) {
        m->frame[i].name = append(m, &used, spec->frame[i].name, "");
    }
    for (int i = 0; i < m->ncoupling; i++) {
        const char *name = spec->coupling[i].name;
        m->coupling[i].name = has_text(name) ? append(m, &used, name, "") : 0;
    }
}

// ---- sorting and finding

/// A table of names: the name of id i is at the offset stored `stride` bytes after that of id i − 1.
typedef struct name_column {
    const char *names;
    const char *first; ///< of id 0
    size_t stride;
} name_column;

static const char *name_of(const name_column *column, int32_t id) {
    int32_t offset;
    memcpy(&offset, column->first + (size_t)id * column->stride, sizeof offset);
    return column->names + offset;
}

static name_column body_names(const kk_model *m) {
    return (name_column){m->names, (const char *)&m->body[0].name, sizeof m->body[0]};
}

static name_column joint_names(const kk_model *m) {
    return (name_column){m->names, (const char *)&m->body[0].joint_name, sizeof m->body[0]};
}

static name_column frame_names(const kk_model *m) {
    return (name_column){m->names, (const char *)&m->frame[0].name, sizeof m->frame[0]};
}

/// Merges a[begin, middle) and a[middle, end) into the same places of b; ties go to the first half.
static void merge(const name_column *column, const int32_t *a, int begin, int middle, int end, int32_t *b) {
    int i = begin, j = middle;
    for (int k = begin; k < end; k++) {
        const int from_first = j == end || (i < middle && strcmp(name_of(column, a[i]), name_of(column, a[j])) <= 0);
        b[k] = from_first ? a[i++] : a[j++];
    }
}

static int least(int a, int b) {
    return a < b ? a : b;
}

static void sort_ids(const name_column *column, int32_t *ids, int count, int32_t *scratch) {
    for (int width = 1; width < count; width *= 2) {
        for (int begin = 0; begin < count; begin += 2 * width) {
            merge(column, ids, begin, least(begin + width, count), least(begin + 2 * width, count), scratch);
        }
        memcpy(ids, scratch, (size_t)count * sizeof *ids);
    }
}

static int find(const name_column *column, const int32_t *ids, int count, const char *name) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const int order = strcmp(name_of(column, ids[middle]), name);
        if (order == 0) {
            return ids[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return -1;
}

// ---- building and checking the tables

static kk_status sort_and_check(const char *kind, const name_column *column, int32_t *ids, int count, int first_id,
                                int32_t *scratch, kk_error *error) {
    for (int i = 0; i < count; i++) {
        ids[i] = first_id + i;
    }
    sort_ids(column, ids, count, scratch);
    for (int i = 1; i < count; i++) {
        const char *name = name_of(column, ids[i]);
        if (strcmp(name_of(column, ids[i - 1]), name) == 0) {
            return kki_error_set(error, KK_DUPLICATE_NAME,
                                 "%s \"%s\": two have this name (number %d and %d); rename one", kind, name,
                                 (int)ids[i - 1], (int)ids[i]);
        }
    }
    return KK_OK;
}

static kk_status check_frames_against_bodies(const kk_model *m, kk_error *error) {
    for (int i = 0; i < m->nframe; i++) {
        const char *name = kki_model_name(m, m->frame[i].name);
        if (kk_model_find_body(m, name) >= 0) {
            return kki_error_set(error, KK_DUPLICATE_NAME,
                                 "frame \"%s\": a body has this name, too; rename one, frames and bodies share names",
                                 name);
        }
    }
    return KK_OK;
}

kk_status kki_names(const kk_spec *spec, kk_model *m, int32_t *scratch, kk_error *error) {
    fill_pool(spec, m);
    const name_column bodies = body_names(m), joints = joint_names(m);
    kk_status status = sort_and_check("body", &bodies, m->body_by_name, m->nbody, 0, scratch, error);
    if (status == KK_OK) {
        status = sort_and_check("joint", &joints, m->joint_by_name, m->nbody - 1, 1, scratch, error);
    }
    if (status == KK_OK && m->nframe > 0) {
        const name_column frames = frame_names(m);
        status = sort_and_check("frame", &frames, m->frame_by_name, m->nframe, 0, scratch, error);
    }
    return status ? status : check_frames_against_bodies(m, error);
}

// ---- lookup by the user

int kk_model_find_body(const kk_model *m, const char *name) {
    const name_column bodies = body_names(m);
    return name ? find(&bodies, m->body_by_name, m->nbody, name) : -1;
}

int kk_model_find_joint(const kk_model *m, const char *name) {
    const name_column joints = joint_names(m);
    return name ? find(&joints, m->joint_by_name, m->nbody - 1, name) : -1;
}

int kk_model_find_frame(const kk_model *m, const char *name) {
    if (!name || m->nframe == 0) {
        return -1;
    }
    const name_column frames = frame_names(m);
    return find(&frames, m->frame_by_name, m->nframe, name);
}
