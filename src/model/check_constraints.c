/// Checks loops and tendons, each by itself; the joints and frames a tendon names are looked up in compile_tendons.c.
#include "model/check.h"

// ---- loops

static kk_status check_loop_numbers(kki_item item, const kk_loop_def *loop, kk_error *error) {
    kk_status status = kki_check_stiffness(item, "stiffness", loop->stiffness, error);
    status = status ? status : kki_check_not_negative(item, "damping", loop->damping, error);
    status = status ? status : kki_check_stiffness(item, "angular_stiffness", loop->angular_stiffness, error);
    status = status ? status : kki_check_not_negative(item, "angular_damping", loop->angular_damping, error);
    status = status ? status : kki_check_bound(item, "break_force", loop->break_force, error);
    status = status ? status : kki_check_bound(item, "break_moment", loop->break_moment, error);
    return status || loop->type != KK_LOOP_DISTANCE ? status
                                                    : kki_check_positive(item, "distance", loop->distance, error);
}

static kk_status check_loop(const kk_spec *spec, int id, kk_error *error) {
    const kk_loop_def *loop = &spec->loop[id];
    const kki_item item = KKI_ITEM(spec, loop, "loop", id);
    kk_status status = kki_check_choice(item, "loop type", (int)loop->type, KK_LOOP_DISTANCE + 1, "KK_LOOP_...", error);
    for (int k = 0; k < 2 && status == KK_OK; k++) {
        const char *what = k == 0 ? "the placement of frame A" : "the placement of frame B";
        status = kki_check_id(item, "body", loop->body[k], spec->nbody, error);
        status = status ? status : kki_check_transform(item, what, &loop->placement[k], error);
    }
    return status ? status : check_loop_numbers(item, loop, error);
}

// ---- tendons

static kk_status check_fixed_path(kki_item item, const kk_tendon_def *tendon, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; i < tendon->item_count && status == KK_OK; i++) {
        status = kki_check_finite(item, "a coefficient", tendon->item[i].coefficient, error);
        if (status == KK_OK && !tendon->item[i].name) {
            status = kki_item_error(error, KK_INVALID_MODEL, item,
                                    "item %d names no joint; pulleys are for spatial tendons only", i);
        }
    }
    return status;
}

static kk_status check_piece(kki_item item, int frames, kk_error *error) {
    if (frames >= 2) {
        return KK_OK;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item,
                          "a piece of its path has %d points; it needs two or more before, between and behind pulleys",
                          frames);
}

/// What a tendon goes round stands between two frames.
static kk_status check_obstacle(kki_item item, const kk_tendon_def *tendon, int i, kk_error *error) {
    const kk_tendon_item *x = &tendon->item[i];
    if (x->name) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "item %d names both \"%s\" and what it wraps round; write two items", i, x->name);
    }
    if (i == 0 || i + 1 == tendon->item_count || !x[-1].name || !x[1].name) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "item %d wraps round \"%s\" without a frame before and behind it; add one", i, x->wrap);
    }
    return KK_OK;
}

/// Every piece between pulleys has two ends.
static kk_status check_spatial_path(kki_item item, const kk_tendon_def *tendon, kk_error *error) {
    int frames = 0;
    kk_status status = KK_OK;
    for (int i = 0; i < tendon->item_count && status == KK_OK; i++) {
        if (tendon->item[i].name) {
            frames++;
            continue;
        }
        if (tendon->item[i].wrap) {
            status = check_obstacle(item, tendon, i, error);
            continue;
        }
        status = check_piece(item, frames, error);
        status =
            status ? status : kki_check_positive(item, "a pulley's coefficient", tendon->item[i].coefficient, error);
        frames = 0;
    }
    return status ? status : check_piece(item, frames, error);
}

static kk_status check_path(kki_item item, const kk_tendon_def *tendon, kk_error *error) {
    if (tendon->item_count <= 0 || !tendon->item) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "its path is empty; name the joints or frames it runs along");
    }
    return tendon->type == KK_TENDON_FIXED ? check_fixed_path(item, tendon, error)
                                           : check_spatial_path(item, tendon, error);
}

static kk_status check_rest(kki_item item, const kk_tendon_def *tendon, kk_error *error) {
    const kk_status status = kki_check_finite(item, "rest_lower", tendon->rest_lower, error);
    return status ? status : kki_check_finite(item, "rest_upper", tendon->rest_upper, error);
}

static kk_status check_tendon(const kk_spec *spec, int id, kk_error *error) {
    const kk_tendon_def *tendon = &spec->tendon[id];
    const kki_item item = KKI_ITEM(spec, tendon, "tendon", id);
    kk_status status = kki_check_name(item, error);
    status = status ? status
                    : kki_check_choice(item, "tendon type", (int)tendon->type, KK_TENDON_SPATIAL + 1, "KK_TENDON_...",
                                       error);
    status = status ? status : check_path(item, tendon, error);
    status = status ? status : kki_check_range(item, "the length", tendon->lower, tendon->upper, error);
    status = status ? status : kki_check_restitution(item, tendon->restitution, error);
    status = status ? status : kki_check_not_negative(item, "stiffness", tendon->stiffness, error);
    status = status ? status : kki_check_not_negative(item, "damping", tendon->damping, error);
    status = status ? status : check_rest(item, tendon, error);
    status = status ? status : kki_check_range(item, "the rest", tendon->rest_lower, tendon->rest_upper, error);
    status = status ? status : kki_check_not_negative(item, "armature", tendon->armature, error);
    status = status ? status
                    : kki_check_range(item, "what actuators pull with", tendon->pull_lower, tendon->pull_upper, error);
    for (int k = 0; k < 5 && status == KK_OK && tendon->is_held; k++) {
        status = kki_check_finite(item, "held", tendon->held[k], error);
    }
    return status ? status : kki_check_not_negative(item, "friction", tendon->friction, error);
}

kk_status kki_check_constraints(const kk_spec *spec, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; i < spec->nloop && status == KK_OK; i++) {
        status = check_loop(spec, i, error);
    }
    for (int i = 0; i < spec->ntendon && status == KK_OK; i++) {
        status = check_tendon(spec, i, error);
    }
    return status;
}
