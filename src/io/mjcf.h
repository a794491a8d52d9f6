/// Inside the reader of MJCF: what its files share.
///
/// The tree of the file, with its includes in place, is read section by section in the order that references need:
/// compiler, option, default, asset, worldbody, contact, equality, tendon, actuator, sensor, keyframe; a section that
/// stands several times is one. worldbody is walked once into lists of bodies and of what is on them (mjcf_tree.c), by
/// which frames and copies are resolved; then each body goes into the spec (mjcf_body.c).
///
/// What is wrong with the file goes to the findings, and reading goes on with a default. `status` stops everything: no
/// memory, or a bound.
#ifndef KKI_IO_MJCF_H
#define KKI_IO_MJCF_H

#include <karakuri/dynamics.h>

#include "geometry/mass.h"
#include "io/loader.h"
#include "io/mjcf_attach.h"
#include "io/mjcf_tables.h"
#include "io/pool.h"

typedef struct kki_mjcf kki_mjcf;

/// What a name names; names of different kinds do not meet.
typedef enum kki_mjcf_kind {
    KKI_MJCF_BODY,
    KKI_MJCF_JOINT,
    KKI_MJCF_GEOM,
    KKI_MJCF_SITE,
    KKI_MJCF_CLASS,
    KKI_MJCF_MESH,
    KKI_MJCF_HFIELD,
    KKI_MJCF_TEXTURE,
    KKI_MJCF_VISUAL,
    KKI_MJCF_TENDON,
    KKI_MJCF_ACTUATOR,
    KKI_MJCF_SENSOR,
    KKI_MJCF_KEY,
    KKI_MJCF_LOOP,
    KKI_MJCF_MATERIAL,
    KKI_MJCF_FRAME_NAME, ///< names of frames and bodies in the spec
    KKI_MJCF_JOINT_NAME, ///< names of joints in the spec
    KKI_MJCF_MESH_NAME,
    KKI_MJCF_PAIR, ///< two shapes, by number
    KKI_MJCF_KINDS,
    KKI_MJCF_COPIED = 64,    ///< added to a kind: names inside <replicate>, without the suffix of the copies
    KKI_MJCF_NUMBERED = 128, ///< added to a kind: the next number for a wish that was taken
} kki_mjcf_kind;

typedef struct kki_mjcf_name {
    const char *text; ///< NULL: empty slot
    uint32_t hash;    ///< of kind and text
    int kind, value;
} kki_mjcf_name;

typedef struct kki_mjcf_names {
    kki_mjcf_name *slot;
    size_t count, room; ///< room is a power of two
} kki_mjcf_names;

/// Elements that classes give attributes to.
typedef enum kki_mjcf_template {
    KKI_MJCF_OF_MESH,
    KKI_MJCF_OF_TEXTURE,
    KKI_MJCF_OF_MATERIAL,
    KKI_MJCF_OF_JOINT,
    KKI_MJCF_OF_GEOM,
    KKI_MJCF_OF_SITE,
    KKI_MJCF_OF_PAIR,
    KKI_MJCF_OF_EQUALITY,
    KKI_MJCF_OF_TENDON,
    KKI_MJCF_OF_ACTUATOR,
    KKI_MJCF_TEMPLATES,
} kki_mjcf_template;

/// Attributes, by number in the tree; never changed once a class below has it.
typedef struct kki_mjcf_list {
    int32_t *attribute;
    int count, room;
} kki_mjcf_list;

typedef struct kki_mjcf_class {
    const char *name;
    kki_mjcf_list list[KKI_MJCF_TEMPLATES];
} kki_mjcf_class;

typedef enum { KKI_MJCF_INERTIA_FALSE, KKI_MJCF_INERTIA_TRUE, KKI_MJCF_INERTIA_AUTO } kki_mjcf_inertia;

typedef struct kki_mjcf_settings {
    double angle; ///< what an angle of the file is multiplied by
    char euler[3];
    const char *mesh_directory, *texture_directory;
    bool auto_limits, balance, discard_visual, strip_path;
    bool uses_limits, uses_no_range; ///< of <lengthrange>: ranges of muscles are limits; given ones are not used
    double bound_mass, bound_inertia, total_mass;
    int inertia; ///< kki_mjcf_inertia
    int64_t group_lower, group_upper;
    bool no_gravity, no_contact, no_limit, no_friction, no_spring, no_damper, no_equality, no_actuation, no_sensor;
} kki_mjcf_settings;

enum { KKI_MJCF_IS_JOINT, KKI_MJCF_IS_GEOM, KKI_MJCF_IS_SITE, KKI_MJCF_ITEM_KINDS };

/// A <replicate> that something stands in, and the one round it. Where a trial leaves copies out, the first one stands for all.
typedef struct kki_mjcf_series {
    const struct kki_mjcf_series *outer; ///< NULL: none
    const char *sep;
    int64_t index, count;
    int digits;
    bool is_left_out;
    int64_t copies; ///< that this one stands for, those of the outer ones included
} kki_mjcf_series;

/// A joint, geom or site of a body, in the frame and with the suffix that it stands in.
typedef struct kki_mjcf_item {
    int32_t node;
    int next; ///< of the same kind on the same body; −1: none
    int class;
    const char *suffix;
    const char *name; ///< with the suffix; NULL: none
    const kk_transform *frame;
    int made;       ///< joints: number in `joint`; geoms: id of the shape, −1: none; sites: id of the frame
    int64_t copies; ///< that it stands for: 1 but in a trial
} kki_mjcf_item;

/// Where a body stands at the reference pose.
typedef struct kki_mjcf_place {
    kk_transform X_PB, X_WB;
} kki_mjcf_place;

typedef struct kki_mjcf_body {
    int32_t node;
    int parent; ///< in the list of bodies; −1: this is the world
    const char *name;
    const kki_mjcf_place *place;
    int first[KKI_MJCF_ITEM_KINDS], last[KKI_MJCF_ITEM_KINDS];
    int32_t inertial; ///< node; KKI_XML_NONE: none
    const kk_transform *inertial_frame;
    int joint_count;
    int32_t free_joint; ///< the first one's node; KKI_XML_NONE: none
    bool is_weighed;    ///< by its geoms; in a check
    int id;             ///< in the spec
    int root;           ///< the body below the world that carries it; 0 for what stands still
    double tree_mass;   ///< of a root: of all that it carries
} kki_mjcf_body;

/// A joint of the file, in MuJoCo's order of coordinates.
typedef struct kki_mjcf_joint {
    int body;         ///< in the spec
    const char *name; ///< in the spec
    int32_t node;
    kk_joint_type type;
    double ref, lower, upper;
    double spring[2]; ///< springdamper
    bool is_limited;
    int64_t copies; ///< see kki_mjcf_item
} kki_mjcf_joint;

/// Contact parameters of a geom or a pair.
typedef struct kki_mjcf_contact {
    double condim, friction[5], solref[2], solimp[5], priority, adhesion, mass;
} kki_mjcf_contact;

typedef struct kki_mjcf_geom {
    int shape, body;
    kki_mjcf_contact contact;
} kki_mjcf_geom;

/// A mesh of the file. Its mass properties are computed where they are first needed.
typedef struct kki_mjcf_mesh {
    int id; ///< in the spec; −1: it could not be read
    int mode;
    int32_t node;
    kki_mass mass;
    bool has_mass, is_tried; ///< reading it has been tried
} kki_mjcf_mesh;

/// A copy that <replicate> has made.
typedef struct kki_mjcf_copy {
    const char *suffix;
    const kki_mjcf_series *series; ///< in a trial; NULL else
    int next;
    int instance; ///< number of the copy of <replicate>'s content that it stands in, in the order of the walk
} kki_mjcf_copy;

typedef void kki_mjcf_reader(kki_mjcf *m, int32_t node);

/// An element of a section that is to be read for a copy of what it refers to.
typedef struct kki_mjcf_pending {
    int32_t node;
    int copy;
    kki_mjcf_reader *read;
} kki_mjcf_pending;

typedef struct kki_mjcf_servo {
    int actuator;
    double ratio; ///< dampratio
    int32_t node;
} kki_mjcf_servo;

/// <equality><tendon>: the polynomial is from the lengths at the reference pose on. leader −1: none
typedef struct kki_mjcf_held {
    int tendon, leader;
    double c[5];
} kki_mjcf_held;

/// A muscle whose force or length range the file leaves open.
typedef struct kki_mjcf_muscle {
    int actuator;
    double scale; ///< of its force; 0: that is given
    bool has_range;
    int32_t node;
} kki_mjcf_muscle;

/// An actuator's control, in MuJoCo's order.
typedef struct kki_mjcf_control {
    int actuator; ///< −1: none
    int32_t node;
} kki_mjcf_control;

struct kki_mjcf {
    kki_loader *loader;
    const kki_mjcf_tree *tree;
    const kki_xml *xml; ///< the tree's
    kki_reader reader;
    kki_pool pool;
    kk_status status; ///< not KK_OK: stop
    kk_error error;
    kki_mjcf_settings set;        ///< of the scope that is being read
    kki_mjcf_settings *scope_set; ///< [tree->scope_count]
    int *scope_class;             ///< [tree->scope_count] the outermost class
    int scope;                    ///< that is being read
    kki_mjcf_place still;         ///< the world's
    kki_mjcf_names names;
    kki_mjcf_class *class;
    kki_mjcf_item *item;
    kki_mjcf_body *body;
    kki_mjcf_joint *joint;
    kki_mjcf_geom *geom;
    kki_mjcf_mesh *mesh;
    kki_mjcf_copy *copy;
    kki_mjcf_pending *pending;
    kki_mjcf_servo *servo;
    kki_mjcf_held *held;
    kki_mjcf_muscle *muscle;
    int *natural; ///< tendons whose springs have no length of their own
    kki_mjcf_control *control;
    kki_mjcf_contact *material; ///< of material i + 1 of the spec
    int class_count, class_room, item_count, item_room, body_count, body_room, joint_count, joint_room, geom_count,
        geom_room, mesh_count, mesh_room, copy_count, copy_room, pending_count, pending_room, servo_count, servo_room,
        natural_count, natural_room, held_count, held_room, muscle_count, muscle_room, control_count, control_room,
        material_count, material_room;
    int pass;       ///< of sections that are read twice
    int64_t copied; ///< elements that <replicate> has made
    bool is_trial;  ///< where there would be many copies, all but one are left out
    bool is_short;  ///< some were
    bool is_cut;    ///< because of an error
    bool is_check; ///< a trial of a file that is small beside its model: what nothing can refer to is forgotten at once
    bool is_lost;  ///< what is being read refers to one of them
    bool has_lost; ///< something has
    int64_t controls_left_out;
    int64_t q_left_out, v_left_out; ///< coordinates of joints that were forgotten
    int bodies_left_out;
    int32_t lost_body;             ///< an element that would have made bodies, and is not read; KKI_XML_ROOT: none
    int64_t copied_bytes;          ///< of names of copies
    const char *suffix;            ///< of the copy that is being read; "" mostly
    const kki_mjcf_series *series; ///< that it is of; NULL mostly
    int instance;                  ///< see kki_mjcf_copy
    int instances;                 ///< so far
};

/// An element and what its class gives it.
typedef struct kki_mjcf_at {
    kki_mjcf *m;
    int32_t node;
    const kki_mjcf_list *list; ///< NULL: none
} kki_mjcf_at;

// ---- mjcf_read.c: attributes. A fault is reported, and what is read keeps the value it had.

kki_mjcf_at kki_mjcf_element_here(kki_mjcf *m, int32_t node);
/// KKI_XML_NONE where neither the element nor its class has it.
int32_t kki_mjcf_find(const kki_mjcf_at *at, const char *name);
bool kki_mjcf_has(const kki_mjcf_at *at, const char *name);
/// The same of a number or several: for MuJoCo one that is empty is not there.
int32_t kki_mjcf_find_number(const kki_mjcf_at *at, const char *name);
bool kki_mjcf_is_blank(const kki_xml *xml, int32_t attribute);
/// How many were read; 0 where it is absent or wrong.
int kki_mjcf_numbers(const kki_mjcf_at *at, const char *name, int least, int most, double *values);
double kki_mjcf_number(const kki_mjcf_at *at, const char *name, double otherwise);
int64_t kki_mjcf_whole(const kki_mjcf_at *at, const char *name, int64_t least, int64_t most, int64_t otherwise);
bool kki_mjcf_truth(const kki_mjcf_at *at, const char *name, bool otherwise);
int kki_mjcf_word(const kki_mjcf_at *at, const char *name, const kki_keyword *words, int otherwise);
kk_vec3 kki_mjcf_vector(const kki_mjcf_at *at, const char *name, kk_vec3 otherwise);
/// NULL where it is absent or empty.
const char *kki_mjcf_text(const kki_mjcf_at *at, const char *name);
/// true, false, auto: whether a range is a limit; reports a range that is none.
bool kki_mjcf_limits(const kki_mjcf_at *at, const char *limited, const char *range, double values[2]);

/// All the numbers of an attribute, in a block of the loader's memory for the caller to release; NULL where one is wrong.
double *kki_mjcf_all_numbers(kki_mjcf *m, int32_t node, int32_t attribute, size_t *count);

/// Reports at an element, or at an attribute of it where there is one of that name.
__attribute__((format(printf, 6, 7))) kk_status kki_mjcf_report(kki_mjcf *m, kki_severity severity, kk_status status,
                                                                int32_t node, const char *attribute, const char *format,
                                                                ...);
/// Reports what the table says about an element: true where it is to be read. `parent` is the section's name.
bool kki_mjcf_is_read(kki_mjcf *m, const char *parent, int32_t node);
/// The same for the attributes.
void kki_mjcf_check_attributes(kki_mjcf *m, const kki_mjcf_element *element, int32_t node);
/// Stops with a status; gives it back.
kk_status kki_mjcf_stop(kki_mjcf *m, kk_status status);
/// Room for one more of `size` bytes; NULL where it stopped.
void *kki_mjcf_push(kki_mjcf *m, void **array, int *count, int *room, size_t size);
#define KKI_MJCF_PUSH(m, what) \
    kki_mjcf_push((m), (void **)&(m)->what, &(m)->what##_count, &(m)->what##_room, sizeof *(m)->what)
/// Room for `wanted` in all, where it is known beforehand.
void kki_mjcf_reserve(kki_mjcf *m, void **array, int count, int *room, size_t size, int wanted);
#define KKI_MJCF_RESERVE(m, what, wanted) \
    kki_mjcf_reserve((m), (void **)&(m)->what, (m)->what##_count, &(m)->what##_room, sizeof *(m)->what, (wanted))
void kki_mjcf_release(kki_mjcf *m);

/// A copy that is kept as long as the reader lives; NULL where it stopped.
void *kki_mjcf_keep(kki_mjcf *m, const void *from, size_t size);
/// first + second, kept as long; "" where it stopped.
const char *kki_mjcf_join(kki_mjcf *m, const char *first, const char *second);

// ---- mjcf_names.c

/// Reports a name that is taken. A NULL name is no name.
void kki_mjcf_name_put(kki_mjcf *m, kki_mjcf_kind kind, const char *name, int value, int32_t node);
/// −1: none.
int kki_mjcf_name_get(const kki_mjcf *m, int kind, const char *name);
/// Sets a name whether or not it is taken.
void kki_mjcf_name_set(kki_mjcf *m, int kind, const char *name, int value);
/// What an attribute names, in the copy that is being read; −1 and a report where there is none of that name.
int kki_mjcf_refer(const kki_mjcf_at *at, const char *attribute, kki_mjcf_kind kind);
int kki_mjcf_refer_name(kki_mjcf *m, int32_t node, const char *attribute, kki_mjcf_kind kind, const char *name);
/// A name that is free: the wish itself, or with a number behind it. It is taken then.
const char *kki_mjcf_free_name(kki_mjcf *m, kki_mjcf_kind kind, const char *wish);
/// The element's own name with the suffix of the copy; NULL: none.
const char *kki_mjcf_own_name(kki_mjcf *m, int32_t node);

/// How an element is read; NULL: not at all.
typedef kki_mjcf_reader *kki_mjcf_chooser(kki_mjcf *m, int32_t node);
/// Reads the elements of a section: each once, or once for each copy of what it refers to.
void kki_mjcf_each(kki_mjcf *m, int32_t section, kki_mjcf_chooser *choose);
/// The name of an element's copy; reports where all of them get too long.
const char *kki_mjcf_copy_name(kki_mjcf *m, int32_t node, const char *name, const char *suffix,
                               const kki_mjcf_series *series);
/// Another copy of a name.
void kki_mjcf_add_copy(kki_mjcf *m, kki_mjcf_kind kind, const char *name, const char *suffix,
                       const kki_mjcf_series *series, int instance);
/// In a check: the stand-ins of what sections refer to.
void kki_mjcf_stand_in(kki_mjcf *m);
/// Whether a name is that of a copy which was left out.
bool kki_mjcf_is_left_out(const kki_mjcf *m, kki_mjcf_kind kind, const char *name);

// ---- mjcf_include.c

/// The tree with includes in place; the same tree where it has none.
kk_status kki_mjcf_include(kki_loader *loader, const kki_xml *xml, kki_xml **result, kk_error *error);

// ---- mjcf.c

/// Reads as the model says that a node is from: its settings and its outermost class.
void kki_mjcf_enter(kki_mjcf *m, int32_t node);
void kki_mjcf_enter_scope(kki_mjcf *m, int scope);
int kki_mjcf_scope_of(const kki_mjcf *m, int32_t node);

// ---- mjcf_compiler.c, mjcf_default.c, mjcf_asset.c

void kki_mjcf_compiler(kki_mjcf *m, int32_t section);
void kki_mjcf_option(kki_mjcf *m, int32_t section);
/// Options of the main model that hold for all models attached to it.
void kki_mjcf_share_options(kki_mjcf *m);
void kki_mjcf_default(kki_mjcf *m, int32_t section);
void kki_mjcf_asset(kki_mjcf *m, int32_t section);
/// The class an element names, or `otherwise`.
int kki_mjcf_class_of(kki_mjcf *m, int32_t node, const char *attribute, int otherwise);
kki_mjcf_at kki_mjcf_element_of_class(kki_mjcf *m, int32_t node, kki_mjcf_template what, int class);
/// mjcf_builtin.c: a mesh that MJCF describes by a word and numbers; false and a report where it cannot be made.
bool kki_mjcf_builtin(const kki_mjcf_at *at, kki_mesh **mesh);
/// A mesh's mass properties; false and a report where it has none.
bool kki_mjcf_mesh_mass(kki_mjcf *m, kki_mjcf_mesh *mesh, int32_t node, kki_mass *mass);
/// Reads it where that has not been done; false where it cannot be read or is not to be.
bool kki_mjcf_mesh_load(kki_mjcf *m, kki_mjcf_mesh *mesh);

// ---- mjcf_pose.c

/// Orientation by quat, axisangle, euler, xyaxes or zaxis.
kk_mat3 kki_mjcf_rotation(const kki_mjcf_at *at);
/// pos and orientation.
kk_transform kki_mjcf_pose(const kki_mjcf_at *at);
/// pos and orientation, or those of a fromto with its length; false where there is none.
bool kki_mjcf_fromto(const kki_mjcf_at *at, kk_transform *pose, double *length);
kk_mat3 kki_mjcf_euler(const kki_mjcf *m, const double angles[3]);
/// The smallest rotation that turns z to v.
kk_mat3 kki_mjcf_z_to(kk_vec3 v);

// ---- mjcf_tree.c, mjcf_body.c, mjcf_joint.c, mjcf_geom.c, mjcf_mass.c

void kki_mjcf_walk(kki_mjcf *m, int32_t worldbody);
/// Reports names that copies have which were left out.
void kki_mjcf_check_left_out(kki_mjcf *m);
/// Bodies with joints, geoms and sites into the spec.
void kki_mjcf_bodies(kki_mjcf *m);
/// In a check: reads a body that has been opened, an item of it, and what there is to say at its end. What has no name is
/// forgotten.
void kki_mjcf_try_body(kki_mjcf *m, int body);
void kki_mjcf_try_item(kki_mjcf *m, int body, int index, int what);
void kki_mjcf_try_end(kki_mjcf *m, int index);
/// What a joint is; its placement is that on the body at rest.
void kki_mjcf_joint_read(kki_mjcf *m, const kki_mjcf_item *item, kki_mjcf_joint *joint, kk_joint_def *def,
                         kk_vec3 *anchor);
/// Adds the geom's shape; *inertia is its part of the body's, mass 0 where it has none.
void kki_mjcf_geom_read(kki_mjcf *m, kki_mjcf_item *item, int body, bool needs_inertia, kk_inertia *inertia);
/// Of a primitive of MuJoCo's sizes, of density 1, as solid or as shell.
kki_mass kki_mjcf_primitive_mass(kk_shape_type type, const double size[3], bool is_shell);
/// Principal moments and axes, in falling order: s = axes · diag · axesᵀ.
kk_mat3 kki_mjcf_principal(kk_sym3 s, double values[3]);

// ---- mjcf_contact.c and the sections after it

void kki_mjcf_contact_read(const kki_mjcf_at *at, int frictions, kki_mjcf_contact *contact);
/// Material ids of all geoms.
void kki_mjcf_materials(kki_mjcf *m);
void kki_mjcf_contact_section(kki_mjcf *m, int32_t section);
void kki_mjcf_equality(kki_mjcf *m, int32_t section);
void kki_mjcf_tendon(kki_mjcf *m, int32_t section);
void kki_mjcf_actuator(kki_mjcf *m, int32_t section);
/// mjcf_muscle.c: <muscle>, and <general> with a muscle's gain; what its dynamics are.
void kki_mjcf_set_muscle(const kki_mjcf_at *at, kk_actuator_def *def);
bool kki_mjcf_general_muscle(const kki_mjcf_at *at, int dynamics, bool has_bias, kk_actuator_def *def);
void kki_mjcf_muscle_dynamics(const kki_mjcf_at *at, const char *attribute, kk_actuator_def *def);
/// Behind its actuator: what of it has to be found once the model can be computed with.
void kki_mjcf_note_muscle(const kki_mjcf_at *at, int actuator);
/// Finds it: length ranges, then forces. @param q [nq] reference pose
void kki_mjcf_tune_muscles(kki_mjcf *m, const kk_model *model, kk_data *data, const double *q);
void kki_mjcf_sensor(kki_mjcf *m, int32_t section);
/// MJCF's word for a sensor and the attribute that names its target (NULL: none); NULL: MJCF has none.
const char *kki_mjcf_sensor_word(kk_sensor_type type, const char **target);
void kki_mjcf_keyframe(kki_mjcf *m, int32_t section);
/// <size nkey>: keyframes beyond those that are written, at the start.
void kki_mjcf_size(kki_mjcf *m, int32_t section);
/// Our extension of the language.
void kki_mjcf_karakuri(kki_mjcf *m);
/// What needs the inertia at the reference pose: dampratio, springdamper.
void kki_mjcf_tune(kki_mjcf *m);
/// See kki_mjcf_key_layout; NULL: no memory.
const char *kki_mjcf_joint_letters(kki_mjcf *m, int32_t first, int32_t end, kki_pool *pool);
/// [spec's q, v] of MuJoCo's; for keyframes and the reference pose.
int kki_mjcf_joint_nq(kk_joint_type type);
int kki_mjcf_joint_nv(kk_joint_type type);

#endif
