/// Writing URDF: links and joints in the order of the spec, then one <karakuri> with all that URDF has no words for.
///
/// A URDF link's frame is that of its joint. A body whose frame is another (its offset) is written in the joint's, and the
/// offset beside it. The world is written as a link where anything but one free robot at the origin hangs on it.
#include <karakuri/save.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/print.h"
#include "io/karakuri_write.h"
#include "io/name_table.h"
#include "io/path.h"
#include "io/text.h"
#include "model/joint.h"
#include "model/spec.h"

typedef struct output {
    const kk_spec *spec;
    const kk_save_options *options;
    kki_xml_writer w;
    int *first_shape;  ///< [nbody] −1: none
    int *next_shape;   ///< [nshape] of the same body
    int *mimic;        ///< [nbody] the coupling that is written in the body's joint; −1: none
    uint8_t *is_mimic; ///< [ncoupling]
    kki_name_table joints;
    bool has_world;
    kk_error error; ///< of what is no fault of the writer's
} output;

// ---- names

static const char *joint_name(const kk_body_def *b, char made[KKI_NAME_SIZE]) {
    kki_print(made, KKI_NAME_SIZE, "%.*s_joint", kki_whole_length(b->name, KKI_MOST_NAME), b->name);
    return b->joint.name && b->joint.name[0] ? b->joint.name : made;
}

// ---- small parts

static bool is_identity(kk_transform X) {
    const kk_transform I = kk_transform_identity();
    bool same = X.p.x == 0 && X.p.y == 0 && X.p.z == 0;
    for (int i = 0; i < 9; i++) {
        same = same && X.R.m[i] == I.R.m[i];
    }
    return same;
}

static bool is_turned(kk_mat3 R) {
    return !is_identity(kk_transform_make(R, kk_vec3_make(0, 0, 0)));
}

static void write_origin(kki_xml_writer *w, kk_transform X) {
    if (is_identity(X)) {
        return;
    }
    kki_xml_open(w, "origin");
    kki_xml_put_vec3(w, "xyz", X.p);
    if (is_turned(X.R)) {
        kki_xml_put_vec3(w, "rpy", kki_rpy_of(X.R));
    }
    kki_xml_close(w, "origin");
}

static void write_inertial(kki_xml_writer *w, kk_inertia I) {
    if (I.mass == 0) {
        return;
    }
    kki_xml_open(w, "inertial");
    write_origin(w, kk_transform_translation(I.com.x, I.com.y, I.com.z));
    kki_xml_open(w, "mass");
    kki_xml_put_number(w, "value", I.mass);
    kki_xml_close(w, "mass");
    kki_xml_open(w, "inertia");
    kki_xml_put_number(w, "ixx", I.moment.xx);
    kki_xml_put_number(w, "ixy", I.moment.xy);
    kki_xml_put_number(w, "ixz", I.moment.xz);
    kki_xml_put_number(w, "iyy", I.moment.yy);
    kki_xml_put_number(w, "iyz", I.moment.yz);
    kki_xml_put_number(w, "izz", I.moment.zz);
    kki_xml_close(w, "inertia");
    kki_xml_close(w, "inertial");
}

// ---- shapes

static void write_mesh(output *o, const kk_mesh_def *mesh) {
    char path[KKI_PATH_SIZE];
    const char *name = mesh->reference && mesh->reference[0] ? mesh->reference : mesh->file;
    const bool is_known = mesh->file && mesh->file[0];
    if (o->options && o->options->directory && is_known && kki_path_from(o->options->directory, mesh->file, path)) {
        name = path;
    }
    if (!name || !name[0]) {
        kki_error_set(&o->error, KK_NOT_FOUND,
                      "mesh \"%s\" has no file that a robot file could refer to; save it as an STL and name that",
                      mesh->name ? mesh->name : "");
        name = "";
    }
    kki_xml_open(&o->w, "mesh");
    kki_xml_put(&o->w, "filename", name);
    if (mesh->scale.x != 1 || mesh->scale.y != 1 || mesh->scale.z != 1) {
        kki_xml_put_vec3(&o->w, "scale", mesh->scale);
    }
    kki_xml_close(&o->w, "mesh");
}

static void write_round(kki_xml_writer *w, double radius, double length) {
    kki_xml_open(w, "cylinder");
    kki_xml_put_number(w, "radius", radius);
    kki_xml_put_number(w, "length", length);
    kki_xml_close(w, "cylinder");
}

static void write_ball(kki_xml_writer *w, double radius) {
    kki_xml_open(w, "sphere");
    kki_xml_put_number(w, "radius", radius);
    kki_xml_close(w, "sphere");
}

static void write_block(kki_xml_writer *w, kk_vec3 size) {
    kki_xml_open(w, "box");
    kki_xml_put_vec3(w, "size", size);
    kki_xml_close(w, "box");
}

/// What the reader takes from the <geometry> alone.
typedef struct fallback {
    kk_shape_type type;
    double size[3];
} fallback;

/// The nearest geometry that URDF has.
static fallback write_geometry(output *o, const kk_shape_def *shape) {
    const double *s = shape->size;
    fallback f = {shape->type, {s[0], s[1], s[2]}};
    kki_xml_open(&o->w, "geometry");
    switch (shape->type) {
    case KK_SHAPE_BOX: write_block(&o->w, kk_vec3_make(s[0], s[1], s[2])); break;
    case KK_SHAPE_SPHERE: write_ball(&o->w, s[0]); break;
    case KK_SHAPE_CYLINDER: write_round(&o->w, s[0], s[1]); break;
    case KK_SHAPE_CONE: write_round(&o->w, s[0], s[1]), f.type = KK_SHAPE_CYLINDER; break;
    case KK_SHAPE_CAPSULE: {
        write_round(&o->w, s[0], s[1] + 2 * s[0]);
        f = (fallback){KK_SHAPE_CYLINDER, {s[0], s[1] + 2 * s[0], 0}};
        break;
    }
    case KK_SHAPE_ELLIPSOID: write_ball(&o->w, s[0]), f = (fallback){KK_SHAPE_SPHERE, {s[0], 0, 0}}; break;
    case KK_SHAPE_HULL:
    case KK_SHAPE_MESH:
        write_mesh(o, &o->spec->mesh[shape->mesh]);
        // a visual is read as a mesh; a collision by what moves, so that is said in any case
        f.type = shape->purpose & KK_SHAPE_COLLIDES ? KK_SHAPE_PLANE : KK_SHAPE_MESH;
        break;
    default: write_block(&o->w, kk_vec3_make(100, 100, 0.001)), f = (fallback){KK_SHAPE_BOX, {100, 100, 0.001}}; break;
    }
    kki_xml_close(&o->w, "geometry");
    return f;
}

/// The fewest decimals that give the same float.
static double short_float(float value) {
    double scale = 10;
    for (int digits = 1; digits < 9; digits++) {
        const double rounded = kk_round((double)value * scale) / scale;
        if ((float)rounded == value) {
            return rounded;
        }
        scale *= 10;
    }
    return (double)value;
}

static void write_visual(kki_xml_writer *w, const char *directory, const kk_visual_def *visual, int id) {
    char path[KKI_PATH_SIZE];
    char made[KKI_ITEM_NAME_SIZE];
    double rgba[4];
    kki_print(made, sizeof made, "look_%d", id);
    for (int i = 0; i < 4; i++) {
        rgba[i] = short_float(visual->color[i]);
    }
    kki_xml_open(w, "material");
    kki_xml_put(w, "name", visual->name && visual->name[0] ? visual->name : made);
    kki_xml_open(w, "color");
    kki_xml_put_numbers(w, "rgba", rgba, 4);
    kki_xml_close(w, "color");
    if (visual->texture && visual->texture[0]) {
        kki_xml_open(w, "texture");
        const bool is_whole =
            directory && kki_path_is_absolute(visual->texture) && kki_path_from(directory, visual->texture, path);
        kki_xml_put(w, "filename", is_whole ? path : visual->texture);
        kki_xml_close(w, "texture");
    }
    kki_xml_close(w, "material");
}

static void write_shape(output *o, int id, int purpose) {
    const char *element = purpose == KK_SHAPE_VISIBLE ? "visual" : "collision";
    char made[KKI_ITEM_NAME_SIZE];
    kk_shape_def def = o->spec->shape[id];
    kk_shape_def base = kk_shape_def_default();
    const bool is_named = (def.name && def.name[0]) || o->spec->npair > 0;
    const bool has_two = def.purpose == (KK_SHAPE_COLLIDES | KK_SHAPE_VISIBLE);
    def.purpose = purpose;
    kki_xml_open(&o->w, element);
    if (is_named && !(has_two && purpose == KK_SHAPE_VISIBLE)) {
        kki_xml_put(&o->w, "name", kki_shape_name(o->spec, id, made));
    }
    write_origin(&o->w,
                 kk_transform_mul(def.body == KK_WORLD ? kk_transform_identity() : o->spec->body[def.body].offset,
                                  def.placement));
    const fallback f = write_geometry(o, &def);
    base.type = f.type;
    memcpy(base.size, f.size, sizeof base.size);
    if (purpose == KK_SHAPE_VISIBLE && def.visual >= 0) {
        write_visual(&o->w, o->options ? o->options->directory : NULL, &o->spec->visual[def.visual], def.visual);
    }
    if (kki_fields_differ(KKI_ELEMENT_SHAPE, &def, &base)) {
        kki_xml_open(&o->w, "karakuri");
        kki_write_fields(&o->w, o->spec, KKI_ELEMENT_SHAPE, &def, &base);
        kki_xml_close(&o->w, "karakuri");
    }
    kki_xml_close(&o->w, element);
}

static void write_link(output *o, int body) {
    const kk_body_def *b = &o->spec->body[body];
    kki_xml_open(&o->w, "link");
    kki_xml_put(&o->w, "name", b->name);
    write_inertial(&o->w, body == KK_WORLD ? b->inertia : kk_inertia_to(b->offset, b->inertia));
    for (int i = o->first_shape[body]; i >= 0; i = o->next_shape[i]) {
        const int purpose = o->spec->shape[i].purpose;
        if (purpose & KK_SHAPE_VISIBLE) {
            write_shape(o, i, KK_SHAPE_VISIBLE);
        }
        if (purpose & KK_SHAPE_COLLIDES || !(purpose & KK_SHAPE_VISIBLE)) {
            write_shape(o, i, KK_SHAPE_COLLIDES);
        }
    }
    if (b->gravity_compensation != 0) {
        kki_xml_open(&o->w, "karakuri");
        kki_xml_put_number(&o->w, "gravity_compensation", b->gravity_compensation);
        kki_xml_close(&o->w, "karakuri");
    }
    kki_xml_close(&o->w, "link");
}

// ---- joints

static bool is_limited(const kk_dof_def *d) {
    return d->lower > -__builtin_inf() || d->upper < __builtin_inf();
}

static const char *urdf_type(const kk_joint_def *j) {
    switch (j->type) {
    case KK_JOINT_FIXED: return "fixed";
    case KK_JOINT_HINGE: return is_limited(&j->dof[0]) ? "revolute" : "continuous";
    case KK_JOINT_SLIDE: return "prismatic";
    case KK_JOINT_PLANAR: return "planar";
    case KK_JOINT_BALL:
    case KK_JOINT_FREE: return "floating";
    default: return "continuous";
    }
}

static bool is_plain(kk_joint_type type) {
    return type == KK_JOINT_HINGE || type == KK_JOINT_SLIDE;
}

/// The readers take what is this large as none.
static double finite(double value) {
    return __builtin_isinf(value) ? (value > 0 ? 1e30 : -1e30) : value;
}

static void write_limit(kki_xml_writer *w, const kk_joint_def *j) {
    const kk_dof_def *d = &j->dof[0];
    const bool is_needed = j->type == KK_JOINT_SLIDE || is_limited(d) || !__builtin_isinf(d->effort_limit) ||
                           !__builtin_isinf(d->velocity_limit);
    if (!is_needed) {
        return;
    }
    kki_xml_open(w, "limit");
    if (j->type == KK_JOINT_SLIDE || is_limited(d)) {
        kki_xml_put_number(w, "lower", finite(d->lower));
        kki_xml_put_number(w, "upper", finite(d->upper));
    }
    kki_xml_put_number(w, "effort", finite(d->effort_limit));
    kki_xml_put_number(w, "velocity", finite(d->velocity_limit));
    kki_xml_close(w, "limit");
}

static void write_dynamics(kki_xml_writer *w, const kk_dof_def *d) {
    if (d->damping != 0 || d->friction != 0) {
        kki_xml_open(w, "dynamics");
        kki_xml_put_number(w, "damping", d->damping);
        kki_xml_put_number(w, "friction", d->friction);
        kki_xml_close(w, "dynamics");
    }
}

static void write_mimic(kki_xml_writer *w, const kk_coupling_def *c) {
    kki_xml_open(w, "mimic");
    kki_xml_put(w, "joint", c->leader);
    kki_xml_put_number(w, "multiplier", c->ratio);
    kki_xml_put_number(w, "offset", c->offset);
    kki_xml_close(w, "mimic");
}

/// What a reader has of a degree after URDF's own elements. An effort or velocity of 0 means none there, so it is said
/// again.
static kk_dof_def dof_of_urdf(const kk_joint_def *j, int k) {
    kk_dof_def base = kk_dof_def_default();
    if (is_plain(j->type)) {
        const kk_dof_def *d = &j->dof[k];
        base.lower = d->lower;
        base.upper = d->upper;
        base.damping = d->damping;
        base.friction = d->friction;
        base.effort_limit = d->effort_limit == 0 ? __builtin_inf() : d->effort_limit;
        base.velocity_limit = d->velocity_limit == 0 ? __builtin_inf() : d->velocity_limit;
    }
    return base;
}

static bool dof_differs(const kk_joint_def *j, int k) {
    const kki_karakuri_dof own = {k, j->dof[k]}, base = {k, dof_of_urdf(j, k)};
    return kki_fields_differ(KKI_ELEMENT_DOF, &own, &base);
}

static void write_joint_karakuri(output *o, const kk_body_def *b) {
    const kk_joint_def *j = &b->joint;
    const int degrees = kki_joint_type_of(j->type)->nv;
    const bool has_type = j->type == KK_JOINT_SCREW || j->type == KK_JOINT_CYLINDRICAL ||
                          j->type == KK_JOINT_UNIVERSAL || j->type == KK_JOINT_BALL;
    const bool has_axis2 = j->type == KK_JOINT_UNIVERSAL || j->type == KK_JOINT_PLANAR;
    const kki_karakuri_joint own = {j->type, has_axis2 ? j->axis2 : kk_vec3_make(0, 0, 0),
                                    j->type == KK_JOINT_SCREW ? j->pitch : 0, b->offset};
    const kki_karakuri_joint base = {has_type ? KK_JOINT_FIXED : j->type, kk_vec3_make(0, 0, 0), 0,
                                     kk_transform_identity()};
    bool is_needed = kki_fields_differ(KKI_ELEMENT_JOINT, &own, &base);
    for (int k = 0; k < degrees; k++) {
        is_needed = is_needed || dof_differs(j, k);
    }
    if (!is_needed) {
        return;
    }
    kki_xml_open(&o->w, "karakuri");
    kki_write_fields(&o->w, o->spec, KKI_ELEMENT_JOINT, &own, &base);
    for (int k = 0; k < degrees; k++) {
        if (dof_differs(j, k)) {
            const kki_karakuri_dof dof = {k, j->dof[k]}, otherwise = {0, dof_of_urdf(j, k)};
            kki_xml_open(&o->w, "dof");
            kki_write_fields(&o->w, o->spec, KKI_ELEMENT_DOF, &dof, &otherwise);
            kki_xml_close(&o->w, "dof");
        }
    }
    kki_xml_close(&o->w, "karakuri");
}

static void write_end(kki_xml_writer *w, const char *element, const char *link) {
    kki_xml_open(w, element);
    kki_xml_put(w, "link", link);
    kki_xml_close(w, element);
}

static void write_joint(output *o, int body) {
    char made[KKI_NAME_SIZE];
    const kk_body_def *b = &o->spec->body[body], *parent = &o->spec->body[b->parent];
    const kk_joint_def *j = &b->joint;
    kki_xml_open(&o->w, "joint");
    kki_xml_put(&o->w, "name", joint_name(b, made));
    kki_xml_put(&o->w, "type", urdf_type(j));
    write_end(&o->w, "parent", parent->name);
    write_end(&o->w, "child", b->name);
    write_origin(&o->w, b->parent == KK_WORLD ? j->placement : kk_transform_mul(parent->offset, j->placement));
    if (j->type != KK_JOINT_FIXED && j->type != KK_JOINT_FREE && j->type != KK_JOINT_BALL) {
        kki_xml_open(&o->w, "axis");
        kki_xml_put_vec3(&o->w, "xyz", j->axis);
        kki_xml_close(&o->w, "axis");
    }
    if (is_plain(j->type)) {
        write_limit(&o->w, j);
        write_dynamics(&o->w, &j->dof[0]);
    }
    if (o->mimic[body] >= 0) {
        write_mimic(&o->w, &o->spec->coupling[o->mimic[body]]);
    }
    write_joint_karakuri(o, b);
    kki_xml_close(&o->w, "joint");
}

// ---- preparing

/// One free robot at the origin needs no world.
static bool needs_world(const output *o) {
    const kk_spec *s = o->spec;
    int roots = 0;
    bool is_plain_root = true;
    for (int i = 1; i < s->nbody; i++) {
        const kk_body_def *b = &s->body[i];
        char made[KKI_NAME_SIZE];
        if (b->parent != KK_WORLD) {
            continue;
        }
        roots++;
        is_plain_root = b->joint.type == KK_JOINT_FREE && is_identity(b->joint.placement) && is_identity(b->offset);
        kki_print(made, sizeof made, "%.*s_joint", kki_whole_length(b->name, KKI_MOST_NAME), b->name);
        is_plain_root = is_plain_root && (!b->joint.name || !b->joint.name[0] || strcmp(b->joint.name, made) == 0);
        for (int k = 0; k < KK_MAX_JOINT_DOFS; k++) {
            is_plain_root = is_plain_root && !dof_differs(&b->joint, k);
        }
    }
    return roots != 1 || !is_plain_root || o->first_shape[KK_WORLD] >= 0 || s->body[KK_WORLD].inertia.mass > 0;
}

/// Couplings that <mimic> can say, one a joint.
static kk_status find_mimics(output *o) {
    const kk_spec *s = o->spec;
    kk_status status = KK_OK;
    for (int i = 1; i < s->nbody && status == KK_OK; i++) {
        const char *name = s->body[i].joint.name;
        status = name && name[0] ? kki_name_table_set(&o->joints, name, i) : KK_OK;
    }
    for (int i = 0; i < s->ncoupling && status == KK_OK; i++) {
        const kk_coupling_def *c = &s->coupling[i];
        const int32_t follower = c->follower ? kki_name_table_find(&o->joints, c->follower) : -1;
        const int32_t leader = c->leader ? kki_name_table_find(&o->joints, c->leader) : -1;
        const bool is_simple = follower >= 0 && leader >= 0 && !(c->name && c->name[0]) &&
                               is_plain(s->body[follower].joint.type) && is_plain(s->body[leader].joint.type);
        if (is_simple && o->mimic[follower] < 0) {
            o->mimic[follower] = i;
            o->is_mimic[i] = 1;
        }
    }
    return status;
}

/// Lists of the shapes of each body, in order.
static void list_shapes(output *o) {
    const kk_spec *s = o->spec;
    for (int i = 0; i < s->nbody; i++) {
        o->first_shape[i] = o->mimic[i] = -1;
    }
    for (int i = s->nshape - 1; i >= 0; i--) {
        o->next_shape[i] = o->first_shape[s->shape[i].body];
        o->first_shape[s->shape[i].body] = i;
    }
}

static kk_status prepare(output *o) {
    const kk_allocator *a = &o->w.allocator;
    const size_t bodies = (size_t)o->spec->nbody;
    o->first_shape = kki_allocate_array(a, bodies, sizeof *o->first_shape);
    o->mimic = kki_allocate_array(a, bodies, sizeof *o->mimic);
    o->next_shape = kki_allocate_array(a, (size_t)o->spec->nshape, sizeof *o->next_shape);
    o->is_mimic = kki_allocate_array_zeroed(a, (size_t)o->spec->ncoupling, sizeof *o->is_mimic);
    kki_name_table_create(&o->joints, a);
    if (!o->first_shape || !o->mimic || !o->next_shape || !o->is_mimic) {
        return KK_OUT_OF_MEMORY;
    }
    list_shapes(o);
    o->has_world = needs_world(o);
    return find_mimics(o);
}

static void release(output *o) {
    const kk_allocator *a = &o->w.allocator;
    const size_t bodies = (size_t)o->spec->nbody;
    kki_release_array(a, o->first_shape, bodies, sizeof *o->first_shape);
    kki_release_array(a, o->mimic, bodies, sizeof *o->mimic);
    kki_release_array(a, o->next_shape, (size_t)o->spec->nshape, sizeof *o->next_shape);
    kki_release_array(a, o->is_mimic, (size_t)o->spec->ncoupling, sizeof *o->is_mimic);
    kki_name_table_destroy(&o->joints);
}

/// Ids that lead nowhere would be read outside the arrays; the model's compilation names them.
static kk_status check_ids(const kk_spec *s, kk_error *error) {
    for (int i = 1; i < s->nbody; i++) {
        const kk_body_def *b = &s->body[i];
        if (b->parent < 0 || b->parent >= i || !b->name || !kki_joint_type_of(b->joint.type)) {
            return kki_error_set(error, KK_INVALID_MODEL, "body %d has no name, no earlier parent or no joint type", i);
        }
    }
    for (int i = 0; i < s->nshape; i++) {
        const kk_shape_def *d = &s->shape[i];
        const bool has_mesh = d->type == KK_SHAPE_HULL || d->type == KK_SHAPE_MESH;
        if (d->body < 0 || d->body >= s->nbody || d->visual >= s->nvisual ||
            (has_mesh && (d->mesh < 0 || d->mesh >= s->nmesh))) {
            return kki_error_set(error, KK_INVALID_MODEL, "shape %d has a body, a mesh or a look that does not exist",
                                 i);
        }
    }
    for (int i = 0; i < s->nframe + s->nloop; i++) {
        const kk_loop_def *l = i < s->nframe ? NULL : &s->loop[i - s->nframe];
        const int a = l ? l->body[0] : s->frame[i].body, b = l ? l->body[1] : 0;
        if (a < 0 || a >= s->nbody || b < 0 || b >= s->nbody) {
            return kki_error_set(error, KK_INVALID_MODEL, "a frame or a loop is on a body that does not exist");
        }
    }
    return KK_OK;
}

// ---- the whole

/// Looks by name at the top, so that those that no visual has are kept; of several with one name the first.
static void write_visuals(output *o) {
    kki_name_table names;
    kki_name_table_create(&names, &o->w.allocator);
    for (int i = 0; i < o->spec->nvisual; i++) {
        const char *name = o->spec->visual[i].name;
        if (!name || !name[0] || kki_name_table_find(&names, name) >= 0) {
            continue;
        }
        if (kki_name_table_set(&names, name, i) != KK_OK) {
            kki_error_set(&o->error, KK_OUT_OF_MEMORY, "no memory to write the looks");
        }
        write_visual(&o->w, o->options ? o->options->directory : NULL, &o->spec->visual[i], i);
    }
    kki_name_table_destroy(&names);
}

static void write_robot(output *o) {
    const kk_spec *s = o->spec;
    kki_xml_open(&o->w, "robot");
    kki_xml_put(&o->w, "name", s->name && s->name[0] ? s->name : "robot");
    write_visuals(o);
    if (o->has_world) {
        write_link(o, KK_WORLD);
    }
    for (int i = 1; i < s->nbody; i++) {
        write_link(o, i);
        if (s->body[i].parent != KK_WORLD || o->has_world) {
            write_joint(o, i);
        }
    }
    kki_write_karakuri(&o->w, s, o->is_mimic);
    kki_xml_close(&o->w, "robot");
}

kk_status kk_spec_write_urdf(const kk_spec *spec, const kk_save_options *options, const kk_allocator *allocator,
                             char **text, size_t *size, kk_error *error) {
    if (!spec || !text || !size) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "kk_spec_write_urdf: the spec or a place for the text is NULL");
    }
    *text = NULL;
    *size = 0;
    kk_status status = check_ids(spec, error);
    if (status != KK_OK) {
        return status;
    }
    output o = {.spec = spec, .options = options};
    kki_xml_write_begin(&o.w, allocator);
    status = prepare(&o);
    if (status == KK_OK) {
        write_robot(&o);
    } else {
        o.w.status = kki_error_set(&o.w.error, status, "no memory to write the robot");
    }
    if (o.w.status == KK_OK && o.error.status != KK_OK) {
        o.w.status = o.error.status;
        o.w.error = o.error;
    }
    release(&o);
    return kki_xml_write_end(&o.w, text, size, error);
}

void kk_text_free(const kk_allocator *allocator, char *text, size_t size) {
    const kk_allocator own = kki_allocator_or_default(allocator);
    kki_release(&own, text, size + 1);
}
