/// Loading robots and scenes: URDF (with xacro) and MJCF, with the meshes they name.
///
/// A load gives a spec, ready for kk_model_compile or for more editing, and the list of everything worth knowing about the
/// file: errors, warnings, notes, each with file, line, column, reason and remedy.
#ifndef KARAKURI_LOAD_H
#define KARAKURI_LOAD_H

#include <karakuri/model.h>

KK_BEGIN_DECLS

// ---- messages

typedef enum kk_severity { KK_SEVERITY_NOTE, KK_SEVERITY_WARNING, KK_SEVERITY_ERROR } kk_severity;

typedef struct kk_message {
    kk_severity severity;
    kk_status status;   ///< of an error; KK_OK for the others
    const char *file;   ///< strings live as long as the list
    int line, column;   ///< from 1; 0 unknown
    const char *text;   ///< what is wrong
    const char *remedy; ///< what to do about it; may be ""
    int repeats;        ///< how often the same was found again
    int repaired;       ///< 1: the spec has it no more
} kk_message;

typedef struct kk_messages kk_messages;

/// An empty list, for calls that add to one.
KK_API kk_status kk_messages_create(const kk_allocator *allocator, kk_messages **messages);
KK_API void kk_messages_free(kk_messages *messages);
KK_API int kk_messages_count(const kk_messages *messages);
/// In the order they were found.
KK_API kk_message kk_messages_get(const kk_messages *messages, int index);
/// How many of a severity, with those that did not fit the list.
KK_API int kk_messages_count_of(const kk_messages *messages, kk_severity severity);
/// "note", "warning", "error"; "" for any other number.
KK_API const char *kk_severity_name(kk_severity severity);

// ---- loading

/// A file in memory, for programs without a file system.
typedef struct kk_file {
    const char *path;
    const void *bytes;
    size_t size;
} kk_file;

/// A value for xacro's $(arg name).
typedef struct kk_load_argument {
    const char *name, *value;
} kk_load_argument;

typedef enum kk_base {
    KK_BASE_AS_FILE, ///< MJCF: as it says. URDF: fixed to the world where the root link is called "world", free otherwise
    KK_BASE_FIXED,
    KK_BASE_FREE,
} kk_base;

typedef enum kk_mesh_use {
    KK_MESH_AUTO,  ///< collide as the convex hull on bodies that move, as it is on those that do not
    KK_MESH_HULL,  ///< always the hull
    KK_MESH_EXACT, ///< always the triangles
} kk_mesh_use;

typedef enum kk_mesh_load {
    KK_MESH_LOAD_ALL,
    KK_MESH_LOAD_COLLISION, ///< leave out what is only seen
    KK_MESH_LOAD_NONE,      ///< leave out every shape with a mesh; inertias that would come from one are then an error
} kk_mesh_load;

/// Zero-initialized means: as the file says.
typedef struct kk_load_options {
    const char *const *search; ///< [search_count] directories to look for packages and meshes in
    int search_count;
    const char *package_path; ///< directories with ':' between, as in ROS_PACKAGE_PATH; NULL: none
    int allow_absolute;       ///< 1: absolute paths in the file lead anywhere
    const kk_file *file;      ///< [file_count] read from these, not from the system; NULL: the system
    int file_count;
    const kk_load_argument *argument; ///< [argument_count] for xacro
    int argument_count;
    kk_mesh_load meshes;
    kk_mesh_use mesh_use;
    /// 1: load as much as can be made sense of. What has an obvious or physically nearest repair is repaired (a negative
    /// mass, limits upside down, a second root, a missing mesh left out) and told as an error that was repaired; the load
    /// goes on. Names that stand twice are left for kk_doctor_examine.
    int repair;

    // standing at once: what a bare robot file does not say
    kk_base base;
    int add_floor;        ///< 1: a plane z = 0 where the file has none
    int add_actuators;    ///< 1: position servos on every joint that has no actuator, gains from masses and limits
    int clean_collisions; ///< 1: leave out pairs of shapes that always or never touch
    int place_on_floor;   ///< 1: a free base is raised or lowered to stand on z = 0

    /// An SRDF file whose disabled collisions are left out: a path, or one as the robot file would name it (beside it,
    /// package://name/path). NULL: only links joined to each other are
    const char *srdf;
    const kk_allocator *allocator; ///< of kk_load_model; NULL: malloc and free
} kk_load_options;

/// A spec comes of whatever the file's language allows; what cannot move or be made is found by kk_model_compile, but where MJCF asks for more
/// than a thousand copies already here, before they are made.
/// @param spec      [out] NULL where it fails
/// @param messages  [out] also where it fails, for kk_messages_free; may be NULL
/// @param error     the first error; may be NULL
KK_API kk_status kk_load_file(const char *path, const kk_load_options *options, const kk_allocator *allocator,
                              kk_spec **spec, kk_messages **messages, kk_error *error);

/// From a file to a model, in one call: kk_load_file and kk_model_compile. What the file says about itself beside that is in the messages of kk_load_file.
/// @param options  may be NULL
/// @param model    [out] NULL where it fails
/// @param error    the first error; may be NULL
KK_API kk_status kk_load_model(const char *path, const kk_load_options *options, kk_model **model, kk_error *error);

/// Reads a mesh file (STL, OBJ, COLLADA, PLY, glTF binary, MuJoCo's msh) into a spec.
/// @param scale  its coordinates are multiplied by    @param id  [out] of the mesh
KK_API kk_status kk_spec_add_mesh_file(kk_spec *spec, const char *path, kk_vec3 scale, int *id, kk_error *error);

KK_END_DECLS
#endif
