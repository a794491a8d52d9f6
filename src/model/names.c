/// Names: one pool, and ids sorted by name for binary search. Two items of a kind with one name are refused.
///
/// The sort is a bottom-up merge sort: stable, O(n log n) whatever the names, and without recursion.
#include <string.h>

#include "model/compile.h"

// ---- the pool

/// Strings one behind another; over no bytes it only counts.
typedef struct string_pool {
    char *bytes;
    size_t used;
} string_pool;

/// Appends text and suffix as one string; gives its offset. Nothing and "" are the string at offset 0.
static int32_t put(string_pool *pool, const char *text, const char *suffix) {
    const size_t start = pool->used, length = text ? strlen(text) : 0, suffix_length = strlen(suffix);
    if (length + suffix_length == 0) {
        return 0;
    }
    pool->used += length + suffix_length + 1;
    if (pool->bytes) {
        memcpy(pool->bytes + start, text, length);
        memcpy(pool->bytes + start + length, suffix, suffix_length + 1);
    }
    return (int32_t)start;
}

/// Appends a string and stores its offset, or the string itself, where there is a model yet.
#define PUT(field, text)                        \
    do {                                        \
        const int32_t at = put(pool, text, ""); \
        if (m) {                                \
            m->field = at;                      \
        }                                       \
    } while (0)
#define PUT_TEXT(field, text)                   \
    do {                                        \
        const int32_t at = put(pool, text, ""); \
        if (m) {                                \
            m->field = m->names + at;           \
        }                                       \
    } while (0)

static void put_tree(const kk_spec *spec, kk_model *m, string_pool *pool) {
    PUT(model_name, spec->name);
    for (int i = 0; i < spec->nbody; i++) {
        const kki_item joint = kki_item_joint(&spec->body[i]);
        PUT(body[i].name, spec->body[i].name);
        const int32_t at = i == KK_WORLD ? 0 : put(pool, joint.name, joint.suffix);
        if (m) {
            m->body[i].joint_name = at;
        }
    }
    for (int i = 0; i < spec->nframe; i++) {
        PUT(frame[i].name, spec->frame[i].name);
    }
    for (int i = 0; i < spec->ncoupling; i++) {
        PUT(coupling[i].name, spec->coupling[i].name);
    }
}

static void put_mesh(const kk_spec *spec, kk_model *m, string_pool *pool, int i) {
    const kk_mesh_def *mesh = &spec->mesh[i];
    PUT(mesh[i].name, mesh->name);
    PUT(mesh[i].file, mesh->file);
    PUT(mesh[i].reference, mesh->reference);
    for (int k = 0; k < mesh->part_count; k++) {
        PUT_TEXT(mesh[i].part[k].name, mesh->part[k].name);
        PUT_TEXT(mesh[i].part[k].texture, mesh->part[k].texture);
    }
}

static void put_shapes(const kk_spec *spec, kk_model *m, string_pool *pool) {
    for (int i = 0; i < spec->nshape; i++) {
        PUT(shape[i].name, spec->shape[i].name);
    }
    for (int i = 0; i < spec->nmesh; i++) {
        put_mesh(spec, m, pool, i);
    }
    for (int i = 0; i < spec->nheight_field; i++) {
        PUT_TEXT(field[i].def.name, spec->height_field[i].name);
        PUT_TEXT(field[i].def.file, spec->height_field[i].file);
    }
    for (int i = 0; i < spec->nvisual; i++) {
        PUT_TEXT(visual[i].name, spec->visual[i].name);
        PUT_TEXT(visual[i].texture, spec->visual[i].texture);
    }
    for (int i = 0; i < spec->nmaterial; i++) {
        PUT_TEXT(material[i].name, spec->material[i].name);
    }
}

static void put_control(const kk_spec *spec, kk_model *m, string_pool *pool) {
    for (int i = 0; i < spec->nloop; i++) {
        PUT(loop[i].name, spec->loop[i].name);
    }
    for (int i = 0; i < spec->ntendon; i++) {
        PUT(tendon[i].name, spec->tendon[i].name);
    }
    for (int i = 0; i < spec->nactuator; i++) {
        PUT(actuator[i].name, spec->actuator[i].name);
    }
    for (int i = 0; i < spec->nsensor; i++) {
        PUT(sensor[i].name, spec->sensor[i].name);
    }
    for (int i = 0; i < spec->nkeyframe; i++) {
        PUT(keyframe[i].name, spec->keyframe[i].name);
    }
}

/// The strings of the whole spec. @param m  where their offsets go; NULL: nowhere
static size_t put_all(const kk_spec *spec, kk_model *m) {
    string_pool pool = {m ? m->names : NULL, 1};
    if (m) {
        m->names[0] = 0;
    }
    put_tree(spec, m, &pool);
    put_shapes(spec, m, &pool);
    put_control(spec, m, &pool);
    return pool.used;
}

size_t kki_names_size(const kk_spec *spec) {
    return put_all(spec, NULL);
}

// ---- sorting and finding

/// The names of a kind by id.
typedef struct name_column {
    const kk_model *m;
    kki_named kind;
} name_column;

static const char *name_of(const name_column *column, int32_t id) {
    const kk_model *m = column->m;
    switch (column->kind) {
    case KKI_NAMED_BODY: return m->names + m->body[id].name;
    case KKI_NAMED_JOINT: return m->names + m->body[id].joint_name;
    case KKI_NAMED_FRAME: return m->names + m->frame[id].name;
    case KKI_NAMED_SHAPE: return m->names + m->shape[id].name;
    case KKI_NAMED_MESH: return m->names + m->mesh[id].name;
    case KKI_NAMED_FIELD: return m->field[id].def.name;
    case KKI_NAMED_MATERIAL: return m->material[id].name;
    case KKI_NAMED_LOOP: return m->names + m->loop[id].name;
    case KKI_NAMED_TENDON: return m->names + m->tendon[id].name;
    case KKI_NAMED_ACTUATOR: return m->names + m->actuator[id].name;
    case KKI_NAMED_SENSOR: return m->names + m->sensor[id].name;
    default: return m->names + m->keyframe[id].name;
    }
}

int32_t kki_named_count(const kk_model *m, kki_named kind) {
    const int32_t count[KKI_NAMED_COUNT] = {m->nbody,   m->nbody - 1, m->nframe,    m->nshape,
                                            m->nmesh,   m->nfield,    m->nmaterial, m->nloop,
                                            m->ntendon, m->nactuator, m->nsensor,   m->nkeyframe};
    return count[kind];
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

static kki_item item_of(const kk_spec *spec, kki_named kind, int id) {
    switch (kind) {
    case KKI_NAMED_BODY: return kki_item_body(&spec->body[id]);
    case KKI_NAMED_JOINT: return kki_item_joint(&spec->body[id]);
    case KKI_NAMED_FRAME: return KKI_ITEM(spec, frame, "frame", id);
    case KKI_NAMED_SHAPE: return KKI_ITEM(spec, shape, "shape", id);
    case KKI_NAMED_MESH: return KKI_ITEM(spec, mesh, "mesh", id);
    case KKI_NAMED_FIELD: return KKI_ITEM(spec, height_field, "height field", id);
    case KKI_NAMED_MATERIAL: return KKI_ITEM(spec, material, "material", id);
    case KKI_NAMED_LOOP: return KKI_ITEM(spec, loop, "loop", id);
    case KKI_NAMED_TENDON: return KKI_ITEM(spec, tendon, "tendon", id);
    case KKI_NAMED_ACTUATOR: return KKI_ITEM(spec, actuator, "actuator", id);
    case KKI_NAMED_SENSOR: return KKI_ITEM(spec, sensor, "sensor", id);
    default: return KKI_ITEM(spec, keyframe, "keyframe", id);
    }
}

/// Joints are numbered from 1, because the world has none.
static kk_status sort_and_check(const kk_spec *spec, kk_model *m, kki_named kind, int32_t *scratch, kk_error *error) {
    const name_column column = {m, kind};
    int32_t *ids = m->by_name[kind];
    const int32_t count = kki_named_count(m, kind);
    for (int32_t i = 0; i < count; i++) {
        ids[i] = i + (kind == KKI_NAMED_JOINT);
    }
    sort_ids(&column, ids, count, scratch);
    for (int32_t i = 1; i < count; i++) {
        const char *name = name_of(&column, ids[i]);
        if (name[0] && strcmp(name_of(&column, ids[i - 1]), name) == 0) {
            return kki_item_error(error, KK_DUPLICATE_NAME, item_of(spec, kind, ids[i]),
                                  "two have this name (number %d and %d); rename one", (int)ids[i - 1], (int)ids[i]);
        }
    }
    return KK_OK;
}

static kk_status check_frames_against_bodies(const kk_spec *spec, const kk_model *m, kk_error *error) {
    for (int i = 0; i < m->nframe; i++) {
        if (kk_model_find_body(m, kki_model_name(m, m->frame[i].name)) >= 0) {
            return kki_item_error(error, KK_DUPLICATE_NAME, KKI_ITEM(spec, frame, "frame", i),
                                  "a body has this name, too; rename one, frames and bodies share names");
        }
    }
    return KK_OK;
}

kk_status kki_names(const kk_spec *spec, kk_model *m, int32_t *scratch, kk_error *error) {
    put_all(spec, m);
    kk_status status = KK_OK;
    for (int k = 0; k < KKI_NAMED_COUNT && status == KK_OK; k++) {
        status = sort_and_check(spec, m, (kki_named)k, scratch, error);
    }
    return status ? status : check_frames_against_bodies(spec, m, error);
}

// ---- lookup

int kki_model_find(const kk_model *m, kki_named kind, const char *name) {
    const name_column column = {m, kind};
    return name && name[0] ? find(&column, m->by_name[kind], kki_named_count(m, kind), name) : -1;
}

int kk_model_find_body(const kk_model *m, const char *name) {
    return kki_model_find(m, KKI_NAMED_BODY, name);
}

int kk_model_find_joint(const kk_model *m, const char *name) {
    return kki_model_find(m, KKI_NAMED_JOINT, name);
}

int kk_model_find_frame(const kk_model *m, const char *name) {
    return kki_model_find(m, KKI_NAMED_FRAME, name);
}
