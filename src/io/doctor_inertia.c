/// Masses and inertias that no body has, and those in another unit.
///
/// A body that reaches no farther than L from its center of mass has no principal moment above m L². Where the moments
/// say more than that, a unit is wrong: kg mm² for kg m² is a factor 1e6, g mm² 1e9, kg cm² 1e4. The factor that brings
/// the radius of gyration back into the body is taken.
#include <karakuri/elementary.h>

#include "io/doctor.h"
#include "io/text.h"
#include "io/urdf.h"
#include "math/dense.h"
#include "model/compile.h"

static bool is_zero(kk_sym3 I) {
    return I.xx == 0 && I.yy == 0 && I.zz == 0 && I.xy == 0 && I.xz == 0 && I.yz == 0;
}

static bool is_origin(kk_vec3 p) {
    return p.x == 0 && p.y == 0 && p.z == 0;
}

static bool is_finite(const kk_inertia *I) {
    const kk_sym3 *m = &I->moment;
    const double sum = I->mass + I->com.x + I->com.y + I->com.z + m->xx + m->yy + m->zz + m->xy + m->xz + m->yz;
    return sum - sum == 0;
}

static kk_sym3 scaled(kk_sym3 I, double f) {
    return (kk_sym3){I.xx * f, I.yy * f, I.zz * f, I.xy * f, I.xz * f, I.yz * f};
}

int kk_inertia_repair(kk_inertia *inertia) {
    int is_changed = 0;
    if (inertia->mass < 0) {
        inertia->mass = -inertia->mass;
        is_changed = 1;
    }
    if (inertia->mass == 0 && !is_zero(inertia->moment)) {
        inertia->mass = 1e-9;
        is_changed = 1;
    }
    if (inertia->mass == 0 && !is_origin(inertia->com)) {
        inertia->com = kk_vec3_make(0, 0, 0);
        is_changed = 1;
    }
    return inertia->mass > 0 && kki_inertia_repair(inertia) ? 1 : is_changed;
}

// ---- what no body has

static void check_possible(kki_doctor *d, kk_body_def *b) {
    const kki_short_text name = kki_shorten_string(b->name);
    kk_inertia possible = b->inertia;
    if (b->inertia.mass < 0) {
        kki_doctor_report(d, KKI_ERROR, true, &b->origin, "write a positive mass in kg",
                          "body '%s': the mass is negative, %s kg", name.text, KKI_NUMBER(b->inertia.mass));
    } else if (b->inertia.mass == 0 && !is_zero(b->inertia.moment)) {
        kki_doctor_report(d, KKI_ERROR, true, &b->origin, "give it a mass",
                          "body '%s' has moments of inertia, but no mass", name.text);
    } else if (b->inertia.mass == 0 && !is_origin(b->inertia.com)) {
        kki_doctor_report(d, KKI_ERROR, true, &b->origin, "give it a mass",
                          "body '%s' has a center of mass, but no mass", name.text);
    } else if (b->inertia.mass > 0 && kki_inertia_repair(&possible)) {
        double e[3];
        kki_sym3_eigenvalues(b->inertia.moment, e);
        kki_doctor_report(d, KKI_ERROR, true, &b->origin,
                          "check units, axes and signs; none may be negative or larger than the sum of the others",
                          "body '%s': no body has the principal moments %s, %s, %s", name.text, KKI_NUMBER(e[0]),
                          KKI_NUMBER(e[1]), KKI_NUMBER(e[2]));
    } else if (b->inertia.mass > 0 && is_zero(b->inertia.moment)) {
        kki_doctor_report(d, KKI_WARNING, false, &b->origin, "give it moments of inertia",
                          "body '%s' has a mass, but no moments of inertia: it is taken as a point", name.text);
    }
    if (d->options->repair) {
        kk_inertia_repair(&b->inertia);
    }
}

// ---- units

typedef struct unit {
    double factor;
    const char *name;
} unit;

static const unit moment_units[] = {{1e-6, "kg mm²"}, {1e-9, "g mm²"}, {1e-4, "kg cm²"}, {1e-7, "g cm²"}};

/// The unit in which the radius of gyration lies within the body, nearest to that of a solid box, 0.58 of its half diagonal;
/// NULL: none does.
static const unit *find_unit(double gyration, double extent) {
    const unit *best = NULL;
    double least = 8;
    for (size_t i = 0; i < sizeof moment_units / sizeof *moment_units; i++) {
        const double r = gyration * kk_sqrt(moment_units[i].factor) / (0.58 * extent), off = r > 1 ? r : 1 / r;
        if (r <= 2 && off < least) {
            least = off;
            best = &moment_units[i];
        }
    }
    return best;
}

static void check_moment_unit(kki_doctor *d, kk_body_def *b, double extent) {
    double e[3];
    kki_sym3_eigenvalues(b->inertia.moment, e);
    const double gyration = kk_sqrt((e[2] > 0 ? e[2] : 0) / b->inertia.mass);
    if (gyration <= 3 * extent) {
        return;
    }
    const unit *u = find_unit(gyration, extent);
    const kki_short_text name = kki_shorten_string(b->name);
    if (u) {
        kki_doctor_report(d, KKI_WARNING, true, &b->origin, "write them in kg m²",
                          "body '%s': moments of inertia like those of a body of %s m, and it reaches %s m; they look "
                          "like %s",
                          name.text, KKI_NUMBER(kki_doctor_round(gyration)), KKI_NUMBER(kki_doctor_round(extent)),
                          u->name);
    } else {
        kki_doctor_report(d, KKI_WARNING, false, &b->origin, "check mass, moments and their units",
                          "body '%s': moments of inertia like those of a body of %s m, and it reaches %s m", name.text,
                          KKI_NUMBER(kki_doctor_round(gyration)), KKI_NUMBER(kki_doctor_round(extent)));
    }
    if (u && d->options->repair) {
        b->inertia.moment = scaled(b->inertia.moment, u->factor);
    }
}

/// A center of mass a thousand times too far away.
static void check_center_unit(kki_doctor *d, kk_body_def *b) {
    const double distance = kk_vec3_norm(b->inertia.com);
    if (distance <= 10 * d->size || distance <= 10) {
        return;
    }
    kki_doctor_report(
        d, KKI_WARNING, true, &b->origin, "write it in m",
        "body '%s': its center of mass is %s m away from its frame, and the robot is %s m large; it looks "
        "like mm",
        kki_shorten_string(b->name).text, KKI_NUMBER(kki_doctor_round(distance)),
        KKI_NUMBER(kki_doctor_round(d->size)));
    if (d->options->repair) {
        b->inertia.com = kk_vec3_scale(b->inertia.com, 1e-3);
    }
}

void kki_doctor_inertias(kki_doctor *doctor) {
    for (int i = 1; i < doctor->spec->nbody; i++) {
        kk_body_def *b = &doctor->spec->body[i];
        if (!is_finite(&b->inertia)) {
            continue;
        }
        check_possible(doctor, b);
        if (b->inertia.mass > 0) {
            check_center_unit(doctor, b);
            // a base without shapes may stand for anything: nothing says how large it is
            if (doctor->extent[i] > 0) {
                check_moment_unit(doctor, b, doctor->extent[i]);
            }
        }
    }
}
