/// The editable spec: growing arrays, copied definitions, nothing checked but what memory safety needs.
///
/// Every call either does all of its work or leaves the spec as it was: memory is gathered first, the count goes up
/// last. (What was copied for a call that then fails stays in the pool until the spec is freed.)
#include "model/spec.h"

#include <karakuri/elementary.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/missing.h"

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

kk_material_def kk_material_def_default(void) {
    return (kk_material_def){
        .friction = 0.8, .static_friction = -1, .friction_across = -1, .stiffness = __builtin_inf()};
}

kk_shape_def kk_shape_def_default(void) {
    return (kk_shape_def){.type = KK_SHAPE_SPHERE,
                          .placement = kk_transform_identity(),
                          .mesh = -1,
                          .height_field = -1,
                          .purpose = KK_SHAPE_COLLIDES | KK_SHAPE_VISIBLE,
                          .group = 1,
                          .mask = 1,
                          .visual = -1};
}

kk_mesh_def kk_mesh_def_default(void) {
    return (kk_mesh_def){.scale = {1, 1, 1}};
}

kk_height_field_def kk_height_field_def_default(void) {
    return (kk_height_field_def){.half_x = 1, .half_y = 1};
}

kk_visual_def kk_visual_def_default(void) {
    return (kk_visual_def){.color = {0.8F, 0.8F, 0.8F, 1}, .repeat = {1, 1}};
}

kk_material_pair_def kk_material_pair_def_default(void) {
    return (kk_material_pair_def){.together = kk_material_def_default()};
}

kk_pair_def kk_pair_def_default(void) {
    return (kk_pair_def){.material = -1};
}

kk_exclude_def kk_exclude_def_default(void) {
    return (kk_exclude_def){{0, 0}, {0}};
}

kk_loop_def kk_loop_def_default(void) {
    const double inf = __builtin_inf();
    return (kk_loop_def){.placement = {kk_transform_identity(), kk_transform_identity()},
                         .stiffness = inf,
                         .angular_stiffness = inf,
                         .break_force = inf,
                         .break_moment = inf,
                         .is_active = 1};
}

kk_tendon_def kk_tendon_def_default(void) {
    const double inf = __builtin_inf();
    return (kk_tendon_def){.lower = -inf, .upper = inf, .pull_lower = -inf, .pull_upper = inf, .held = {0, 1}};
}

kk_actuator_def kk_actuator_def_default(void) {
    const double inf = __builtin_inf();
    return (kk_actuator_def){.gear = 1,
                             .gain = 1,
                             .control_lower = -inf,
                             .control_upper = inf,
                             .force_lower = -inf,
                             .force_upper = inf,
                             .activation_lower = -inf,
                             .activation_upper = inf,
                             .muscle = {.force = 1,
                                        .length_upper = 1,
                                        .range = {0.75, 1.05},
                                        .lmin = 0.5,
                                        .lmax = 1.6,
                                        .vmax = 1.5,
                                        .fpmax = 1.3,
                                        .fvmax = 1.2,
                                        .time_constant = {0.01, 0.04}}};
}

kk_sensor_def kk_sensor_def_default(void) {
    return (kk_sensor_def){.rays = 1, .slots = 1, .tell = KK_CONTACT_FOUND};
}

kk_keyframe_def kk_keyframe_def_default(void) {
    return (kk_keyframe_def){0};
}

kk_script_def kk_script_def_default(void) {
    return (kk_script_def){.name = NULL};
}

kk_parameter_def kk_parameter_def_default(void) {
    return (kk_parameter_def){.upper = 1};
}

// ---- inertias of solids

static kk_inertia centered(double mass, double xx, double yy, double zz) {
    return (kk_inertia){.mass = mass, .moment = {.xx = xx, .yy = yy, .zz = zz}};
}

kk_inertia kk_inertia_solid_box(double mass, double size_x, double size_y, double size_z) {
    const double xx = size_x * size_x, yy = size_y * size_y, zz = size_z * size_z, m = mass / 12;
    return centered(mass, m * (yy + zz), m * (xx + zz), m * (xx + yy));
}

kk_inertia kk_inertia_solid_sphere(double mass, double radius) {
    const double moment = 0.4 * mass * radius * radius;
    return centered(mass, moment, moment, moment);
}

kk_inertia kk_inertia_solid_cylinder(double mass, double radius, double length) {
    const double across = mass * (3 * radius * radius + length * length) / 12;
    return centered(mass, across, across, 0.5 * mass * radius * radius);
}

// ---- the pool

struct kki_pool_chunk {
    kki_pool_chunk *next;
    size_t size, used; ///< bytes of `bytes`
    _Alignas(8) unsigned char bytes[];
};

struct kki_adopted_mesh {
    kki_adopted_mesh *next;
    kki_mesh *mesh;
};

enum { CHUNK_SIZE = 4000, POOL_ALIGNMENT = 8 };

static size_t chunk_bytes(size_t size) {
    return sizeof(kki_pool_chunk) + size;
}

/// Room for `size` bytes; NULL if there is no memory.
static void *pool_take(kk_spec *spec, size_t size) {
    kki_pool_chunk *chunk = spec->pool;
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    size = (size + POOL_ALIGNMENT - 1) & ~(size_t)(POOL_ALIGNMENT - 1);
    if (!chunk || chunk->size - chunk->used < size) {
        const size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        chunk = kki_allocate(&spec->allocator, chunk_bytes(room));
        if (!chunk) {
            return NULL;
        }
        *chunk = (kki_pool_chunk){.next = spec->pool, .size = room};
        spec->pool = chunk;
    }
    chunk->used += size;
    return chunk->bytes + chunk->used - size;
}

static void pool_free(kk_spec *spec) {
    while (spec->pool) {
        kki_pool_chunk *chunk = spec->pool;
        spec->pool = chunk->next;
        kki_release(&spec->allocator, chunk, chunk_bytes(chunk->size));
    }
}

static kk_status no_memory(kk_error *error, const char *what) {
    return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for %s of the spec", what);
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
    char *copy = pool_take(spec, length);
    if (!copy) {
        return no_memory(error, "a name");
    }
    *text = memcpy(copy, *text, length);
    return KK_OK;
}

/// A copy of count · size bytes; an empty array becomes NULL.
static kk_status own_array(kk_spec *spec, const void *items, int count, size_t size, const void **copy,
                           kk_error *error) {
    *copy = NULL;
    if (!items || count <= 0) {
        return count < 0 || (count > 0 && !items)
                   ? kki_error_set(error, KK_INVALID_ARGUMENT, "an array of %d items is negative or missing", count)
                   : KK_OK;
    }
    void *block = (size_t)count <= SIZE_MAX / size ? pool_take(spec, (size_t)count * size) : NULL;
    if (!block) {
        return no_memory(error, "an array");
    }
    *copy = memcpy(block, items, (size_t)count * size);
    return KK_OK;
}

kk_status kki_spec_own_doubles(kk_spec *spec, const double **numbers, int count, kk_error *error) {
    const void *copy = NULL;
    const kk_status status = own_array(spec, *numbers, *numbers ? count : 0, sizeof **numbers, &copy, error);
    *numbers = copy;
    return status;
}

/// Files' names come in runs, so the last one is kept.
static kk_status own_origin(kk_spec *spec, kk_origin *origin, kk_error *error) {
    if (!origin->file) {
        return KK_OK;
    }
    if (!spec->last_file || strcmp(spec->last_file, origin->file) != 0) {
        const char *file = origin->file;
        const kk_status status = own_string(spec, &file, error);
        if (status != KK_OK) {
            return status;
        }
        spec->last_file = file;
    }
    origin->file = spec->last_file;
    return KK_OK;
}

// ---- what each kind points to

static kk_status own_strings(kk_spec *spec, const char **a, const char **b, const char **c, kk_error *error) {
    kk_status status = own_string(spec, a, error);
    status = status || !b ? status : own_string(spec, b, error);
    return status || !c ? status : own_string(spec, c, error);
}

static kk_status own_body(kk_spec *spec, kk_body_def *def, kk_error *error) {
    const kk_status status = own_strings(spec, &def->name, &def->joint.name, NULL, error);
    return status ? status : own_origin(spec, &def->joint.origin, error);
}

static kk_status own_frame(kk_spec *spec, kk_frame_def *def, kk_error *error) {
    return own_string(spec, &def->name, error);
}

static kk_status own_coupling(kk_spec *spec, kk_coupling_def *def, kk_error *error) {
    return own_strings(spec, &def->name, &def->follower, &def->leader, error);
}

static kk_status own_shape(kk_spec *spec, kk_shape_def *def, kk_error *error) {
    return own_string(spec, &def->name, error);
}

static kk_status own_parts(kk_spec *spec, kk_mesh_def *def, kk_error *error) {
    if (def->part_count <= 0) {
        def->part = NULL;
        return KK_OK;
    }
    kk_mesh_part *part = pool_take(spec, (size_t)def->part_count * sizeof *part);
    if (!part) {
        return no_memory(error, "a mesh's parts");
    }
    kk_status status = KK_OK;
    for (int i = 0; i < def->part_count && status == KK_OK; i++) {
        part[i] = def->part[i];
        status = own_strings(spec, &part[i].name, &part[i].texture, NULL, error);
    }
    def->part = part;
    return status;
}

static kk_status own_mesh(kk_spec *spec, kk_mesh_def *def, kk_error *error) {
    const void *vertex = NULL, *face = NULL;
    kk_status status = own_strings(spec, &def->name, &def->file, &def->reference, error);
    status = status ? status : own_array(spec, def->vertex, def->vertex_count, sizeof *def->vertex, &vertex, error);
    status = status ? status : own_array(spec, def->face, def->face_count, sizeof *def->face, &face, error);
    def->vertex = vertex;
    def->face = face;
    return status ? status : own_parts(spec, def, error);
}

static kk_status own_height_field(kk_spec *spec, kk_height_field_def *def, kk_error *error) {
    if (def->rows < 0 || def->columns < 0 || (def->columns && def->rows > INT32_MAX / def->columns)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "a height field of %d × %d is negative or too large",
                             def->rows, def->columns);
    }
    const kk_status status = own_strings(spec, &def->name, &def->file, NULL, error);
    return status ? status : kki_spec_own_doubles(spec, &def->height, def->rows * def->columns, error);
}

static kk_status own_visual(kk_spec *spec, kk_visual_def *def, kk_error *error) {
    return own_strings(spec, &def->name, &def->texture, NULL, error);
}

static kk_status own_material(kk_spec *spec, kk_material_def *def, kk_error *error) {
    return own_string(spec, &def->name, error);
}

static kk_status own_material_pair(kk_spec *spec, kk_material_pair_def *def, kk_error *error) {
    return own_string(spec, &def->together.name, error);
}

static kk_status own_pair(kk_spec *spec, kk_pair_def *def, kk_error *error) {
    (void)spec, (void)def, (void)error;
    return KK_OK;
}

static kk_status own_exclude(kk_spec *spec, kk_exclude_def *def, kk_error *error) {
    (void)spec, (void)def, (void)error;
    return KK_OK;
}

static kk_status own_loop(kk_spec *spec, kk_loop_def *def, kk_error *error) {
    return own_string(spec, &def->name, error);
}

static kk_status own_tendon(kk_spec *spec, kk_tendon_def *def, kk_error *error) {
    kk_status status = own_strings(spec, &def->name, &def->leader, NULL, error);
    kk_tendon_item *item =
        status || def->item_count <= 0 ? NULL : pool_take(spec, (size_t)def->item_count * sizeof *item);
    if (status == KK_OK && def->item_count > 0 && !item) {
        return no_memory(error, "a tendon's path");
    }
    for (int i = 0; i < def->item_count && status == KK_OK; i++) {
        item[i] = def->item[i];
        status = own_strings(spec, &item[i].name, &item[i].wrap, &item[i].side, error);
    }
    def->item = item;
    return status;
}

static kk_status own_actuator(kk_spec *spec, kk_actuator_def *def, kk_error *error) {
    return own_strings(spec, &def->name, &def->target, &def->reference, error);
}

static kk_status own_sensor(kk_spec *spec, kk_sensor_def *def, kk_error *error) {
    const kk_status status = own_string(spec, &def->zone_frame, error);
    return status ? status : own_strings(spec, &def->name, &def->target, &def->reference, error);
}

static kk_status own_script(kk_spec *spec, kk_script_def *def, kk_error *error) {
    return own_strings(spec, &def->name, &def->text, NULL, error);
}

static kk_status own_parameter(kk_spec *spec, kk_parameter_def *def, kk_error *error) {
    return own_string(spec, &def->name, error);
}

static kk_status own_keyframe(kk_spec *spec, kk_keyframe_def *def, kk_error *error) {
    kk_status status = own_string(spec, &def->name, error);
    status = status ? status : kki_spec_own_doubles(spec, &def->q, def->q_count, error);
    status = status ? status : kki_spec_own_doubles(spec, &def->v, def->v_count, error);
    return status ? status : kki_spec_own_doubles(spec, &def->control, def->control_count, error);
}

// ---- growth

static kk_status move_to(kk_spec *spec, void **items, int *room, int count, size_t item_size, int new_room) {
    void *block = kki_allocate_array(&spec->allocator, (size_t)new_room, item_size);
    if (!block) {
        return KK_OUT_OF_MEMORY;
    }
    if (*items) {
        memcpy(block, *items, (size_t)count * item_size);
        kki_release_array(&spec->allocator, *items, (size_t)*room, item_size);
    }
    *items = block;
    *room = new_room;
    return KK_OK;
}

/// Makes room for one more item in an array of `count` items, and for half as many again, so that adding n costs O(n).
static kk_status grow(kk_spec *spec, void **items, int *room, int count, size_t item_size, const char *kind,
                      kk_error *error) {
    if (count < *room) {
        return KK_OK;
    }
    if (count >= KKI_SPEC_MAX_ITEMS) {
        return kki_error_set(error, KK_LIMIT_EXCEEDED, "the spec already has %d of the kind %s, the most allowed",
                             count, kind);
    }
    const int new_room = *room < 16 ? 16 : *room + *room / 2;
    return move_to(spec, items, room, count, item_size, new_room) == KK_OK
               ? KK_OK
               : kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for %d of the kind %s", new_room, kind);
}

kk_status kki_spec_reserve(kk_spec *spec, int bodies, int shapes) {
    kk_status status = KK_OK;
    void *items = spec->body;
    if (bodies > spec->body_room && bodies <= KKI_SPEC_MAX_ITEMS) {
        status = move_to(spec, &items, &spec->body_room, spec->nbody, sizeof *spec->body, bodies);
        spec->body = items;
    }
    items = spec->shape;
    if (status == KK_OK && shapes > spec->shape_room && shapes <= KKI_SPEC_MAX_ITEMS) {
        status = move_to(spec, &items, &spec->shape_room, spec->nshape, sizeof *spec->shape, shapes);
        spec->shape = items;
    }
    return status;
}

static kk_status null_argument(kk_error *error) {
    return kki_error_set(error, KK_INVALID_ARGUMENT, "the spec or the definition to add is NULL");
}

static void give_id(int *id, int value) {
    if (id) {
        *id = value;
    }
}

// ---- the calls of every kind: grow_KIND, kk_spec_add_KIND, kk_spec_KIND, …

#define DEFINE(kind, text)                                                                              \
    static kk_status grow_##kind(kk_spec *spec, kk_error *error) {                                      \
        void *items = spec->kind;                                                                       \
        const kk_status status =                                                                        \
            grow(spec, &items, &spec->kind##_room, spec->n##kind, sizeof *spec->kind, text, error);     \
        spec->kind = items;                                                                             \
        return status;                                                                                  \
    }                                                                                                   \
    kk_status kk_spec_add_##kind(kk_spec *spec, const kk_##kind##_def *def, int *id, kk_error *error) { \
        if (!spec || !def) {                                                                            \
            return null_argument(error);                                                                \
        }                                                                                               \
        kk_##kind##_def copy = *def;                                                                    \
        kk_status status = own_##kind(spec, &copy, error);                                              \
        status = status ? status : own_origin(spec, &copy.origin, error);                               \
        status = status ? status : grow_##kind(spec, error);                                            \
        if (status == KK_OK) {                                                                          \
            give_id(id, spec->n##kind);                                                                 \
            spec->kind[spec->n##kind++] = copy;                                                         \
        }                                                                                               \
        return status;                                                                                  \
    }                                                                                                   \
    kk_##kind##_def *kk_spec_##kind(kk_spec *spec, int id) {                                            \
        return id >= 0 && id < spec->n##kind ? &spec->kind[id] : NULL;                                  \
    }                                                                                                   \
    const kk_##kind##_def *kk_spec_##kind##_const(const kk_spec *spec, int id) {                        \
        return id >= 0 && id < spec->n##kind ? &spec->kind[id] : NULL;                                  \
    }                                                                                                   \
    int kk_spec_##kind##_count(const kk_spec *spec) {                                                   \
        return spec->n##kind;                                                                           \
    }
KK_SPEC_KINDS(DEFINE)
#undef DEFINE

static kk_status adopt(kk_spec *spec, kk_mesh_def *def, kki_mesh *mesh, kk_error *error) {
    kki_adopted_mesh *link = kki_allocate(&spec->allocator, sizeof *link);
    if (!link) {
        return no_memory(error, "a mesh");
    }
    *link = (kki_adopted_mesh){.next = spec->adopted, .mesh = mesh};
    spec->adopted = link;
    def->vertex = mesh->vertex;
    def->vertex_count = mesh->vertex_count;
    def->face = (const int32_t(*)[3])mesh->face;
    def->face_count = mesh->face_count;
    spec->mesh[spec->nmesh++] = *def;
    return KK_OK;
}

static kk_mesh_part part_of(const kki_mesh *mesh, int i) {
    const kki_mesh_part *p = &mesh->part[i];
    kk_mesh_part part = {.name = p->name, .texture = "", .first_face = p->first_face, .face_count = p->face_count};
    if (p->material >= 0) {
        const kki_mesh_material *material = &mesh->material[p->material];
        part.texture = material->texture;
        part.has_color = material->has_color;
        memcpy(part.color, material->color, sizeof part.color);
    }
    return part;
}

/// Strings of the parts stay the mesh's.
static kk_status adopt_parts(kk_spec *spec, kk_mesh_def *def, const kki_mesh *mesh, kk_error *error) {
    kk_mesh_part *part = mesh->part_count ? pool_take(spec, (size_t)mesh->part_count * sizeof *part) : NULL;
    if (mesh->part_count && !part) {
        return no_memory(error, "a mesh's parts");
    }
    for (int i = 0; i < mesh->part_count; i++) {
        part[i] = part_of(mesh, i);
    }
    def->part = part;
    def->part_count = mesh->part_count;
    return KK_OK;
}

kk_status kki_spec_adopt_mesh(kk_spec *spec, const kk_mesh_def *def, kki_mesh *mesh, int *id, kk_error *error) {
    kk_mesh_def copy = *def;
    kk_status status = own_strings(spec, &copy.name, &copy.file, &copy.reference, error);
    status = status ? status : own_origin(spec, &copy.origin, error);
    status = status ? status : adopt_parts(spec, &copy, mesh, error);
    status = status ? status : grow_mesh(spec, error);
    status = status ? status : adopt(spec, &copy, mesh, error);
    if (status == KK_OK) {
        give_id(id, spec->nmesh - 1);
    }
    return status;
}

// ---- creation

void kki_spec_set_allocator(kk_spec *spec, const kk_allocator *allocator) {
    spec->allocator = *allocator;
    for (kki_adopted_mesh *link = spec->adopted; link; link = link->next) {
        link->mesh->allocator = *allocator;
    }
}

static kk_status add_first_items(kk_spec *spec) {
    kk_body_def world = kk_body_def_default();
    world.name = "world";
    world.parent = -1;
    world.joint.type = KK_JOINT_FIXED;
    kk_material_def material = kk_material_def_default();
    material.name = "default";
    const kk_status status = kk_spec_add_body(spec, &world, NULL, NULL);
    return status ? status : kk_spec_add_material(spec, &material, NULL, NULL);
}

static kk_status create_empty(const kk_allocator *allocator, kk_spec **spec) {
    const kk_allocator own = kki_allocator_or_default(allocator);
    *spec = kki_allocate(&own, sizeof **spec);
    if (*spec) {
        **spec = (kk_spec){.allocator = own, .options = {.gravity = {0, 0, -9.81}, .timestep = 1e-3}, .name = ""};
    }
    return *spec ? KK_OK : KK_OUT_OF_MEMORY;
}

kk_status kk_spec_create(const kk_allocator *allocator, kk_spec **spec) {
    if (!spec) {
        return KK_INVALID_ARGUMENT;
    }
    kk_status status = create_empty(allocator, spec);
    status = status ? status : add_first_items(*spec);
    if (status != KK_OK) {
        kk_spec_free(*spec);
        *spec = NULL;
    }
    return status;
}

static void free_adopted(kk_spec *spec) {
    while (spec->adopted) {
        kki_adopted_mesh *link = spec->adopted;
        spec->adopted = link->next;
        kki_mesh_free(link->mesh);
        kki_release(&spec->allocator, link, sizeof *link);
    }
}

void kk_spec_free(kk_spec *spec) {
    if (!spec) {
        return;
    }
#define RELEASE(kind, text) \
    kki_release_array(&spec->allocator, spec->kind, (size_t)spec->kind##_room, sizeof *spec->kind);
    KK_SPEC_KINDS(RELEASE)
#undef RELEASE
    free_adopted(spec);
    pool_free(spec);
    const kk_allocator allocator = spec->allocator;
    kki_release(&allocator, spec, sizeof *spec);
}

static kk_status copy_items(const kk_spec *from, kk_spec *to, kk_error *error) {
    kk_status status = kk_spec_set_name(to, from->name, error);
    to->options = from->options;
#define COPY(kind, text)                                              \
    for (int i = 0; i < from->n##kind && status == KK_OK; i++) {      \
        status = kk_spec_add_##kind(to, &from->kind[i], NULL, error); \
    }
    KK_SPEC_KINDS(COPY)
#undef COPY
    return status;
}

kk_status kk_spec_clone(const kk_spec *spec, const kk_allocator *allocator, kk_spec **copy, kk_error *error) {
    if (!spec || !copy) {
        return null_argument(error);
    }
    kk_status status = create_empty(allocator, copy);
    status = status ? status : copy_items(spec, *copy, error);
    if (status != KK_OK) {
        kk_spec_free(*copy);
        *copy = NULL;
    }
    return status;
}

// ---- editing

kk_options *kk_spec_options(kk_spec *spec) {
    return &spec->options;
}

const kk_options *kk_spec_options_const(const kk_spec *spec) {
    return &spec->options;
}

void kk_spec_set_gravity(kk_spec *spec, kk_vec3 gravity) {
    spec->options.gravity = gravity;
}

const char *kk_spec_name(const kk_spec *spec) {
    return spec->name;
}

kk_status kk_spec_set_name(kk_spec *spec, const char *name, kk_error *error) {
    if (kki_is_missing(spec)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const char *kept = name ? name : "";
    const kk_status status = own_string(spec, &kept, error);
    if (status == KK_OK) {
        spec->name = kept;
    }
    return status;
}

kk_status kk_spec_keep_text(kk_spec *spec, const char *text, const char **kept, kk_error *error) {
    if (kki_is_missing(spec, kept)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const kk_status status = own_string(spec, &text, error);
    if (status == KK_OK) {
        *kept = text;
    }
    return status;
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
    if (kki_is_missing(spec)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_body_def *body = kk_spec_body(spec, id);
    return rename_item(spec, body ? &body->name : NULL, name, error);
}

kk_status kk_spec_rename_joint(kk_spec *spec, int body, const char *name, kk_error *error) {
    if (kki_is_missing(spec)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_body_def *def = kk_spec_body(spec, body);
    return rename_item(spec, def ? &def->joint.name : NULL, name, error);
}

kk_status kk_spec_rename_frame(kk_spec *spec, int id, const char *name, kk_error *error) {
    if (kki_is_missing(spec)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_frame_def *frame = kk_spec_frame(spec, id);
    return rename_item(spec, frame ? &frame->name : NULL, name, error);
}
