/// Checks contact materials and the lists of pairs.
#include "model/check.h"

kk_status kki_check_restitution(kki_item item, double restitution, kk_error *error) {
    const kk_status status = kki_check_not_negative(item, "restitution", restitution, error);
    if (status != KK_OK || restitution <= 1) {
        return status;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item,
                          "restitution is %s; it must be between 0 (no bounce) and 1 (no loss)",
                          KKI_NUMBER(restitution));
}

/// Negative: the same as while sliding.
static kk_status check_static_friction(kki_item item, const kk_material_def *material, kk_error *error) {
    const kk_status status = kki_check_finite(item, "static_friction", material->static_friction, error);
    if (status != KK_OK || material->static_friction < 0 || material->static_friction >= material->friction) {
        return status;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item,
                          "static_friction %s is less than friction %s; make it larger, or negative for the same",
                          KKI_NUMBER(material->static_friction), KKI_NUMBER(material->friction));
}

/// Across is stored as a ratio to along, so along must be there.
static kk_status check_friction_across(kki_item item, const kk_material_def *material, kk_error *error) {
    const kk_status status = kki_check_finite(item, "friction_across", material->friction_across, error);
    if (status != KK_OK || material->friction > 0 || material->friction_across <= 0) {
        return status;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item,
                          "friction_across is %s while friction is 0; turn the shape so that it slips along its y axis",
                          KKI_NUMBER(material->friction_across));
}

static kk_status check_material(kki_item item, const kk_material_def *material, kk_error *error) {
    kk_status status = kki_check_not_negative(item, "friction", material->friction, error);
    status = status ? status : check_static_friction(item, material, error);
    status = status ? status : check_friction_across(item, material, error);
    status = status ? status : kki_check_not_negative(item, "torsion", material->torsion, error);
    status = status ? status : kki_check_not_negative(item, "rolling", material->rolling, error);
    status = status ? status : kki_check_restitution(item, material->restitution, error);
    status = status ? status : kki_check_stiffness(item, "stiffness", material->stiffness, error);
    status = status ? status : kki_check_not_negative(item, "damping", material->damping, error);
    status = status ? status : kki_check_not_negative(item, "adhesion", material->adhesion, error);
    status = status ? status : kki_check_not_negative(item, "slip", material->slip, error);
    return status ? status
                  : kki_check_choice(item, "combine rule", (int)material->combine, KK_COMBINE_MAX + 1, "KK_COMBINE_...",
                                     error);
}

static kk_status check_material_pair(const kk_spec *spec, int id, kk_error *error) {
    const kk_material_pair_def *pair = &spec->material_pair[id];
    const kki_item item = kki_item_make("material pair", id, NULL, &pair->origin);
    kk_status status = kki_check_id(item, "material", pair->material[0], spec->nmaterial, error);
    status = status ? status : kki_check_id(item, "material", pair->material[1], spec->nmaterial, error);
    return status ? status : check_material(item, &pair->together, error);
}

static kk_status check_collides(const kk_spec *spec, kki_item item, int shape, kk_error *error) {
    const kk_status status = kki_check_id(item, "shape", shape, spec->nshape, error);
    if (status != KK_OK || (spec->shape[shape].purpose & KK_SHAPE_COLLIDES)) {
        return status;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item,
                          "its shape %d \"%s\" does not collide; let it, or take the pair away", shape,
                          spec->shape[shape].name ? spec->shape[shape].name : "");
}

static kk_status check_pair(const kk_spec *spec, int id, kk_error *error) {
    const kk_pair_def *pair = &spec->pair[id];
    const kki_item item = kki_item_make("pair", id, NULL, &pair->origin);
    kk_status status = check_collides(spec, item, pair->shape[0], error);
    status = status ? status : check_collides(spec, item, pair->shape[1], error);
    if (status == KK_OK && pair->shape[0] == pair->shape[1]) {
        return kki_item_error(error, KK_INVALID_MODEL, item, "shape %d is paired with itself; name two shapes",
                              pair->shape[0]);
    }
    status = status ? status : kki_check_not_negative(item, "the margin", pair->margin, error);
    return status || pair->material < 0 ? status
                                        : kki_check_id(item, "material", pair->material, spec->nmaterial, error);
}

static kk_status check_exclude(const kk_spec *spec, int id, kk_error *error) {
    const kk_exclude_def *exclude = &spec->exclude[id];
    const kki_item item = kki_item_make("exclude", id, NULL, &exclude->origin);
    const kk_status status = kki_check_id(item, "body", exclude->body[0], spec->nbody, error);
    return status ? status : kki_check_id(item, "body", exclude->body[1], spec->nbody, error);
}

kk_status kki_check_materials(const kk_spec *spec, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; i < spec->nmaterial && status == KK_OK; i++) {
        status = check_material(KKI_ITEM(spec, material, "material", i), &spec->material[i], error);
    }
    for (int i = 0; i < spec->nmaterial_pair && status == KK_OK; i++) {
        status = check_material_pair(spec, i, error);
    }
    for (int i = 0; i < spec->npair && status == KK_OK; i++) {
        status = check_pair(spec, i, error);
    }
    for (int i = 0; i < spec->nexclude && status == KK_OK; i++) {
        status = check_exclude(spec, i, error);
    }
    return status;
}
