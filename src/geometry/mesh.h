// Triangle meshes: the object, the builder that readers and the hull fill, and the edge-centered boundary
// representation.
//
// A mesh is one block of memory and never changes. Faces run counter-clockwise seen from outside. A part is a range of
// faces with a name (OBJ's group, a glTF primitive, a COLLADA instance) and a material; parts follow one another and
// cover all faces, or there are none.
//
// The boundary representation is that of Kuroda (S1 5.1.1): an edge knows its two vertices and its two faces, a face its
// three edges and three vertices, a vertex its edges. It is made on demand, apart from the mesh.
#ifndef KARAKURI_GEOMETRY_MESH_H
#define KARAKURI_GEOMETRY_MESH_H

#include <stdbool.h>

#include <karakuri/allocator.h>
#include <karakuri/math.h>
#include <karakuri/status.h>

/// Most vertices and most faces of a mesh: three times this is still an int32_t.
enum { KKI_MESH_MAX_ITEMS = 700000000 };

typedef struct kki_face {
    int32_t vertex[3];
} kki_face;

typedef struct kki_mesh_material {
    const char *name;
    const char *texture; ///< path as the file has it, "" for none
    bool has_color;
    float color[4]; ///< red, green, blue, alpha in [0, 1]
} kki_mesh_material;

typedef struct kki_mesh_part {
    const char *name;
    int32_t material; ///< -1: none
    int32_t first_face, face_count;
} kki_mesh_part;

/// What tidying changed and found; for diagnostics.
typedef struct kki_mesh_tidying {
    int welded_vertices;  ///< vertices that were equal to an earlier one
    int unused_vertices;  ///< vertices of no face, dropped
    int degenerate_faces; ///< faces with a vertex twice, dropped
    int zero_area_faces;  ///< three different vertices on a line: kept, since a hole would be worse; counted
    int mirrored_parts;   ///< parts under a mirroring transform, whose faces were turned
} kki_mesh_tidying;

typedef struct kki_mesh {
    kk_allocator allocator;
    size_t block_size;
    int32_t vertex_count, face_count, part_count, material_count;
    kk_vec3 *vertex;             ///< [vertex_count]
    kki_face *face;              ///< [face_count]
    int32_t *facet;              ///< [face_count] plane polygon of a hull's face, rising; NULL for other meshes
    kki_mesh_part *part;         ///< [part_count]
    kki_mesh_material *material; ///< [material_count]
    const char *library;         ///< OBJ's mtllib, "" for none
    kki_mesh_tidying tidying;
} kki_mesh;

void kki_mesh_free(kki_mesh *mesh);

/// Mesh of given arrays, copied and taken as they are; indices and coordinates are checked.
kk_status kki_mesh_create(const kk_vec3 *vertex, int vertex_count, const kki_face *face, int face_count,
                          const kk_allocator *allocator, kki_mesh **mesh, kk_error *error);

/// The part of a face, -1 for none. Bisection.
int kki_mesh_part_of_face(const kki_mesh *mesh, int face);

// ---- the builder

/// How the builder tidies when it ends.
typedef struct kki_mesh_tidy_options {
    double weld_tolerance; ///< 0: equal coordinates only; positive: up to this distance; negative: no welding
    bool keep_degenerate;  ///< also keep faces with a vertex twice
    bool keep_unused;      ///< also keep vertices of no face
} kki_mesh_tidy_options;

typedef struct kki_builder_part {
    uint32_t name; // offset into text
    int32_t material, first_face;
} kki_builder_part;

typedef struct kki_builder_material {
    uint32_t name, texture; // offsets into text
    bool has_color;
    float color[4];
} kki_builder_material;

/// Growing arrays; fields are for readers of this header, changes go through the calls below.
typedef struct kki_mesh_builder {
    kk_allocator allocator;
    int32_t vertex_count, face_count, part_count, material_count;
    size_t text_size;
    size_t vertex_room, face_room, part_room, material_room, text_room, slot_room;
    kk_vec3 *vertex;
    kki_face *face;
    kki_builder_part *part;
    kki_builder_material *material;
    char *text;    // starts with an empty string
    int32_t *slot; // hash table of the materials' names
    uint32_t library;
    bool part_is_open; // the next face starts the part below
    kki_builder_part next_part;
    const int32_t *facet; // [face_count] of a hull, not owned; NULL for other meshes
    kki_mesh_tidying tidying;
} kki_mesh_builder;

/// An empty builder; nothing is allocated yet.
void kki_mesh_builder_begin(kki_mesh_builder *builder, const kk_allocator *allocator);
void kki_mesh_builder_free(kki_mesh_builder *builder);

/// Room for exactly this many more, so that large files are read without growing.
kk_status kki_mesh_builder_reserve(kki_mesh_builder *builder, size_t vertices, size_t faces);

/// The same, but at least doubling what there is, so that many calls stay cheap.
kk_status kki_mesh_builder_reserve_about(kki_mesh_builder *builder, size_t vertices, size_t faces);

/// KK_NOT_FINITE for coordinates that are not numbers.
kk_status kki_mesh_builder_add_vertex(kki_mesh_builder *builder, kk_vec3 p);
/// Indices are checked when the builder ends, since files may name vertices before they give them.
kk_status kki_mesh_builder_add_face(kki_mesh_builder *builder, int32_t a, int32_t b, int32_t c);
/// A polygon, cut into triangles by its corners' places; corners are vertices added before, or a fan is made.
kk_status kki_mesh_builder_add_polygon(kki_mesh_builder *builder, int32_t *corner, int count);

/// Following faces belong to a part of this name and material (-1: none).
kk_status kki_mesh_builder_set_part(kki_mesh_builder *builder, const char *name, size_t length, int32_t material);
/// Following faces keep the part's name and change the material.
void kki_mesh_builder_set_material(kki_mesh_builder *builder, int32_t material);
/// Id of the material of that name, made where there is none.
kk_status kki_mesh_builder_material(kki_mesh_builder *builder, const char *name, size_t length, int32_t *id);
/// A new material, whether or not there is one of that name.
kk_status kki_mesh_builder_add_material(kki_mesh_builder *builder, const char *name, size_t length, int32_t *id);
kk_status kki_mesh_builder_set_texture(kki_mesh_builder *builder, int32_t material, const char *path, size_t length);
void kki_mesh_builder_set_color(kki_mesh_builder *builder, int32_t material, const double color[4]);
kk_status kki_mesh_builder_set_library(kki_mesh_builder *builder, const char *path, size_t length);

/// Tidies and makes the mesh from `owner`'s memory. The builder is to be freed by the caller in any case.
/// KK_INVALID_ARGUMENT names an index without a vertex.
kk_status kki_mesh_builder_end(kki_mesh_builder *builder, const kki_mesh_tidy_options *options,
                               const kk_allocator *owner, kki_mesh **mesh, kk_error *error);

// ---- parts of the builder, apart for tests

/// Welds vertices to the first of its kind; remap[vertex_count] gets each vertex's new index, the new count comes back.
/// -0 equals 0. With a tolerance a vertex joins the earliest kept one within that distance.
kk_status kki_weld(kk_vec3 *vertex, int32_t vertex_count, double tolerance, const kk_allocator *allocator,
                   int32_t *remap, int32_t *new_count);

/// Cuts a polygon with corners p_i = vertex[corner[i]] into count - 2 triangles of *positions* in corner: a fan where it
/// is convex, else by ears. `left` holds count positions of scratch.
void kki_triangulate(const kk_vec3 *vertex, const int32_t *corner, int count, int32_t *left, kki_face *triangle);

// ---- boundary representation

typedef struct kki_edge {
    int32_t vertex[2]; ///< vertex[0] < vertex[1]
    int32_t face[2];   ///< face[0] has the edge from vertex[0] to vertex[1], face[1] the other way; -1: none
} kki_edge;

/// A surface may be rough in many ways; all counts are 0 for a clean closed one.
typedef struct kki_mesh_check {
    int boundary_edges;       ///< one face only
    int nonmanifold_edges;    ///< more than two faces
    int misoriented_edges;    ///< two faces that run along it in the same direction
    int nonmanifold_vertices; ///< the faces around it are not one fan
    int isolated_vertices;    ///< no face
    int duplicate_faces;      ///< the same three vertices as an earlier face
    int components;           ///< pieces connected over edges
    bool is_closed;           ///< no boundary: each edge has an even number of faces, all paired
    bool is_oriented;         ///< all pairs run against each other
    bool is_manifold;         ///< at most two faces an edge, one fan a vertex
} kki_mesh_check;

typedef struct kki_topology {
    kk_allocator allocator;
    size_t block_size;
    int32_t vertex_count, face_count, edge_count;
    kki_edge *edge;          ///< [edge_count] rising by vertices
    int32_t (*face_edge)[3]; ///< [face_count] edge k joins corners k and k + 1
    int32_t *vertex_first;   ///< [vertex_count + 1] start of each vertex's edges in vertex_edge
    int32_t *vertex_edge;    ///< [2 edge_count] rising within a vertex
    int32_t *component;      ///< [face_count] piece of each face, numbered by first face
    kki_mesh_check check;
} kki_topology;

/// Edges of a mesh and what is wrong with it. An edge of more than two faces becomes several edges with the same
/// vertices, faces that run against each other paired in the order of faces.
kk_status kki_topology_create(const kki_mesh *mesh, const kk_allocator *allocator, kki_topology **topology);
void kki_topology_free(kki_topology *topology);

#endif
