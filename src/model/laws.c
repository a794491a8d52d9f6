/// Contact laws: what two materials are together, a table over those that shapes which collide are made of.
///
/// Friction, torsion, rolling and adhesion are combined by their geometric mean, two soft surfaces are springs in series and
/// two that creep are dampers in series:
/// 1/k = 1/k₁ + 1/k₂, and a rigid one leaves both spring and damper to the other. The rules are those of kk_material_def.
#include <string.h>

#include "model/compile.h"

/// The table is quadratic in the classes; this many take 20 MB.
enum { MAX_CLASSES = 512 };

// ---- combining numbers

static double least(double a, double b) {
    return a < b ? a : b;
}

static double most(double a, double b) {
    return a > b ? a : b;
}

static double combine(kk_combine rule, double a, double b) {
    switch (rule) {
    case KK_COMBINE_MIN: return least(a, b);
    case KK_COMBINE_MAX: return most(a, b);
    default: return a == b ? a : kk_sqrt(a) * kk_sqrt(b); // of equal ones without rounding
    }
}

static double in_series(double a, double b) {
    return a + b > 0 ? a * (b / (a + b)) : 0;
}

static int is_rigid(const kk_material_def *material) {
    return __builtin_isinf(material->stiffness);
}

static void combine_springs(kk_combine rule, const kk_material_def *a, const kk_material_def *b, kki_contact_law *law) {
    if (rule != KK_COMBINE_MAX && (is_rigid(a) || is_rigid(b))) {
        const kk_material_def *soft = is_rigid(a) ? b : a;
        law->stiffness = soft->stiffness;
        law->damping = soft->damping;
    } else if (rule == KK_COMBINE_MEAN) {
        law->stiffness = in_series(a->stiffness, b->stiffness);
        law->damping = in_series(a->damping, b->damping);
    } else {
        law->stiffness = combine(rule, a->stiffness, b->stiffness);
        law->damping = combine(rule, a->damping, b->damping);
    }
}

// ---- friction by direction

static double sticking(const kk_material_def *material) {
    return material->static_friction < 0 ? material->friction : material->static_friction;
}

static int has_grain(const kk_material_def *material) {
    return material->friction_across >= 0 && material->friction_across != material->friction;
}

static double across(const kk_material_def *material) {
    return has_grain(material) ? material->friction_across : material->friction;
}

/// Where both have a grain the first one's counts, and the other as if it had none: by the mean of its two directions.
static void combine_friction(kk_combine rule, const kk_material_def *a, const kk_material_def *b,
                             kki_contact_law *law) {
    law->axes = has_grain(b) && !has_grain(a);
    const kk_material_def *grained = law->axes ? b : a, *other = law->axes ? a : b;
    const double plain = has_grain(other) ? kk_sqrt(other->friction * other->friction_across) : other->friction;
    const double cross = combine(rule, across(grained), plain);
    law->friction = combine(rule, grained->friction, plain);
    law->ratio = has_grain(grained) && law->friction > 0 ? cross / law->friction : 1;
    law->static_friction = most(law->friction, combine(rule, sticking(a), sticking(b)));
}

kki_contact_law kki_law_of_material(const kk_material_def *material) {
    return (kki_contact_law){.friction = material->friction,
                             .static_friction = sticking(material),
                             .ratio = has_grain(material) ? material->friction_across / material->friction : 1,
                             .torsion = material->torsion,
                             .rolling = material->rolling,
                             .restitution = material->restitution,
                             .stiffness = material->stiffness,
                             .damping = is_rigid(material) ? 0 : material->damping,
                             .adhesion = material->adhesion,
                             .slip = material->slip};
}

kki_contact_law kki_law_combined(const kk_material_def *a, const kk_material_def *b) {
    const kk_combine rule = a->combine > b->combine ? a->combine : b->combine;
    kki_contact_law law = {.torsion = combine(rule, a->torsion, b->torsion),
                           .rolling = combine(rule, a->rolling, b->rolling),
                           .adhesion = combine(rule, a->adhesion, b->adhesion),
                           .slip = rule == KK_COMBINE_MEAN ? a->slip + b->slip : combine(rule, a->slip, b->slip),
                           .restitution = rule == KK_COMBINE_MIN ? least(a->restitution, b->restitution)
                                                                 : most(a->restitution, b->restitution)};
    combine_friction(rule, a, b, &law);
    combine_springs(rule, a, b, &law);
    law.damping = __builtin_isinf(law.stiffness) ? 0 : law.damping;
    return law;
}

// ---- classes of materials

static int same_numbers(const kk_material_def *a, const kk_material_def *b) {
    const kki_contact_law x = kki_law_of_material(a), y = kki_law_of_material(b);
    return a->combine == b->combine && x.friction == y.friction && x.static_friction == y.static_friction &&
           x.ratio == y.ratio && x.torsion == y.torsion && x.rolling == y.rolling && x.restitution == y.restitution &&
           x.stiffness == y.stiffness && x.damping == y.damping && x.adhesion == y.adhesion && x.slip == y.slip;
}

enum { UNUSED = -1, ALONE = -2 };

/// The default material and those with overrides are like no other.
static void mark_alone(const kk_spec *spec, kk_model *m) {
    for (int i = 0; i < m->nmaterial; i++) {
        m->material_class[i] = i == 0 ? ALONE : UNUSED;
    }
    for (int i = 0; i < spec->nmaterial_pair; i++) {
        m->material_class[spec->material_pair[i].material[0]] = ALONE;
        m->material_class[spec->material_pair[i].material[1]] = ALONE;
    }
}

/// The class of a material met for the first time: that of an equal one, or a new one.
static int32_t find_class(kk_model *m, int32_t material, int32_t *first) {
    const int is_alone = m->material_class[material] == ALONE;
    for (int32_t c = 0; !is_alone && c < m->nmaterial_class; c++) {
        if (first[c] > 0 && same_numbers(&m->material[material], &m->material[first[c]])) {
            return c;
        }
    }
    if (m->nmaterial_class == MAX_CLASSES) {
        return -1;
    }
    first[m->nmaterial_class] = is_alone ? 0 : material; // none is like material 0
    return m->nmaterial_class++;
}

kk_status kki_classify_materials(const kk_spec *spec, kk_model *m, kk_error *error) {
    int32_t first[MAX_CLASSES];
    mark_alone(spec, m);
    m->nmaterial_class = 0;
    for (int i = 0; i < m->ncollider; i++) {
        const int32_t shape = m->collider[i], material = m->shape[shape].material;
        if (m->material_class[material] >= 0) {
            continue;
        }
        const int32_t class = find_class(m, material, first);
        if (class < 0) {
            return kki_item_error(error, KK_LIMIT_EXCEEDED, KKI_ITEM(spec, shape, "shape", shape),
                                  "the shapes that collide are of more than %d different materials; share some",
                                  MAX_CLASSES);
        }
        m->material_class[material] = class;
    }
    for (int i = 0; i < m->nmaterial; i++) {
        m->material_class[i] = m->material_class[i] < 0 ? UNUSED : m->material_class[i];
    }
    return KK_OK;
}

// ---- the table

static kki_contact_law *law_at(const kk_model *m, int32_t first, int32_t second) {
    return &m->law[(size_t)first * (size_t)m->nmaterial_class + (size_t)second];
}

/// Two defaults are the default; one leaves everything to the other.
static kki_contact_law law_between(const kk_model *m, int32_t a, int32_t b) {
    if (a != 0 && b != 0) {
        return kki_law_combined(&m->material[a], &m->material[b]);
    }
    kki_contact_law law = kki_law_of_material(&m->material[a == 0 ? b : a]);
    law.axes = a == 0 && b != 0;
    return law;
}

/// One material of each class.
static void find_representatives(const kk_model *m, int32_t *representative) {
    for (int32_t i = m->nmaterial - 1; i >= 0; i--) {
        if (m->material_class[i] >= 0) {
            representative[m->material_class[i]] = i;
        }
    }
}

void kki_fill_laws(const kk_spec *spec, kk_model *m) {
    int32_t material[MAX_CLASSES] = {0};
    find_representatives(m, material);
    for (int32_t a = 0; a < m->nmaterial_class; a++) {
        for (int32_t b = 0; b < m->nmaterial_class; b++) {
            *law_at(m, a, b) = law_between(m, material[a], material[b]);
        }
    }
    for (int i = 0; i < spec->nmaterial_pair; i++) {
        const kk_material_pair_def *pair = &spec->material_pair[i];
        const int32_t a = m->material_class[pair->material[0]], b = m->material_class[pair->material[1]];
        if (a >= 0 && b >= 0) {
            *law_at(m, a, b) = *law_at(m, b, a) = kki_law_of_material(&pair->together);
            // its x axis is that of the shape of the first material
            law_at(m, b, a)->axes = a != b;
        }
    }
}
