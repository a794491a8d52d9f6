// Models under way; see runner.h.
#include "runner.h"

#include <stdlib.h>

bool study_load_spec(study *s, const char *file, kk_spec **spec) {
    cli_text path = {0};
    kk_error error = {0};
    const kk_load_options options = {0};
    text_format(&path, "%s/%s", s->models, file);
    const kk_status status = kk_load_file(text_string(&path), &options, NULL, spec, NULL, &error);
    text_free(&path);
    return study_ok(s, status, &error);
}

bool runner_take(runner *r, study *s, kk_spec *spec, const char *keyframe, const kk_step_options *options) {
    kk_error error = {0};
    *r = (runner){.s = s, .m = {.spec = spec}};
    r->is_good = study_ok(s, kk_model_compile(spec, NULL, &r->m.model, &error), &error) &&
                 study_ok(s, kk_data_create(r->m.model, NULL, &r->m.data), &error) &&
                 study_ok(s, kk_state_create(r->m.model, NULL, &r->state), &error) &&
                 study_ok(s, kk_simulator_create(r->m.model, options, NULL, &r->simulator, &error), &error);
    if (r->is_good && keyframe) {
        const int k = kk_model_find_keyframe(r->m.model, keyframe);
        r->is_good = study_ok(s, k < 0 ? KK_NOT_FOUND : kk_state_set_keyframe(r->m.model, r->state, k), &error);
    }
    if (r->is_good) {
        r->control = cli_allocate((size_t)kk_model_nactuator(r->m.model) + 1, sizeof *r->control);
        r->tau = cli_allocate((size_t)kk_model_nv(r->m.model) + 1, sizeof *r->tau);
        r->wrench = cli_allocate((size_t)kk_model_nbody(r->m.model), sizeof *r->wrench);
    }
    return r->is_good;
}

bool runner_load(runner *r, study *s, const char *file, const char *keyframe, const kk_step_options *options) {
    kk_spec *spec = NULL;
    *r = (runner){.s = s};
    return study_load_spec(s, file, &spec) && runner_take(r, s, spec, keyframe, options);
}

void runner_end(runner *r) {
    kk_simulator_free(r->simulator);
    kk_state_free(r->state);
    unload_model(&r->m);
    free(r->control);
    free(r->tau);
    free(r->wrench);
    *r = (runner){.s = r->s};
}

bool runner_step(runner *r) {
    if (r->is_good && cli_is_interrupted()) {
        exam_trouble(&r->s->exam, "interrupted");
        r->is_good = false;
    }
    if (!r->is_good) {
        return false;
    }
    kk_error error = {0};
    const kk_input input = {r->control, r->tau, r->wrench};
    r->is_good = study_ok(r->s, kk_step(r->m.model, r->state, r->simulator, &input, &error), &error);
    if (r->is_good) {
        const kk_report report = *kk_simulator_report(r->simulator);
        r->residual = exam_max(r->residual, report.residual);
        r->penetration = exam_max(r->penetration, report.penetration);
        r->steps++;
    }
    return r->is_good;
}

// ---- names

static int known(runner *r, int id, const char *what, const char *name) {
    char text[120];
    if (id < 0) {
        snprintf(text, sizeof text, "the model has no %s '%s'", what, name);
        exam_trouble(&r->s->exam, text);
        r->is_good = false;
    }
    return id < 0 ? 0 : id;
}

double *runner_q(runner *r, const char *joint) {
    const int body = known(r, kk_model_find_joint(r->m.model, joint), "joint", joint);
    return kk_state_q(r->state) + kk_model_joint(r->m.model, body).q_index;
}

double *runner_v(runner *r, const char *joint) {
    const int body = known(r, kk_model_find_joint(r->m.model, joint), "joint", joint);
    return kk_state_v(r->state) + kk_model_joint(r->m.model, body).v_index;
}

int runner_actuator(runner *r, const char *name) {
    return known(r, kk_model_find_actuator(r->m.model, name), "actuator", name);
}

int runner_body(runner *r, const char *name) {
    return known(r, kk_model_find_body(r->m.model, name), "body", name);
}

kk_vec3 runner_point(runner *r, int body, kk_vec3 point) {
    kk_kinematics(r->m.model, r->m.data, kk_state_q(r->state));
    return kk_transform_point(kk_body_pose(r->m.model, r->m.data, body), point);
}
