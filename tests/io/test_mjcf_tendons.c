// Tendons, muscles and the rarer actuators of MJCF: what they become, and that they come back from a file that was written.
#include <karakuri/save.h>
#include <math.h>

#include "mjcf_support.h"

static const char everything[] =
    "<mujoco><option timestep='0.001'/><worldbody>"
    "<site name='w' pos='-.2 0 .3'/><site name='side' pos='0 0 1'/><site name='rail' pos='.8 0 0' zaxis='1 0 0'/>"
    "<geom name='drum' type='cylinder' size='.1 .2' zaxis='0 1 0' contype='0' conaffinity='0'/>"
    "<body name='arm'><joint name='a' axis='0 1 0' range='-60 60'/><geom type='capsule' size='.02' fromto='.2 0 0 .4 0 "
    "0'/>"
    "<site name='s' pos='.35 0 .05'/><site name='pin' pos='.3 0 -.05'/>"
    "<body name='hand' pos='.45 0 0'><joint name='b' axis='0 1 0' range='-90 30'/><geom size='.05'/>"
    "<site name='t' pos='.05 0 .06'/></body></body></worldbody>"
    "<tendon><spatial name='cord' armature='.3' actuatorfrcrange='-50 10' springlength='.2 .5' stiffness='7'>"
    "<site site='w'/><geom geom='drum' sidesite='side'/><site site='s'/><pulley divisor='2'/><site site='s'/><site "
    "site='t'/></spatial>"
    "<fixed name='sum'><joint joint='a' coef='1'/><joint joint='b' coef='-.5'/></fixed>"
    "<spatial name='natural' stiffness='3'><site site='w'/><site site='t'/></spatial></tendon>"
    "<equality><tendon tendon1='sum' tendon2='cord' polycoef='.1 .5 2 0 1'/></equality>"
    "<actuator><muscle name='m' tendon='cord' force='120' lengthrange='.3 .9' timeconst='.02 .06' tausmooth='.1' "
    "range='.7 1.1' lmin='.4' lmax='1.7' vmax='2' fpmax='1.4' fvmax='1.3'/>"
    "<muscle name='auto' joint='b'/>"
    "<general name='g' joint='a' dyntype='muscle' gaintype='muscle' biastype='muscle' dynprm='.01 .04' gainprm='.75 "
    "1.05 "
    "90 200 .5 1.6 1.5 1.3 1.2' biasprm='.75 1.05 90 200 .5 1.6 1.5 1.3 1.2' lengthrange='-1 1'/>"
    "<adhesion name='cup' body='hand' ctrlrange='0 1' gain='30'/>"
    "<motor name='piston' cranksite='pin' slidersite='rail' cranklength='.6' gear='2' damping='3'/>"
    "<position name='late' joint='a' kp='20' delay='.004' nsample='4' interp='cubic' armature='.02' gear='2'/>"
    "<pid name='p' joint='b' kp='11' kv='3' input='pos vel ff' velrange='-2 2'/>"
    "<dcmotor name='dc' joint='a' resistance='2' motorconst='.4 .9' saturation='5'/></actuator></mujoco>";

static int near(double a, double b) {
    return fabs(a - b) <= 1e-12 * (1 + fabs(b));
}

static const kk_actuator_def *actuator(const robot *r, const char *name) {
    for (int i = 0; i < kk_spec_actuator_count(r->spec); i++) {
        const kk_actuator_def *a = kk_spec_actuator_const(r->spec, i);
        if (a->name && strcmp(a->name, name) == 0) {
            return a;
        }
    }
    KK_FAIL("there is no actuator %s", name);
    return kk_spec_actuator_const(r->spec, 0);
}

static void check_muscle(const kk_muscle_def *m) {
    KK_CHECK(near(m->force, 120) && near(m->length_lower, 0.3) && near(m->length_upper, 0.9));
    KK_CHECK(near(m->range[0], 0.7) && near(m->range[1], 1.1) && near(m->lmin, 0.4) && near(m->lmax, 1.7));
    KK_CHECK(near(m->vmax, 2) && near(m->fpmax, 1.4) && near(m->fvmax, 1.3) && near(m->smoothing, 0.1));
    KK_CHECK(near(m->time_constant[0], 0.02) && near(m->time_constant[1], 0.06));
}

static void check_all(const robot *r) {
    const kk_tendon_def *cord = kk_spec_tendon_const(r->spec, 0), *sum = kk_spec_tendon_const(r->spec, 1);
    KK_CHECK_EQ_INT(cord->item_count, 6);
    KK_CHECK_STR(cord->item[1].wrap, "drum");
    KK_CHECK_STR(cord->item[1].side, "side");
    KK_CHECK(near(cord->armature, 0.3) && near(cord->pull_lower, -50) && near(cord->pull_upper, 10));
    KK_CHECK(near(cord->rest_lower, 0.2) && near(cord->rest_upper, 0.5));
    KK_CHECK(sum->is_held);
    KK_CHECK_STR(sum->leader, "cord");
    check_muscle(&actuator(r, "m")->muscle);
    KK_CHECK_EQ_INT(actuator(r, "m")->activation, KK_ACTIVATION_MUSCLE);
    const kk_muscle_def *automatic = &actuator(r, "auto")->muscle;
    KK_CHECK_NEAR(automatic->length_lower, -KK_PI / 2, 1e-9); // the joint's limits
    KK_CHECK_NEAR(automatic->length_upper, KK_PI / 6, 1e-9);
    KK_CHECK(automatic->force > 0.1);
    KK_CHECK_EQ_INT(actuator(r, "g")->type, KK_ACTUATOR_MUSCLE);
    KK_CHECK(near(actuator(r, "g")->muscle.force, 90));
    KK_CHECK_EQ_INT(actuator(r, "cup")->transmission, KK_TRANSMISSION_BODY);
    KK_CHECK(near(actuator(r, "cup")->gain, 30) && near(actuator(r, "cup")->control_upper, 1));
    const kk_actuator_def *piston = actuator(r, "piston"), *late = actuator(r, "late");
    KK_CHECK(piston->transmission == KK_TRANSMISSION_CRANK && near(piston->rod_length, 0.6) && near(piston->gear, 2));
    KK_CHECK_STR(piston->reference, "rail");
    KK_CHECK(near(late->delay, 0.004) && late->delay_samples == 4 && late->delay_interpolation == KK_DELAY_CUBIC);
}

/// The polynomial at the lengths of the start must give the length of the start plus c₀, and slope c₁.
static void check_held(const robot *r) {
    kk_data *data = NULL;
    double q[8];
    KK_CHECK_EQ_INT(kk_data_create(r->model, NULL, &data), KK_OK);
    kk_model_start(r->model, q);
    kk_kinematics(r->model, data, q);
    const double x = kk_tendon_length(r->model, data, 0, q), own = kk_tendon_length(r->model, data, 1, q);
    const double *p = kk_spec_tendon_const(r->spec, 1)->held;
    KK_CHECK_NEAR(p[0] + x * (p[1] + x * (p[2] + x * (p[3] + x * p[4]))), own + 0.1, 1e-12);
    KK_CHECK_NEAR(p[1] + x * (2 * p[2] + x * (3 * p[3] + x * 4 * p[4])), 0.5, 1e-12);
    KK_CHECK_NEAR(kk_spec_tendon_const(r->spec, 2)->rest_lower, kk_tendon_length(r->model, data, 2, q), 1e-12);
    kk_data_free(data);
}

KK_TEST(mjcf_reads_tendons_muscles_and_rare_actuators) {
    robot r = mjcf_from_text(everything);
    if (robot_is_good(&r, "everything")) {
        check_all(&r);
        check_held(&r);
        // a pid is three actuators, whose forces add up to kp (u − q) + kv (w − v) + f
        const kk_actuator_def *p = actuator(&r, "p"), *vel = actuator(&r, "p/vel"), *ff = actuator(&r, "p/ff");
        KK_CHECK(near(p->gain, 11) && near(p->bias[1], -11) && near(p->bias[2], -3));
        KK_CHECK(near(vel->gain, 3) && vel->bias[1] == 0 && vel->bias[2] == 0 && near(vel->control_upper, 2));
        KK_CHECK(near(ff->gain, 1) && ff->bias[1] == 0);
        const double K = 0.6; // √(0.4 · 0.9)
        KK_CHECK(near(actuator(&r, "dc")->gain, K / 2) && near(actuator(&r, "dc")->bias[2], -K * K / 2));
        KK_CHECK(near(actuator(&r, "dc")->force_upper, 5));
        KK_CHECK(
            near(kk_model_dof(r.model, kk_model_joint(r.model, kk_model_find_joint(r.model, "a")).v_index).armature,
                 0.08)); // 0.02 · 2²
    }
    robot_free(&r);
}

KK_TEST(mjcf_writes_tendons_muscles_and_rare_actuators) {
    robot a = mjcf_from_text(everything), b = {0};
    char *text = NULL;
    size_t size = 0;
    if (robot_is_good(&a, "everything") &&
        KK_CHECK_EQ_INT(kk_spec_write_mjcf(a.spec, NULL, NULL, &text, &size, NULL), KK_OK)) {
        b = mjcf_from_text(text);
        if (robot_is_good(&b, text)) {
            check_all(&b);
            check_held(&b);
        }
    }
    kk_text_free(NULL, text, size);
    robot_free(&b);
    robot_free(&a);
}

KK_TEST(karakuri_element_keeps_tendons_and_actuators) {
    robot a = mjcf_from_text(everything), b = {0};
    char *text = NULL;
    size_t size = 0;
    if (robot_is_good(&a, "everything") &&
        KK_CHECK_EQ_INT(kk_spec_write_urdf(a.spec, NULL, NULL, &text, &size, NULL), KK_OK)) {
        b = robot_from_text(text, NULL);
        if (robot_is_good(&b, text)) {
            check_all(&b);
        }
    }
    kk_text_free(NULL, text, size);
    robot_free(&b);
    robot_free(&a);
}

// what tendons go round stays where all that is only seen is thrown away
KK_TEST(mjcf_keeps_obstacles_without_visuals) {
    static const char before[] = "<mujoco><compiler discardvisual='true'/>";
    char text[sizeof everything + sizeof before];
    snprintf(text, sizeof text, "%s%s", before, everything + strlen("<mujoco>"));
    robot r = mjcf_from_text(text);
    if (robot_is_good(&r, "everything without visuals")) {
        check_held(&r);
    }
    robot_free(&r);
}

// a muscle on a tendon that nothing limits: told, with the place
KK_TEST(mjcf_tells_of_muscles_without_a_range) {
    robot r =
        mjcf_from_text("<mujoco><worldbody><body><joint name='a' type='slide'/><geom size='1'/></body></worldbody>\n"
                       "<actuator><muscle name='m' joint='a'/></actuator></mujoco>");
    if (robot_is_good(&r, "a slide")) {
        KK_CHECK_EQ_INT(kk_messages_count_of(r.messages, KK_SEVERITY_WARNING), 1);
        for (int i = 0; i < kk_messages_count(r.messages); i++) {
            const kk_message m = kk_messages_get(r.messages, i);
            if (m.severity == KK_SEVERITY_WARNING) {
                KK_CHECK((strstr(m.text, "lengthrange") || strstr(m.remedy, "lengthrange")) && m.line == 2);
            }
        }
    }
    robot_free(&r);
}
