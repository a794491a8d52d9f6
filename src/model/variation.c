/// Variations: the arrays of a model with other numbers, laid over those of the model.
///
/// A variation is compiled from an edited spec like any model, so its numbers are a compiled model's to the last bit. What is then kept is a copy of the
/// model's header whose pointers lead to the model's own arrays, or into the variation's block where a number differs. Kernels read arrays through the
/// header and need not know. Structure is what the scratch of simulators is laid out by: counts, trees, types, who may touch whom. It must be the same.
#include "model/variation.h"

#include <karakuri/variation.h>
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/warm.h"

// ---- the same structure

static kk_status other_structure(kk_error *error, const char *what, int number) {
    return kki_error_set(
        error, KK_INVALID_MODEL,
        "%s %d differs from the model's in more than numbers; a variation keeps bodies, joints, shapes that "
        "collide, actuators and sensors as they are: compile another model",
        what, number);
}

static int same_bytes(const void *a, const void *b, size_t count, size_t size) {
    return count == 0 || memcmp(a, b, count * size) == 0;
}

/// Names stand at the same places of both pools.
static int same_name(const kk_model *a, int32_t x, const kk_model *b, int32_t y) {
    return x == y && strcmp(kki_model_name(a, x), kki_model_name(b, y)) == 0;
}

static int same_counts(const kk_model *a, const kk_model *b) {
    const int32_t x[] = {a->nq,           a->nv,        a->nbody,       a->nnode,     a->nframe,      a->ncoupling,
                         a->nshape,       a->nmesh,     a->nfield,      a->nvisual,   a->nmaterial,   a->npair,
                         a->nloop,        a->ntendon,   a->nactuator,   a->nsensor,   a->nactivation, a->nexclude,
                         a->ntendon_term, a->nkeyframe, a->nsensordata, a->ncollider, a->nexplicit,   a->has_pairs};
    const int32_t y[] = {b->nq,           b->nv,        b->nbody,       b->nnode,     b->nframe,      b->ncoupling,
                         b->nshape,       b->nmesh,     b->nfield,      b->nvisual,   b->nmaterial,   b->npair,
                         b->nloop,        b->ntendon,   b->nactuator,   b->nsensor,   b->nactivation, b->nexclude,
                         b->ntendon_term, b->nkeyframe, b->nsensordata, b->ncollider, b->nexplicit,   b->has_pairs};
    return memcmp(x, y, sizeof x) == 0;
}

static int same_body(const kk_model *a, const kk_model *b, int i) {
    const kki_body *x = &a->body[i], *y = &b->body[i];
    return x->parent == y->parent && x->joint_type == y->joint_type && x->node == y->node && x->rigid == y->rigid &&
           same_name(a, x->name, b, y->name) && same_name(a, x->joint_name, b, y->joint_name);
}

static int same_frame(const kk_model *a, const kk_model *b, int i) {
    return a->frame[i].body == b->frame[i].body && same_name(a, a->frame[i].name, b, b->frame[i].name);
}

static int same_coupling(const kk_model *a, const kk_model *b, int i) {
    const kki_coupling *x = &a->coupling[i], *y = &b->coupling[i];
    return x->follower_v == y->follower_v && x->leader_v == y->leader_v && same_name(a, x->name, b, y->name);
}

static int same_shape(const kk_model *a, const kk_model *b, int i) {
    const kki_model_shape *x = &a->shape[i], *y = &b->shape[i];
    return x->shape.type == y->shape.type && x->body == y->body && x->collider == y->collider && x->mesh == y->mesh &&
           x->field == y->field && x->mount == y->mount && x->group == y->group && x->mask == y->mask &&
           x->material == y->material && x->runs == y->runs && x->visual == y->visual && x->purpose == y->purpose &&
           same_name(a, x->name, b, y->name);
}

static int same_mesh(const kk_model *a, const kk_model *b, int i) {
    const kki_model_mesh *x = &a->mesh[i], *y = &b->mesh[i];
    return x->vertex_count == y->vertex_count && x->face_count == y->face_count &&
           same_bytes(x->vertex, y->vertex, (size_t)x->vertex_count, sizeof *x->vertex) &&
           same_bytes(x->face, y->face, (size_t)x->face_count, sizeof *x->face);
}

static int same_field(const kk_model *a, const kk_model *b, int i) {
    const kk_height_field_def *x = &a->field[i].def, *y = &b->field[i].def;
    return x->rows == y->rows && x->columns == y->columns && x->half_x == y->half_x && x->half_y == y->half_y &&
           x->base == y->base &&
           same_bytes(x->height, y->height, (size_t)x->rows * (size_t)x->columns, sizeof *x->height);
}

static int same_pair(const kk_model *a, const kk_model *b, int i) {
    return a->pair[i].first == b->pair[i].first && a->pair[i].second == b->pair[i].second;
}

static int same_explicit(const kk_model *a, const kk_model *b, int i) {
    return a->explicit_pair[i].key == b->explicit_pair[i].key;
}

static int same_exclude(const kk_model *a, const kk_model *b, int i) {
    return a->exclude[i] == b->exclude[i];
}

static int same_loop(const kk_model *a, const kk_model *b, int i) {
    const kki_model_loop *x = &a->loop[i], *y = &b->loop[i];
    return x->type == y->type && x->body[0] == y->body[0] && x->body[1] == y->body[1] && x->is_active == y->is_active &&
           same_name(a, x->name, b, y->name);
}

static int same_tendon(const kk_model *a, const kk_model *b, int i) {
    const kki_model_tendon *x = &a->tendon[i], *y = &b->tendon[i];
    int same = x->type == y->type && x->term_count == y->term_count && x->is_held == y->is_held &&
               x->leader == y->leader && same_name(a, x->name, b, y->name);
    for (int k = x->first_term; same && k < x->first_term + x->term_count; k++) {
        const kki_tendon_term *s = &a->tendon_term[k], *t = &b->tendon_term[k];
        same = s->kind == t->kind && s->v_index == t->v_index && s->frame == t->frame && s->shape == t->shape;
    }
    return same;
}

static int same_actuator(const kk_model *a, const kk_model *b, int i) {
    const kki_model_actuator *x = &a->actuator[i], *y = &b->actuator[i];
    return x->type == y->type && x->transmission == y->transmission && x->v_index == y->v_index &&
           x->tendon == y->tendon && x->frame == y->frame && x->reference == y->reference && x->body == y->body &&
           x->activation == y->activation && x->activation_index == y->activation_index &&
           x->delay_samples == y->delay_samples && same_name(a, x->name, b, y->name);
}

static int same_sensor(const kk_model *a, const kk_model *b, int i) {
    const kki_model_sensor *x = &a->sensor[i], *y = &b->sensor[i];
    return x->type == y->type && x->target == y->target && x->reference == y->reference && x->first == y->first &&
           x->count == y->count && x->dof == y->dof && x->target_is_body == y->target_is_body && x->zone == y->zone &&
           x->reference_is_body == y->reference_is_body && same_name(a, x->name, b, y->name);
}

static int same_keyframe(const kk_model *a, const kk_model *b, int i) {
    const kki_model_keyframe *x = &a->keyframe[i], *y = &b->keyframe[i];
    return x->time == y->time && same_bytes(x->q, y->q, (size_t)a->nq, sizeof *x->q) &&
           same_bytes(x->v, y->v, (size_t)a->nv, sizeof *x->v) &&
           same_bytes(x->control, y->control, (size_t)a->nactuator, sizeof *x->control);
}

typedef struct kind {
    const char *name;
    int32_t count;
    int (*is_same)(const kk_model *a, const kk_model *b, int i);
} kind;

static kk_status check_items(const kk_model *base, const kk_model *full, kk_error *error) {
    const kind kinds[] = {{"body", base->nbody, same_body},
                          {"frame", base->nframe, same_frame},
                          {"coupling", base->ncoupling, same_coupling},
                          {"shape", base->nshape, same_shape},
                          {"mesh", base->nmesh, same_mesh},
                          {"height field", base->nfield, same_field},
                          {"pair of shapes", base->npair, same_pair},
                          {"explicit pair", base->nexplicit, same_explicit},
                          {"exclusion", base->nexclude, same_exclude},
                          {"loop", base->nloop, same_loop},
                          {"tendon", base->ntendon, same_tendon},
                          {"actuator", base->nactuator, same_actuator},
                          {"sensor", base->nsensor, same_sensor},
                          {"keyframe", base->nkeyframe, same_keyframe}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (int i = 0; i < kinds[k].count; i++) {
            if (!kinds[k].is_same(base, full, i)) {
                return other_structure(error, kinds[k].name, i);
            }
        }
    }
    return KK_OK;
}

static int same_options(const kk_options *a, const kk_options *b) {
    return a->timestep == b->timestep && a->integrator == b->integrator && a->max_contacts == b->max_contacts &&
           !a->adjacent_collide == !b->adjacent_collide;
}

/// States of both are laid out alike: joints with forces of their own, contacts with moments, bodies with mass.
static int same_memory(const kk_model *a, const kk_model *b) {
    const kki_warm_layout x = kki_warm_layout_of(a), y = kki_warm_layout_of(b);
    return memcmp(&x, &y, sizeof x) == 0 && kki_has_plain_contacts(a) == kki_has_plain_contacts(b);
}

/// A scene of too many pairs to list has its shapes and the numbers of their laws in a broad phase.
static int same_scene(const kk_model *a, const kk_model *b) {
    int same = a->nmaterial_class == b->nmaterial_class && a->nlaw == b->nlaw;
    for (int i = 0; i < a->nmaterial && same; i++) {
        same = a->material_class[i] == b->material_class[i];
    }
    for (int i = 0; i < a->nshape && same; i++) {
        same = same_bytes(&a->shape[i].box, &b->shape[i].box, 1, sizeof a->shape[i].box);
    }
    return same;
}

kk_status kki_model_check_variation(const kk_model *base, const kk_model *full, kk_error *error) {
    if (!same_counts(base, full)) {
        return kki_error_set(
            error, KK_INVALID_MODEL,
            "the spec has more or fewer items than the model, or other shapes may touch; a variation has other "
            "numbers and the same structure: compile another model");
    }
    kk_status status = check_items(base, full, error);
    if (status == KK_OK && !same_options(&base->options, &full->options)) {
        status = kki_error_set(error, KK_INVALID_MODEL,
                               "the time step, the integrator or the option adjacent_collide differs from the model's; "
                               "they are one for all "
                               "variations: give the time step as an option of the simulator");
    }
    if (status == KK_OK && !same_memory(base, full)) {
        status = kki_error_set(
            error, KK_INVALID_MODEL,
            "states of the variation have other parts than the model's: let the model, too, have dry friction or a "
            "limit in some joint, torsion or rolling in some material, mass in every body that has some here");
    }
    if (status == KK_OK && !base->has_pairs && !same_scene(base, full)) {
        status = kki_error_set(
            error, KK_INVALID_MODEL,
            "a scene of more than %d pairs of shapes keeps the sizes of its shapes and which materials are "
            "the same in all variations",
            KKI_MODEL_LISTED_PAIRS);
    }
    return status;
}

// ---- laying one over the other

/// An array of both models, as bytes; `bytes` of each, and where the variation's pointer stands.
typedef struct overlaid {
    const void *base, *full;
    size_t base_bytes, bytes, item;
    void **pointer;
} overlaid;

enum { MOST_ARRAYS = 20 };

#define ARRAY(member, base_count, count)                                                                       \
    {                                                                                                          \
        .base = base->member, .full = full->member, .base_bytes = (size_t)(base_count) * sizeof *full->member, \
        .bytes = (size_t)(count) * sizeof *full->member, .item = sizeof *full->member,                         \
        .pointer = (void **)(void *)&view->member                                                              \
    }
#define ARRAY_OF(member, count) ARRAY(member, base->count, full->count)

/// All arrays that have numbers in them. @return how many
static int list_arrays(const kk_model *base, const kk_model *full, kk_model *view, overlaid list[MOST_ARRAYS]) {
    const size_t padded = ((size_t)base->nnode + 3) & ~(size_t)3;
    const overlaid all[] = {ARRAY_OF(node, nnode),
                            ARRAY_OF(body, nbody),
                            ARRAY_OF(frame, nframe),
                            ARRAY_OF(coupling, ncoupling),
                            ARRAY_OF(dof, nv),
                            ARRAY_OF(dof_armature, nv),
                            ARRAY(turn_rest, padded, padded),
                            ARRAY(turn_quarters, padded, padded),
                            ARRAY_OF(shape, nshape),
                            ARRAY_OF(material, nmaterial),
                            ARRAY_OF(material_class, nmaterial),
                            ARRAY_OF(law, nlaw),
                            ARRAY_OF(pair, npair),
                            ARRAY_OF(explicit_pair, nexplicit),
                            ARRAY_OF(loop, nloop),
                            ARRAY_OF(tendon, ntendon),
                            ARRAY_OF(tendon_term, ntendon_term),
                            ARRAY_OF(actuator, nactuator),
                            ARRAY_OF(sensor, nsensor)};
    _Static_assert(sizeof all / sizeof *all <= MOST_ARRAYS, "there is room for all of them");
    memcpy(list, all, sizeof all);
    return (int)(sizeof all / sizeof *all);
}

/// Shapes refer to the model's geometry and materials to its names, so that they differ by their numbers alone.
static void refer_to(const kk_model *base, kk_model *full) {
    for (int i = 0; i < full->nshape; i++) {
        kki_shape *s = &full->shape[i].shape;
        const kki_shape *of = &base->shape[i].shape;
        s->convex = of->convex;
        s->surface = of->surface;
        s->field = of->field;
    }
    for (int i = 0; i < full->nmaterial; i++) {
        full->material[i].name = base->material[i].name;
    }
}

/// Numbers of the header.
static void take_numbers(const kk_model *full, kk_model *view) {
    memcpy(view->gravity, full->gravity, sizeof view->gravity);
    view->hash = full->hash;
    view->nlaw = full->nlaw;
    view->nmaterial_class = full->nmaterial_class;
    view->has_armature = full->has_armature;
    view->total_mass = full->total_mass;
    view->options = full->options;
}

static void place(kki_layout *layout, const overlaid *list, int count) {
    for (int i = 0; i < count; i++) {
        const overlaid *a = &list[i];
        if (a->bytes != a->base_bytes || !same_bytes(a->base, a->full, a->bytes, 1)) {
            void *own = kki_layout_take(layout, a->bytes / a->item, a->item);
            if (own) {
                memcpy(own, a->full, a->bytes);
                *a->pointer = own;
            }
        }
    }
}

kk_status kki_model_overlay(const kk_model *base, kk_model *full, const kk_allocator *allocator, kk_model **variation) {
    kk_model header = *base;
    header.allocator = kki_allocator_or_default(allocator);
    header.base = base;
    refer_to(base, full);
    take_numbers(full, &header);
    overlaid list[MOST_ARRAYS];
    const int count = list_arrays(base, full, &header, list);
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, list, count);
    kk_model *view = kki_allocate_zeroed(&header.allocator, layout.size);
    if (!view) {
        return KK_OUT_OF_MEMORY;
    }
    header.size = layout.size;
    layout = kki_layout_over(view);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, list, count);
    *view = header;
    *variation = view;
    return KK_OK;
}

const kk_model *kk_model_base(const kk_model *model) {
    return model->base ? model->base : model;
}
