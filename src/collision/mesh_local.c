// The shortest way out of two solids that overlap, as long as both are convex around the overlap.
//
// Triangles of two meshes know their own way out, not that of the bodies: the corner that is deepest may belong to a
// triangle that is clear of the face it lies behind. So the overlap is measured once more, as that of convex bodies is
// (gjk.h), with vertices found by climbing from those that overlap. Of convex meshes the answer is that of their hulls.
// Of others a climb ends on the nearest hill, and the answer is taken only where its two points lie on the surfaces and it is
// not much longer than what the triangles say. So a climb may end once both have come farther than that: the way does not
// lead through there. Beyond are other hills, in whose hull the overlap is lost, and every step waits for memory.
#include "collision/gjk.h"
#include "collision/mesh_contact.h"

static bool is_on(const kki_core *core, kk_vec3 p, double tolerance) {
    return core->surface ? kki_surface_closest(core->surface, p, tolerance).face >= 0
                         : kki_height_field_is_on(core->field, p, tolerance);
}

bool kki_mesh_way_out(const kki_facets *m, int32_t m_seed, const kki_surface *x, int32_t x_seed,
                      const kk_transform *X_MX, kk_vec3 d, double most, kki_way_out *way) {
    kki_core a = m->surface ? kki_core_surface(m->surface, m_seed) : kki_core_field(m->field, m_seed);
    const kki_core b = kki_core_surface(x, x_seed);
    a.enough = most;
    const kki_core_pair pair = kki_core_pair_make(&a, &b, X_MX);
    const double tolerance = 1e-9 * pair.size;
    kki_simplex s;
    kki_core_distance r;
    s.count = 0;
    if (kki_gjk(&pair, 0, d, &s, &r) != KKI_GJK_TOGETHER || !kki_epa(&pair, &s, &r)) {
        return false;
    }
    *way = (kki_way_out){r.normal, r.distance, r.on_a};
    return r.distance < 0 && r.distance > -most && is_on(&a, r.on_a, tolerance) &&
           is_on(&b, kk_transform_point(kk_transform_inverse(*X_MX), r.on_b), tolerance);
}
