// karakuri collide A B: how far two things are apart, where they touch, and when they will.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "solid.h"

typedef struct collide_options {
    const char *word[2], *pose[2], *velocity[2];
    double reach, duration;
} collide_options;

static const collide_options defaults = {.reach = 1e-3, .duration = 1};

static const cli_option arguments[] = {
    {.name = "A",
     .kind = CLI_MODEL,
     .is_required = true,
     .offset = offsetof(collide_options, word),
     .about = "a shape, a mesh file or a model (see below)"},
    {.name = "B",
     .kind = CLI_MODEL,
     .is_required = true,
     .offset = offsetof(collide_options, word) + sizeof(const char *),
     .about = "another shape, mesh file or model"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "pose-a",
     .kind = CLI_TEXT,
     .offset = offsetof(collide_options, pose),
     .value = "X,Y,Z[,R,P,Y]",
     .about = "where A is, in m, and how it is turned: roll, pitch and yaw in rad"},
    {.name = "pose-b",
     .kind = CLI_TEXT,
     .offset = offsetof(collide_options, pose) + sizeof(const char *),
     .value = "X,Y,Z[,R,P,Y]",
     .about = "likewise for B"},
    {.name = "velocity-a",
     .kind = CLI_TEXT,
     .offset = offsetof(collide_options, velocity),
     .value = "X,Y,Z[,WX,WY,WZ]",
     .about = "how A moves, in m/s, and turns about its shapes' own origins, in rad/s: asks for the time of impact"},
    {.name = "velocity-b",
     .kind = CLI_TEXT,
     .offset = offsetof(collide_options, velocity) + sizeof(const char *),
     .value = "X,Y,Z[,WX,WY,WZ]",
     .about = "likewise for B"},
    {.name = "duration",
     .kind = CLI_NUMBER,
     .offset = offsetof(collide_options, duration),
     .value = "T",
     .low = 1e-9,
     .high = 1e6,
     .about = "within which the impact is looked for, in s (default 1)"},
    {.name = "reach",
     .kind = CLI_NUMBER,
     .offset = offsetof(collide_options, reach),
     .value = "GAP",
     .low = 0,
     .high = 1e3,
     .about = "contact points are shown up to this gap, in m (default 0.001)"},
    {.name = NULL},
};

typedef struct answer {
    bool has_distance;
    int pair[2]; ///< the nearest shapes, counted from 0 in A and B
    int touching, pairs, unknown;
    kk_separation nearest;
    kk_manifold manifold[16];
    int manifolds;
    bool has_impact;
    kk_impact impact;
} answer;

typedef struct job {
    cli *c;
    const collide_options *o;
    kk_spec *spec;
    kk_model *model;
    kk_data *data;
    int first[2], count[2];
    kk_motion velocity[2];
    bool moves;
    answer a;
} job;

// ---- making ready

static int read_side(job *j, int side) {
    static const char *const poses[] = {"pose-a", "pose-b"}, *const velocities[] = {"velocity-a", "velocity-b"};
    double p[6] = {0}, v[6] = {0};
    int code = solid_numbers(j->c, poses[side], j->o->pose[side], p);
    code = code ? code : solid_numbers(j->c, velocities[side], j->o->velocity[side], v);
    if (code) {
        return code;
    }
    const kk_transform pose = kk_transform_make(kk_mat3_from_rpy(p[3], p[4], p[5]), kk_vec3_make(p[0], p[1], p[2]));
    j->velocity[side] = (kk_motion){kk_vec3_make(v[3], v[4], v[5]), kk_vec3_make(v[0], v[1], v[2])};
    j->moves = j->moves || j->o->velocity[side];
    return solid_add(j->c, j->spec, j->o->word[side], pose, &j->first[side], &j->count[side]);
}

static int make_ready(job *j) {
    kk_error error = {0};
    error.status = kk_spec_create(NULL, &j->spec);
    int code = error.status ? cli_fail_error(j->c, &error) : 0;
    code = code ? code : read_side(j, 0);
    code = code ? code : read_side(j, 1);
    if (code) {
        return code;
    }
    error.status = kk_model_compile(j->spec, NULL, &j->model, &error);
    if (error.status == KK_SINGULAR) {
        return cli_fail(j->c, CLI_EXIT_INPUT, "%s; here that is mesh:FILE instead of FILE", error.text);
    }
    error.status = error.status ? error.status : kk_data_create(j->model, NULL, &j->data);
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

// ---- asking

static kk_transform pose_of(const job *j, int shape) {
    return kk_spec_shape_const(j->spec, shape)->placement;
}

static void ask_impact(job *j, int a, int b) {
    kk_impact found;
    if (kk_shape_impact(j->model, a, pose_of(j, a), j->velocity[0], b, pose_of(j, b), j->velocity[1], j->o->duration, 0,
                        &found) != KK_OK) {
        return;
    }
    const bool is_first = !j->a.has_impact || (found.kind != KK_IMPACT_NONE &&
                                               (j->a.impact.kind == KK_IMPACT_NONE || found.time < j->a.impact.time));
    j->a.impact = is_first ? found : j->a.impact;
    j->a.has_impact = true;
}

static void ask_pair(job *j, int a, int b) {
    kk_separation s;
    j->a.pairs++;
    if (j->moves) {
        ask_impact(j, a, b);
    }
    if (kk_shape_separation(j->model, a, pose_of(j, a), b, pose_of(j, b), &s) != KK_OK) {
        j->a.unknown++;
        return;
    }
    j->a.touching += s.distance <= 0;
    if (!j->a.has_distance || s.distance < j->a.nearest.distance) {
        j->a.has_distance = true;
        j->a.nearest = s;
        j->a.pair[0] = a - j->first[0];
        j->a.pair[1] = b - j->first[1];
    }
}

static void ask(job *j) {
    for (int a = j->first[0]; a < j->first[0] + j->count[0]; a++) {
        for (int b = j->first[1]; b < j->first[1] + j->count[1]; b++) {
            ask_pair(j, a, b);
        }
    }
    if (j->a.has_distance) {
        const int a = j->first[0] + j->a.pair[0], b = j->first[1] + j->a.pair[1];
        const int found =
            kk_shape_manifolds(j->model, a, pose_of(j, a), b, pose_of(j, b), j->o->reach, j->a.manifold, 16);
        j->a.manifolds = found < 0 ? 16 : found;
    }
}

// ---- telling

static const char *const impact_names[] = {"none", "hit", "unsure"};

// without the sign of a zero, which says nothing
static kk_vec3 tidy(kk_vec3 v) {
    return kk_vec3_make(v.x + 0.0, v.y + 0.0, v.z + 0.0);
}

static void print_vector(cli_text *out, const char *name, kk_vec3 v, const char *unit) {
    const kk_vec3 t = tidy(v);
    text_format(out, "  %-10s (%.9g, %.9g, %.9g)%s\n", name, t.x, t.y, t.z, unit);
}

static void print_points(const answer *a, cli_text *out) {
    for (int i = 0; i < a->manifolds; i++) {
        const kk_manifold *m = &a->manifold[i];
        const kk_vec3 n = tidy(m->normal);
        text_format(out, "  %d contact point%s with the normal (%.6g, %.6g, %.6g)\n", m->count,
                    m->count == 1 ? "" : "s", n.x, n.y, n.z);
        for (int k = 0; k < m->count; k++) {
            const kk_vec3 p = tidy(m->point[k].position);
            text_format(out, "    (%.9g, %.9g, %.9g) m, gap %.6g m\n", p.x, p.y, p.z, m->point[k].gap + 0.0);
        }
    }
}

static void print_impact(const job *j, cli_text *out) {
    const answer *a = &j->a;
    if (!a->has_impact) {
        text_add(out, j->moves ? "  impact     no time of impact is known for these shapes\n" : "");
    } else if (a->impact.kind == KK_IMPACT_NONE) {
        text_format(out, "  impact     none within %.6g s\n", j->o->duration);
    } else {
        text_format(out, "  impact     %s %.12g s\n", a->impact.kind == KK_IMPACT_HIT ? "at" : "not before",
                    a->impact.time);
    }
}

// The link of a shape of a model stands before the last '#' of its name; loose shapes have none.
static void print_shape(const job *j, int side, cli_text *out) {
    const int shape = j->a.pair[side];
    const char *name = kk_spec_shape_const(j->spec, j->first[side] + shape)->name;
    const char *end = name ? strrchr(name, '#') : NULL;
    text_format(out, "shape %d%s%.*s%s of %c", shape, end ? " (" : "", end ? (int)(end - name) : 0, end ? name : "",
                end ? ")" : "", side ? 'B' : 'A');
}

static void print_answer(const job *j, cli_text *out) {
    const answer *a = &j->a;
    text_format(out, "%s%s%s and %s%s%s\n", cli_style(j->c, CLI_BOLD), j->o->word[0], cli_style(j->c, CLI_PLAIN),
                cli_style(j->c, CLI_BOLD), j->o->word[1], cli_style(j->c, CLI_PLAIN));
    if (a->pairs > 1) {
        text_format(out, "  pairs      %d, of which %d touch; the nearest: ", a->pairs, a->touching);
        print_shape(j, 0, out);
        text_add(out, ", ");
        print_shape(j, 1, out);
        text_add(out, "\n");
    }
    if (a->has_distance) {
        text_format(out, "  distance   %.12g m%s\n", a->nearest.distance + 0.0,
                    a->nearest.distance < 0 ? " (they overlap)" : "");
        print_vector(out, "normal", a->nearest.normal, ", from A to B");
        print_vector(out, "on A", a->nearest.on_a, " m");
        print_vector(out, "on B", a->nearest.on_b, " m");
        print_points(a, out);
    } else {
        text_add(out, "  distance   not known for these shapes, or farther than 1000 m\n");
    }
    print_impact(j, out);
}

static void json_vector(json_writer *json, const char *key, kk_vec3 v) {
    const double numbers[3] = {v.x, v.y, v.z};
    json_numbers(json, key, numbers, 3);
}

static void write_separation(json_writer *json, const kk_separation *s) {
    json_number(json, "distance", s->distance);
    json_vector(json, "normal", s->normal);
    json_vector(json, "on_a", s->on_a);
    json_vector(json, "on_b", s->on_b);
}

static void write_points(json_writer *json, const answer *a) {
    json_begin_array(json, "manifolds");
    for (int i = 0; i < a->manifolds; i++) {
        json_begin_object(json, NULL);
        json_vector(json, "normal", a->manifold[i].normal);
        json_begin_array(json, "points");
        for (int k = 0; k < a->manifold[i].count; k++) {
            json_begin_object(json, NULL);
            json_vector(json, "position", a->manifold[i].point[k].position);
            json_number(json, "gap", a->manifold[i].point[k].gap);
            json_end(json);
        }
        json_end(json);
        json_end(json);
    }
    json_end(json);
}

static int write_answer(const job *j) {
    const answer *a = &j->a;
    json_writer json = {0};
    cli_begin_document(j->c, &json);
    json_string(&json, "a", j->o->word[0]);
    json_string(&json, "b", j->o->word[1]);
    json_integer(&json, "pairs", a->pairs);
    json_integer(&json, "touching", a->touching);
    json_integer(&json, "unknown", a->unknown);
    if (a->has_distance) {
        json_integer(&json, "shape_a", a->pair[0]);
        json_integer(&json, "shape_b", a->pair[1]);
        write_separation(&json, &a->nearest);
    }
    write_points(&json, a);
    if (a->has_impact) {
        json_begin_object(&json, "impact");
        json_string(&json, "kind", impact_names[a->impact.kind]);
        json_number(&json, "time", a->impact.time);
        write_separation(&json, &a->impact.at);
        json_end(&json);
    }
    return cli_end_document(j->c, &json);
}

static int tell(const job *j) {
    if (j->c->common.json) {
        return write_answer(j);
    }
    cli_text out = {0};
    print_answer(j, &out);
    return cli_print(j->c, &out);
}

static int run(cli *c, const void *options) {
    job j = {.c = c, .o = options};
    int code = make_ready(&j);
    if (!code) {
        ask(&j);
        code = tell(&j);
    }
    kk_data_free(j.data);
    kk_model_free(j.model);
    kk_spec_free(j.spec);
    return code;
}

static const char *const details[] = {
    "Gives the signed distance, negative where they overlap, the normal from A to B, the nearest points, the contact "
    "points, and with velocities the time of the first impact. Models take part with all their shapes that collide.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri collide box:1,1,1 sphere:0.5 --pose-b 0,0,1.2", "a ball above a box"},
    {"karakuri collide plane gear.stl --pose-b 0,0,0.3 --velocity-b 0,0,-1", "when a falling part lands"},
    {"karakuri collide robot.urdf table.urdf --pose-b 0.5,0,0", "whether a robot is clear of a table"},
    {NULL, NULL},
};

const cli_verb cli_verb_collide = {
    .name = "collide",
    .about = "distance, contact points and time of impact of two shapes or models",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .terms_title = "SHAPES",
    .term = solid_term,
    .examples = examples,
    .size = sizeof(collide_options),
    .defaults = &defaults,
    .run = run,
};
