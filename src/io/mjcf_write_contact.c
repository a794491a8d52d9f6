/// The rule of mjcf_contact.c backwards. With the impedance 1/2 at every depth d/(1 − d) is 1, and a compliant material on a
/// tree of mass m is solref = (−k/(4 m), −b/(2 m)).
///
/// MuJoCo has no pairs of materials, but priorities of geoms: the material of higher priority holds alone. Where that is what
/// the pairs say, priorities that say it are found as longest paths: each winner stands above all that it wins against.
#include "io/mjcf_write_contact.h"

#include "base/allocator.h"
#include "base/print.h"
#include "io/mjcf.h"
#include "io/text.h"

enum { MOST_TEXT = 512, MOST_RANKED = 128 };

// ---- masses

static void sum_masses(kki_mjcf_contacts *c) {
    const kk_spec *s = c->spec;
    // the moving root of each body first, in the place of its mass
    for (int i = 0; i < s->nbody; i++) {
        const double parent = i > 0 ? c->mass[s->body[i].parent] : 0;
        const bool moves = i > 0 && s->body[i].joint.type != KK_JOINT_FIXED;
        c->mass[i] = parent > 0 ? parent : moves ? i : 0;
    }
    double all = 0;
    double *sum = c->mass + s->nbody; // [nbody] by root
    for (int i = 0; i < s->nbody; i++) {
        sum[i] = 0;
    }
    for (int i = 1; i < s->nbody; i++) {
        sum[(int)c->mass[i]] += s->body[i].inertia.mass;
        all += c->mass[i] > 0 ? s->body[i].inertia.mass : 0;
    }
    sum[0] = all;
    for (int i = 0; i < s->nbody; i++) {
        c->mass[i] = sum[(int)c->mass[i]];
    }
}

// ---- priorities

static bool is_same(const kk_material_def *a, const kk_material_def *b) {
    return a->friction == b->friction && a->static_friction == b->static_friction &&
           a->friction_across == b->friction_across && a->torsion == b->torsion && a->rolling == b->rolling &&
           a->restitution == b->restitution && a->stiffness == b->stiffness && a->damping == b->damping &&
           a->adhesion == b->adhesion && a->slip == b->slip;
}

/// Which of the two holds alone; −1: neither.
static int winner_of(const kk_spec *s, const kk_material_pair_def *p) {
    return is_same(&s->material[p->material[1]], &p->together)   ? 1
           : is_same(&s->material[p->material[0]], &p->together) ? 0
                                                                 : -1;
}

static bool is_wanted(const kk_spec *s, int a, int b) {
    for (int i = 0; i < s->nmaterial_pair; i++) {
        const int *m = s->material_pair[i].material;
        if ((m[0] == a && m[1] == b) || (m[0] == b && m[1] == a)) {
            return true;
        }
    }
    return false;
}

static bool raise_winners(kki_mjcf_contacts *c) {
    const kk_spec *s = c->spec;
    for (int round = 0; round <= s->nmaterial; round++) {
        bool is_changed = false;
        for (int i = 0; i < s->nmaterial_pair; i++) {
            const kk_material_pair_def *p = &s->material_pair[i];
            const int winner = winner_of(s, p);
            if (winner < 0) {
                return false;
            }
            int *high = &c->priority[p->material[winner]];
            const int low = c->priority[p->material[1 - winner]];
            is_changed = is_changed || *high <= low;
            *high = *high <= low ? low + 1 : *high;
        }
        if (!is_changed) {
            return true;
        }
    }
    return false;
}

static bool is_used(const kk_spec *s, int material) {
    for (int i = 0; i < s->nshape; i++) {
        if (s->shape[i].material == material) {
            return true;
        }
    }
    return false;
}

/// Materials of different priority are a pair of the spec, all of them that shapes have.
static bool is_no_more_than_pairs(const kki_mjcf_contacts *c) {
    const kk_spec *s = c->spec;
    for (int a = 0; a < s->nmaterial; a++) {
        if (!is_used(s, a)) {
            continue;
        }
        for (int b = 0; b < a; b++) {
            if (c->priority[a] != c->priority[b] && !is_wanted(s, a, b) && is_used(s, b)) {
                return false;
            }
        }
    }
    return true;
}

static void find_priorities(kki_mjcf_contacts *c) {
    const kk_spec *s = c->spec;
    c->has_priorities =
        s->nmaterial_pair == 0 || (s->nmaterial <= MOST_RANKED && raise_winners(c) && is_no_more_than_pairs(c));
    for (int i = 0; i < s->nmaterial && !c->has_priorities; i++) {
        c->priority[i] = 0;
    }
}

kk_status kki_mjcf_contacts_create(kki_mjcf_contacts *c, const kk_spec *spec, const kk_allocator *allocator) {
    *c = (kki_mjcf_contacts){.spec = spec, .allocator = *allocator};
    c->mass = kki_allocate_array(allocator, 2 * (size_t)spec->nbody, sizeof *c->mass);
    c->priority = kki_allocate_array_zeroed(allocator, (size_t)spec->nmaterial, sizeof *c->priority);
    if (!c->mass || !c->priority) {
        kki_mjcf_contacts_destroy(c);
        return KK_OUT_OF_MEMORY;
    }
    sum_masses(c);
    find_priorities(c);
    return KK_OK;
}

void kki_mjcf_contacts_destroy(kki_mjcf_contacts *c) {
    kki_release_array(&c->allocator, c->mass, 2 * (size_t)c->spec->nbody, sizeof *c->mass);
    kki_release_array(&c->allocator, c->priority, (size_t)c->spec->nmaterial, sizeof *c->priority);
}

// ---- attributes

static bool is_compliant(const kk_material_def *m) {
    return !__builtin_isinf(m->stiffness);
}

/// Softer than MuJoCo's default, which is taken as rigid: 1/(d² τ²) d/(1 − d) with d = 0.95 and τ = 0.02 s.
static bool can_say_stiffness(const kki_mjcf_contacts *c, const kk_material_def *m, int body) {
    return c->mass[body] > 0 && m->stiffness / c->mass[body] < 0.999 * (0.95 / 0.05) / (0.95 * 0.95 * 0.02 * 0.02);
}

void kki_mjcf_put_contact(const kki_mjcf_contacts *c, kki_xml_writer *w, int material, int body, bool is_pair) {
    const kk_material_def *m = &c->spec->material[material];
    kki_xml_put_int(w, "condim", m->rolling > 0 ? 6 : m->torsion > 0 ? 4 : m->friction > 0 ? 3 : 1);
    const double across = m->friction_across < 0 ? m->friction : m->friction_across;
    const double pair[5] = {m->friction, across, m->torsion, m->rolling, m->rolling};
    const double one[3] = {m->friction, m->torsion, m->rolling};
    kki_xml_put_numbers(w, "friction", is_pair ? pair : one, is_pair ? 5 : 3);
    if (is_compliant(m) && can_say_stiffness(c, m, body)) {
        const double mass = c->mass[body];
        kki_xml_put_numbers(w, "solref", (const double[2]){-m->stiffness / (4 * mass), -m->damping / (2 * mass)}, 2);
        kki_xml_put(w, "solimp", "0.5 0.5 0.001 0.5 2");
    } else if (!is_compliant(m) && m->restitution > 0 && m->restitution < 1) {
        const double l = kk_log(m->restitution);
        kki_xml_put_numbers(w, "solref", (const double[2]){0.02, -l / kk_sqrt(KK_PI * KK_PI + l * l)}, 2);
    }
    kki_xml_put_unless(w, "adhesion", m->adhesion, 0);
    if (!is_pair && c->priority[material] != 0) {
        kki_xml_put_int(w, "priority", c->priority[material]);
    }
}

// ---- what has no words

static void tell(kki_xml_writer *w, const kk_spec *s, int material, const char *what) {
    char text[MOST_TEXT];
    const char *name = s->material[material].name;
    if (name && name[0]) {
        kki_print(text, sizeof text, "contact material %s: %.300s", kki_shorten_string(name).text, what);
    } else {
        kki_print(text, sizeof text, "contact material %d: %.300s", material, what);
    }
    kki_xml_comment(w, text);
}

/// Some shape's or pair's stiffness cannot be said.
static bool is_too_stiff(const kki_mjcf_contacts *c, int material) {
    const kk_spec *s = c->spec;
    const kk_material_def *m = &s->material[material];
    for (int i = 0; i < s->nshape && is_compliant(m); i++) {
        if (s->shape[i].material == material && !can_say_stiffness(c, m, s->shape[i].body)) {
            return true;
        }
    }
    for (int i = 0; i < s->npair && is_compliant(m); i++) {
        if (s->pair[i].material == material && !can_say_stiffness(c, m, KK_WORLD)) {
            return true;
        }
    }
    return false;
}

static void tell_material(const kki_mjcf_contacts *c, kki_xml_writer *w, int i) {
    const kk_material_def *m = &c->spec->material[i];
    if (is_too_stiff(c, i)) {
        tell(w, c->spec, i, "its stiffness is above what MJCF can say here; it is written as rigid");
    }
    if (m->static_friction >= 0 && m->static_friction != m->friction) {
        tell(w, c->spec, i, "its static friction has no counterpart in MJCF; its friction holds while sticking, too");
    }
    if (m->friction_across >= 0 && m->friction_across != m->friction && is_used(c->spec, i)) {
        tell(w, c->spec, i,
             "its friction across has no counterpart in a geom of MJCF; its friction holds in all directions");
    }
    if (m->restitution > 0 && (m->restitution >= 1 || is_compliant(m))) {
        tell(w, c->spec, i, "its restitution has no counterpart in MJCF; it is left out");
    }
    if (m->slip > 0) {
        tell(w, c->spec, i, "its slip has no counterpart in MJCF; it is left out");
    }
    if (m->combine != KK_COMBINE_MAX && i > 0) {
        tell(w, c->spec, i, "where it meets another one, MuJoCo takes the larger friction, not what it says");
    }
}

void kki_mjcf_tell_contacts(const kki_mjcf_contacts *c, kki_xml_writer *w) {
    const kk_spec *s = c->spec;
    for (int i = 0; i < s->nmaterial; i++) {
        tell_material(c, w, i);
    }
    for (int i = 0; i < s->nmaterial_pair && !c->has_priorities; i++) {
        char text[MOST_TEXT];
        kki_print(text, sizeof text,
                  "with contact material %d: what holds between the two has no counterpart in MJCF; "
                  "MuJoCo combines them",
                  s->material_pair[i].material[1]);
        tell(w, s, s->material_pair[i].material[0], text);
    }
}
