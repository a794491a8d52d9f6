/// TITAN-VIII in ODE, as the paper had it (S4), from the file of our model: what dJointGetFeedback tells of a knee, and torque and power of a crawl.
///
/// The paper found t1 ≠ −t2 by 4 N m and suspected a fault. ODE gives t1 and t2 each about its own body's *center of mass*; Newton's third law
/// is about one point. With F the force on body 1 and c1, c2 the two centers, t1 + t2 = (c2 − c1) × F. Moved to the joint the sum is zero.
///
///     titan_ode MODEL [crawl]
#include <karakuri/karakuri.h>

#include <ode/ode.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int LEGS = 4, JOINTS = 4;
constexpr double STEP = 1e-3, FRICTION = 0.5, SLIP = 0.001, KNEE = (22.0 - 2.0) / 4 * 9.81;
const char *const leg_names[LEGS] = {"left_fore", "right_fore", "left_hind", "right_hind"};
const char *const parts[JOINTS] = {"hip", "thigh", "shin", "foot"};

[[noreturn]] void give_up(const char *what) {
    std::fprintf(stderr, "titan_ode: %s\n", what);
    std::exit(2);
}

void must(kk_status status, const kk_error &error) {
    if (status != KK_OK) {
        give_up(error.text);
    }
}

dReal real(double x) {
    return static_cast<dReal>(x);
}

kk_vec3 vector_of(const dReal *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

struct hinge {
    dJointID id = nullptr;
    int q = 0;
    double gain = 0, limit = 0; ///< of the servo (3), 1/s and N m
    dJointFeedback feedback{};
};

/// The robot in both engines: ours knows the model, ODE moves it.
class titan {
  public:
    explicit titan(const char *file) {
        kk_error error{};
        kk_load_options options{};
        must(kk_load_file(file, &options, nullptr, &spec, nullptr, &error), error);
        must(kk_model_compile(spec, nullptr, &model, &error), error);
        must(kk_data_create(model, nullptr, &data), error);
        q.resize(static_cast<std::size_t>(kk_model_nq(model)));
        dInitODE2(0);
    }
    ~titan() {
        destroy();
        dCloseODE();
        kk_data_free(data);
        kk_model_free(model);
        kk_spec_free(spec);
    }
    titan(const titan &) = delete;
    titan &operator=(const titan &) = delete;

    /// Puts the robot into a configuration, `height` above the floor, at rest.
    void build(const std::vector<double> &at, double height) {
        destroy();
        q = at;
        q[6] += height; // the base's z
        world = dWorldCreate();
        dWorldSetGravity(world, 0, 0, real(-9.81));
        space = dHashSpaceCreate(nullptr);
        dCreatePlane(space, 0, 0, 1, 0);
        touches = dJointGroupCreate(0);
        kk_kinematics(model, data, q.data());
        kk_jacobians(model, data, q.data());
        body.assign(static_cast<std::size_t>(kk_model_nbody(model)), nullptr);
        for (int b = 1; b < kk_model_nbody(model); b++) {
            add_body(b);
        }
        for (int leg = 0; leg < LEGS; leg++) {
            for (int k = 0; k < JOINTS; k++) {
                add_hinge(leg, k);
            }
            add_foot(leg);
        }
    }

    /// One step of 1 ms with servo (3): target velocity −k (θ − θ_d) within a torque limit.
    void step(const std::vector<double> &target) {
        for (auto &leg : joint) {
            for (hinge &h : leg) {
                const double angle = start[static_cast<std::size_t>(h.q)] + dJointGetHingeAngle(h.id);
                dJointSetHingeParam(h.id, dParamVel, real(-h.gain * (angle - target[static_cast<std::size_t>(h.q)])));
            }
        }
        dSpaceCollide(space, this, touch);
        dWorldStep(world, real(STEP));
        dJointGroupEmpty(touches);
    }

    kk_vec3 anchor(int leg, int k) {
        dVector3 p;
        dJointGetHingeAnchor(joint[leg][k].id, p);
        return vector_of(p);
    }
    kk_vec3 axis(int leg, int k) {
        dVector3 u;
        dJointGetHingeAxis(joint[leg][k].id, u);
        return vector_of(u);
    }
    kk_vec3 center(int leg, int k) {
        return vector_of(dBodyGetPosition(body[static_cast<std::size_t>(body_of(leg, k))]));
    }
    double speed(int leg, int k) {
        return dJointGetHingeAngleRate(joint[leg][k].id);
    }
    kk_vec3 base() {
        return vector_of(dBodyGetPosition(body[1]));
    }
    int body_of(int leg, int k) {
        return kk_model_find_body(model, (std::string(leg_names[leg]) + "_" + parts[k]).c_str());
    }

    kk_spec *spec = nullptr;
    kk_model *model = nullptr;
    kk_data *data = nullptr;
    std::array<std::array<hinge, JOINTS>, LEGS> joint;
    std::vector<double> q;

  private:
    void add_body(int b) {
        const kk_inertia I = kk_model_body_inertia(model, b);
        const kk_transform X = kk_body_pose(model, data, b);
        const kk_vec3 c = kk_transform_point(X, I.com);
        dBodyID id = body[static_cast<std::size_t>(b)] = dBodyCreate(world);
        dMass m;
        dMassSetParameters(&m, real(I.mass), 0, 0, 0, real(I.moment.xx), real(I.moment.yy), real(I.moment.zz),
                           real(I.moment.xy), real(I.moment.xz), real(I.moment.yz));
        dBodySetMass(id, &m);
        dBodySetPosition(id, real(c.x), real(c.y), real(c.z));
        const kk_quat turn = kk_quat_from_mat3(X.R);
        const dQuaternion r = {real(turn.w), real(turn.x), real(turn.y), real(turn.z)};
        dBodySetQuaternion(id, r);
    }
    void add_hinge(int leg, int k) {
        const int b = body_of(leg, k);
        const kk_joint_info info = kk_model_joint(model, b);
        const int nv = kk_model_nv(model);
        std::vector<double> J(6 * static_cast<std::size_t>(nv));
        kk_body_jacobian(model, data, b, KK_WORLD_ALIGNED, J.data());
        const kk_vec3 at = kk_body_pose(model, data, b).p;
        const auto column = [&](int row) { return real(J[static_cast<std::size_t>(row * nv + info.v_index)]); };
        hinge &h = joint[static_cast<std::size_t>(leg)][static_cast<std::size_t>(k)];
        h.id = dJointCreateHinge(world, nullptr);
        dJointAttach(h.id, body[static_cast<std::size_t>(b)],
                     body[static_cast<std::size_t>(kk_model_body_parent(model, b))]);
        dJointSetHingeAnchor(h.id, real(at.x), real(at.y), real(at.z));
        dJointSetHingeAxis(h.id, column(0), column(1), column(2));
        h.q = info.q_index;
        h.gain = k < 3 ? 4 : 1;
        const int motor =
            kk_model_find_actuator(model, (std::string(leg_names[leg]) + "_j" + std::to_string(k + 1)).c_str());
        h.limit = kk_model_actuator(model, motor).force_upper;
        dJointSetHingeParam(h.id, dParamFMax, real(h.limit));
        dJointSetFeedback(h.id, &h.feedback);
        start = q;
    }
    void add_foot(int leg) {
        const int b = body_of(leg, 3);
        for (int i = 0; i < kk_model_nshape(model); i++) {
            const kk_shape_def shape = kk_model_shape(model, i);
            if (shape.body == b && shape.type == KK_SHAPE_SPHERE) {
                dGeomID ball = dCreateSphere(space, real(shape.size[0]));
                dGeomSetBody(ball, body[static_cast<std::size_t>(b)]);
                const kk_vec3 off = kk_vec3_sub(shape.placement.p, kk_model_body_inertia(model, b).com);
                dGeomSetOffsetPosition(ball, real(off.x), real(off.y), real(off.z));
            }
        }
    }
    static void touch(void *self, dGeomID a, dGeomID b) {
        titan *t = static_cast<titan *>(self);
        dContact contact[10];
        const int n = dCollide(a, b, 10, &contact[0].geom, sizeof(dContact));
        const bool is_floor = !dGeomGetBody(a) != !dGeomGetBody(b);
        for (int i = 0; i < n && is_floor; i++) { // the paper's listing
            contact[i].surface.mode =
                dContactSlip1 | dContactSlip2 | dContactSoftERP | dContactSoftCFM | dContactApprox1;
            contact[i].surface.mu = real(FRICTION);
            contact[i].surface.slip1 = contact[i].surface.slip2 = real(SLIP);
            contact[i].surface.soft_erp = real(0.2);
            contact[i].surface.soft_cfm = real(1e-4);
            dJointAttach(dJointCreateContact(t->world, t->touches, &contact[i]), dGeomGetBody(a), dGeomGetBody(b));
        }
    }
    void destroy() {
        if (world) {
            dJointGroupDestroy(touches);
            dSpaceDestroy(space);
            dWorldDestroy(world);
            world = nullptr;
        }
    }

    dWorldID world = nullptr;
    dSpaceID space = nullptr;
    dJointGroupID touches = nullptr;
    std::vector<dBodyID> body;
    std::vector<double> start;
};

// ---- standing

/// Feedback of the left fore knee in the last step, and where things were when it was computed.
struct reading {
    kk_vec3 force, about_centers, about_joint, told_by_arm;
};

reading step_and_read(titan &t, const std::vector<double> &target) {
    const kk_vec3 at = t.anchor(0, 2), c1 = t.center(0, 2), c2 = t.center(0, 1); // before the step moves them
    t.step(target);
    const dJointFeedback &f = t.joint[0][2].feedback; // body 1 is the shin here, 2 the thigh
    const kk_vec3 f1 = vector_of(f.f1), f2 = vector_of(f.f2), sum = kk_vec3_add(vector_of(f.t1), vector_of(f.t2));
    const kk_vec3 moved = kk_vec3_add(kk_vec3_cross(kk_vec3_sub(at, c1), f1), kk_vec3_cross(kk_vec3_sub(at, c2), f2));
    return {f1, sum, kk_vec3_sub(sum, moved), kk_vec3_cross(kk_vec3_sub(c2, c1), f1)};
}

/// Dropped by 5 mm; one second after landing as in the paper, and when the side force has died away. True when the figures are what they must be.
bool stand(titan &t) {
    std::vector<double> target(static_cast<std::size_t>(kk_model_nq(t.model)));
    reading r{};
    bool is_good = true;
    int taken = 0;
    kk_model_start(t.model, target.data());
    t.build(target, 0.005);
    std::printf("ODE, TITAN-VIII dropped by 5 mm by servo (3), left fore knee; upright force %.2f N\n", KNEE);
    for (const int until : {1032, 6000}) {
        for (; taken < until; taken++) {
            r = step_and_read(t, target);
        }
        const double sum = kk_vec3_norm(r.about_centers), zero = kk_vec3_norm(r.about_joint);
        std::printf("  %.3f s: force on the shin %7.3f %7.3f %7.3f N, |t1 + t2| about the centers of mass %.4f N m, "
                    "(c2 - c1) x F %.4f N m, |t1 + t2| about the joint %.1e N m\n",
                    until * STEP, r.force.x, r.force.y, r.force.z, sum, kk_vec3_norm(r.told_by_arm), zero);
        is_good = is_good && zero < 1e-9;
    }
    const double sum = kk_vec3_norm(r.about_centers);
    return is_good && std::fabs(sum - KNEE * 0.0775) < 1e-3;
}

// ---- crawling

struct powers {
    double thigh = 0, knee = 0, sum = 0, way = 0;
    int samples = 0;
};

/// Torque of joint k by equation (5): the next joint's force.
double torque(titan &t, int leg, int k) {
    const kk_vec3 F = vector_of(t.joint[leg][k + 1].feedback.f2); // on the body before the joint
    return -kk_vec3_dot(kk_vec3_cross(kk_vec3_sub(t.anchor(leg, k + 1), t.anchor(leg, k)), F), t.axis(leg, k));
}

/// Mean powers of the wire-parallel left fore leg in its stance, in the second period.
powers crawl(titan &t, char posture) {
    const kk_crawl c = kk_crawl_titan8(posture);
    kk_error error{};
    kk_ik *ik = nullptr;
    std::vector<double> target(static_cast<std::size_t>(kk_model_nq(t.model)));
    int toe[LEGS];
    for (int leg = 0; leg < LEGS; leg++) {
        toe[leg] = kk_model_find_frame(t.model, (std::string(leg_names[leg]) + "_toe").c_str());
    }
    must(kk_ik_create(t.model, LEGS, nullptr, &ik), error);
    kk_model_start(t.model, target.data());
    must(kk_crawl_pose(t.model, ik, &c, toe, 0, target.data(), &error), error);
    t.build(target, 0);
    powers x;
    double from = 0;
    for (int i = 0; i < 9600; i++) {
        must(kk_crawl_pose(t.model, ik, &c, toe, (i + 1) * STEP, target.data(), &error), error);
        t.step(target);
        from = i == 4800 ? t.base().x : from;
        if (i >= 7200) {
            const double thigh = torque(t, 0, 1) * t.speed(0, 1);
            const double knee = torque(t, 0, 2) * (t.speed(0, 1) + t.speed(0, 2));
            x.thigh += std::fabs(thigh);
            x.knee += std::fabs(knee);
            x.sum += std::fabs(thigh + knee);
            x.samples++;
        }
    }
    x.way = t.base().x - from;
    kk_ik_free(ik);
    return x;
}

void crawl_all(titan &t) {
    std::printf("ODE, crawl by servo (3) alone, left fore leg, mean |power| in stance (2.4-4.8 s)\n");
    std::printf("  posture   thigh     knee      both      way of the body\n");
    for (char posture = 'A'; posture <= 'D'; posture++) {
        const powers x = crawl(t, posture);
        std::printf("  %c      %7.4f W %7.4f W %7.4f W  %.4f m\n", posture, x.thigh / x.samples, x.knee / x.samples,
                    x.sum / x.samples, x.way);
    }
}

} // namespace

int main(int count, char **word) {
    if (count < 2) {
        give_up("which model?");
    }
    titan t(word[1]);
    const bool is_good = stand(t);
    if (count > 2 && std::strcmp(word[2], "crawl") == 0) {
        crawl_all(t);
    }
    return is_good ? 0 : 1;
}
