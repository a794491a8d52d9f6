// Things that collide, by words; see solid.h.
#include "solid.h"

#include <stdlib.h>
#include <string.h>

#include "suggest.h"

typedef struct kind {
    const char *name, *sizes, *about;
    kk_shape_type type;
    int count;
} kind;

static const kind kinds[] = {
    {"plane", "", "the half space below z = 0", KK_SHAPE_PLANE, 0},
    {"sphere", "RADIUS", "a ball", KK_SHAPE_SPHERE, 1},
    {"box", "X,Y,Z", "edge lengths", KK_SHAPE_BOX, 3},
    {"capsule", "RADIUS,LENGTH", "along z; the length between the centers of its half spheres", KK_SHAPE_CAPSULE, 2},
    {"cylinder", "RADIUS,LENGTH", "along z", KK_SHAPE_CYLINDER, 2},
    {"cone", "RADIUS,LENGTH", "along z, its tip up", KK_SHAPE_CONE, 2},
    {"ellipsoid", "A,B,C", "three radii", KK_SHAPE_ELLIPSOID, 3},
    {"hull", "FILE", "the convex hull of a mesh file: STL, OBJ, COLLADA, PLY, glTF", KK_SHAPE_HULL, 0},
    {"mesh", "FILE", "its triangles themselves", KK_SHAPE_MESH, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

cli_term solid_term(int index) {
    static char names[KINDS][32]; // the texts of help; filled again with the same
    if (index < 0 || index >= KINDS) {
        return index == KINDS ? (cli_term){"FILE", "a mesh file, as its hull; or a model file, every joint at zero"}
                              : (cli_term){NULL, NULL};
    }
    const kind *k = &kinds[index];
    snprintf(names[index], sizeof names[index], "%s%s%s", k->name, k->sizes[0] ? ":" : "", k->sizes);
    return (cli_term){names[index], k->about};
}

// ---- numbers

/// Numbers with commas between; −1 where they are none, or more than there is room for.
static int read_numbers(const char *text, double *numbers, int room) {
    int count = 0;
    while (*text) {
        size_t used = 0;
        if (count == room || kk_number_parse(text, strlen(text), &numbers[count], &used) != KK_OK || used == 0) {
            return -1;
        }
        count++;
        text += used;
        if (*text == ',' && text[1]) {
            text++;
        } else if (*text) {
            return -1;
        }
    }
    return count;
}

/// As far as shapes reach.
static const double FARTHEST = 1e15;

int solid_numbers(cli *c, const char *option, const char *text, double numbers[6]) {
    double read[6] = {0};
    const int count = text ? read_numbers(text, read, 6) : 0;
    if (text && count != 3 && count != 6) {
        return cli_fail(c, CLI_EXIT_USAGE, "--%s: '%s' is neither three nor six numbers with commas between", option,
                        text);
    }
    for (int i = 0; i < count; i++) {
        if (!(read[i] >= -FARTHEST && read[i] <= FARTHEST)) {
            return cli_fail(c, CLI_EXIT_USAGE, "--%s: %g is beyond 1e15; check the units", option, read[i]);
        }
    }
    memcpy(numbers, read, (size_t)count * sizeof *read);
    return 0;
}

// ---- one shape

static int add_shape(cli *c, kk_spec *spec, kk_shape_def def) {
    kk_error error = {0};
    def.body = KK_WORLD;
    def.purpose = KK_SHAPE_COLLIDES;
    error.status = kk_spec_add_shape(spec, &def, NULL, &error);
    return error.status ? cli_fail_error(c, &error) : 0;
}

static int fail_sizes(cli *c, const kind *k, const char *sizes) {
    return cli_fail(c, CLI_EXIT_USAGE, "'%s%s%s' — write it %s%s%s", k->name, sizes ? ":" : "", sizes ? sizes : "",
                    k->name, k->sizes[0] ? ":" : "", k->sizes);
}

static int add_primitive(cli *c, kk_spec *spec, const kind *k, const char *sizes, kk_transform pose) {
    kk_shape_def def = kk_shape_def_default();
    if (read_numbers(sizes, def.size, 3) != k->count) {
        return fail_sizes(c, k, sizes);
    }
    for (int i = 0; i < k->count; i++) {
        if (!(def.size[i] > 0)) {
            return cli_fail(c, CLI_EXIT_USAGE, "'%s:%s': sizes must be positive, in m", k->name, sizes);
        }
    }
    def.type = k->type;
    def.placement = pose;
    return add_shape(c, spec, def);
}

static int add_mesh(cli *c, kk_spec *spec, kk_shape_type type, const char *path, kk_transform pose) {
    kk_shape_def def = kk_shape_def_default();
    kk_error error = {0};
    error.status = kk_spec_add_mesh_file(spec, path, kk_vec3_make(1, 1, 1), &def.mesh, &error);
    if (error.status) {
        return cli_fail_error(c, &error);
    }
    def.type = type;
    def.placement = pose;
    return add_shape(c, spec, def);
}

// ---- a model

/// A copy of what a shape of a model refers to.
static kk_status copy_geometry(const kk_model *model, kk_spec *spec, kk_shape_def *def, kk_error *error) {
    cli_text name = {0};
    kk_status status = KK_OK;
    if (def->mesh >= 0) {
        kk_mesh_def mesh = kk_model_mesh(model, def->mesh);
        text_format(&name, "mesh%d", kk_spec_mesh_count(spec));
        mesh.name = text_string(&name);
        status = kk_spec_add_mesh(spec, &mesh, &def->mesh, error);
    } else if (def->height_field >= 0) {
        kk_height_field_def field = kk_model_height_field(model, def->height_field);
        text_format(&name, "field%d", kk_spec_height_field_count(spec));
        field.name = text_string(&name);
        status = kk_spec_add_height_field(spec, &field, &def->height_field, error);
    }
    text_free(&name);
    return status;
}

static int add_model(cli *c, kk_spec *spec, const char *name, kk_transform pose) {
    cli_model m;
    int code = load_model(c, name, &m);
    if (code) {
        return code;
    }
    double *q = cli_allocate((size_t)kk_model_nq(m.model) + 1, sizeof *q);
    kk_model_neutral(m.model, q);
    kk_couplings_apply(m.model, q, NULL);
    kk_kinematics(m.model, m.data, q);
    int shapes = 0;
    for (int i = 0; i < kk_model_nshape(m.model) && !code; i++) {
        kk_shape_def def = kk_model_shape(m.model, i);
        if (!(def.purpose & KK_SHAPE_COLLIDES)) {
            continue;
        }
        kk_error error = {0};
        cli_text label = {0};
        text_format(&label, "%s#%d", kk_model_body_name(m.model, def.body), kk_spec_shape_count(spec));
        def.name = text_string(&label);
        error.status = copy_geometry(m.model, spec, &def, &error);
        def.placement = kk_transform_mul(pose, kk_shape_pose(m.model, m.data, i));
        def.material = 0;
        def.visual = -1;
        code = error.status ? cli_fail_error(c, &error) : add_shape(c, spec, def);
        text_free(&label);
        shapes++;
    }
    free(q);
    unload_model(&m);
    return code || shapes ? code : cli_fail(c, CLI_EXIT_INPUT, "'%s' has no shapes that collide", name);
}

// ---- words

static bool ends_with(const char *path, const char *end) {
    const size_t length = strlen(path), tail = strlen(end);
    for (size_t i = 0; i < tail && length > tail; i++) {
        const char c = path[length - tail + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != end[i]) {
            return false;
        }
    }
    return length > tail;
}

static bool is_mesh_file(const char *path) {
    static const char *const ends[] = {".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".msh"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (ends_with(path, ends[i])) {
            return true;
        }
    }
    return false;
}

static const kind *find_kind(const char *word, size_t length) {
    for (int i = 0; i < KINDS; i++) {
        if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, word, length) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

static int fail_kind(cli *c, const char *word, size_t length) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    suggestion near = suggest_begin(name);
    for (int i = 0; i < KINDS; i++) {
        suggest_word(&near, kinds[i].name);
    }
    suggest_word(&near, "robot");
    return cli_fail(c, CLI_EXIT_USAGE, "there is no shape '%s'%s%s%s", name, near.best ? " — did you mean '" : "",
                    near.best ? near.best : " — see 'karakuri help collide'", near.best ? "'?" : "");
}

static bool is_there(const char *path) {
    FILE *f = fopen(path, "rb");
    if (f) {
        fclose(f);
    }
    return f != NULL;
}

static int add_word(cli *c, kk_spec *spec, const char *word, kk_transform pose) {
    const char *colon = strchr(word, ':'), *slash = strchr(word, '/');
    const size_t length = colon ? (size_t)(colon - word) : strlen(word);
    const kind *k = find_kind(word, length);
    if (k && k->type == KK_SHAPE_PLANE && !colon) {
        return add_primitive(c, spec, k, "", pose);
    }
    if (k && !colon && !is_there(word)) {
        return fail_sizes(c, k, NULL);
    }
    if (k && colon && (k->type == KK_SHAPE_HULL || k->type == KK_SHAPE_MESH)) {
        return !colon[1] ? fail_sizes(c, k, "") : add_mesh(c, spec, k->type, colon + 1, pose);
    }
    if (k && colon) {
        return add_primitive(c, spec, k, colon + 1, pose);
    }
    if (colon && !is_robot_name(word) && (!slash || slash > colon)) {
        return fail_kind(c, word, length);
    }
    return is_mesh_file(word) ? add_mesh(c, spec, KK_SHAPE_HULL, word, pose) : add_model(c, spec, word, pose);
}

int solid_add(cli *c, kk_spec *spec, const char *word, kk_transform pose, int *first, int *count) {
    *first = kk_spec_shape_count(spec);
    const int code = add_word(c, spec, word, pose);
    *count = kk_spec_shape_count(spec) - *first;
    return code;
}
