// Writing meshes into memory: binary STL and OBJ.
#ifndef KARAKURI_IO_MESH_WRITE_H
#define KARAKURI_IO_MESH_WRITE_H

#include "geometry/mesh.h"

/// Both tell the bytes needed in *size, and write them where `bytes` is not NULL and has room for them; else
/// KK_SIZE_MISMATCH. The same mesh gives the same bytes everywhere.

/// Coordinates become floats; KK_NOT_FINITE for those too large.
kk_status kki_mesh_write_stl(const kki_mesh *mesh, void *bytes, size_t room, size_t *size);
/// Coordinates keep all their bits; parts become groups, materials usemtl.
kk_status kki_mesh_write_obj(const kki_mesh *mesh, void *bytes, size_t room, size_t *size);

#endif
