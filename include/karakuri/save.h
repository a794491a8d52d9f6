/// Saving specs as robot files, and files in general.
///
/// A written file can be loaded again and gives the same model: kinematics and inertia to rounding. Meshes are referred
/// to, not written.
#ifndef KARAKURI_SAVE_H
#define KARAKURI_SAVE_H

#include <karakuri/spec.h>

KK_BEGIN_DECLS

/// Zero-initialized means: meshes are named as the file that the spec came from names them.
typedef struct kk_save_options {
    /// Directory that the file will be in: meshes are named by their paths from there, as far as their files are known;
    /// NULL: by their references.
    const char *directory;
} kk_save_options;

/// Writes URDF. What URDF cannot say stands in <karakuri> elements (docs/guide/karakuri-element.md), beside the nearest
/// that it can, so that other programs read the file, too.
/// @param options  may be NULL
/// @param text     [out] zero-terminated, for kk_text_free; NULL where it fails
/// @param size     [out] bytes without the terminating zero
/// KK_NOT_FOUND for a mesh without file and reference, KK_NOT_FINITE or KK_INVALID_ARGUMENT for what XML cannot hold.
KK_API kk_status kk_spec_write_urdf(const kk_spec *spec, const kk_save_options *options, const kk_allocator *allocator,
                                    char **text, size_t *size, kk_error *error);

/// Writes MJCF. What MJCF has no words for (cones, hinges and rods as loops) is named in comments.
/// @param options  may be NULL
/// KK_UNSUPPORTED for screws, and for free joints that are not on the world.
KK_API kk_status kk_spec_write_mjcf(const kk_spec *spec, const kk_save_options *options, const kk_allocator *allocator,
                                    char **text, size_t *size, kk_error *error);

/// Gives back a text with the size and the allocator of the call that made it.
KK_API void kk_text_free(const kk_allocator *allocator, char *text, size_t size);

/// Writes a file whole or not at all: to PATH.part beside it, which takes its place once it has reached the disk. A program that is killed on the way leaves the
/// old file. Pipes, devices and links are written as they are. KK_IO also where another program is writing the same file.
/// @param bytes [size]
KK_API kk_status kk_file_write(const char *path, const void *bytes, size_t size, kk_error *error);

KK_END_DECLS
#endif
