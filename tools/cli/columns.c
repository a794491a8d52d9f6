// Names of columns; see columns.h.
#include "columns.h"

#include <stdlib.h>

void columns_add(column_list *list, const char *name, const char *unit) {
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 16;
        list->item = cli_reallocate(list->item, (size_t)list->capacity, sizeof *list->item);
    }
    list->item[list->count++] = (kk_table_column){cli_copy(name), unit}; // units are literals
}

void columns_free(column_list *list) {
    for (int i = 0; i < list->count; i++) {
        free((char *)list->item[i].name); // NOLINT: made by cli_copy
    }
    free(list->item);
    *list = (column_list){NULL, 0, 0};
}

const char *column_word(column_kind kind) {
    static const char *const words[] = {"q", "v", "a", "tau", "power"};
    return words[kind];
}

static const char *pick(const char *const *list, int count, int k) {
    return k >= 0 && k < count ? list[k] : "";
}

const char *column_suffix(kk_joint_type type, column_kind kind, int k) {
    static const char *const cylindrical[] = {".angle", ".travel"}, *const universal[] = {".1", ".2"},
                             *const planar[] = {".x", ".y", ".angle"}, *const placement[] = {".qw", ".qx", ".qy", ".qz",
                                                                                             ".x",  ".y",  ".z"},
                             *const motion[] = {".wx", ".wy", ".wz", ".vx", ".vy", ".vz"},
                             *const force[] = {".nx", ".ny", ".nz", ".fx", ".fy", ".fz"};
    switch (type) {
    case KK_JOINT_CYLINDRICAL: return pick(cylindrical, 2, k);
    case KK_JOINT_UNIVERSAL: return pick(universal, 2, k);
    case KK_JOINT_PLANAR: return pick(planar, 3, k);
    case KK_JOINT_BALL:
    case KK_JOINT_FREE:
        return kind == COLUMN_Q ? pick(placement, 7, k) : pick(kind == COLUMN_TAU ? force : motion, 6, k);
    default: return "";
    }
}

/// Does this coordinate measure a length rather than an angle? 2: a part of a quaternion, which has no unit.
static int is_length(kk_joint_type type, column_kind kind, int k) {
    switch (type) {
    case KK_JOINT_SLIDE: return 1;
    case KK_JOINT_CYLINDRICAL: return k == 1;
    case KK_JOINT_PLANAR: return k < 2;
    case KK_JOINT_BALL:
    case KK_JOINT_FREE: return kind == COLUMN_Q ? (k < 4 ? 2 : 1) : k >= 3;
    default: return 0;
    }
}

const char *column_unit(kk_joint_type type, column_kind kind, int k) {
    static const char *const units[COLUMN_KINDS][3] = {
        {"rad", "m", ""}, {"rad/s", "m/s", ""}, {"rad/s^2", "m/s^2", ""}, {"N m", "N", ""}, {"W", "W", ""}};
    return units[kind][is_length(type, kind, k)];
}

void column_name(const kk_model *model, int body, column_kind kind, const char *word, int k, cli_text *name) {
    const kk_joint_info joint = kk_model_joint(model, body);
    name->size = 0;
    text_format(name, "%s%s%s%s", joint.name, word[0] ? "." : "", word, column_suffix(joint.type, kind, k));
}

/// Bodies in the order of their coordinates: order[v_index] = body + 1.
static int *bodies_by_dof(const kk_model *model) {
    int *order = cli_allocate((size_t)kk_model_nv(model), sizeof *order);
    for (int i = 1; i < kk_model_nbody(model); i++) {
        const kk_joint_info joint = kk_model_joint(model, i);
        if (joint.nv > 0) {
            order[joint.v_index] = i;
        }
    }
    return order;
}

void columns_of_joints(const kk_model *model, column_kind kind, const char *word, column_list *list) {
    int *order = bodies_by_dof(model);
    cli_text name = {0};
    for (int i = 0; i < kk_model_nv(model); i++) {
        const kk_joint_info joint = kk_model_joint(model, order[i]);
        const int n = order[i] == 0 ? 0 : kind == COLUMN_Q ? joint.nq : joint.nv;
        for (int k = 0; k < n; k++) {
            column_name(model, order[i], kind, word, k, &name);
            columns_add(list, text_string(&name), column_unit(joint.type, kind, k));
        }
    }
    text_free(&name);
    free(order);
}
