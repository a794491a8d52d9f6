/// Contact parameters as materials in physical units, pairs and excluded bodies.
///
/// MuJoCo's reference acceleration of a contact that is r deep is −b ṙ − k r with (docs, "Solver parameters")
///     k = 1 / (d² τ² ζ²), b = 2 / (d τ)   for solref = (τ, ζ), or  k = −s₀ / d², b = −s₁ / d  for negative ones,
/// d being solimp's largest impedance, and the regularization (1 − d)/d of the inverse inertia makes a load F on a mass m rest
/// at F = m k r d/(1 − d). So stiffness = m k d/(1 − d) and damping = m b d/(1 − d), with m the mass of the tree that the geom
/// belongs to. What is at least as stiff as MuJoCo's default is rigid, and keeps of solref only the restitution of its
/// oscillation, exp(−π ζ / √(1 − ζ²)).
#include <string.h>

#include "base/print.h"
#include "io/mjcf.h"

enum { MOST_PAIRED_MATERIALS = 128 };

static const kki_mjcf_contact contact_default = {
    .condim = 3, .friction = {1, 0.005, 0.0001, 0, 0}, .solref = {0.02, 1}, .solimp = {0.9, 0.95, 0.001, 0.5, 2}};

void kki_mjcf_contact_read(const kki_mjcf_at *at, int frictions, kki_mjcf_contact *c) {
    *c = contact_default;
    if (frictions == 5) {
        memcpy(c->friction, (const double[5]){1, 1, 0.005, 0.0001, 0.0001}, sizeof c->friction);
    }
    c->condim = (double)kki_mjcf_whole(at, "condim", 1, 6, 3);
    c->priority = (double)kki_mjcf_whole(at, "priority", INT32_MIN, INT32_MAX, 0);
    c->adhesion = kki_mjcf_number(at, "adhesion", 0);
    kki_mjcf_numbers(at, "friction", 1, frictions, c->friction);
    kki_mjcf_numbers(at, "solref", 1, 2, c->solref);
    kki_mjcf_numbers(at, "solimp", 1, 5, c->solimp);
    for (int i = 0; i < frictions; i++) {
        if (c->friction[i] < 0) {
            kki_mjcf_report(at->m, kki_fault(at->m->loader), KK_INVALID_ARGUMENT, at->node, "friction",
                            "a friction coefficient is negative; it must not be");
            c->friction[i] = 0;
        }
    }
}

// ---- the mapping

typedef struct oscillator {
    double k, b; ///< a unit of mass, impedance included
    double restitution;
} oscillator;

static double restitution_of(double zeta) {
    return zeta >= 1 ? 0 : zeta <= 0 ? 1 : kk_exp(-KK_PI * zeta / kk_sqrt(1 - zeta * zeta));
}

static oscillator oscillator_of(const kki_mjcf_contact *c) {
    const double d = c->solimp[1] > 0.9999 ? 0.9999 : c->solimp[1] < 0.0001 ? 0.0001 : c->solimp[1];
    const double share = d / (1 - d);
    oscillator o = {0};
    if (c->solref[0] > 0 && c->solref[1] > 0) {
        const double t = d * c->solref[0];
        o.k = 1 / (t * t * c->solref[1] * c->solref[1]);
        o.b = 2 / t;
        o.restitution = restitution_of(c->solref[1]);
    } else {
        o.k = -c->solref[0] / (d * d);
        o.b = -c->solref[1] / d;
        o.restitution = o.k > 0 ? restitution_of(o.b / (2 * kk_sqrt(o.k))) : 0;
    }
    o.k = o.k > 0 ? o.k * share : 0;
    o.b = o.b > 0 ? o.b * share : 0;
    return o;
}

static kk_material_def material_of(const kki_mjcf_contact *c, bool is_pair) {
    const oscillator o = oscillator_of(c), usual = oscillator_of(&contact_default);
    kk_material_def def = kk_material_def_default();
    const double *f = c->friction;
    def.friction = c->condim > 1 ? f[0] : 0;
    def.friction_across = is_pair && c->condim > 1 && f[1] != f[0] ? f[1] : -1;
    def.torsion = c->condim > 3 ? f[is_pair ? 2 : 1] : 0;
    def.rolling = c->condim > 4 ? f[is_pair ? 3 : 2] : 0;
    def.adhesion = c->adhesion > 0 ? c->adhesion : 0;
    def.combine = KK_COMBINE_MAX;
    if (o.k >= usual.k || !(c->mass > 0)) {
        def.restitution = o.restitution;
    } else {
        def.stiffness = o.k * c->mass;
        def.damping = o.b * c->mass;
    }
    return def;
}

/// The material of these parameters, made where there is none. Equal parameters of a rigid material share one.
static int find_material(kki_mjcf *m, const kki_mjcf_contact *contact, bool is_pair, kk_origin origin) {
    if (m->is_check) {
        return 0;
    }
    kki_mjcf_contact c = *contact;
    kk_material_def def = material_of(&c, is_pair);
    c.mass = __builtin_isinf(def.stiffness) ? 0 : c.mass;
    char key[sizeof c * 2 + 2];
    const unsigned char *bytes = (const unsigned char *)&c; // all doubles: no padding
    for (size_t i = 0; i < sizeof c; i++) {
        key[2 * i] = (char)('a' + (bytes[i] >> 4));
        key[2 * i + 1] = (char)('a' + (bytes[i] & 15));
    }
    key[sizeof c * 2] = is_pair ? 'p' : 'g';
    key[sizeof c * 2 + 1] = 0;
    int id = kki_mjcf_name_get(m, KKI_MJCF_MATERIAL, key);
    if (id >= 0) {
        return id;
    }
    def.origin = origin;
    const kk_status status = kk_spec_add_material(m->loader->spec, &def, &id, &m->error);
    kki_mjcf_contact *record = status ? NULL : KKI_MJCF_PUSH(m, material);
    if (kki_mjcf_stop(m, status) != KK_OK || !record) {
        return 0;
    }
    *record = c;
    record->mass = is_pair ? -1 : (double)id; // pairs meet nothing by themselves
    kki_mjcf_name_set(m, KKI_MJCF_MATERIAL, kki_mjcf_join(m, key, ""), id);
    return id;
}

/// The geom of higher priority decides: a row for each two materials of different priority.
static void add_priorities(kki_mjcf *m) {
    bool differ = false;
    for (int i = 1; i < m->material_count; i++) {
        differ = differ || m->material[i].priority != m->material[0].priority;
    }
    if (!differ) {
        return;
    }
    if (m->material_count > MOST_PAIRED_MATERIALS) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, KKI_XML_ROOT, NULL,
                        "priority has no effect with more than %d different contact parameters; give geoms classes",
                        MOST_PAIRED_MATERIALS);
        return;
    }
    for (int i = 0; i < m->material_count; i++) {
        for (int j = 0; j < i && m->status == KK_OK; j++) {
            const kki_mjcf_contact *a = &m->material[i], *b = &m->material[j];
            if (a->mass < 0 || b->mass < 0 || a->priority == b->priority) {
                continue;
            }
            kk_material_pair_def def = kk_material_pair_def_default();
            def.material[0] = (int)b->mass;
            def.material[1] = (int)a->mass;
            def.together = *kk_spec_material_const(m->loader->spec, (int)(a->priority > b->priority ? a : b)->mass);
            def.together.name = NULL;
            kki_mjcf_stop(m, kk_spec_add_material_pair(m->loader->spec, &def, NULL, &m->error));
        }
    }
}

void kki_mjcf_materials(kki_mjcf *m) {
    for (int i = 0; i < m->geom_count && m->status == KK_OK; i++) {
        kki_mjcf_geom *g = &m->geom[i];
        const int root = m->body[g->body].root;
        g->contact.mass = m->body[root].tree_mass;
        kk_shape_def *shape = kk_spec_shape(m->loader->spec, g->shape);
        shape->material = find_material(m, &g->contact, false, shape->origin);
    }
    if (m->status == KK_OK) {
        add_priorities(m);
    }
}

// ---- pairs and excludes

/// Whether two shapes are a pair already; from now on they are. In a check all shapes are one.
static bool is_again(kki_mjcf *m, int a, int b) {
    char key[40];
    kki_print(key, sizeof key, "%d-%d", a < b ? a : b, a < b ? b : a);
    const bool is_known = kki_mjcf_name_get(m, KKI_MJCF_PAIR, key) >= 0;
    if (!is_known && !m->is_check) {
        kki_mjcf_name_set(m, KKI_MJCF_PAIR, kki_mjcf_join(m, key, ""), 0);
    }
    return is_known;
}

static void read_pair(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, node, KKI_MJCF_OF_PAIR, 0);
    const int a = kki_mjcf_refer(&at, "geom1", KKI_MJCF_GEOM), b = kki_mjcf_refer(&at, "geom2", KKI_MJCF_GEOM);
    if (a < 0 || b < 0 || m->item[a].made < 0 || m->item[b].made < 0) {
        return;
    }
    kk_pair_def def = kk_pair_def_default();
    kki_mjcf_contact contact;
    kki_mjcf_contact_read(&at, 5, &contact);
    if (is_again(m, m->item[a].made, m->item[b].made)) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, node, NULL,
                        "a second <pair> of these two geoms is left out; the first one holds, remove one");
        return;
    }
    contact.mass = m->body_count > 0 ? m->body[0].tree_mass : 0;
    const double margin = kki_mjcf_number(&at, "margin", 0) - kki_mjcf_number(&at, "gap", 0);
    def.shape[0] = m->item[a].made;
    def.shape[1] = m->item[b].made;
    def.margin = margin > 0 ? margin : 0;
    def.origin = kki_origin_of_node(m->xml, node);
    def.material = find_material(m, &contact, true, def.origin);
    for (int i = 0; i < 2 && !m->set.no_contact; i++) {
        kk_shape_def *shape = kk_spec_shape(m->loader->spec, def.shape[i]);
        shape->type =
            shape->type == KK_SHAPE_MESH && m->loader->options->mesh_use != KK_MESH_EXACT ? KK_SHAPE_HULL : shape->type;
        shape->purpose |= KK_SHAPE_COLLIDES;
    }
    kki_mjcf_stop(m, kk_spec_add_pair(m->loader->spec, &def, NULL, &m->error));
}

static void read_exclude(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_here(m, node);
    const int a = kki_mjcf_refer(&at, "body1", KKI_MJCF_BODY), b = kki_mjcf_refer(&at, "body2", KKI_MJCF_BODY);
    if (a < 0 || b < 0) {
        return;
    }
    kk_exclude_def def = kk_exclude_def_default();
    def.body[0] = m->body[a].id;
    def.body[1] = m->body[b].id;
    def.origin = kki_origin_of_node(m->xml, node);
    kki_mjcf_stop(m, kk_spec_add_exclude(m->loader->spec, &def, NULL, &m->error));
}

static kki_mjcf_reader *choose(kki_mjcf *m, int32_t node) {
    return !kki_mjcf_is_read(m, "contact", node) ? NULL : kki_xml_is(m->xml, node, "pair") ? read_pair : read_exclude;
}

void kki_mjcf_contact_section(kki_mjcf *m, int32_t section) {
    kki_mjcf_each(m, section, choose);
}
