/// Left and right twins whose inertias are not mirror images, but would be after a change of signs.
///
/// Twins are bodies whose names differ by left and right (l and r, lf and rf, …) and whose frames lie as mirror images
/// about the plane y = 0 of their robot's root. Mirrored, a center of mass changes the sign of its y, and moments of
/// inertia those of xy and yz, in the root's axes. Real asymmetries stay when signs are changed; a forgotten sign goes
/// away, and only that is told.
#include <string.h>

#include "base/allocator.h"
#include "base/print.h"
#include "io/doctor.h"
#include "io/name_table.h"
#include "io/text.h"

enum { MOST_NAME = 256 };

// ---- names

static const char *const sides[][2] = {{"left", "right"}, {"Left", "Right"}, {"LEFT", "RIGHT"}, {"l", "r"},
                                       {"L", "R"},        {"lf", "rf"},      {"LF", "RF"},      {"lh", "rh"},
                                       {"LH", "RH"},      {"fl", "fr"},      {"FL", "FR"},      {"rl", "rr"},
                                       {"RL", "RR"},      {"hl", "hr"},      {"HL", "HR"}};

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Whether a word stands alone there; long ones may be followed by another that starts with a capital.
static bool is_word(const char *name, size_t at, size_t length) {
    const char before = at > 0 ? name[at - 1] : 0, after = name[at + length];
    const bool is_capital = after >= 'A' && after <= 'Z';
    return !is_letter(before) && (!is_letter(after) || (length >= 4 && is_capital));
}

/// The name of the twin on the right of one on the left; false where it is none.
static bool twin_name(const char *name, int side, char *twin) {
    const char *from = sides[side][0], *to = sides[side][1];
    const size_t length = strlen(from), total = strlen(name);
    for (size_t i = 0; i + length <= total && total + 8 < MOST_NAME; i++) {
        if (strncmp(name + i, from, length) == 0 && is_word(name, i, length)) {
            kki_print(twin, MOST_NAME, "%.*s%s%s", (int)i, name, to, name + i + length);
            return true;
        }
    }
    return false;
}

// ---- mirror images

static kk_vec3 mirror_point(kk_vec3 p) {
    return kk_vec3_make(p.x, -p.y, p.z);
}

static kk_sym3 mirror_moment(kk_sym3 I) {
    return (kk_sym3){I.xx, I.yy, I.zz, -I.xy, I.xz, -I.yz};
}

static double moment_distance(kk_sym3 a, kk_sym3 b) {
    const double x = a.xx - b.xx, y = a.yy - b.yy, z = a.zz - b.zz, u = a.xy - b.xy, v = a.xz - b.xz, w = a.yz - b.yz;
    return x * x + y * y + z * z + 2 * (u * u + v * v + w * w);
}

static kk_inertia with_signs(kk_inertia I, int signs) {
    I.com.x = signs & 1 ? -I.com.x : I.com.x;
    I.com.y = signs & 2 ? -I.com.y : I.com.y;
    I.com.z = signs & 4 ? -I.com.z : I.com.z;
    I.moment.xy = signs & 8 ? -I.moment.xy : I.moment.xy;
    I.moment.xz = signs & 16 ? -I.moment.xz : I.moment.xz;
    I.moment.yz = signs & 32 ? -I.moment.yz : I.moment.yz;
    return I;
}

static int bits(int x) {
    return (x & 1) + (x >> 1 & 1) + (x >> 2 & 1);
}

static int root_of(const kk_spec *s, int body) {
    while (s->body[body].parent > KK_WORLD && s->body[body].parent < body) {
        body = s->body[body].parent;
    }
    return body;
}

/// The fewest signs, of three by their first bit, that make the twins mirror images; 0: none do, or they are.
static int find_signs(kk_inertia right, kk_transform X_RB, kk_inertia mirrored, int first, double scale) {
    double before = 0, least = 0;
    int best = 0;
    for (int k = 0; k < 8; k++) {
        const kk_inertia I = kk_inertia_to(X_RB, with_signs(right, k << first));
        const kk_vec3 c = kk_vec3_sub(I.com, mirrored.com);
        const double error = first == 0 ? kk_vec3_dot(c, c) : moment_distance(I.moment, mirrored.moment);
        if (k == 0) {
            before = least = error;
        } else if (error < 0.01 * least || (error <= 1.01 * least && best && bits(k) < bits(best))) {
            least = error;
            best = k;
        }
    }
    // 1e-4 of the body's size or moments is nothing to talk about
    return before > 1e-8 * scale * scale && least < 1e-3 * before ? best << first : 0;
}

static void tell(kki_doctor *d, int left, int right, int signs) {
    static const char *const names[] = {
        "x of the center of mass", "y of the center of mass", "z of the center of mass", "ixy", "ixz", "iyz"};
    char list[128] = "";
    for (int k = 0; k < 6; k++) {
        if (signs >> k & 1) {
            const size_t used = strlen(list);
            kki_print(list + used, sizeof list - used, "%s%s", used ? ", " : "", names[k]);
        }
    }
    const kk_body_def *b = &d->spec->body[right];
    kki_doctor_report(d, KKI_WARNING, true, &b->origin, "change it on the side where it is wrong",
                      "bodies '%s' and '%s' are twins, but %s of the one or the other has the wrong sign",
                      kki_shorten_string(d->spec->body[left].name).text, kki_shorten_string(b->name).text, list);
}

static void compare(kki_doctor *d, int left, int right) {
    const kk_spec *s = d->spec;
    const int root = root_of(s, left);
    const kk_inertia a = s->body[left].inertia, b = s->body[right].inertia;
    if (root != root_of(s, right) || !(a.mass > 0) || !(b.mass > 0)) {
        return;
    }
    const kk_transform X_RW = kk_transform_inverse(d->X_WB[root]);
    const kk_transform X_RL = kk_transform_mul(X_RW, d->X_WB[left]), X_RR = kk_transform_mul(X_RW, d->X_WB[right]);
    if (kk_vec3_norm(kk_vec3_sub(mirror_point(X_RL.p), X_RR.p)) > 1e-3 * d->size) {
        return;
    }
    const kk_inertia seen = kk_inertia_to(X_RL, a);
    const kk_inertia mirrored = {seen.mass, mirror_point(seen.com), mirror_moment(seen.moment)};
    int signs = find_signs(b, X_RR, mirrored, 0, kk_vec3_norm(b.com));
    signs |= find_signs(b, X_RR, mirrored, 3, b.moment.xx + b.moment.yy + b.moment.zz);
    if (signs) {
        tell(d, left, right, signs);
        d->spec->body[right].inertia = d->options->repair ? with_signs(b, signs) : b;
    }
}

kk_status kki_doctor_mirrors(kki_doctor *doctor) {
    const kk_spec *s = doctor->spec;
    kki_name_table table;
    kk_status status = KK_OK;
    kki_name_table_create(&table, &doctor->allocator);
    for (int i = 1; i < s->nbody && status == KK_OK; i++) {
        status = s->body[i].name ? kki_name_table_set(&table, s->body[i].name, i) : KK_OK;
    }
    for (int i = 1; i < s->nbody && status == KK_OK; i++) {
        for (size_t k = 0; k < sizeof sides / sizeof *sides; k++) {
            char twin[MOST_NAME];
            const int other =
                s->body[i].name && twin_name(s->body[i].name, (int)k, twin) ? kki_name_table_find(&table, twin) : -1;
            if (other > 0 && other != i) {
                compare(doctor, i, other);
                break;
            }
        }
    }
    kki_name_table_destroy(&table);
    return status;
}
