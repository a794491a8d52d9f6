/// Checks shapes and what they refer to: meshes, height fields, looks.
#include "model/check.h"

/// Coordinates beyond this are no geometry: squares and products of them must stay finite in single precision as well.
static const double FAR = 1e15;

// ---- shapes

/// The sizes a type has and what they are called; a type without sizes has none.
static const struct {
    int count;
    const char *name[3];
} sizes[KK_SHAPE_TYPE_COUNT] = {
    [KK_SHAPE_SPHERE] = {1, {"the radius (size[0])"}},
    [KK_SHAPE_CAPSULE] = {2, {"the radius (size[0])", "the length (size[1])"}},
    [KK_SHAPE_CYLINDER] = {2, {"the radius (size[0])", "the length (size[1])"}},
    [KK_SHAPE_CONE] = {2, {"the radius (size[0])", "the length (size[1])"}},
    [KK_SHAPE_ELLIPSOID] = {3, {"the radius size[0]", "the radius size[1]", "the radius size[2]"}},
    [KK_SHAPE_BOX] = {3, {"the edge size[0]", "the edge size[1]", "the edge size[2]"}},
};

static kk_status check_coordinate(kki_item item, const char *what, double x, kk_error *error) {
    const kk_status status = kki_check_finite(item, what, x, error);
    if (status != KK_OK || (x >= -FAR && x <= FAR)) {
        return status;
    }
    return kki_item_error(error, KK_LIMIT_EXCEEDED, item, "%s is %s, farther than 1e15 m; check the units", what,
                          KKI_NUMBER(x));
}

static kk_status check_sizes(kki_item item, const kk_shape_def *shape, kk_error *error) {
    kk_status status = KK_OK;
    for (int k = 0; k < sizes[shape->type].count && status == KK_OK; k++) {
        const char *what = sizes[shape->type].name[k];
        status = kki_check_positive(item, what, shape->size[k], error);
        status = status ? status : check_coordinate(item, what, shape->size[k], error);
    }
    return status;
}

static kk_status check_geometry(const kk_spec *spec, kki_item item, const kk_shape_def *shape, kk_error *error) {
    switch (shape->type) {
    case KK_SHAPE_HULL:
    case KK_SHAPE_MESH: return kki_check_id(item, "mesh", shape->mesh, spec->nmesh, error);
    case KK_SHAPE_HEIGHT_FIELD:
        return kki_check_id(item, "height field", shape->height_field, spec->nheight_field, error);
    default: return check_sizes(item, shape, error);
    }
}

static kk_status check_purpose(kki_item item, int purpose, kk_error *error) {
    if ((purpose & ~(KK_SHAPE_COLLIDES | KK_SHAPE_VISIBLE)) == 0) {
        return KK_OK;
    }
    return kki_item_error(error, KK_INVALID_MODEL, item,
                          "its purpose is %d; add up KK_SHAPE_COLLIDES and KK_SHAPE_VISIBLE", purpose);
}

static kk_status check_surface(kki_item item, const kk_motion *surface, kk_error *error) {
    const kk_status status = kki_check_vector(item, "the surface's angular velocity", surface->angular, error);
    return status ? status : kki_check_vector(item, "the surface's linear velocity", surface->linear, error);
}

static kk_status check_shape(const kk_spec *spec, int id, kk_error *error) {
    const kk_shape_def *shape = &spec->shape[id];
    const kki_item item = KKI_ITEM(spec, shape, "shape", id);
    kk_status status =
        kki_check_choice(item, "shape type", (int)shape->type, KK_SHAPE_TYPE_COUNT, "KK_SHAPE_...", error);
    status = status ? status : kki_check_id(item, "body", shape->body, spec->nbody, error);
    status = status ? status : kki_check_transform(item, "the placement", &shape->placement, error);
    status = status ? status : check_geometry(spec, item, shape, error);
    status = status ? status : check_purpose(item, shape->purpose, error);
    status = status ? status : kki_check_not_negative(item, "the margin", shape->margin, error);
    status = status ? status : kki_check_id(item, "material", shape->material, spec->nmaterial, error);
    status = status ? status : check_surface(item, &shape->surface, error);
    return status || shape->visual < 0 ? status : kki_check_id(item, "look", shape->visual, spec->nvisual, error);
}

// ---- meshes

static kk_status check_vertices(kki_item item, const kk_mesh_def *mesh, kk_error *error) {
    if (!mesh->vertex || mesh->vertex_count <= 0) {
        return kki_item_error(error, KK_INVALID_MODEL, item, "it has no vertices; give it some, or take the mesh away");
    }
    kk_status status = KK_OK;
    for (int i = 0; i < mesh->vertex_count && status == KK_OK; i++) {
        const kk_vec3 p = mesh->vertex[i];
        status = check_coordinate(item, "a vertex coordinate", p.x, error);
        status = status ? status : check_coordinate(item, "a vertex coordinate", p.y, error);
        status = status ? status : check_coordinate(item, "a vertex coordinate", p.z, error);
    }
    return status;
}

static kk_status check_faces(kki_item item, const kk_mesh_def *mesh, kk_error *error) {
    if (mesh->face_count < 0 || (mesh->face_count > 0 && !mesh->face)) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "its %d faces are missing; set face and face_count together", mesh->face_count);
    }
    for (int i = 0; i < mesh->face_count; i++) {
        for (int k = 0; k < 3; k++) {
            const int32_t v = mesh->face[i][k];
            if (v < 0 || v >= mesh->vertex_count) {
                return kki_item_error(error, KK_INVALID_MODEL, item,
                                      "face %d names vertex %d, but there are %d, counted from 0", i, (int)v,
                                      mesh->vertex_count);
            }
        }
    }
    return KK_OK;
}

static kk_status check_parts(kki_item item, const kk_mesh_def *mesh, kk_error *error) {
    if (mesh->part_count < 0 || (mesh->part_count > 0 && !mesh->part)) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "its %d parts are missing; set part and part_count together", mesh->part_count);
    }
    for (int i = 0; i < mesh->part_count; i++) {
        const kk_mesh_part *part = &mesh->part[i];
        if (part->first_face < 0 || part->face_count < 0 || part->first_face > mesh->face_count - part->face_count) {
            return kki_item_error(error, KK_INVALID_MODEL, item,
                                  "part %d covers faces %d to %d, but there are %d, counted from 0", i,
                                  part->first_face, part->first_face + (part->face_count - 1), mesh->face_count);
        }
    }
    return KK_OK;
}

static kk_status check_mesh(const kk_spec *spec, int id, kk_error *error) {
    const kk_mesh_def *mesh = &spec->mesh[id];
    const kki_item item = KKI_ITEM(spec, mesh, "mesh", id);
    kk_status status = kki_check_name(item, error);
    status = status ? status : kki_check_vector(item, "the scale", mesh->scale, error);
    status = status ? status : check_vertices(item, mesh, error);
    status = status ? status : check_faces(item, mesh, error);
    return status ? status : check_parts(item, mesh, error);
}

/// A mesh that collides as it is needs triangles.
static kk_status check_has_faces(const kk_spec *spec, int id, kk_error *error) {
    const kk_shape_def *shape = &spec->shape[id];
    if (shape->type != KK_SHAPE_MESH || spec->mesh[shape->mesh].face_count > 0) {
        return KK_OK;
    }
    return kki_item_error(error, KK_INVALID_MODEL, KKI_ITEM(spec, shape, "shape", id),
                          "its mesh \"%s\" has no faces; points alone make a hull, for what moves",
                          spec->mesh[shape->mesh].name);
}

// ---- height fields and looks

static kk_status check_heights(kki_item item, const kk_height_field_def *field, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; i < field->rows * field->columns && status == KK_OK; i++) {
        status = check_coordinate(item, "a height", field->height[i], error);
        if (status == KK_OK && field->height[i] <= -field->base) {
            status = kki_item_error(
                error, KK_INVALID_MODEL, item,
                "the height %s of row %d, column %d is not above its base; make base larger than %s",
                KKI_NUMBER(field->height[i]), i / field->columns, i % field->columns, KKI_NUMBER(0 - field->height[i]));
        }
    }
    return status;
}

static kk_status check_grid(kki_item item, const kk_height_field_def *field, kk_error *error) {
    if (field->rows < 2 || field->columns < 2 || field->rows > INT32_MAX / field->columns) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "it has %d rows and %d columns; it needs two or more of each", field->rows,
                              field->columns);
    }
    if (!field->height) {
        return kki_item_error(error, KK_INVALID_MODEL, item, "its heights are missing; give rows x columns of them");
    }
    return KK_OK;
}

static kk_status check_field(const kk_spec *spec, int id, kk_error *error) {
    const kk_height_field_def *field = &spec->height_field[id];
    const kki_item item = KKI_ITEM(spec, height_field, "height field", id);
    kk_status status = kki_check_name(item, error);
    status = status ? status : check_grid(item, field, error);
    status = status ? status : kki_check_positive(item, "half_x", field->half_x, error);
    status = status ? status : kki_check_positive(item, "half_y", field->half_y, error);
    status = status ? status : check_coordinate(item, "half_x", field->half_x, error);
    status = status ? status : check_coordinate(item, "half_y", field->half_y, error);
    status = status ? status : kki_check_not_negative(item, "base", field->base, error);
    return status ? status : check_heights(item, field, error);
}

static kk_status check_visual(const kk_spec *spec, int id, kk_error *error) {
    const kki_item item = KKI_ITEM(spec, visual, "look", id);
    kk_status status = KK_OK;
    for (int k = 0; k < 4 && status == KK_OK; k++) {
        status = kki_check_finite(item, "its color", (double)spec->visual[id].color[k], error);
    }
    for (int k = 0; k < 6 && status == KK_OK; k++) {
        status = kki_check_finite(item, "a color of its pattern", (double)spec->visual[id].pattern_color[k / 3][k % 3],
                                  error);
    }
    for (int k = 0; k < 2 && status == KK_OK; k++) {
        status = kki_check_finite(item, "repeat", (double)spec->visual[id].repeat[k], error);
    }
    return status ? status
                  : kki_check_choice(item, "pattern", (int)spec->visual[id].pattern, KK_PATTERN_CHECKER + 1,
                                     "KK_PATTERN_...", error);
}

kk_status kki_check_shapes(const kk_spec *spec, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; i < spec->nmesh && status == KK_OK; i++) {
        status = check_mesh(spec, i, error);
    }
    for (int i = 0; i < spec->nheight_field && status == KK_OK; i++) {
        status = check_field(spec, i, error);
    }
    for (int i = 0; i < spec->nvisual && status == KK_OK; i++) {
        status = check_visual(spec, i, error);
    }
    for (int i = 0; i < spec->nshape && status == KK_OK; i++) {
        status = check_shape(spec, i, error);
        status = status ? status : check_has_faces(spec, i, error);
    }
    return status;
}
