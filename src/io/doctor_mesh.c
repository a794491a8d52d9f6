/// Meshes in millimeters.
///
/// Drawing programs export millimeters, robot files are in meters, and a scale of 0.001 is easily forgotten. A link's mesh is
/// about as large as the steps from joint to joint, so one that is 30 times as large as the whole robot, whose joints are
/// right, is in another unit. Only what moves is judged by that: a ground may be much larger than the robot on it. The
/// repair is a scale of 0.001; a body whose inertia was made from such a mesh keeps that inertia, so there it is only told.
#include <karakuri/elementary.h>

#include "base/allocator.h"
#include "io/doctor.h"
#include "io/text.h"
#include "math/dense.h"
#include "model/compile.h"

static const double FAR_TOO_LARGE = 30, LEAST_SIZE = 3, MILLIMETER = 1e-3;

/// The diagonal of its box.
static double size_of(const kk_mesh_def *m) {
    kk_vec3 low = m->vertex_count > 0 ? m->vertex[0] : kk_vec3_make(0, 0, 0), high = low;
    for (int i = 1; i < m->vertex_count; i++) {
        const kk_vec3 v = m->vertex[i];
        low = kk_vec3_make(v.x < low.x ? v.x : low.x, v.y < low.y ? v.y : low.y, v.z < low.z ? v.z : low.z);
        high = kk_vec3_make(v.x > high.x ? v.x : high.x, v.y > high.y ? v.y : high.y, v.z > high.z ? v.z : high.z);
    }
    return kk_vec3_norm(kk_vec3_sub(high, low));
}

static double gyration(const kk_inertia *I) {
    double e[3];
    kki_sym3_eigenvalues(I->moment, e);
    return I->mass > 0 && e[2] > 0 ? kk_sqrt(e[2] / I->mass) : 0;
}

static bool stands_still(const kk_spec *s, int body) {
    while (body > 0 && s->body[body].joint.type == KK_JOINT_FIXED) {
        body = s->body[body].parent;
    }
    return body == KK_WORLD;
}

/// How large the robot is by its joints, or where it has none by its inertias; 0: nothing tells.
static double size_by_joints(const kki_doctor *d) {
    double size = 0;
    if (d->size > 0.01) {
        return d->size;
    }
    for (int i = 1; i < d->spec->nbody; i++) {
        const double r = 2 * gyration(&d->spec->body[i].inertia);
        size = r > size ? r : size;
    }
    return size;
}

typedef struct use {
    bool moves, is_by_inertia; ///< a body's inertia is as large as the mesh
} use;

static use use_of(const kk_spec *s, int mesh, double size) {
    use u = {false, false};
    for (int i = 0; i < s->nshape; i++) {
        const int body = s->shape[i].body;
        if (s->shape[i].mesh == mesh && body > 0 && body < s->nbody) {
            u.moves = u.moves || !stands_still(s, body);
            u.is_by_inertia = u.is_by_inertia || gyration(&s->body[body].inertia) > size / FAR_TOO_LARGE;
        }
    }
    return u;
}

static bool is_millimeters(double size, double robot) {
    return size > LEAST_SIZE && size > FAR_TOO_LARGE * robot && size * MILLIMETER < FAR_TOO_LARGE * robot;
}

/// The spec owns the vertices, and its writers name the scale.
static void shrink(kk_mesh_def *m) {
    kk_vec3 *vertex = (kk_vec3 *)m->vertex;
    for (int i = 0; i < m->vertex_count; i++) {
        vertex[i] = kk_vec3_scale(vertex[i], MILLIMETER);
    }
    m->scale = kk_vec3_scale(m->scale, MILLIMETER);
}

static bool check_mesh(kki_doctor *d, int i, double robot, bool others_are) {
    kk_mesh_def *m = &d->spec->mesh[i];
    const double size = size_of(m);
    const use u = use_of(d->spec, i, size);
    if (!is_millimeters(size, robot) || !(u.moves || others_are)) {
        return false;
    }
    kki_doctor_report(d, KKI_WARNING, !u.is_by_inertia, &m->origin, "give the mesh a scale of 0.001",
                      "mesh '%s' is %s m large, and the robot %s m by its joints%s; it looks like mm",
                      kki_shorten_string(m->name).text, KKI_NUMBER(kki_doctor_round(size)),
                      KKI_NUMBER(kki_doctor_round(robot)),
                      u.is_by_inertia ? ", and a body's inertia is made from it" : "");
    if (d->options->repair && !u.is_by_inertia) {
        shrink(m);
    }
    return true;
}

void kki_doctor_meshes(kki_doctor *doctor) {
    const double robot = size_by_joints(doctor);
    bool found = false;
    for (int i = 0; i < doctor->spec->nmesh && robot > 0; i++) {
        found = check_mesh(doctor, i, robot, false) || found;
    }
    // where those that move are in mm, those of the base are, too
    for (int i = 0; i < doctor->spec->nmesh && found; i++) {
        const double size = size_of(&doctor->spec->mesh[i]);
        if (!use_of(doctor->spec, i, size).moves) {
            check_mesh(doctor, i, robot, true);
        }
    }
}
