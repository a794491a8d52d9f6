/// Numbers that must not be negative: losses and frictions, of which the nearest possible one is zero, and stiffnesses and
/// limits, where the sign is wrong.
#include <stddef.h>
#include <string.h>

#include "io/doctor.h"
#include "io/text.h"
#include "model/compile.h"
#include "model/joint.h"

typedef struct field {
    const char *name;
    size_t offset;
    bool is_size; ///< the repair is the number without its sign; otherwise zero
} field;

#define FIELD(type, member, is_size) \
    { #member, offsetof(type, member), is_size }
static const field dof_fields[] = {FIELD(kk_dof_def, stiffness, true),
                                   FIELD(kk_dof_def, damping, false),
                                   FIELD(kk_dof_def, friction, false),
                                   FIELD(kk_dof_def, armature, true),
                                   FIELD(kk_dof_def, rotor_inertia, true),
                                   FIELD(kk_dof_def, velocity_limit, true),
                                   FIELD(kk_dof_def, effort_limit, true),
                                   FIELD(kk_dof_def, restitution, false),
                                   {NULL, 0, false}};
static const field loop_fields[] = {FIELD(kk_loop_def, stiffness, true),
                                    FIELD(kk_loop_def, damping, false),
                                    FIELD(kk_loop_def, angular_stiffness, true),
                                    FIELD(kk_loop_def, angular_damping, false),
                                    FIELD(kk_loop_def, break_force, true),
                                    FIELD(kk_loop_def, break_moment, true),
                                    {NULL, 0, false}};
static const field tendon_fields[] = {FIELD(kk_tendon_def, stiffness, true),
                                      FIELD(kk_tendon_def, damping, false),
                                      FIELD(kk_tendon_def, friction, false),
                                      FIELD(kk_tendon_def, restitution, false),
                                      {NULL, 0, false}};
static const field material_fields[] = {FIELD(kk_material_def, friction, false),
                                        FIELD(kk_material_def, torsion, false),
                                        FIELD(kk_material_def, rolling, false),
                                        FIELD(kk_material_def, restitution, false),
                                        FIELD(kk_material_def, stiffness, true),
                                        FIELD(kk_material_def, damping, false),
                                        FIELD(kk_material_def, adhesion, false),
                                        FIELD(kk_material_def, slip, false),
                                        {NULL, 0, false}};
static const field shape_fields[] = {FIELD(kk_shape_def, margin, false), {NULL, 0, false}};
static const field pair_fields[] = {FIELD(kk_pair_def, margin, false), {NULL, 0, false}};

static void check_fields(kki_doctor *d, const field *fields, void *item, const char *what, const char *name,
                         const kk_origin *origin) {
    for (const field *f = fields; f->name; f++) {
        double value;
        memcpy(&value, (char *)item + f->offset, sizeof value);
        if (!(value < 0)) {
            continue;
        }
        kki_doctor_report(d, KKI_ERROR, true, origin,
                          f->is_size ? "write it without the sign" : "write a number that is zero or positive",
                          "%s '%s': its %s is negative, %s", what, kki_shorten_string(name ? name : "").text, f->name,
                          KKI_NUMBER(value));
        if (d->options->repair) {
            value = f->is_size ? -value : 0;
            memcpy((char *)item + f->offset, &value, sizeof value);
        }
    }
}

static void check_joints(kki_doctor *d) {
    for (int i = 1; i < d->spec->nbody; i++) {
        kk_joint_def *j = &d->spec->body[i].joint;
        const int n = kki_joint_type_of(j->type)->nv;
        for (int k = 0; k < n; k++) {
            check_fields(d, dof_fields, &j->dof[k], "joint", j->name, &j->origin);
        }
    }
}

void kki_doctor_numbers(kki_doctor *doctor) {
    kk_spec *s = doctor->spec;
    check_joints(doctor);
    for (int i = 0; i < s->nloop; i++) {
        check_fields(doctor, loop_fields, &s->loop[i], "loop", s->loop[i].name, &s->loop[i].origin);
    }
    for (int i = 0; i < s->ntendon; i++) {
        check_fields(doctor, tendon_fields, &s->tendon[i], "tendon", s->tendon[i].name, &s->tendon[i].origin);
    }
    for (int i = 0; i < s->nmaterial; i++) {
        check_fields(doctor, material_fields, &s->material[i], "material", s->material[i].name, &s->material[i].origin);
    }
    for (int i = 0; i < s->nmaterial_pair; i++) {
        check_fields(doctor, material_fields, &s->material_pair[i].together, "a pair of materials", "",
                     &s->material_pair[i].origin);
    }
    for (int i = 0; i < s->nshape; i++) {
        check_fields(doctor, shape_fields, &s->shape[i], "shape", s->shape[i].name, &s->shape[i].origin);
    }
    for (int i = 0; i < s->npair; i++) {
        check_fields(doctor, pair_fields, &s->pair[i], "a pair of shapes", "", &s->pair[i].origin);
    }
}
