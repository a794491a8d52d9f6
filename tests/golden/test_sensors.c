/// Sensors against stored sensor data of MuJoCo (tests/golden/mjcf/sensors.inc, made by make_sensors.py), and contacts by closed form.
#include <karakuri/load.h>
#include <karakuri/simulate.h>

#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mjcf/sensors.inc"

typedef struct run {
    kk_spec *spec;
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    double sensor_data[1000];
    int is_good;
} run;

static run begin(const char *xml) {
    run r = {0};
    kk_error error = {0};
    const kk_file file = {"model.xml", xml, strlen(xml)};
    const kk_load_options o = {.file = &file, .file_count = 1};
    kk_status status = kk_load_file("model.xml", &o, NULL, &r.spec, NULL, &error);
    status = status ? status : kk_model_compile(r.spec, NULL, &r.model, &error);
    status = status ? status : kk_state_create(r.model, NULL, &r.state);
    status = status ? status : kk_simulator_create(r.model, NULL, NULL, &r.simulator, &error);
    r.is_good = status == KK_OK && kk_model_nsensordata(r.model) <= 1000;
    if (!r.is_good) {
        KK_FAIL("%d:%d %s", error.line, error.column, error.text);
    }
    return r;
}

static void end(run *r) {
    kk_simulator_free(r->simulator);
    kk_state_free(r->state);
    kk_model_free(r->model);
    kk_spec_free(r->spec);
}

/// A quaternion and its negative are one rotation.
static void compare(const run *r, const double *theirs, int from, int to, double tolerance, int key) {
    for (int i = 0; i < kk_model_nsensor(r->model); i++) {
        const kk_sensor_info s = kk_model_sensor(r->model, i);
        double sign = 1, dot = 0;
        for (int k = 0; k < s.count; k++) {
            dot += r->sensor_data[s.first + k] * theirs[s.first + k];
        }
        sign = s.count == 4 && dot < 0 ? -1 : 1;
        for (int k = 0; k < s.count && s.first >= from && s.first < to; k++) {
            const double ours = sign * r->sensor_data[s.first + k], wanted = theirs[s.first + k];
            const double off = s.type >= KK_SENSOR_DISTANCE ? 2e-5 : tolerance; // MuJoCo's search ends at 1e-6
            if (!(fabs(ours - wanted) <= off * (1 + fabs(wanted)))) {
                KK_FAIL("sensor %d (type %d) at key %d: number %d is %.10g, not %.10g", i, (int)s.type, key, k, ours,
                        wanted);
            }
        }
    }
}

// positions and velocities at a state; forces and accelerations of a step of a microsecond
KK_TEST(sensors_read_what_those_of_mujoco_read) {
    run r = begin(sensors_xml);
    if (r.is_good && KK_CHECK_EQ_INT(kk_model_nsensordata(r.model), SENSORS_ALL)) {
        for (int k = 0; k < (int)(sizeof sensors_read / sizeof *sensors_read); k++) {
            double control[8];
            const kk_keyframe_def key = kk_model_keyframe(r.model, k);
            kk_state_set_keyframe(r.model, r.state, k);
            KK_CHECK_EQ_INT(kk_simulator_read_sensors(r.simulator, r.state, 1, r.sensor_data, NULL), KK_OK);
            compare(&r, sensors_read[k], 0, SENSORS_NOW, 2e-8, k);
            memcpy(control, key.control, sizeof *control * (size_t)kk_model_nactuator(r.model));
            const kk_input input = {.control = control};
            if (k >= SENSORS_FREE && KK_CHECK_EQ_INT(kk_step(r.model, r.state, r.simulator, &input, NULL), KK_OK)) {
                KK_CHECK_EQ_INT(kk_simulator_read_sensors(r.simulator, r.state, 1, r.sensor_data, NULL), KK_OK);
                compare(&r, sensors_read[k], SENSORS_NOW, SENSORS_ALL, 1e-4, k);
            }
        }
    }
    end(&r);
}

// surfaces that overlap: the distance is negative, and from surface to surface leads back
KK_TEST(distance_sensors_know_overlaps) {
    run r = begin(
        "<mujoco><option><flag contact='disable'/></option><worldbody><geom name='a' size='0.3' contype='0' "
        "conaffinity='0'/>"
        "<body pos='0.4 0 0'><freejoint/><geom name='b' size='0.2' group='3'/></body></worldbody><sensor>"
        "<distance geom1='a' geom2='b'/><normal geom1='a' geom2='b'/><fromto geom1='b' geom2='a'/></sensor></mujoco>");
    static const double wanted[10] = {-0.1, -1, 0, 0, 0.2, 0, 0, 0.3, 0, 0};
    if (r.is_good) {
        kk_simulator_read_sensors(r.simulator, r.state, 1, r.sensor_data, NULL);
        for (int i = 0; i < 10; i++) {
            KK_CHECK_NEAR(r.sensor_data[i], wanted[i], 1e-12);
        }
        KK_CHECK_EQ_INT(kk_model_may_touch(r.model, 0, 1, NULL), 0);
    }
    end(&r);
}

static void settle(run *r) {
    for (int i = 0; i < 200 && r->is_good; i++) {
        r->is_good = kk_step(r->model, r->state, r->simulator, NULL, NULL) == KK_OK;
    }
    KK_CHECK(r->is_good);
    KK_CHECK_EQ_INT(kk_simulator_read_sensors(r->simulator, r->state, 1, r->sensor_data, NULL), KK_OK);
}

#define BLOCK                                                                                                        \
    "<mujoco><option timestep='0.001'/><worldbody><geom name='floor' type='plane' size='5 5 1'/>"                    \
    "<body name='block' pos='0 0 0.1'><freejoint/><geom name='g' type='box' size='0.2 0.1 0.1' mass='3'/>"           \
    "<site name='all' type='box' size='0.3 0.2 0.15'/><site name='right' type='box' size='0.1 0.2 0.05' pos='0.2 0 " \
    "-0.08'/>"                                                                                                       \
    "<site name='above' type='box' size='0.3 0.2 0.02' pos='0 0 0.05'/><site name='beside' size='0.05' pos='0.5 0 "  \
    "0'/></body>"                                                                                                    \
    "<body name='other' pos='3 0 1'><freejoint/><geom name='o' size='0.1'/></body></worldbody><sensor>"

// four corners bear a quarter of the weight each; a zone feels those in it, and those whose normal, away from the block, leads into it
KK_TEST(touch_sensors_feel_what_their_zone_holds) {
    run r = begin(
        BLOCK "<touch site='all'/><touch site='right'/><touch site='above'/><touch site='beside'/></sensor></mujoco>");
    if (r.is_good) {
        const double weight = 3 * 9.81;
        settle(&r);
        KK_CHECK_REL(r.sensor_data[0], weight, 1e-9);
        KK_CHECK_REL(r.sensor_data[1], weight / 2, 1e-6);
        KK_CHECK_NEAR(r.sensor_data[2], 0, 0); // the normal of the block's contacts leads down, away from it
        KK_CHECK_NEAR(r.sensor_data[3], 0, 0);
    }
    end(&r);
}

KK_TEST(contact_sensors_tell_of_contacts_in_slots) {
    run r = begin(
        BLOCK
        "<contact geom1='g' data='found'/><contact body1='block' body2='world' num='5' data='found force normal'/>"
        "<contact subtree1='block' reduce='netforce' data='found force torque pos'/>"
        "<contact geom1='floor' geom2='g' num='2' reduce='maxforce' data='force dist pos normal tangent'/>"
        "<contact geom1='o' data='found'/><contact site='right' num='3' data='found'/></sensor></mujoco>");
    if (r.is_good) {
        const double weight = 3 * 9.81, *at = r.sensor_data;
        settle(&r);
        KK_CHECK_NEAR(at[0], 4, 0);
        double sum = 0;
        for (int i = 0; i < 5; i++) {
            const double *slot = at + 1 + 7 * i;
            KK_CHECK_NEAR(slot[0], i < 4 ? 4 : 0, 0);
            KK_CHECK_NEAR(slot[6], i < 4 ? -1 : 0, 1e-9); // from the block down to the floor
            sum += slot[1];
        }
        KK_CHECK_REL(sum, weight, 1e-9);
        at += 1 + 35; // the sum of all, in the world's axes, on what is touched: the floor is pressed down
        KK_CHECK_NEAR(at[0], 4, 0);
        KK_CHECK_NEAR(at[1], 0, 1e-8);
        KK_CHECK_NEAR(at[4] * at[4] + at[5] * at[5] + at[6] * at[6], 0, 1e-12);
        KK_CHECK_NEAR(at[7], 0, 1e-6);
        KK_CHECK_NEAR(at[8], 0, 1e-6);
        at += 10;
        KK_CHECK_REL(at[0], weight / 4, 1e-5);
        KK_CHECK_NEAR(at[3], 0, 1e-6);
        KK_CHECK_NEAR(fabs(at[4]), 0.2, 1e-6);
        KK_CHECK_NEAR(at[9], 1, 1e-9);
        KK_CHECK_NEAR(at[11], 1, 1e-9); // MuJoCo's tangent of a normal along z is y
        at += 2 * 13;
        KK_CHECK_NEAR(at[0], 0, 0);
        KK_CHECK_NEAR(at[1], 2, 0);
        KK_CHECK_NEAR(at[2], 2, 0);
        KK_CHECK_NEAR(at[3], 0, 0);
    }
    end(&r);
}
