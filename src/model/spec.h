/// The spec's inside: a growing array of definitions a kind, and a pool for what they point to.
#ifndef KKI_MODEL_SPEC_H
#define KKI_MODEL_SPEC_H

#include <karakuri/spec.h>

#include "geometry/mesh.h"

/// No more items of a kind than this: indices stay far from the end of int32_t.
enum { KKI_SPEC_MAX_ITEMS = 10000000, KKI_SPEC_MAX_NAME = 65535 };

/// Strings and arrays live in chunks that are never moved, so pointers to them stay good until the spec is freed.
typedef struct kki_pool_chunk kki_pool_chunk;

/// A mesh made elsewhere that the spec has taken over.
typedef struct kki_adopted_mesh kki_adopted_mesh;

struct kk_spec {
    kk_allocator allocator;
    kk_options options;
    const char *name;
/// [nKIND] items of each kind: nbody, body_room, body; nframe, …; body 0 is the world, material 0 the default
#define KKI_SPEC_FIELDS(kind, text) \
    int n##kind, kind##_room;       \
    kk_##kind##_def *kind;
    KK_SPEC_KINDS(KKI_SPEC_FIELDS)
#undef KKI_SPEC_FIELDS
    kki_pool_chunk *pool;      ///< the newest chunk
    kki_adopted_mesh *adopted; ///< the newest
    const char *last_file;     ///< of the last origin, so that a file's name is kept once
};

/// Adds a mesh without copying its vertices and faces: on success the spec frees it, otherwise the caller still owns it.
/// @param def  name, file, scale, origin; the rest is taken from the mesh
kk_status kki_spec_adopt_mesh(kk_spec *spec, const kk_mesh_def *def, kki_mesh *mesh, int *id, kk_error *error);

/// For a spec that was made with an allocator round this one: what it has is this one's from now on.
void kki_spec_set_allocator(kk_spec *spec, const kk_allocator *allocator);

/// Puts a copy of the numbers, which the spec keeps, in their place.
kk_status kki_spec_own_doubles(kk_spec *spec, const double **numbers, int count, kk_error *error);

/// Room for so many in all, where it is known beforehand: growing would touch twice the memory.
kk_status kki_spec_reserve(kk_spec *spec, int bodies, int shapes);

#endif
