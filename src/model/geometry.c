/// Collision geometry: hulls, surfaces and grids, made once for each mesh and height field that a colliding shape needs,
/// in blocks of their own.
#include "model/compile.h"

#include <string.h>

#include "base/error.h"
#include "geometry/convex.h"
#include "geometry/height_field.h"
#include "geometry/hull.h"
#include "geometry/surface.h"

// ---- makers

static kk_status make_convex(const kk_model *m, kki_model_mesh *mesh, kk_error *error) {
    kki_mesh *hull = NULL;
    kk_status status = kki_hull_of_points(mesh->vertex, mesh->vertex_count, NULL, &m->allocator, &hull, error);
    status = status ? status : kki_convex_create(hull, &m->allocator, &mesh->convex, error);
    kki_mesh_free(hull);
    return status;
}

/// The mesh with equal vertices joined, so that neighboring triangles know each other.
static kk_status weld(const kk_model *m, const kki_model_mesh *mesh, kki_mesh **welded, kk_error *error) {
    const kki_mesh_tidy_options options = {0};
    kki_mesh_builder builder;
    kki_mesh_builder_begin(&builder, &m->allocator);
    kk_status status = kki_mesh_builder_reserve(&builder, (size_t)mesh->vertex_count, (size_t)mesh->face_count);
    for (int i = 0; i < mesh->vertex_count && status == KK_OK; i++) {
        status = kki_mesh_builder_add_vertex(&builder, mesh->vertex[i]);
    }
    for (int i = 0; i < mesh->face_count && status == KK_OK; i++) {
        status = kki_mesh_builder_add_face(&builder, mesh->face[i][0], mesh->face[i][1], mesh->face[i][2]);
    }
    status = status ? kki_error_set(error, status, "no memory for its triangles")
                    : kki_mesh_builder_end(&builder, &options, &m->allocator, welded, error);
    kki_mesh_builder_free(&builder);
    return status;
}

static kk_status make_surface(const kk_model *m, kki_model_mesh *mesh, kk_error *error) {
    kki_mesh *welded = NULL;
    kk_status status = weld(m, mesh, &welded, error);
    if (welded && welded->face_count == 0) {
        status = kki_error_set(error, KK_SINGULAR,
                               "every face names a vertex twice; points alone make a hull, for what moves");
    }
    status = status ? status : kki_surface_create(welded, &m->allocator, &mesh->surface, error);
    kki_mesh_free(welded);
    return status;
}

static kk_status make_field(const kk_model *m, kki_model_field *field, kk_error *error) {
    const kk_height_field_def *def = &field->def;
    return kki_height_field_create(def->rows, def->columns, 2 * def->half_x, 2 * def->half_y, def->height, -def->base,
                                   &m->allocator, &field->field, error);
}

static void free_mesh(kki_model_mesh *mesh) {
    kki_convex_free(mesh->convex);
    kki_surface_free(mesh->surface);
    mesh->convex = NULL;
    mesh->surface = NULL;
}

static void free_field(kki_model_field *field) {
    kki_height_field_free(field->field);
    field->field = NULL;
}

// ---- for every shape that collides

static kk_status make_for(kk_model *m, kki_model_shape *s, kk_error *error) {
    kk_status status = KK_OK;
    if (s->shape.type == KK_SHAPE_HULL) {
        kki_model_mesh *mesh = &m->mesh[s->mesh];
        status = mesh->convex ? KK_OK : make_convex(m, mesh, error);
        s->shape.convex = mesh->convex;
    } else if (s->shape.type == KK_SHAPE_MESH) {
        kki_model_mesh *mesh = &m->mesh[s->mesh];
        status = mesh->surface ? KK_OK : make_surface(m, mesh, error);
        s->shape.surface = mesh->surface;
    } else if (s->shape.type == KK_SHAPE_HEIGHT_FIELD) {
        kki_model_field *field = &m->field[s->field];
        status = field->field ? KK_OK : make_field(m, field, error);
        s->shape.field = field->field;
    }
    return status;
}

/// What went wrong with the geometry, as a fault of the shape that needs it.
static kk_status blame(const kk_spec *spec, const kk_model *m, int32_t shape, kk_status status, const kk_error *inner,
                       kk_error *error) {
    const kki_model_shape *s = &m->shape[shape];
    const char *geometry = s->mesh >= 0 ? kki_model_name(m, m->mesh[s->mesh].name) : m->field[s->field].def.name;
    return kki_item_error(error, status, KKI_ITEM(spec, shape, "shape", shape), "its %s \"%s\": %s%s",
                          s->mesh >= 0 ? "mesh" : "height field", geometry, inner->text,
                          status == KK_SINGULAR && s->shape.type == KK_SHAPE_HULL
                              ? "; a hull needs volume: let the mesh collide as it is, or put a thin box in its place"
                              : "");
}

// ---- shared with a model before an edit

static int is_same_mesh(const kki_model_mesh *a, const kki_model_mesh *b) {
    return a->vertex_count == b->vertex_count && a->face_count == b->face_count &&
           memcmp(a->vertex, b->vertex, (size_t)a->vertex_count * sizeof *a->vertex) == 0 &&
           memcmp(a->face, b->face, (size_t)a->face_count * sizeof *a->face) == 0;
}

/// Meshes alone: grids are made as quickly as they are compared.
static void borrow(kk_model *m, const kk_model *donor) {
    for (int i = 0; i < m->nmesh && i < donor->nmesh; i++) {
        if (is_same_mesh(&m->mesh[i], &donor->mesh[i])) {
            m->mesh[i].convex = donor->mesh[i].convex;
            m->mesh[i].surface = donor->mesh[i].surface;
        }
    }
}

void kki_model_let_go(kk_model *m, const kk_model *other) {
    for (int i = 0; i < m->nmesh && i < other->nmesh; i++) {
        if (m->mesh[i].convex == other->mesh[i].convex) {
            m->mesh[i].convex = NULL;
        }
        if (m->mesh[i].surface == other->mesh[i].surface) {
            m->mesh[i].surface = NULL;
        }
    }
}

// ---- all of it

kk_status kki_make_geometry(const kk_spec *spec, kk_model *m, const kk_model *donor, kk_error *error) {
    kk_status status = KK_OK;
    if (donor) {
        borrow(m, donor);
    }
    for (int i = 0; i < m->ncollider && status == KK_OK; i++) {
        kk_error inner = {0};
        status = make_for(m, &m->shape[m->collider[i]], &inner);
        if (status != KK_OK) {
            status = blame(spec, m, m->collider[i], status, &inner, error);
        }
    }
    if (donor && status != KK_OK) {
        kki_model_let_go(m, donor);
    }
    return status;
}

void kki_free_geometry(kk_model *m) {
    for (int i = 0; i < m->nmesh; i++) {
        free_mesh(&m->mesh[i]);
    }
    for (int i = 0; i < m->nfield; i++) {
        free_field(&m->field[i]);
    }
}
