// Reading meshes: STL, OBJ, PLY, MuJoCo's .msh, glTF binary, COLLADA.
//
// The input is a block of memory, the file's whole content; nothing else is opened. Counts are checked against the size
// before anything is allocated, memory stays within a limit, coordinates are finite, and every error has the file, the
// place (line and column of a text, byte of a binary file), the reason and a remedy.
#ifndef KARAKURI_IO_MESH_READ_H
#define KARAKURI_IO_MESH_READ_H

#include "geometry/mesh.h"

/// NULL where options are asked for means all zero: tidied, z up, meters, the default limit.
typedef struct kki_mesh_read_options {
    kki_mesh_tidy_options tidy;
    bool keep_axes;      ///< do not turn a file's up axis (COLLADA's up_axis, glTF's y) to z
    bool keep_unit;      ///< do not scale by COLLADA's unit
    size_t memory_limit; ///< bytes in use at once, the mesh included; 0: 32 times the file, and at least 1 MiB
} kki_mesh_read_options;

/// Reads a mesh of any of the formats. The content decides which one; the name's extension where it cannot tell.
/// @param file  name for messages and for its extension; may be NULL
kk_status kki_mesh_read(const void *bytes, size_t size, const char *file, const kki_mesh_read_options *options,
                        const kk_allocator *allocator, kki_mesh **mesh, kk_error *error);

/// Name of the format that kki_mesh_read would take, "stl", "obj", "ply", "msh", "glb", "dae"; NULL for none.
const char *kki_mesh_format_name(const void *bytes, size_t size, const char *file);

#endif
