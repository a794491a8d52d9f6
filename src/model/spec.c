/// The editable spec: growing arrays, copied strings, nothing checked but what memory safety needs.
///
/// Every call either does all of its work or leaves the spec as it was: memory is gathered first, the count goes up
/// last. (A string copied for a call that then fails stays in the pool until the spec is freed.)
#include "model/spec.h"

#include <karakuri/elementary.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"

// ---- defaults

kk_dof_def kk_dof_def_default(void) {
    const double inf = __builtin_inf();
    return (kk_dof_def){.lower = -inf, .upper = inf, .gear_ratio = 1, .velocity_limit = inf, .effort_limit = inf};
}

kk_joint_def kk_joint_def_default(void) {
    kk_joint_def joint = {
        .type = KK_JOINT_HINGE, .placement = kk_transform_identity(), .axis = {0, 0, 1}, .axis2 = {1, 0, 0}};
    for (int i = 0; i < KK_MAX_JOINT_DOFS; i++) {
        joint.dof[i] = kk_dof_def_default();
    }
    return joint;
}

kk_body_def kk_body_def_default(void) {
    return (kk_body_def){.parent = KK_WORLD, .joint = kk_joint_def_default(), .offset = kk_transform_identity()};
}

kk_frame_def kk_frame_def_default(void) {
    return (kk_frame_def){.body = KK_WORLD, .placement = kk_transform_identity()};
}

kk_coupling_def kk_coupling_def_default(void) {
    return (kk_coupling_def){.ratio = 1};
}

// ---- inertias of solids

static kk_inertia centred(double mass, double xx, double yy, double zz) {
    return (kk_inertia){.mass = mass, .moment = {.xx = xx, .yy = yy, .zz = zz}};
}

kk_inertia kk_inertia_solid_box(double mass, double size_x, double size_y, double size_z) {
    const double xx = size_x * size_x, yy = size_y * size_y, zz = size_z * size_z, m = mass / 12;
    return centred(mass, m * (yy + zz), m * (xx + zz), m * (xx + yy));
}

kk_inertia kk_inertia_solid_sphere(double mass, double radius) {
    const double moment = 0.4 * mass * radius * radius;
    return centred(mass, moment, moment, moment);
}

kk_inertia kk_inertia_solid_cylinder(double mass, double radius, double length) {
    const double across = mass * (3 * radius * radius + length * length) / 12;
    return centred(mass, across, across, 0.5 * mass * radius * radius);
}

// ---- strings

struct kki_string_chunk {
    kki_string_chunk *next;
    size_t size, used; ///< bytes of `text`
    char text[];
};

enum { CHUNK_SIZE = 4000 };

static size_t chunk_bytes(size_t size) {
    return sizeof(kki_string_chunk) + size;
}

static kk_status pool_reserve(kk_spec *spec, size_t length) {
    const kki_string_chunk *newest = spec->strings;
    if (newest && newest->size - newest->used >= length) {
        return KK_OK;
    }
    const size_t size = length > CHUNK_SIZE ? length : CHUNK_SIZE;
    kki_string_chunk *chunk = kki_allocate(&spec->allocator, chunk_bytes(size));
    if (!chunk) {
        return KK_OUT_OF_MEMORY;
    }
    chunk->next = spec->strings;
    chunk->size = size;
    chunk->used = 0;
    spec->strings = chunk;
    return KK_OK;
}

/// Replaces *text by a copy that the spec owns. NULL stays NULL.
static kk_status own_string(kk_spec *spec, const char **text, kk_error *error) {
    if (!*text) {
        return KK_OK;
    }
    const size_t length = strlen(*text) + 1;
    if (length > KKI_SPEC_MAX_NAME) {
        return kki_error_set(error, KK_LIMIT_EXCEEDED, "a name is longer than %d bytes; shorten it",
                             KKI_SPEC_MAX_NAME - 1);
    }
    if (pool_reserve(spec, length) != KK_OK) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the name \"%s\"", *text);
    }
    kki_string_chunk *chunk = spec->strings;
    *text = memcpy(chunk->text + chunk->used, *text, length);
    chunk->used += length;
    return KK_OK;
}

static void pool_free(kk_spec *spec) {
    while (spec->strings) {
        kki_string_chunk *chunk = spec->strings;
        spec->strings = chunk->next;
        kki_release(&spec->allocator, chunk, chunk_bytes(chunk->size));
    }
}

// ---- growth

/// Makes room for one more item in an array of `count` items; doubles it, so that adding n items costs O(n).
static kk_status grow(kk_spec *spec, void **items, int *room, int count, size_t item_size, kk_error *error) {
    if (count < *room) {
        return KK_OK;
    }
    if (count >= KKI_SPEC_MAX_ITEMS) {
        return kki_error_set(error, KK_LIMIT_EXCEEDED, "the spec already has %d items of this kind, the most allowed",
                             count);
    }
    const int new_room = *room ? 2 * *room : 16;
    void *block = kki_allocate_array(&spec->allocator, (size_t)new_room, item_size);
    if (!block) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for %d items of the spec", new_room);
    }
    if (*items) {
        memcpy(block, *items, (size_t)count * item_size);
        kki_release_array(&spec->allocator, *items, (size_t)*room, item_size);
    }
    *items = block;
    *room = new_room;
    return KK_OK;
}

static kk_status grow_bodies(kk_spec *spec, kk_error *error) {
    void *items = spec->body;
    const kk_status status = grow(spec, &items, &spec->body_room, spec->nbody, sizeof *spec->body, error);
    spec->body = items;
    return status;
}

static kk_status grow_frames(kk_spec *spec, kk_error *error) {
    void *items = spec->frame;
    const kk_status status = grow(spec, &items, &spec->frame_room, spec->nframe, sizeof *spec->frame, error);
    spec->frame = items;
    return status;
}

static kk_status grow_couplings(kk_spec *spec, kk_error *error) {
    void *items = spec->coupling;
    const kk_status status = grow(spec, &items, &spec->coupling_room, spec->ncoupling, sizeof *spec->coupling, error);
    spec->coupling = items;
    return status;
}

// ---- creation

static kk_status add_world(kk_spec *spec) {
    kk_body_def world = kk_body_def_default();
    world.name = "world";
    world.parent = -1;
    world.joint.type = KK_JOINT_FIXED;
    return kk_spec_add_body(spec, &world, NULL, NULL);
}

kk_status kk_spec_create(const kk_allocator *allocator, kk_spec **spec) {
    if (!spec) {
        return KK_INVALID_ARGUMENT;
    }
    *spec = NULL;
    const kk_allocator own = kki_allocator_or_default(allocator);
    kk_spec *made = kki_allocate(&own, sizeof *made);
    if (!made) {
        return KK_OUT_OF_MEMORY;
    }
    *made = (kk_spec){.allocator = own, .gravity = {0, 0, -9.81}};
    if (add_world(made) != KK_OK) {
        kk_spec_free(made);
        return KK_OUT_OF_MEMORY;
    }
    *spec = made;
    return KK_OK;
}

void kk_spec_free(kk_spec *spec) {
    if (!spec) {
        return;
    }
    kki_release_array(&spec->allocator, spec->body, (size_t)spec->body_room, sizeof *spec->body);
    kki_release_array(&spec->allocator, spec->frame, (size_t)spec->frame_room, sizeof *spec->frame);
    kki_release_array(&spec->allocator, spec->coupling, (size_t)spec->coupling_room, sizeof *spec->coupling);
    pool_free(spec);
    const kk_allocator allocator = spec->allocator;
    kki_release(&allocator, spec, sizeof *spec);
}

// ---- adding

static kk_status null_argument(kk_error *error) {
    return kki_error_set(error, KK_INVALID_ARGUMENT, "the spec or the definition to add is NULL");
}

static void give_id(int *id, int value) {
    if (id) {
        *id = value;
    }
}

kk_status kk_spec_add_body(kk_spec *spec, const kk_body_def *def, int *id, kk_error *error) {
    if (!spec || !def) {
        return null_argument(error);
    }
    kk_body_def body = *def;
    kk_status status = own_string(spec, &body.name, error);
    status = status ? status : own_string(spec, &body.joint.name, error);
    status = status ? status : grow_bodies(spec, error);
    if (status == KK_OK) {
        give_id(id, spec->nbody);
        spec->body[spec->nbody++] = body;
    }
    return status;
}

kk_status kk_spec_add_frame(kk_spec *spec, const kk_frame_def *def, int *id, kk_error *error) {
    if (!spec || !def) {
        return null_argument(error);
    }
    kk_frame_def frame = *def;
    kk_status status = own_string(spec, &frame.name, error);
    status = status ? status : grow_frames(spec, error);
    if (status == KK_OK) {
        give_id(id, spec->nframe);
        spec->frame[spec->nframe++] = frame;
    }
    return status;
}

kk_status kk_spec_add_coupling(kk_spec *spec, const kk_coupling_def *def, int *id, kk_error *error) {
    if (!spec || !def) {
        return null_argument(error);
    }
    kk_coupling_def coupling = *def;
    kk_status status = own_string(spec, &coupling.name, error);
    status = status ? status : own_string(spec, &coupling.follower, error);
    status = status ? status : own_string(spec, &coupling.leader, error);
    status = status ? status : grow_couplings(spec, error);
    if (status == KK_OK) {
        give_id(id, spec->ncoupling);
        spec->coupling[spec->ncoupling++] = coupling;
    }
    return status;
}

// ---- editing

void kk_spec_set_gravity(kk_spec *spec, kk_vec3 gravity) {
    spec->gravity = gravity;
}

kk_body_def *kk_spec_body(kk_spec *spec, int id) {
    return id >= 0 && id < spec->nbody ? &spec->body[id] : NULL;
}

kk_frame_def *kk_spec_frame(kk_spec *spec, int id) {
    return id >= 0 && id < spec->nframe ? &spec->frame[id] : NULL;
}

kk_coupling_def *kk_spec_coupling(kk_spec *spec, int id) {
    return id >= 0 && id < spec->ncoupling ? &spec->coupling[id] : NULL;
}

static kk_status rename_item(kk_spec *spec, const char **slot, const char *name, kk_error *error) {
    if (!slot) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "there is no item with that id to call \"%s\"",
                             name ? name : "");
    }
    const kk_status status = own_string(spec, &name, error);
    if (status == KK_OK) {
        *slot = name;
    }
    return status;
}

kk_status kk_spec_rename_body(kk_spec *spec, int id, const char *name, kk_error *error) {
    kk_body_def *body = kk_spec_body(spec, id);
    return rename_item(spec, body ? &body->name : NULL, name, error);
}

kk_status kk_spec_rename_joint(kk_spec *spec, int body, const char *name, kk_error *error) {
    kk_body_def *def = kk_spec_body(spec, body);
    return rename_item(spec, def ? &def->joint.name : NULL, name, error);
}

kk_status kk_spec_rename_frame(kk_spec *spec, int id, const char *name, kk_error *error) {
    kk_frame_def *frame = kk_spec_frame(spec, id);
    return rename_item(spec, frame ? &frame->name : NULL, name, error);
}

int kk_spec_body_count(const kk_spec *spec) {
    return spec->nbody;
}

int kk_spec_frame_count(const kk_spec *spec) {
    return spec->nframe;
}

int kk_spec_coupling_count(const kk_spec *spec) {
    return spec->ncoupling;
}
