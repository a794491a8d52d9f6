/// The stages of compiling, in the order in which compile.c runs them.
#ifndef KKI_MODEL_COMPILE_H
#define KKI_MODEL_COMPILE_H

#include "base/arena.h"
#include "base/sort.h"
#include "model/check.h"
#include "model/model.h"
#include "model/spec.h"

/// check.c: every item by itself.
kk_status kki_check_spec(const kk_spec *spec, kk_error *error);

/// layout.c: counts everything; lays the arrays out.
kk_status kki_count(const kk_spec *spec, kk_model *m, kk_error *error);
void kki_place_model(kki_layout *layout, const kk_spec *spec, kk_model *m, size_t names_size);
/// order.c: numbers nodes, coordinates and degrees of freedom. @param scratch  [kki_order_scratch(m)]
size_t kki_order_scratch(const kk_model *m);
void kki_order(const kk_spec *spec, kk_model *m, int32_t *scratch);
/// fold.c: frames and inertias of bodies and nodes.
void kki_fold(const kk_spec *spec, kk_model *m);
/// align.c: turns the nodes' frames so that most placements are a turn about x or y.
/// @param child  [nnode] scratch    @param scratch  [2 nnode]
void kki_align(kk_model *m, int32_t *child, double *scratch);
/// fold.c: Cholesky roots of the nodes' moments, once their frames are final.
void kki_roots(kk_model *m);
/// check_motion.c: what moves with each joint of a spec weighs so much. @param mass  [nbody]
void kki_mass_behind(const kk_spec *spec, double *mass);
/// Whether a joint has a degree of freedom with neither mass nor armature behind it.
bool kki_moves_nothing(const kk_joint_def *joint, double mass_behind);
/// check_motion.c: every degree of freedom has something to move. @param scratch  [nbody]
kk_status kki_check_motion(const kk_spec *spec, const kk_model *m, double *scratch, kk_error *error);
/// check_pivots.c: no degree of freedom is free of inertia in every pose. @param scratch  [kki_pivots_scratch(m)]
size_t kki_pivots_scratch(const kk_model *m);
kk_status kki_check_pivots(const kk_spec *spec, const kk_model *m, double *scratch, kk_error *error);
/// names.c: the pool of names and the sorted tables; refuses duplicates. @param scratch  [largest kki_named_count]
size_t kki_names_size(const kk_spec *spec);
int32_t kki_named_count(const kk_model *m, kki_named kind);
kk_status kki_names(const kk_spec *spec, kk_model *m, int32_t *scratch, kk_error *error);
/// couple.c: resolves couplings and sorts them, leaders first.
/// @param scratch  [2 ncoupling]    @param unsorted  [ncoupling]
kk_status kki_couple(const kk_spec *spec, kk_model *m, int32_t *scratch, kki_coupling *unsorted, kk_error *error);
/// tree.c: which tree each node belongs to.
void kki_trees(kk_model *m);

// ---- the scene: those before names.c copy, those behind it look names up

void kki_compile_shapes(const kk_spec *spec, kk_model *m);
kk_status kki_compile_loops(const kk_spec *spec, kk_model *m, kk_error *error);
kk_status kki_compile_tendons(const kk_spec *spec, kk_model *m, kk_error *error);
kk_status kki_compile_actuators(const kk_spec *spec, kk_model *m, kk_error *error);
kk_status kki_compile_sensors(const kk_spec *spec, kk_model *m, kk_error *error);
kk_status kki_compile_keyframes(const kk_spec *spec, kk_model *m, kk_error *error);
/// compile_contacts.c: laws and pairs. @param scratch  [kki_contacts_scratch(m)]
size_t kki_contacts_scratch(const kk_model *m);
kk_status kki_compile_contacts(const kk_spec *spec, kk_model *m, kki_sort_item *scratch, kk_error *error);
/// laws.c: gives every material that collides a class; fills the table of laws, nmaterial_class² of them.
kk_status kki_classify_materials(const kk_spec *spec, kk_model *m, kk_error *error);
void kki_fill_laws(const kk_spec *spec, kk_model *m);
kki_contact_law kki_law_of_material(const kk_material_def *material);
/// What holds where a shape of material `a` meets one of `b`, by the rules of kk_material_def.
kki_contact_law kki_law_combined(const kk_material_def *a, const kk_material_def *b);
/// geometry.c: hulls, surfaces and height fields for collision, in blocks of their own.
/// @param donor  a model whose geometry is used where meshes are the same; NULL: none
kk_status kki_make_geometry(const kk_spec *spec, kk_model *m, const kk_model *donor, kk_error *error);
void kki_free_geometry(kk_model *m);

/// kk_model_compile of a spec that was edited: what costs most, hulls and surfaces of meshes, is shared with the model before. Before
/// either of the two is freed it must let go of what both have.
kk_status kki_model_recompile(const kk_spec *spec, const kk_model *donor, const kk_allocator *allocator,
                              kk_model **model, kk_error *error);
void kki_model_let_go(kk_model *m, const kk_model *other);

// ---- lookup.c: names that items give, with an error that names the item

/// A degree of freedom of a joint; q_index is −1 where no one coordinate belongs to it (balls, free joints).
typedef struct kki_joint_dof {
    int32_t body, q_index, v_index;
} kki_joint_dof;

kk_status kki_find_named(kki_item item, const kk_model *m, kki_named kind, const char *name, int32_t *id,
                         kk_error *error);
kk_status kki_find_frame_or_body(kki_item item, const kk_model *m, const char *name, int32_t *id, int32_t *is_body,
                                 kk_error *error);
kk_status kki_find_dof(kki_item item, const kk_model *m, const char *joint, int dof, kki_joint_dof *found,
                       kk_error *error);
/// One that has a coordinate.
kk_status kki_find_coordinate(kki_item item, const kk_model *m, const char *joint, int dof, kki_joint_dof *found,
                              kk_error *error);

/// hash.c: of everything that can change a result.
uint64_t kki_model_hash(const kk_model *m);

#endif
