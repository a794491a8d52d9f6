// A robot's computer: model, dynamics and motion without contacts and simulation. Weighs a humanoid, stands it on a foot, analyses a sequence, observes it.
#include <karakuri/analysis.h>
#include <karakuri/elementary.h>
#include <karakuri/observer.h>
#include <karakuri/project.h>
#include <stdio.h>
#include <stdlib.h>

#include "robots.h"

static void must(int holds, const char *what) {
    if (!holds) {
        printf("apart: %s\n", what);
        exit(1);
    }
}

static kk_model *make(void) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    must(kk_spec_create(NULL, &spec) == KK_OK && robots_find("humanoid36")->build(spec, NULL) == KK_OK, "a spec");
    must(kk_model_compile(spec, NULL, &model, NULL) == KK_OK, "a model");
    kk_spec_free(spec);
    return model;
}

int main(void) {
    kk_model *model = make();
    const int nq = kk_model_nq(model), nv = kk_model_nv(model), foot = kk_model_nbody(model) - 1;
    double *q = calloc(2 * (size_t)nq, sizeof *q), *v = calloc(3 * (size_t)nv, sizeof *v), times[2] = {0, 1};
    kk_sequence *sequence = NULL;
    kk_analysis *analysis = NULL;
    kk_analysis_frame frame;
    kk_model_neutral(model, q);
    kk_model_neutral(model, q + nq);
    const kk_sequence_def def = {.model = model, .count = 2, .width = nq, .time = times, .value = q};
    const kk_support support = {0, foot, -1};
    const kk_analysis_def plan = {.support = &support, .support_count = 1};
    must(kk_sequence_create(&def, NULL, &sequence, NULL) == KK_OK, "a sequence");
    must(kk_analysis_create(model, &plan, NULL, &analysis, NULL) == KK_OK, "an analysis");
    must(kk_analysis_add_sequence(analysis, sequence, 0.5, &frame, NULL) == KK_OK, "a frame");
    const double weight = kk_model_mass(model) * -kk_model_gravity(model).z;
    must(frame.floor.linear.z > 0.999999 * weight && frame.floor.linear.z < 1.000001 * weight, "the floor bears it");
    const kk_camera camera = kk_camera_look_at(kk_vec3_make(3, 0, 1), frame.com, kk_vec3_make(0, 0, 1), 1, 640, 480);
    must(kk_project(&camera, frame.com).x > 319 && kk_project(&camera, frame.com).x < 321, "seen in the middle");
    kk_analysis_free(analysis);
    kk_sequence_free(sequence);
    kk_model_free(model);
    free(q);
    free(v);
    return 0;
}
