// karakuri info MODEL: the tree with joints, limits and masses; dimensions; totals.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "grid.h"
#include "load.h"
#include "shared_options.h"
#include "tape.h"

typedef struct info_options {
    const char *model;
    bool degrees;
} info_options;

static const cli_option arguments[] = {
    ARGUMENT_MODEL(info_options),
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "degrees",
     .letter = 'd',
     .kind = CLI_FLAG,
     .offset = offsetof(info_options, degrees),
     .about = "angles in degrees (the JSON document stays in radians)"},
    {.name = NULL},
};

// ---- the tree

typedef struct tree {
    int *first_child, *next; ///< [nbody] in the model's order; −1: none
    int *depth;
} tree;

static tree make_tree(const kk_model *m) {
    const int n = kk_model_nbody(m);
    tree t = {cli_allocate((size_t)n, sizeof(int)), cli_allocate((size_t)n, sizeof(int)),
              cli_allocate((size_t)n, sizeof(int))};
    for (int i = 0; i < n; i++) {
        t.first_child[i] = t.next[i] = -1;
    }
    for (int i = n - 1; i > 0; i--) { // backwards, so that the lists stand in order
        const int parent = kk_model_body_parent(m, i);
        t.next[i] = t.first_child[parent];
        t.first_child[parent] = i;
    }
    for (int i = 1; i < n; i++) {
        t.depth[i] = t.depth[kk_model_body_parent(m, i)] + 1;
    }
    return t;
}

static void free_tree(tree *t) {
    free(t->first_child);
    free(t->next);
    free(t->depth);
}

/// The body after this one, depth first; −1 at the end.
static int next_in_tree(const kk_model *m, const tree *t, int body) {
    if (t->first_child[body] >= 0) {
        return t->first_child[body];
    }
    while (body > 0 && t->next[body] < 0) {
        body = kk_model_body_parent(m, body);
    }
    return body > 0 ? t->next[body] : -1;
}

/// "│  ├─ name"; very deep trees only tell their depth.
static void add_branch(const kk_model *m, const tree *t, int body, cli_text *out) {
    enum { DEEPEST = 24 };
    const int depth = t->depth[body] - 1;
    if (depth > DEEPEST) {
        text_format(out, "… %d deep: %s", depth, kk_model_body_name(m, body));
        return;
    }
    int above[DEEPEST + 1];
    for (int i = depth, b = body; i > 0; i--) {
        above[i] = b;
        b = kk_model_body_parent(m, b);
    }
    for (int i = 1; i <= depth; i++) {
        const bool is_last = t->next[above[i]] < 0;
        text_add(out, i == depth ? (is_last ? "└─ " : "├─ ") : is_last ? "   " : "│  ");
    }
    text_add(out, kk_model_body_name(m, body));
}

// ---- figures

static bool is_turning(kk_joint_type type) {
    return type == KK_JOINT_HINGE || type == KK_JOINT_SCREW;
}

static void set_limit(grid *g, int column, double value, double scale, const char *unit) {
    if (value - value == 0) {
        grid_set(g, column, "%.4g%s", value * scale, unit);
    }
}

/// Limits of joints with one degree of freedom.
static void set_limits(grid *g, const kk_model *m, kk_joint_info joint, bool degrees) {
    if (joint.nv != 1) {
        return;
    }
    const kk_dof_def dof = kk_model_dof(m, joint.v_index);
    const bool turns = is_turning(joint.type), in_degrees = degrees && turns;
    const double scale = in_degrees ? 180 / 3.14159265358979323846 : 1;
    const char *unit = in_degrees ? "°" : turns ? " rad" : " m";
    set_limit(g, 4, dof.lower, scale, unit);
    set_limit(g, 5, dof.upper, scale, unit);
    set_limit(g, 6, dof.velocity_limit, scale, in_degrees ? "°/s" : turns ? " rad/s" : " m/s");
    set_limit(g, 7, dof.effort_limit, 1, turns ? " N m" : " N");
}

static void set_dofs(grid *g, kk_joint_info joint) {
    if (joint.nv == 1) {
        grid_set(g, 3, "%d", joint.v_index);
    } else if (joint.nv > 1) {
        grid_set(g, 3, "%d-%d", joint.v_index, joint.v_index + joint.nv - 1);
    }
}

static void add_body(grid *g, const kk_model *m, const tree *t, int body, bool degrees) {
    const kk_joint_info joint = kk_model_joint(m, body);
    const double mass = kk_model_body_inertia(m, body).mass;
    cli_text name = {0};
    add_branch(m, t, body, &name);
    grid_row(g);
    grid_set(g, 0, "%s", text_string(&name));
    grid_set(g, 1, "%s", joint.name);
    grid_set(g, 2, "%s", joint_type_name(joint.type));
    set_dofs(g, joint);
    set_limits(g, m, joint, degrees);
    if (mass > 0) {
        grid_set(g, 8, "%.4g kg", mass);
    }
    text_free(&name);
}

/// The smallest box around origins and centers of mass of bodies and around frames, every joint at zero.
typedef struct extent {
    double low[3], high[3];
} extent;

static void widen(extent *e, kk_vec3 p) {
    const double c[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; k++) {
        e->low[k] = c[k] < e->low[k] ? c[k] : e->low[k];
        e->high[k] = c[k] > e->high[k] ? c[k] : e->high[k];
    }
}

typedef struct summary {
    extent box;
    kk_vec3 com;
    int joints; ///< that move
    int fixed;
} summary;

static summary summarize(const cli_model *m) {
    summary s = {.box = {{1e300, 1e300, 1e300}, {-1e300, -1e300, -1e300}}};
    double *q = cli_allocate((size_t)kk_model_nq(m->model), sizeof *q);
    kk_model_neutral(m->model, q);
    s.com = kk_center_of_mass(m->model, m->data, q);
    kk_kinematics(m->model, m->data, q);
    free(q);
    for (int i = 1; i < kk_model_nbody(m->model); i++) {
        const kk_transform X_WB = kk_body_pose(m->model, m->data, i);
        const kk_inertia inertia = kk_model_body_inertia(m->model, i);
        widen(&s.box, X_WB.p);
        widen(&s.box, inertia.mass > 0 ? kk_transform_point(X_WB, inertia.com) : X_WB.p);
        s.joints += kk_model_joint(m->model, i).nv > 0;
        s.fixed += kk_model_joint(m->model, i).nv == 0;
    }
    for (int i = 0; i < kk_model_nframe(m->model); i++) {
        widen(&s.box, kk_frame_pose(m->model, m->data, i).p);
    }
    if (s.box.low[0] > s.box.high[0]) {
        s.box = (extent){{0}, {0}};
    }
    return s;
}

// ---- for people

static void add_count(cli_text *out, int count, const char *what) {
    if (count > 0) {
        text_format(out, "%s%d %s%s", out->size ? ", " : "", count, what, count == 1 ? "" : "s");
    }
}

static int count_colliders(const kk_model *m) {
    int count = 0;
    for (int i = 0; i < kk_model_nshape(m); i++) {
        count += (kk_model_shape(m, i).purpose & KK_SHAPE_COLLIDES) != 0;
    }
    return count;
}

/// What there is beyond the tree, and the names of keyframes; nothing where there is nothing.
static void add_scene(const kk_model *m, cli_text *out) {
    cli_text list = {0};
    add_count(&list, kk_model_nshape(m), "shape");
    if (list.size) {
        text_format(&list, " (%d collide)", count_colliders(m));
    }
    add_count(&list, kk_model_nmesh(m), "mesh file");
    add_count(&list, kk_model_nloop(m), "loop");
    add_count(&list, kk_model_ntendon(m), "tendon");
    add_count(&list, kk_model_nactuator(m), "actuator");
    add_count(&list, kk_model_nsensor(m), "sensor");
    if (list.size) {
        text_format(out, "  scene               %s\n", text_string(&list));
    }
    for (int i = 0; i < kk_model_nkeyframe(m); i++) {
        const char *name = kk_model_keyframe(m, i).name;
        text_format(out, "%s%s%s", i ? ", " : "  keyframes           ", name && name[0] ? name : "(no name)",
                    i + 1 == kk_model_nkeyframe(m) ? "\n" : "");
    }
    text_free(&list);
}

static void add_totals(const cli *c, const cli_model *m, cli_text *out) {
    const summary s = summarize(m);
    const kk_vec3 g = kk_model_gravity(m->model);
    text_format(out, "%s%s%s\n", cli_style(c, CLI_BOLD), m->name, cli_style(c, CLI_PLAIN));
    text_format(out, "  degrees of freedom  %d (%d coordinates)\n", kk_model_nv(m->model), kk_model_nq(m->model));
    text_format(out, "  bodies              %d (%d moving joints, %d fixed), %d frames, %d couplings\n",
                kk_model_nbody(m->model) - 1, s.joints, s.fixed, kk_model_nframe(m->model),
                kk_model_ncoupling(m->model));
    text_format(out, "  mass                %.6g kg", kk_model_mass(m->model));
    if (kk_model_mass(m->model) > 0) {
        text_format(out, ", center (%.4g, %.4g, %.4g) m with every joint at zero", s.com.x, s.com.y, s.com.z);
    }
    text_add(out, "\n");
    text_format(
        out, "  skeleton            %.4g × %.4g × %.4g m, from z = %.4g to %.4g m (origins, centers of mass, frames)\n",
        s.box.high[0] - s.box.low[0], s.box.high[1] - s.box.low[1], s.box.high[2] - s.box.low[2], s.box.low[2],
        s.box.high[2]);
    text_format(out, "  gravity             (%.4g, %.4g, %.4g) m/s², time step %.4g s\n", g.x, g.y, g.z,
                kk_model_options(m->model).timestep);
    add_scene(m->model, out);
    text_add(out, "\n");
}

static int print_text(const cli *c, const cli_model *m, bool degrees) {
    static const char *const heads[] = {"body",   "joint",     "type",    ">dof", ">lower",
                                        ">upper", ">velocity", ">effort", ">mass"};
    cli_text out = {0};
    add_totals(c, m, &out);
    grid g = grid_make(heads, sizeof heads / sizeof *heads);
    tree t = make_tree(m->model);
    for (int b = next_in_tree(m->model, &t, 0); b >= 0; b = next_in_tree(m->model, &t, b)) {
        add_body(&g, m->model, &t, b, degrees);
    }
    grid_print(&g, c, &out);
    free_tree(&t);
    grid_free(&g);
    return cli_print(c, &out);
}

// ---- for programs

static void json_vector(json_writer *json, const char *key, kk_vec3 v) {
    const double numbers[3] = {v.x, v.y, v.z};
    json_numbers(json, key, numbers, 3);
}

static void write_joint(json_writer *json, const cli_model *m, int body) {
    const kk_joint_info joint = kk_model_joint(m->model, body);
    json_begin_object(json, "joint");
    json_string(json, "name", joint.name);
    json_string(json, "type", joint_type_name(joint.type));
    json_integer(json, "q_index", joint.q_index);
    json_integer(json, "nq", joint.nq);
    json_integer(json, "v_index", joint.v_index);
    json_integer(json, "nv", joint.nv);
    json_vector(json, "axis", kk_spec_body(m->spec, body)->joint.axis);
    json_begin_array(json, "dofs");
    for (int k = 0; k < joint.nv; k++) {
        const kk_dof_def d = kk_model_dof(m->model, joint.v_index + k);
        json_begin_object(json, NULL);
        json_number(json, "lower", d.lower);
        json_number(json, "upper", d.upper);
        json_number(json, "velocity_limit", d.velocity_limit);
        json_number(json, "effort_limit", d.effort_limit);
        json_number(json, "stiffness", d.stiffness);
        json_number(json, "damping", d.damping);
        json_number(json, "friction", d.friction);
        json_number(json, "armature", d.armature);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

static void write_body(json_writer *json, const cli_model *m, int body) {
    const kk_inertia inertia = kk_model_body_inertia(m->model, body);
    const kk_sym3 i = inertia.moment;
    const double moment[6] = {i.xx, i.yy, i.zz, i.xy, i.xz, i.yz};
    json_begin_object(json, NULL);
    json_string(json, "name", kk_model_body_name(m->model, body));
    json_string(json, "parent", kk_model_body_name(m->model, kk_model_body_parent(m->model, body)));
    json_number(json, "mass", inertia.mass);
    json_vector(json, "com", inertia.com);
    json_numbers(json, "moment", moment, 6);
    write_joint(json, m, body);
    json_end(json);
}

static void write_totals(json_writer *json, const cli_model *m) {
    const summary s = summarize(m);
    json_string(json, "model", m->name);
    json_integer(json, "nv", kk_model_nv(m->model));
    json_integer(json, "nq", kk_model_nq(m->model));
    json_integer(json, "joints", s.joints);
    json_integer(json, "couplings", kk_model_ncoupling(m->model));
    json_number(json, "mass", kk_model_mass(m->model));
    json_vector(json, "com", s.com);
    json_vector(json, "gravity", kk_model_gravity(m->model));
    json_begin_object(json, "skeleton");
    json_numbers(json, "low", s.box.low, 3);
    json_numbers(json, "high", s.box.high, 3);
    json_end(json);
}

static void write_scene(json_writer *json, const kk_model *m) {
    cli_text name = {0};
    json_number(json, "timestep", kk_model_options(m).timestep);
    json_integer(json, "shapes", kk_model_nshape(m));
    json_integer(json, "colliding_shapes", count_colliders(m));
    json_integer(json, "loops", kk_model_nloop(m));
    json_integer(json, "tendons", kk_model_ntendon(m));
    json_begin_array(json, "actuators");
    for (int i = 0; i < kk_model_nactuator(m); i++) {
        actuator_label(m, i, &name);
        json_string(json, NULL, text_string(&name));
    }
    json_end(json);
    json_begin_array(json, "sensors");
    for (int i = 0; i < kk_model_nsensor(m); i++) {
        json_string(json, NULL, kk_model_sensor(m, i).name);
    }
    json_end(json);
    json_begin_array(json, "keyframes");
    for (int i = 0; i < kk_model_nkeyframe(m); i++) {
        json_string(json, NULL, kk_model_keyframe(m, i).name);
    }
    json_end(json);
    text_free(&name);
}

static int print_json(const cli *c, const cli_model *m) {
    json_writer json = {0};
    cli_begin_document(c, &json);
    write_totals(&json, m);
    write_scene(&json, m->model);
    json_begin_array(&json, "bodies");
    for (int i = 1; i < kk_model_nbody(m->model); i++) {
        write_body(&json, m, i);
    }
    json_end(&json);
    json_begin_array(&json, "frames");
    for (int i = 0; i < kk_model_nframe(m->model); i++) {
        json_begin_object(&json, NULL);
        json_string(&json, "name", kk_model_frame_name(m->model, i));
        json_string(&json, "body", kk_model_body_name(m->model, kk_model_frame_body(m->model, i)));
        json_end(&json);
    }
    json_end(&json);
    return cli_end_document(c, &json);
}

static int run(cli *c, const void *options) {
    const info_options *o = options;
    cli_model m;
    int code = load_model(c, o->model, &m);
    if (!code) {
        code = c->common.json ? print_json(c, &m) : print_text(c, &m, o->degrees);
        unload_model(&m);
    }
    return code;
}

static const char *const details[] = {
    "Bodies are drawn as a tree, each with the joint that holds it, the place of its degrees of freedom in v, its "
    "limits and its mass. "
    "Columns that would be empty are left out.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri info robot:humanoid36", "one of our own robots"},
    {"karakuri info robot:arm7 --degrees", "limits in degrees"},
    {"karakuri info robot:arm7 --json | jq '.bodies[].joint.name'", "the names of all joints"},
    {NULL, NULL},
};

const cli_verb cli_verb_info = {
    .name = "info",
    .about = "show what is in a model: tree, joints, limits, masses, dimensions",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .terms_title = "ROBOTS",
    .term = load_robot,
    .examples = examples,
    .size = sizeof(info_options),
    .run = run,
};
