/// Tendons: the joints or frames along their paths, all terms one behind another.
#include "model/compile.h"

static kk_status compile_fixed(kki_item item, const kk_model *m, const kk_tendon_item *def, kki_tendon_term *term,
                               kk_error *error) {
    kki_joint_dof joint;
    const kk_status status = kki_find_coordinate(item, m, def->name, def->dof, &joint, error);
    if (status == KK_OK) {
        *term = (kki_tendon_term){KKI_TERM_JOINT, joint.q_index, joint.v_index, -1, -1, def->coefficient};
    }
    return status;
}

/// A sphere or a cylinder, and the side on which it is passed.
static kk_status compile_obstacle(kki_item item, const kk_model *m, const kk_tendon_item *def, kki_tendon_term *term,
                                  kk_error *error) {
    term->kind = KKI_TERM_WRAP;
    kk_status status = kki_find_named(item, m, KKI_NAMED_SHAPE, def->wrap, &term->shape, error);
    if (status == KK_OK && def->side) {
        status = kki_find_named(item, m, KKI_NAMED_FRAME, def->side, &term->frame, error);
    }
    if (status != KK_OK) {
        return status;
    }
    const int type = m->shape[term->shape].shape.type;
    if (type != KK_SHAPE_SPHERE && type != KK_SHAPE_CYLINDER) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "it goes round \"%s\", which is neither a sphere nor a cylinder", def->wrap);
    }
    return KK_OK;
}

static kk_status compile_spatial(kki_item item, const kk_model *m, const kk_tendon_item *def, kki_tendon_term *term,
                                 kk_error *error) {
    *term = (kki_tendon_term){KKI_TERM_PULLEY, -1, -1, -1, -1, def->coefficient};
    if (def->wrap) {
        return compile_obstacle(item, m, def, term, error);
    }
    term->kind = def->name ? KKI_TERM_FRAME : KKI_TERM_PULLEY;
    return def->name ? kki_find_named(item, m, KKI_NAMED_FRAME, def->name, &term->frame, error) : KK_OK;
}

static kk_status compile_tendon(const kk_spec *spec, kk_model *m, int id, int32_t first, kk_error *error) {
    const kk_tendon_def *def = &spec->tendon[id];
    const kki_item item = KKI_ITEM(spec, tendon, "tendon", id);
    kki_model_tendon *tendon = &m->tendon[id];
    *tendon = (kki_model_tendon){.type = def->type,
                                 .name = tendon->name,
                                 .first_term = first,
                                 .term_count = def->item_count,
                                 .lower = def->lower,
                                 .upper = def->upper,
                                 .stiffness = def->stiffness,
                                 .damping = def->damping,
                                 .rest_lower = def->rest_lower,
                                 .rest_upper = def->rest_upper,
                                 .friction = def->friction,
                                 .armature = def->armature,
                                 .pull_lower = def->pull_lower,
                                 .pull_upper = def->pull_upper,
                                 .restitution = def->restitution,
                                 .is_held = def->is_held != 0,
                                 .leader = -1};
    kk_status status = KK_OK;
    for (int k = 0; k < 5 && def->is_held; k++) {
        tendon->held[k] = k == 0 || def->leader ? def->held[k] : 0;
    }
    if (def->is_held && def->leader) {
        status = kki_find_named(item, m, KKI_NAMED_TENDON, def->leader, &tendon->leader, error);
    }
    if (status == KK_OK && tendon->leader == id) {
        status = kki_item_error(error, KK_INVALID_MODEL, item, "it follows itself; name another tendon as its leader");
    }
    for (int k = 0; k < def->item_count && status == KK_OK; k++) {
        kki_tendon_term *term = &m->tendon_term[first + k];
        status = def->type == KK_TENDON_FIXED ? compile_fixed(item, m, &def->item[k], term, error)
                                              : compile_spatial(item, m, &def->item[k], term, error);
    }
    return status;
}

kk_status kki_compile_tendons(const kk_spec *spec, kk_model *m, kk_error *error) {
    kk_status status = KK_OK;
    int32_t first = 0;
    for (int i = 0; i < m->ntendon && status == KK_OK; i++) {
        status = compile_tendon(spec, m, i, first, error);
        first += spec->tendon[i].item_count;
    }
    return status;
}
