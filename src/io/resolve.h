/// Which file a robot file means, and whether it may have it.
///
/// A robot file names meshes, textures and includes as package://name/path, model://name/path, file://path, or a path
/// from its own directory. They are looked for
///   1. where the name says: from the file's directory; below a search path; as a package in the search paths, in the
///      parts of ROS_PACKAGE_PATH and AMENT_PREFIX_PATH (also below their share/), and in the directories above;
///   2. by the end of the path, in the directories from the file's up to its package root and in the search paths:
///      package://arm/meshes/hand.stl is also meshes/hand.stl or hand.stl there. Robot files get moved around.
///
/// Reach: a file has access only to what lies below its package root, the search paths and the package paths, as the
/// canonical path tells, so neither "..", nor links, nor absolute paths lead out. The package root is the nearest
/// directory above the main file with a package.xml, manifest.xml or model.config; without one, it is the file's own
/// directory, or the one above that where it is called urdf, xacro, robots, sdf, mjcf, xml or the like. A package found
/// in the directories above the root comes into reach where it has one of those three files.
#ifndef KARAKURI_IO_RESOLVE_H
#define KARAKURI_IO_RESOLVE_H

#include "file.h"

typedef struct kki_resolve_options {
    const char *const *search; ///< [search_count] directories
    int search_count;
    const char *package_path; ///< directories with ':' between them, as in ROS_PACKAGE_PATH; may be NULL
    bool allow_absolute;      ///< absolute paths lead anywhere
} kki_resolve_options;

enum { KKI_MOST_ROOTS = 64 };

typedef struct kki_resolver {
    kk_allocator allocator;
    kki_file_source source;
    bool allow_absolute;
    int root_count;
    char *root[KKI_MOST_ROOTS]; ///< canonical directories in reach; the first is the package root, "." where unknown
    char *package_name;         ///< as package.xml tells; "" where there is none
} kki_resolver;

/// @param main_file  the robot file, from which the package root is found
kk_status kki_resolver_create(kki_resolver *resolver, const kki_file_source *source, const char *main_file,
                              const kki_resolve_options *options, const kk_allocator *allocator, kk_error *error);
void kki_resolver_destroy(kki_resolver *resolver);

/// The path of an existing regular file in reach.
/// @param from   the file in which the reference stands
/// @param error  without a place: the caller knows it. KK_NOT_FOUND, or KK_INVALID_ARGUMENT for what is refused
kk_status kki_resolve(kki_resolver *resolver, const char *from, const char *reference, char path[KKI_PATH_SIZE],
                      kk_error *error);

#endif
