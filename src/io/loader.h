/// What the loaders of URDF and MJCF share: the file source, where things are looked for, the list of findings, the spec
/// that is being made, and meshes, each read once.
#ifndef KKI_IO_LOADER_H
#define KKI_IO_LOADER_H

#include <karakuri/load.h>

#include "io/attributes.h"
#include "io/diagnostics.h"
#include "io/mesh_read.h"
#include "io/meter.h"
#include "io/resolve.h"
#include "model/spec.h"

typedef struct kki_loader {
    const kk_load_options *options;
    kk_allocator allocator;
    kki_resolver resolver; ///< has the file source
    kki_diagnostics *diagnostics;
    kk_spec *spec;
    const char *path; ///< of the main file
    int found;        ///< findings that are not those of a reading, which may come twice
    kki_meter *meter; ///< of the allocator where that has a limit; NULL mostly
} kki_loader;

/// How a fault is told that has a repair: as an error, which ends the load unless it is to repair.
static inline kki_severity kki_fault(const kki_loader *loader) {
    return loader->options->repair ? KKI_REPAIRED_ERROR : KKI_ERROR;
}

/// The same of what is a warning in any case: something is left out, so that a repaired file is without it.
static inline kki_severity kki_left_out(const kki_loader *loader) {
    return loader->options->repair ? KKI_REPAIRED_WARNING : KKI_WARNING;
}

/// Where an element or an attribute stands.
kk_origin kki_origin_of_node(const kki_xml *xml, int32_t node);
kk_origin kki_origin_of_attribute(const kki_xml *xml, int32_t attribute);

/// The tree of a file of the model; what is odd in it but can be passed over goes to the findings.
kk_status kki_loader_parse(kki_loader *loader, const char *path, const kki_file_data *data, kki_xml **xml,
                           kk_error *error);

/// urdf.c, mjcf.c: fill loader->spec from the tree. What is wrong goes to the findings; the status is KK_OK, or that of an
/// error after which there is no going on.
kk_status kki_urdf_load(kki_loader *loader, const kki_xml *xml);
kk_status kki_mjcf_load(kki_loader *loader, const kki_xml *xml);

/// srdf.c: the pairs of links that the options' SRDF file takes out.
kk_status kki_srdf_load(kki_loader *loader, kk_error *error);

/// More memory for a file of so many bytes more.
void kki_loader_allow(const kki_loader *loader, size_t bytes);

/// standing.c: what the options ask for beyond the file.
kk_status kki_stand(kki_loader *loader);

/// How a mesh file is to be read, beyond its name.
typedef struct kki_mesh_request {
    const char *name;      ///< the mesh's in the spec; NULL: from the file's name, made unique
    const char *reference; ///< as the robot file has it
    const char *from;      ///< file in which the reference stands
    kk_vec3 scale;
    bool keep_axes, keep_unit; ///< see kki_mesh_read_options
    bool single_precision;     ///< round coordinates to float, as MuJoCo does for OBJ
    bool is_optional;          ///< what is wrong with it is a warning: the caller can go on without
    kk_origin origin;          ///< for messages and for the mesh
} kki_mesh_request;

/// The id of the mesh in the spec; a file with the same scale is read once. Errors go to the findings as well, those of an
/// optional mesh as warnings.
kk_status kki_loader_mesh(kki_loader *loader, const kki_mesh_request *request, int *id);

#endif
