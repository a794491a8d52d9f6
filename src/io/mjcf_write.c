/// Writing MJCF: options and assets, then one nested tree of bodies; what refers to them is in mjcf_write_sections.c.
///
/// MuJoCo's body stands where ours stands with all joints at 0, and its joints lie in its own frame: the frame J of a joint,
/// seen from the body, is where it is at rest. A chain of massless bodies NAME/1, NAME/2 before NAME, as the reader makes of
/// several joints, becomes one body again: joint i of it is seen through the rest poses of those after it.
#include <karakuri/save.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/missing.h"
#include "base/print.h"
#include "io/karakuri_write.h"
#include "io/mjcf.h"
#include "io/mjcf_write.h"
#include "io/path.h"
#include "io/text.h"
#include "io/xml_write.h"

enum { MOST_CHAIN = 16, MOST_TEXT = 1200 };

// ---- small parts

static void write_pose(kki_xml_writer *w, kk_transform X) {
    const kk_quat q = kk_quat_from_mat3(X.R);
    if (X.p.x != 0 || X.p.y != 0 || X.p.z != 0) {
        kki_xml_put_vec3(w, "pos", X.p);
    }
    if (q.w != 1) {
        kki_xml_put_numbers(w, "quat", (const double[4]){q.w, q.x, q.y, q.z}, 4);
    }
}

// ---- chains

static bool is_massless(const kk_inertia *I) {
    const kk_sym3 *s = &I->moment;
    return I->mass == 0 && s->xx == 0 && s->yy == 0 && s->zz == 0;
}

/// Whether the body is NAME/… before its only child NAME and carries nothing.
static bool is_link_of_chain(const kki_mjcf_output *o, int id) {
    const kk_body_def *b = kk_spec_body_const(o->spec, id);
    const int child = o->first_child[id];
    if (id == KK_WORLD || child < 0 || o->next_sibling[child] >= 0 || !is_massless(&b->inertia) ||
        o->shape_first[id] >= 0 || o->frame_first[id] >= 0) {
        return false;
    }
    const kk_body_def *c = kk_spec_body_const(o->spec, child);
    const char *slash = strrchr(b->name, '/');
    const size_t length = slash ? (size_t)(slash - b->name) : 0;
    const bool same =
        slash && strncmp(b->name, c->name, length) == 0 && (c->name[length] == 0 || c->name[length] == '/');
    return same && b->joint.type != KK_JOINT_FIXED && b->joint.type != KK_JOINT_FREE &&
           c->joint.type != KK_JOINT_FIXED && c->joint.type != KK_JOINT_FREE;
}

static kk_transform rest_pose(const kk_body_def *b) {
    return kk_transform_mul(b->joint.placement, b->offset);
}

// ---- joints

static void write_dof(kki_xml_writer *w, const kk_dof_def *d, kk_joint_type type) {
    if (type == KK_JOINT_BALL) {
        if (!__builtin_isinf(d->upper)) {
            kki_xml_put_numbers(w, "range", (const double[2]){0, d->upper}, 2);
        }
    } else {
        kki_mjcf_put_range(w, "range", d->lower, d->upper);
    }
    kki_xml_put_unless(w, "stiffness", d->stiffness, 0);
    kki_xml_put_unless(w, "springref", d->rest, 0);
    kki_xml_put_unless(w, "damping", d->damping, 0);
    kki_xml_put_unless(w, "frictionloss", d->friction, 0);
    kki_xml_put_unless(w, "armature", d->armature + d->rotor_inertia * d->gear_ratio * d->gear_ratio, 0);
    if (!__builtin_isinf(d->effort_limit) && d->effort_limit > 0 && type != KK_JOINT_BALL) {
        kki_xml_put_numbers(w, "actuatorfrcrange", (const double[2]){-d->effort_limit, d->effort_limit}, 2);
    }
}

static void write_scalar(kki_mjcf_output *o, const kk_body_def *b, const char *ending, bool is_slide, kk_vec3 axis,
                         kk_transform X_JB, int dof) {
    char name[MOST_TEXT];
    const bool has_name = b->joint.name && b->joint.name[0];
    const char *own = has_name ? b->joint.name : b->name;
    kki_print(name, sizeof name, "%.*s%s%s", kki_whole_length(own, KKI_MOST_NAME), own, has_name ? "" : "_joint",
              ending);
    kki_xml_open(&o->w, "joint");
    kki_xml_put(&o->w, "name", name);
    kki_xml_put(&o->w, "type", is_slide ? "slide" : "hinge");
    kki_xml_put_vec3(&o->w, "pos", kk_transform_inverse(X_JB).p);
    kki_xml_put_vec3(&o->w, "axis", kk_mat3_tmul_vec(X_JB.R, axis));
    write_dof(&o->w, &b->joint.dof[dof], KK_JOINT_HINGE);
    kki_xml_close(&o->w, "joint");
}

static void write_ball(kki_mjcf_output *o, const kk_body_def *b, kk_transform X_JB) {
    kki_xml_open(&o->w, "joint");
    kki_xml_put_if(&o->w, "name", b->joint.name);
    kki_xml_put(&o->w, "type", "ball");
    kki_xml_put_vec3(&o->w, "pos", kk_transform_inverse(X_JB).p);
    write_dof(&o->w, &b->joint.dof[0], KK_JOINT_BALL);
    kki_xml_close(&o->w, "joint");
}

static kk_vec3 unit(kk_vec3 v) {
    const double n = kk_vec3_norm(v);
    return n > 0 ? kk_vec3_scale(v, 1 / n) : v;
}

static void write_free(kki_mjcf_output *o, const kk_body_def *b) {
    const kk_dof_def *d = &b->joint.dof[0];
    const bool is_plain = d->damping == 0 && d->armature == 0 && d->stiffness == 0 && d->friction == 0;
    const char *element = is_plain ? "freejoint" : "joint";
    kki_xml_open(&o->w, element);
    kki_xml_put_if(&o->w, "name", b->joint.name);
    if (!is_plain) {
        kki_xml_put(&o->w, "type", "free");
        kki_xml_put_unless(&o->w, "stiffness", d->stiffness, 0);
        kki_xml_put_unless(&o->w, "damping", d->damping, 0);
        kki_xml_put_unless(&o->w, "frictionloss", d->friction, 0);
        kki_xml_put_unless(&o->w, "armature", d->armature, 0);
    }
    kki_xml_close(&o->w, element);
}

/// A body's joint, seen from the body that is written.
static void write_joint(kki_mjcf_output *o, const kk_body_def *b, kk_transform X_JB) {
    const kk_joint_def *j = &b->joint;
    const kk_vec3 a = unit(j->axis);
    const kk_vec3 a2 = unit(kk_vec3_sub(j->axis2, kk_vec3_scale(a, kk_vec3_dot(a, j->axis2))));
    switch (j->type) {
    case KK_JOINT_HINGE: write_scalar(o, b, "", false, j->axis, X_JB, 0); break;
    case KK_JOINT_SLIDE: write_scalar(o, b, "", true, j->axis, X_JB, 0); break;
    case KK_JOINT_CYLINDRICAL:
        write_scalar(o, b, "_turn", false, j->axis, X_JB, 0);
        write_scalar(o, b, "_travel", true, j->axis, X_JB, 1);
        break;
    case KK_JOINT_UNIVERSAL:
        write_scalar(o, b, "_1", false, j->axis, X_JB, 0);
        write_scalar(o, b, "_2", false, j->axis2, X_JB, 1);
        break;
    case KK_JOINT_PLANAR:
        write_scalar(o, b, "_x", true, a2, X_JB, 0);
        write_scalar(o, b, "_y", true, kk_vec3_cross(a, a2), X_JB, 1);
        write_scalar(o, b, "_turn", false, a, X_JB, 2);
        break;
    case KK_JOINT_BALL: write_ball(o, b, X_JB); break;
    case KK_JOINT_FREE: write_free(o, b); break;
    case KK_JOINT_SCREW:
        o->status = kki_error_set(o->error, KK_UNSUPPORTED, "body \"%s\": MJCF has no screws; write URDF", b->name);
        break;
    default: break;
    }
}

// ---- what is on a body

static void write_inertial(kki_xml_writer *w, const kk_inertia *I) {
    const kk_sym3 *s = &I->moment;
    if (I->mass == 0) {
        return;
    }
    kki_xml_open(w, "inertial");
    kki_xml_put_vec3(w, "pos", I->com);
    kki_xml_put_number(w, "mass", I->mass);
    kki_xml_put_numbers(w, "fullinertia", (const double[6]){s->xx, s->yy, s->zz, s->xy, s->xz, s->yz}, 6);
    kki_xml_close(w, "inertial");
}

static void put_size(kki_xml_writer *w, const kk_shape_def *s) {
    switch (s->type) {
    case KK_SHAPE_SPHERE: kki_xml_put_number(w, "size", s->size[0]); break;
    case KK_SHAPE_CAPSULE:
    case KK_SHAPE_CYLINDER: kki_xml_put_numbers(w, "size", (const double[2]){s->size[0], s->size[1] / 2}, 2); break;
    case KK_SHAPE_ELLIPSOID: kki_xml_put_numbers(w, "size", s->size, 3); break;
    case KK_SHAPE_BOX:
        kki_xml_put_numbers(w, "size", (const double[3]){s->size[0] / 2, s->size[1] / 2, s->size[2] / 2}, 3);
        break;
    case KK_SHAPE_PLANE: kki_xml_put(w, "size", "0 0 1"); break;
    default: break;
    }
}

static void put_surface(kki_xml_writer *w, kk_motion v) {
    const double six[6] = {v.linear.x, v.linear.y, v.linear.z, v.angular.x, v.angular.y, v.angular.z};
    for (int i = 0; i < 6; i++) {
        if (six[i] != 0) {
            kki_xml_put_numbers(w, "surfacevel", six, 6);
            return;
        }
    }
}

static void write_shape(kki_mjcf_output *o, int id) {
    static const char *const types[KK_SHAPE_TYPE_COUNT] = {"plane",     "sphere", "capsule", "cylinder", NULL,
                                                           "ellipsoid", "box",    "mesh",    "mesh",     "hfield"};
    const kk_shape_def *s = kk_spec_shape_const(o->spec, id);
    kki_xml_writer *w = &o->w;
    if (!types[s->type]) {
        kki_mjcf_comment(o, "a cone, which MJCF has not, is left out here");
        return;
    }
    const bool collides = (s->purpose & KK_SHAPE_COLLIDES) != 0;
    kki_xml_open(w, "geom");
    kki_mjcf_put_shape_name(w, "name", o->spec, id);
    kki_xml_put(w, "type", types[s->type]);
    put_size(w, s);
    if (s->mesh >= 0) {
        kki_xml_put(w, "mesh", kk_spec_mesh_const(o->spec, s->mesh)->name);
    }
    if (s->height_field >= 0) {
        kki_xml_put(w, "hfield", kk_spec_height_field_const(o->spec, s->height_field)->name);
    }
    write_pose(w, s->placement);
    // MuJoCo's are signed: all 32 bits are -1
    kki_xml_put_int(w, "contype", collides ? (int32_t)s->group : 0);
    kki_xml_put_int(w, "conaffinity", collides ? (int32_t)s->mask : 0);
    kki_xml_put_int(w, "group", s->purpose & KK_SHAPE_VISIBLE ? 0 : 3);
    kki_mjcf_put_contact(&o->contacts, w, s->material, s->body, false);
    kki_xml_put_unless(w, "margin", 2 * s->margin, 0);
    put_surface(w, s->surface);
    if (s->visual >= 0) {
        kki_mjcf_put_word(w, "material", "look", s->visual);
    }
    kki_xml_close(w, "geom");
}

/// The volume that a sensor has about this frame becomes the site's; without one touch sensors feel everything.
static void write_zone(kki_mjcf_output *o, const char *frame) {
    static const char *const types[KK_SHAPE_TYPE_COUNT] = {[KK_SHAPE_SPHERE] = "sphere",
                                                           [KK_SHAPE_CAPSULE] = "capsule",
                                                           [KK_SHAPE_CYLINDER] = "cylinder",
                                                           [KK_SHAPE_ELLIPSOID] = "ellipsoid",
                                                           [KK_SHAPE_BOX] = "box"};
    for (int i = 0; i < kk_spec_sensor_count(o->spec); i++) {
        const kk_sensor_def *s = kk_spec_sensor_const(o->spec, i);
        const char *name = s->type == KK_SENSOR_CONTACT    ? s->target
                           : s->type == KK_SENSOR_INSIDE   ? s->reference
                           : s->type == KK_SENSOR_CONTACTS ? s->zone_frame
                                                           : NULL;
        if (name && strcmp(name, frame) == 0) {
            const bool is_everywhere = s->zone_size[0] == 0,
                       has_length = s->zone == KK_SHAPE_CAPSULE || s->zone == KK_SHAPE_CYLINDER;
            const double *size = s->zone_size, all = KK_FARTHEST;
            const double half[3] = {is_everywhere             ? all
                                    : s->zone == KK_SHAPE_BOX ? size[0] / 2
                                                              : size[0],
                                    has_length || s->zone == KK_SHAPE_BOX ? size[1] / 2 : size[1],
                                    s->zone == KK_SHAPE_BOX ? size[2] / 2 : size[2]};
            kki_xml_put(&o->w, "type", is_everywhere ? "sphere" : types[s->zone]);
            kki_xml_put_vec3(&o->w, "size", kk_vec3_make(half[0], half[1], half[2]));
            return;
        }
    }
}

static void write_contents(kki_mjcf_output *o, int id) {
    kki_xml_writer *w = &o->w;
    for (int s = o->shape_first[id]; s >= 0; s = o->shape_next[s]) {
        write_shape(o, s);
    }
    for (int f = o->frame_first[id]; f >= 0; f = o->frame_next[f]) {
        const kk_frame_def *frame = kk_spec_frame_const(o->spec, f);
        kki_xml_open(w, "site");
        kki_xml_put(w, "name", frame->name);
        write_pose(w, frame->placement);
        write_zone(o, frame->name);
        kki_xml_close(w, "site");
    }
}

// ---- the tree

/// Opens the body that starts with `id` and gives the one that it ends with: its chain is one body.
static int open_body(kki_mjcf_output *o, int id) {
    int chain[MOST_CHAIN], count = 0;
    chain[count++] = id;
    while (is_link_of_chain(o, id) && count < MOST_CHAIN) {
        id = o->first_child[id];
        chain[count++] = id;
    }
    kk_transform X = kk_transform_identity(), below[MOST_CHAIN]; // X_JB of each joint
    for (int i = count - 1; i >= 0; i--) {
        const kk_body_def *b = kk_spec_body_const(o->spec, chain[i]);
        below[i] = kk_transform_mul(b->offset, X);
        X = kk_transform_mul(rest_pose(b), X);
        o->order[o->order_count + i] = chain[i];
    }
    o->order_count += count;
    const kk_body_def *last = kk_spec_body_const(o->spec, id);
    kki_xml_open(&o->w, "body");
    kki_xml_put(&o->w, "name", last->name);
    if (last->gravity_compensation != 0) {
        kki_xml_put_number(&o->w, "gravcomp", last->gravity_compensation);
    }
    write_pose(&o->w, X);
    for (int i = 0; i < count; i++) {
        const kk_body_def *b = kk_spec_body_const(o->spec, chain[i]);
        if (b->joint.type == KK_JOINT_FREE && b->parent != KK_WORLD) {
            o->status = kki_error_set(o->error, KK_UNSUPPORTED,
                                      "body \"%s\": MJCF has free joints on the world only; write URDF", b->name);
        }
        write_joint(o, b, below[i]);
    }
    write_inertial(&o->w, &last->inertia);
    write_contents(o, id);
    return id;
}

/// The body that a written one starts with, seen from the one it ends with.
static int start_of(const kki_mjcf_output *o, int id) {
    int parent = kk_spec_body_const(o->spec, id)->parent;
    for (int i = 1; i < MOST_CHAIN && parent > 0 && is_link_of_chain(o, parent); i++) {
        id = parent;
        parent = kk_spec_body_const(o->spec, id)->parent;
    }
    return id;
}

static void write_tree(kki_mjcf_output *o) {
    kki_xml_open(&o->w, "worldbody");
    write_contents(o, KK_WORLD);
    int at = KK_WORLD;
    while (o->status == KK_OK) {
        if (o->first_child[at] >= 0) {
            at = open_body(o, o->first_child[at]);
            continue;
        }
        while (at != KK_WORLD && o->next_sibling[start_of(o, at)] < 0) {
            kki_xml_close(&o->w, "body");
            at = kk_spec_body_const(o->spec, start_of(o, at))->parent;
        }
        if (at == KK_WORLD) {
            break;
        }
        kki_xml_close(&o->w, "body");
        at = open_body(o, o->next_sibling[start_of(o, at)]);
    }
    kki_xml_close(&o->w, "worldbody");
}

// ---- before the tree

static void write_mesh(kki_mjcf_output *o, const kk_mesh_def *mesh) {
    kki_xml_writer *w = &o->w;
    char path[KKI_PATH_SIZE];
    const bool has_file = mesh->file && mesh->file[0];
    const char *file = mesh->reference && mesh->reference[0] ? mesh->reference : mesh->file;
    if (o->options->directory && has_file && kki_path_from(o->options->directory, mesh->file, path)) {
        file = path;
    }
    kki_xml_open(w, "mesh");
    kki_xml_put(w, "name", mesh->name);
    if (file && file[0]) {
        kki_xml_put(w, "file", file);
        if (mesh->scale.x != 1 || mesh->scale.y != 1 || mesh->scale.z != 1) {
            kki_xml_put_vec3(w, "scale", mesh->scale);
        }
    } else {
        double *faces = kki_allocate_array(&w->allocator, 3 * (size_t)mesh->face_count, sizeof *faces);
        for (int i = 0; faces && i < 3 * mesh->face_count; i++) {
            const int32_t *corner = mesh->face[i / 3];
            faces[i] = corner[i % 3];
        }
        kki_xml_put_numbers(w, "vertex", (const double *)mesh->vertex, 3 * mesh->vertex_count);
        if (faces) {
            kki_xml_put_numbers(w, "face", faces, 3 * mesh->face_count);
        } else {
            o->status = kki_error_set(o->error, KK_OUT_OF_MEMORY, "no memory for the faces of mesh \"%s\"", mesh->name);
        }
        kki_release_array(&w->allocator, faces, 3 * (size_t)mesh->face_count, sizeof *faces);
    }
    kki_xml_close(w, "mesh");
}

static void write_field(kki_mjcf_output *o, const kk_height_field_def *h) {
    kki_xml_writer *w = &o->w;
    const size_t count = (size_t)h->rows * (size_t)h->columns, columns = (size_t)h->columns;
    double top = 0, *rows = kki_allocate_array(&w->allocator, count, sizeof *rows);
    if (!rows) {
        o->status = kki_error_set(o->error, KK_OUT_OF_MEMORY, "no memory for height field \"%s\"", h->name);
        return;
    }
    for (size_t i = 0; i < count; i++) { // from the far edge to the near one
        rows[(count / columns - 1 - i / columns) * columns + i % columns] = h->height[i];
        top = h->height[i] > top ? h->height[i] : top;
    }
    kki_xml_open(w, "hfield");
    kki_xml_put(w, "name", h->name);
    kki_xml_put_int(w, "nrow", h->rows);
    kki_xml_put_int(w, "ncol", h->columns);
    kki_xml_put_numbers(w, "size",
                        (const double[4]){h->half_x, h->half_y, top > 0 ? top : 1, h->base > 0 ? h->base : 0.001}, 4);
    kki_xml_put_numbers(w, "elevation", rows, (int)count);
    kki_xml_close(w, "hfield");
    kki_release_array(&w->allocator, rows, count, sizeof *rows);
}

/// MuJoCo needs a size for a pattern, in pixels.
/// A file by its way from the folder that the model is written to.
static void write_texture_file(const kki_mjcf_output *o, kki_xml_writer *w, const char *file) {
    char path[KKI_PATH_SIZE];
    const bool is_whole =
        kki_path_is_absolute(file) && o->options->directory && kki_path_from(o->options->directory, file, path);
    kki_xml_put(w, "file", is_whole ? path : file);
}

static void write_texture(kki_mjcf_output *o, const kk_visual_def *visual, int number) {
    kki_xml_writer *w = &o->w;
    static const char *const words[] = {"none", "flat", "gradient", "checker"};
    const float(*c)[3] = visual->pattern_color;
    kki_xml_open(w, "texture");
    kki_mjcf_put_word(w, "name", "texture", number);
    kki_xml_put(w, "type", "2d");
    if (visual->texture && visual->texture[0]) {
        write_texture_file(o, w, visual->texture);
    } else {
        kki_xml_put(w, "builtin", words[visual->pattern]);
        kki_xml_put_numbers(w, "rgb1", (const double[3]){c[0][0], c[0][1], c[0][2]}, 3);
        kki_xml_put_numbers(w, "rgb2", (const double[3]){c[1][0], c[1][1], c[1][2]}, 3);
        kki_xml_put(w, "width", "256");
        kki_xml_put(w, "height", "256");
    }
    kki_xml_close(w, "texture");
}

static void write_assets(kki_mjcf_output *o) {
    kki_xml_writer *w = &o->w;
    kki_xml_open(w, "asset");
    for (int i = 0; i < kk_spec_visual_count(o->spec); i++) {
        const kk_visual_def *visual = kk_spec_visual_const(o->spec, i);
        const bool has_texture = (visual->texture && visual->texture[0]) || visual->pattern != KK_PATTERN_NONE;
        if (has_texture) {
            write_texture(o, visual, i);
        }
        kki_xml_open(w, "material");
        kki_mjcf_put_word(w, "name", "look", i);
        if (has_texture) {
            kki_mjcf_put_word(w, "texture", "texture", i);
            kki_xml_put_numbers(w, "texrepeat", (const double[2]){visual->repeat[0], visual->repeat[1]}, 2);
            kki_xml_put(w, "texuniform", visual->repeats_by_size ? "true" : "false");
        }
        kki_xml_put_numbers(
            w, "rgba", (const double[4]){visual->color[0], visual->color[1], visual->color[2], visual->color[3]}, 4);
        kki_xml_close(w, "material");
    }
    for (int i = 0; i < kk_spec_mesh_count(o->spec); i++) {
        write_mesh(o, kk_spec_mesh_const(o->spec, i));
    }
    for (int i = 0; i < kk_spec_height_field_count(o->spec); i++) {
        write_field(o, kk_spec_height_field_const(o->spec, i));
    }
    kki_xml_close(w, "asset");
}

static void write_options(kki_mjcf_output *o) {
    const kk_options *options = kk_spec_options_const(o->spec);
    kki_xml_writer *w = &o->w;
    kki_xml_open(w, "compiler");
    kki_xml_put(w, "angle", "radian");
    kki_xml_put(w, "inertiafromgeom", "false");
    kki_xml_close(w, "compiler");
    kki_xml_open(w, "option");
    kki_xml_put_vec3(w, "gravity", options->gravity);
    kki_xml_put_vec3(w, "magnetic", options->magnetic);
    kki_xml_put_number(w, "timestep", options->timestep);
    kki_xml_put(w, "integrator", options->integrator == KK_INTEGRATOR_RK4 ? "RK4" : "implicitfast");
    if (options->adjacent_collide) {
        kki_xml_open(w, "flag");
        kki_xml_put(w, "filterparent", "disable");
        kki_xml_close(w, "flag");
    }
    kki_xml_close(w, "option");
}

static void write_all(kki_mjcf_output *o) {
    const char *name = kk_spec_name(o->spec);
    kki_xml_open(&o->w, "mujoco");
    kki_xml_put_if(&o->w, "model", name);
    write_options(o);
    write_assets(o);
    write_tree(o);
    kki_mjcf_write_sections(o);
    if (kk_spec_script_count(o->spec) + kk_spec_parameter_count(o->spec) > 0) {
        kki_xml_open(&o->w, "karakuri");
        kki_write_scripts(&o->w, o->spec);
        kki_xml_close(&o->w, "karakuri");
    }
    kki_xml_close(&o->w, "mujoco");
}

// ---- lists

/// Items of each body, in their order; filled from the back.
static void link_items(kki_mjcf_output *o) {
    const kk_spec *s = o->spec;
    const int bodies = kk_spec_body_count(s);
    for (int i = 0; i < bodies; i++) {
        o->first_child[i] = o->next_sibling[i] = o->shape_first[i] = o->frame_first[i] = -1;
    }
    for (int i = bodies - 1; i > 0; i--) {
        const int p = kk_spec_body_const(s, i)->parent;
        o->next_sibling[i] = o->first_child[p];
        o->first_child[p] = i;
    }
    for (int i = kk_spec_shape_count(s) - 1; i >= 0; i--) {
        const int b = kk_spec_shape_const(s, i)->body;
        o->shape_next[i] = o->shape_first[b];
        o->shape_first[b] = i;
    }
    for (int i = kk_spec_frame_count(s) - 1; i >= 0; i--) {
        const int b = kk_spec_frame_const(s, i)->body;
        o->frame_next[i] = o->frame_first[b];
        o->frame_first[b] = i;
    }
}

static kk_status check_parents(const kk_spec *s, kk_error *error) {
    const int bodies = kk_spec_body_count(s);
    for (int i = 1; i < bodies; i++) {
        const kk_body_def *b = kk_spec_body_const(s, i);
        if (b->parent < 0 || b->parent >= i || !b->name || (int)b->joint.type < 0 || b->joint.type > KK_JOINT_FREE) {
            return kki_error_set(error, KK_INVALID_ARGUMENT,
                                 "body %d has no earlier parent, no name or no joint; set them", i);
        }
    }
    for (int i = 0; i < kk_spec_shape_count(s); i++) {
        const kk_shape_def *d = kk_spec_shape_const(s, i);
        if (d->body < 0 || d->body >= bodies || d->mesh >= kk_spec_mesh_count(s) || (int)d->type < 0 ||
            (int)d->type >= KK_SHAPE_TYPE_COUNT || d->material < 0 || d->material >= kk_spec_material_count(s) ||
            d->height_field >= kk_spec_height_field_count(s)) {
            return kki_error_set(error, KK_INVALID_ARGUMENT, "shape %d refers to what is not there; compile the spec",
                                 i);
        }
    }
    for (int i = 0; i < s->nmaterial_pair; i++) {
        const int *m = s->material_pair[i].material;
        if (m[0] < 0 || m[1] < 0 || m[0] >= s->nmaterial || m[1] >= s->nmaterial) {
            return kki_error_set(error, KK_INVALID_ARGUMENT, "pair %d of materials has one that is not there", i);
        }
    }
    for (int i = 0; i < s->npair; i++) {
        if (s->pair[i].material >= s->nmaterial || s->pair[i].shape[0] < 0 || s->pair[i].shape[1] < 0 ||
            s->pair[i].shape[0] >= s->nshape || s->pair[i].shape[1] >= s->nshape) {
            return kki_error_set(error, KK_INVALID_ARGUMENT, "pair %d refers to what is not there", i);
        }
    }
    for (int i = 0; i < kk_spec_frame_count(s); i++) {
        const int b = kk_spec_frame_const(s, i)->body;
        if (b < 0 || b >= bodies) {
            return kki_error_set(error, KK_INVALID_ARGUMENT, "frame %d is on no body; compile the spec", i);
        }
    }
    return KK_OK;
}

kk_status kk_spec_write_mjcf(const kk_spec *spec, const kk_save_options *options, const kk_allocator *allocator,
                             char **text, size_t *size, kk_error *error) {
    if (kki_is_missing(spec, text, size)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    static const kk_save_options as_it_is = {0};
    const kk_allocator own = kki_allocator_or_default(allocator);
    *text = NULL;
    *size = 0;
    kk_status status = check_parents(spec, error);
    if (status != KK_OK) {
        return status;
    }
    const size_t bodies = (size_t)kk_spec_body_count(spec), shapes = (size_t)kk_spec_shape_count(spec),
                 frames = (size_t)kk_spec_frame_count(spec), total = 7 * bodies + shapes + frames;
    kki_mjcf_output o = {.spec = spec, .options = options ? options : &as_it_is, .error = error};
    status = kki_mjcf_contacts_create(&o.contacts, spec, &own);
    int *block = status ? NULL : kki_allocate_array(&own, total, sizeof *block);
    if (!block) {
        if (!status) {
            kki_mjcf_contacts_destroy(&o.contacts);
        }
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory to write %d bodies", (int)bodies);
    }
    o.first_child = block;
    o.next_sibling = block + bodies;
    o.shape_first = block + 2 * bodies;
    o.frame_first = block + 3 * bodies;
    o.order = block + 4 * bodies;
    o.q_at = block + 5 * bodies;
    o.v_at = block + 6 * bodies;
    o.shape_next = block + 7 * bodies;
    o.frame_next = o.shape_next + shapes;
    link_items(&o);
    kki_mjcf_number_coordinates(&o);
    kki_xml_write_begin(&o.w, &own);
    write_all(&o);
    status = kki_xml_write_end(&o.w, text, size, o.status ? NULL : error);
    if (o.status != KK_OK && *text) {
        kk_text_free(&own, *text, *size);
        *text = NULL;
        *size = 0;
    }
    kki_mjcf_contacts_destroy(&o.contacts);
    kki_release_array(&own, block, total, sizeof *block);
    return o.status ? o.status : status;
}
