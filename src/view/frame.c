/// One moment as bytes; the layout stands in view.h.
#include <karakuri/view.h>

#include "base/missing.h"
#include "view/bytes.h"

enum { MAGIC = 0x31464b4b }; // "KKF1"

// ---- the point where the floor's forces have no horizontal moment (S2)

typedef struct support {
    kk_force sum; ///< of what the world does to everything else, about the world's origin
    double height;
    int count;
} support;

/// Whether a body is fixed to the world.
static int is_ground(const kk_model *model, int body) {
    while (body > 0 && kk_model_joint(model, body).type == KK_JOINT_FIXED) {
        body = kk_model_body_parent(model, body);
    }
    return body <= 0;
}

static void add_contact(const kk_model *model, const kk_contact *c, support *s) {
    const int first = is_ground(model, c->body[0]), second = is_ground(model, c->body[1]);
    if (first == second) {
        return;
    }
    const kk_vec3 f = first ? c->force : kk_vec3_neg(c->force);
    s->sum = kk_force_add(s->sum, kk_force_make(kk_vec3_cross(c->position, f), f));
    s->height = s->count++ == 0 || c->position.z < s->height ? c->position.z : s->height;
}

/// On the plane of the lowest contact; NaN where nothing is pushed upwards.
static kk_vec3 zmp_of(const kk_model *model, kk_simulator *simulator) {
    support s = {{{0, 0, 0}, {0, 0, 0}}, 0, 0};
    const int count = simulator ? kk_simulator_ncontact(simulator) : 0;
    for (int i = 0; i < count; i++) {
        const kk_contact c = kk_simulator_contacts(simulator)[i];
        add_contact(model, &c, &s);
    }
    const kk_vec3 f = s.sum.linear, n = s.sum.angular;
    if (!(f.z > 1e-9)) {
        const double nan = kki_double(0x7ff8000000000000u);
        return kk_vec3_make(nan, nan, nan);
    }
    return kk_vec3_make((-n.y + s.height * f.x) / f.z, (n.x + s.height * f.y) / f.z, s.height);
}

// ---- pieces

static void put_pose(kki_bytes *b, kk_transform X) {
    const kk_quat q = kk_quat_from_mat3(X.R);
    kki_put_doubles(b, (const double[]){q.w, q.x, q.y, q.z}, 4);
    kki_put_vec3(b, X.p);
}

static void put_contact(kki_bytes *b, const kk_contact *c) {
    const double along = kk_vec3_dot(c->velocity, c->normal);
    const kk_vec3 slide = kk_vec3_sub(c->velocity, kk_vec3_scale(c->normal, along));
    kki_put_vec3(b, c->position);
    kki_put_vec3(b, c->normal);
    kki_put_vec3(b, c->force);
    kki_put_doubles(b, (const double[]){c->gap, c->friction, c->body[0], c->body[1], c->shape[0], c->shape[1]}, 6);
    kki_put_f32(b, kk_vec3_norm(slide));
}

static void put_header(kki_bytes *b, const kk_view_source *s, const kk_report *report, int ncontact, size_t size) {
    const kk_model *m = s->model;
    kki_put_u32(b, MAGIC);
    kki_put_u32(b, (uint32_t)size);
    kki_put_f64(b, s->time);
    kki_put_f64(b, s->steps);
    const uint32_t counts[] = {s->generation,
                               s->notice,
                               s->flags | (s->simulator ? 0 : KK_VIEW_NO_STEP),
                               (uint32_t)kk_model_nbody(m),
                               (uint32_t)ncontact,
                               (uint32_t)kk_model_nq(m),
                               (uint32_t)kk_model_nv(m),
                               (uint32_t)kk_model_nactuator(m),
                               (uint32_t)kk_model_nsensordata(m),
                               0};
    for (int i = 0; i < 10; i++) {
        kki_put_u32(b, counts[i]);
    }
    kki_put_f64(b, s->oldest);
    kki_put_f64(b, s->newest);
    kki_put_u64(b, s->state_hash);
    kki_put_f32(b, report->residual);
    kki_put_f32(b, report->penetration);
}

static void put_figures(kki_bytes *b, const kk_view_source *s, const kk_report *report) {
    const kk_model *m = s->model;
    kki_put_f32(b, s->v ? kk_kinetic_energy(m, s->data, s->q, s->v) : 0);
    kki_put_f32(b, kk_potential_energy(m, s->data, s->q));
    kki_put_u32(b, (uint32_t)report->sweeps);
    kki_put_u32(b, (uint32_t)report->newton);
    kki_put_f32(b, report->cone);
    kki_put_f32(b, report->signorini);
    kki_put_vec3(b, kk_center_of_mass(m, s->data, s->q));
    kki_put_vec3(b, zmp_of(m, s->simulator));
    kki_put_f32(b, s->timestep);
    kki_put_f32(b, s->speed);
    kki_put_u64(b, kk_model_hash(m));
}

static void put_wrenches(kki_bytes *b, const kk_view_source *s) {
    const kk_force *wrench = s->simulator ? kk_simulator_joint_wrenches(s->simulator) : NULL;
    const kk_force none = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < kk_model_nbody(s->model); i++) {
        const kk_force f = wrench ? wrench[i] : none;
        kki_put_vec3(b, f.angular);
        kki_put_vec3(b, f.linear);
    }
}

static void put_arrays(kki_bytes *b, const kk_view_source *s, int ncontact) {
    const kk_model *m = s->model;
    const int nv = kk_model_nv(m);
    kk_kinematics(m, s->data, s->q);
    for (int i = 0; i < kk_model_nbody(m); i++) {
        put_pose(b, kk_body_pose(m, s->data, i));
    }
    for (int i = 0; i < ncontact; i++) {
        const kk_contact c = kk_simulator_contacts(s->simulator)[i];
        put_contact(b, &c);
    }
    kki_put_doubles(b, s->q, kk_model_nq(m));
    kki_put_doubles(b, s->v, nv);
    kki_put_doubles(b, s->simulator ? kk_simulator_force(s->simulator, KK_FORCE_ACTUATOR) : NULL, nv);
    kki_put_doubles(b, s->control, kk_model_nactuator(m));
    kki_put_doubles(b, s->sensor_data, kk_model_nsensordata(m));
    put_wrenches(b, s);
}

size_t kk_view_frame_size(const kk_model *m, int ncontact) {
    const size_t numbers = 13 * (size_t)kk_model_nbody(m) + KK_VIEW_CONTACT_NUMBERS * (size_t)ncontact +
                           (size_t)kk_model_nq(m) + 2 * (size_t)kk_model_nv(m) + (size_t)kk_model_nactuator(m) +
                           (size_t)kk_model_nsensordata(m);
    return KK_VIEW_FRAME_HEADER + 4 * numbers;
}

kk_status kk_view_frame(const kk_view_source *source, void *bytes, size_t room, size_t *size) {
    if (kki_is_missing(source, bytes, size)) {
        return KK_INVALID_ARGUMENT;
    }
    const kk_model *m = source->model;
    const size_t least = kk_view_frame_size(m, 0), contact = 4 * KK_VIEW_CONTACT_NUMBERS;
    if (!bytes || room < least) {
        return KK_SIZE_MISMATCH;
    }
    const int all = source->simulator ? kk_simulator_ncontact(source->simulator) : 0;
    const int ncontact = (room - least) / contact < (size_t)all ? (int)((room - least) / contact) : all;
    const kk_report report = source->simulator ? *kk_simulator_report(source->simulator) : source->report;
    kki_bytes b = {bytes};
    *size = kk_view_frame_size(m, ncontact);
    put_header(&b, source, &report, ncontact, *size);
    put_figures(&b, source, &report);
    put_arrays(&b, source, ncontact);
    return KK_OK;
}
