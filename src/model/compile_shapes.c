/// Shapes, meshes, height fields, looks and materials: copied, placed on their nodes, and given their boxes.
#include <string.h>

#include "model/compile.h"

/// Where a shape has no end.
static const double FAR = 1e30;

// ---- geometry

static void copy_mesh(const kk_mesh_def *def, kki_model_mesh *mesh) {
    mesh->vertex_count = def->vertex_count;
    mesh->face_count = def->face_count;
    mesh->part_count = def->part_count;
    mesh->scale = def->scale;
    memcpy(mesh->vertex, def->vertex, (size_t)def->vertex_count * sizeof *mesh->vertex);
    if (def->face_count > 0) {
        memcpy(mesh->face, def->face, (size_t)def->face_count * sizeof *mesh->face);
    }
    if (def->part_count > 0) {
        memcpy(mesh->part, def->part, (size_t)def->part_count * sizeof *mesh->part);
    }
}

/// The heights' place is the model's.
static void copy_field(const kk_height_field_def *def, kki_model_field *field) {
    double *height = (double *)(uintptr_t)field->def.height;
    memcpy(height, def->height, (size_t)def->rows * (size_t)def->columns * sizeof *height);
    field->def = *def;
    field->def.height = height;
    field->def.origin = (kk_origin){0};
}

static void copy_geometry(const kk_spec *spec, kk_model *m) {
    for (int i = 0; i < m->nmesh; i++) {
        copy_mesh(&spec->mesh[i], &m->mesh[i]);
    }
    for (int i = 0; i < m->nfield; i++) {
        copy_field(&spec->height_field[i], &m->field[i]);
    }
    for (int i = 0; i < m->nvisual; i++) {
        m->visual[i] = spec->visual[i];
        m->visual[i].origin = (kk_origin){0};
    }
    for (int i = 0; i < m->nmaterial; i++) {
        m->material[i] = spec->material[i];
        m->material[i].origin = (kk_origin){0};
    }
}

// ---- boxes

static kki_aabb box_about_origin(double x, double y, double z) {
    return (kki_aabb){kk_vec3_make(-x, -y, -z), kk_vec3_make(x, y, z)};
}

static kki_aabb box_of_mesh(const kki_model_mesh *mesh) {
    kki_aabb box = {mesh->vertex[0], mesh->vertex[0]};
    for (int i = 1; i < mesh->vertex_count; i++) {
        const kk_vec3 p = mesh->vertex[i];
        box.lower = kk_vec3_make(p.x < box.lower.x ? p.x : box.lower.x, p.y < box.lower.y ? p.y : box.lower.y,
                                 p.z < box.lower.z ? p.z : box.lower.z);
        box.upper = kk_vec3_make(p.x > box.upper.x ? p.x : box.upper.x, p.y > box.upper.y ? p.y : box.upper.y,
                                 p.z > box.upper.z ? p.z : box.upper.z);
    }
    return box;
}

static kki_aabb box_of_field(const kk_height_field_def *field) {
    kki_aabb box = box_about_origin(field->half_x, field->half_y, 0);
    box.lower.z = -field->base;
    box.upper.z = field->height[0];
    for (int i = 1; i < field->rows * field->columns; i++) {
        box.upper.z = field->height[i] > box.upper.z ? field->height[i] : box.upper.z;
    }
    return box;
}

static kki_aabb box_of(const kk_model *m, const kki_model_shape *s) {
    const double *h = s->shape.half;
    switch ((kk_shape_type)s->shape.type) {
    case KK_SHAPE_PLANE: return (kki_aabb){kk_vec3_make(-FAR, -FAR, -FAR), kk_vec3_make(FAR, FAR, 0)};
    case KK_SHAPE_SPHERE: return box_about_origin(h[0], h[0], h[0]);
    case KK_SHAPE_CAPSULE: return box_about_origin(h[0], h[0], h[1] + h[0]);
    case KK_SHAPE_CYLINDER:
    case KK_SHAPE_CONE: return box_about_origin(h[0], h[0], h[1]);
    case KK_SHAPE_HULL:
    case KK_SHAPE_MESH: return box_of_mesh(&m->mesh[s->mesh]);
    case KK_SHAPE_HEIGHT_FIELD: return box_of_field(&m->field[s->field].def);
    default: return box_about_origin(h[0], h[1], h[2]);
    }
}

static kki_aabb thickened(kki_aabb box, double margin) {
    const kk_vec3 r = kk_vec3_make(margin, margin, margin);
    return (kki_aabb){kk_vec3_sub(box.lower, r), kk_vec3_add(box.upper, r)};
}

// ---- shapes

/// Sizes as kernels want them: radii stay, lengths and edges are halved.
static void store_sizes(const kk_shape_def *def, kki_shape *shape) {
    const int is_round = def->type == KK_SHAPE_SPHERE || def->type == KK_SHAPE_ELLIPSOID;
    const int has_length =
        def->type == KK_SHAPE_CAPSULE || def->type == KK_SHAPE_CYLINDER || def->type == KK_SHAPE_CONE;
    const int count = is_round                    ? (def->type == KK_SHAPE_SPHERE ? 1 : 3)
                      : has_length                ? 2
                      : def->type == KK_SHAPE_BOX ? 3
                                                  : 0;
    for (int k = 0; k < count; k++) {
        const int is_radius = is_round || (has_length && k == 0);
        shape->half[k] = is_radius ? def->size[k] : 0.5 * def->size[k];
    }
}

/// Parents come first. What is fixed to the world stays apart from other such things: a robot's pedestal is not the floor.
static void find_rigid_groups(kk_model *m) {
    for (int32_t i = 0; i < m->nbody; i++) {
        kki_body *body = &m->body[i];
        const int goes_with_parent = body->joint_type == KK_JOINT_FIXED && body->parent > KK_WORLD;
        body->rigid = goes_with_parent ? m->body[body->parent].rigid : i;
    }
}

/// What the joint of a rigid group is mounted on, or the chain of joints where several stand between two links. The world is no
/// neighbor, nor is what counts as a part of it: what is hinged to it still falls on its floor.
static int32_t mount_of(const kk_spec *spec, const kk_model *m, int32_t rigid) {
    const kki_body *body = &m->body[rigid];
    if (body->joint_type == KK_JOINT_FIXED || body->joint_type == KK_JOINT_FREE) {
        return -1;
    }
    int32_t mount = body->parent;
    while (mount > KK_WORLD && spec->body[mount].is_joint_part) {
        mount = m->body[mount].parent;
    }
    const int32_t group = m->body[mount].rigid;
    return group > KK_WORLD && !spec->body[group].is_ground ? group : -1;
}

static int is_zero(kk_vec3 a) {
    return a.x == 0 && a.y == 0 && a.z == 0;
}

static kki_model_shape compile_shape(const kk_spec *spec, const kk_model *m, const kk_shape_def *def) {
    const kki_body *body = &m->body[def->body];
    kki_model_shape s = {.shape = {.type = (int32_t)def->type, .margin = def->margin},
                         .X_BS = kki_clean_transform(def->placement),
                         .surface = def->surface,
                         .runs = !is_zero(def->surface.linear) || !is_zero(def->surface.angular),
                         .body = def->body,
                         .node = body->node,
                         .collider = -1,
                         .purpose = def->purpose,
                         .mesh = -1,
                         .field = -1,
                         .material = def->material,
                         .visual = def->visual < 0 ? -1 : def->visual,
                         .group = def->group,
                         .mask = def->mask};
    s.mesh = def->type == KK_SHAPE_HULL || def->type == KK_SHAPE_MESH ? def->mesh : -1;
    s.field = def->type == KK_SHAPE_HEIGHT_FIELD ? def->height_field : -1;
    s.X_NS = kk_transform_mul(body->X_NB, s.X_BS);
    s.rigid = body->rigid;
    s.mount = mount_of(spec, m, s.rigid);
    store_sizes(def, &s.shape);
    s.box = thickened(box_of(m, &s), def->margin);
    return s;
}

void kki_compile_shapes(const kk_spec *spec, kk_model *m) {
    copy_geometry(spec, m);
    find_rigid_groups(m);
    int32_t count = 0;
    for (int32_t i = 0; i < m->nshape; i++) {
        m->shape[i] = compile_shape(spec, m, &spec->shape[i]);
        if (m->shape[i].purpose & KK_SHAPE_COLLIDES) {
            m->shape[i].collider = count;
            m->collider[count++] = i;
        }
    }
}
