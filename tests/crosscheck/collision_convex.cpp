// Signed distances of convex bodies against Coal's, and depths against libccd's: every pair of seven shapes.
//
// The signed distance is the greatest separation along any direction, so a direction is a proof: ours must have the
// separation it claims, and no direction that a peer finds may have more. Where answers differ by more than 1e-9 of the
// size, that tells who is off. Farthest points are written anew here.
#include <ccd/ccd.h>
#include <coal/distance.h>
#include <coal/shape/convex.h>
#include <coal/shape/geometric_shapes.h>

#include <memory>
#include <vector>

#include "../../benchmarks/peers/coal_bodies.hpp"
#include "../../benchmarks/peers/collision_bodies.hpp"
#include "collision_pairs.hpp"

extern "C" {
#include <karakuri/collision.h>
}

namespace {

using crosscheck::tally;

peers::dice dice(77, 3);

struct body {
    kk_geometry *geometry = nullptr;
    kk_shape_type type;
    double s[3] = {0, 0, 0};
    double size = 0;
    std::vector<kk_vec3> corner;
    std::unique_ptr<coal::ShapeBase> peer;

    explicit body(kk_shape_type kind) : type(kind) {
        for (double &x : s) {
            x = dice.uniform(0.2, 1);
        }
        kk_shape_def def = kk_shape_def_default();
        def.type = type;
        std::copy(s, s + 3, def.size);
        kk_mesh_def mesh = kk_mesh_def_default();
        if (type == KK_SHAPE_HULL) {
            const int points = 6 + dice.below(60);
            for (int i = 0; i < points; i++) {
                const kk_vec3 d = dice.direction();
                corner.push_back({s[0] * d.x, s[1] * d.y, s[2] * d.z});
            }
            mesh.name = "cloud";
            mesh.vertex = corner.data();
            mesh.vertex_count = points;
        }
        kk_error error = {};
        if (kk_geometry_create(&def, type == KK_SHAPE_HULL ? &mesh : nullptr, nullptr, nullptr, &geometry, &error) !=
            KK_OK) {
            std::fprintf(stderr, "crosscheck: %s\n", error.text);
            std::exit(1);
        }
        size = s[0] + s[1] + s[2];
        make_peer();
    }
    body(const body &) = delete;
    body &operator=(const body &) = delete;
    ~body() {
        kk_geometry_free(geometry);
    }

    // in the body's frame
    kk_vec3 farthest(kk_vec3 d) const {
        const double across = std::sqrt(d.x * d.x + d.y * d.y), n = kk_vec3_norm(d);
        const double cx = across > 0 ? d.x / across : 1, cy = across > 0 ? d.y / across : 0;
        switch (type) {
        case KK_SHAPE_SPHERE: return kk_vec3_scale(d, s[0] / n);
        case KK_SHAPE_CAPSULE: {
            const kk_vec3 p = kk_vec3_scale(d, s[0] / n);
            return {p.x, p.y, p.z + (d.z < 0 ? -0.5 : 0.5) * s[1]};
        }
        case KK_SHAPE_CYLINDER: return {s[0] * cx, s[0] * cy, (d.z < 0 ? -0.5 : 0.5) * s[1]};
        case KK_SHAPE_CONE:
            if (0.5 * s[1] * d.z > s[0] * across - 0.5 * s[1] * d.z) {
                return {0, 0, 0.5 * s[1]};
            }
            return {s[0] * cx, s[0] * cy, -0.5 * s[1]};
        case KK_SHAPE_ELLIPSOID: {
            const kk_vec3 e = {s[0] * d.x, s[1] * d.y, s[2] * d.z};
            const double m = kk_vec3_norm(e);
            return {s[0] * e.x / m, s[1] * e.y / m, s[2] * e.z / m};
        }
        case KK_SHAPE_BOX:
            return {(d.x < 0 ? -0.5 : 0.5) * s[0], (d.y < 0 ? -0.5 : 0.5) * s[1], (d.z < 0 ? -0.5 : 0.5) * s[2]};
        default: {
            std::size_t best = 0;
            for (std::size_t i = 1; i < corner.size(); i++) {
                best = kk_vec3_dot(corner[i], d) > kk_vec3_dot(corner[best], d) ? i : best;
            }
            return corner[best];
        }
        }
    }

  private:
    void make_peer() {
        switch (type) {
        case KK_SHAPE_SPHERE: peer = std::make_unique<coal::Sphere>(s[0]); break;
        case KK_SHAPE_CAPSULE: peer = std::make_unique<coal::Capsule>(s[0], s[1]); break;
        case KK_SHAPE_CYLINDER: peer = std::make_unique<coal::Cylinder>(s[0], s[1]); break;
        case KK_SHAPE_CONE: peer = std::make_unique<coal::Cone>(s[0], s[1]); break;
        case KK_SHAPE_ELLIPSOID: peer = std::make_unique<coal::Ellipsoid>(s[0], s[1], s[2]); break;
        case KK_SHAPE_BOX: peer = std::make_unique<coal::Box>(s[0], s[1], s[2]); break;
        default: {
            auto points = std::make_shared<std::vector<coal::Vec3s>>();
            for (const kk_vec3 &p : corner) {
                points->emplace_back(p.x, p.y, p.z);
            }
            // faces do not matter: the farthest corner is found among all of few, or by neighbors of none
            auto faces = std::make_shared<std::vector<coal::Triangle>>();
            const auto n = static_cast<unsigned>(points->size());
            for (unsigned i = 0; i < n; i++) {
                for (unsigned k = i + 1; k < n; k++) {
                    faces->emplace_back(i, k, (k + 1) % n);
                }
            }
            const auto count = static_cast<unsigned>(faces->size());
            peer = std::make_unique<coal::Convex<coal::Triangle>>(points, n, faces, count);
        }
        }
        peer->computeLocalAABB();
    }
};

struct placed_body {
    const body *b;
    kk_transform X;
};

double lowest(const placed_body &p, kk_vec3 n) {
    const kk_vec3 l = kk_mat3_tmul_vec(p.X.R, n);
    return kk_vec3_dot(n, kk_transform_point(p.X, p.b->farthest(kk_vec3_neg(l))));
}

double separation_along(const placed_body &a, const placed_body &b, kk_vec3 n) {
    return lowest(b, n) + lowest(a, kk_vec3_neg(n));
}

// ---- Coal

double coal_distance(const placed_body &a, const placed_body &b, kk_vec3 *n) {
    coal::DistanceRequest request;
    request.enable_signed_distance = true;
    request.gjk_max_iterations = request.epa_max_iterations = 512;
    request.gjk_tolerance = request.epa_tolerance = 1e-10;
    coal::DistanceResult result;
    const double d =
        coal::distance(a.b->peer.get(), peers::to_coal(a.X), b.b->peer.get(), peers::to_coal(b.X), request, result);
    *n = {result.normal[0], result.normal[1], result.normal[2]};
    return d;
}

// ---- libccd

void ccd_farthest(const void *object, const ccd_vec3_t *d, ccd_vec3_t *result) {
    const auto *o = static_cast<const placed_body *>(object);
    const kk_vec3 l = kk_mat3_tmul_vec(o->X.R, {d->v[0], d->v[1], d->v[2]});
    const kk_vec3 p = kk_transform_point(o->X, o->b->farthest(l));
    ccdVec3Set(result, p.x, p.y, p.z);
}

// false where it does not see an overlap
bool ccd_depth(const placed_body &a, const placed_body &b, double *distance, kk_vec3 *n) {
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = ccd_farthest;
    ccd.max_iterations = 500;
    ccd.epa_tolerance = 1e-10;
    ccd_real_t depth = 0;
    ccd_vec3_t dir, position;
    const bool found = ccdGJKPenetration(&a, &b, &ccd, &depth, &dir, &position) == 0;
    *distance = -depth;
    *n = {dir.v[0], dir.v[1], dir.v[2]};
    return found;
}

// ---- both

void judge(const placed_body &a, const placed_body &b, const kk_separation &ours, double theirs, kk_vec3 n, tally *t) {
    const double size = a.b->size + b.b->size, tolerance = 1e-9 * size;
    const double norm = kk_vec3_norm(n),
                 found = norm > 0.5 ? separation_along(a, b, kk_vec3_scale(n, 1 / norm)) : -1e300;
    t->pairs++;
    t->overlapping += ours.distance < 0;
    const bool is_proved = ours.distance <= separation_along(a, b, ours.normal) + tolerance;
    if (!is_proved || found > ours.distance + tolerance) {
        t->ours_off++;
        return;
    }
    const double difference = std::fabs(theirs - ours.distance);
    if (!(difference < 1e3 * size)) {
        t->gave_up++;
        return;
    }
    t->alike += difference <= tolerance;
    t->peer_off += difference > tolerance;
    t->worst = difference > tolerance ? std::max(t->worst, difference / size) : t->worst;
}

const char *const names[] = {"sphere", "capsule", "cylinder", "ellipsoid", "box", "cone", "hull"};
const kk_shape_type types[] = {KK_SHAPE_SPHERE, KK_SHAPE_CAPSULE, KK_SHAPE_CYLINDER, KK_SHAPE_ELLIPSOID,
                               KK_SHAPE_BOX,    KK_SHAPE_CONE,    KK_SHAPE_HULL};

bool compare(int i, int k, long pairs) {
    tally by_coal, by_ccd;
    for (long n = 0; n < pairs; n++) {
        const body p(types[i]), q(types[k]);
        const placed_body a = {&p, dice.pose(dice.uniform(0, 0.5))}, b = {&q, dice.pose(dice.uniform(0, 2.5))};
        const kk_placed pa = {p.geometry, a.X, {}}, pb = {q.geometry, b.X, {}};
        kk_separation ours;
        if (kk_placed_separation(&pa, &pb, &ours) != KK_OK) {
            return false;
        }
        kk_vec3 normal;
        const double theirs = coal_distance(a, b, &normal);
        judge(a, b, ours, theirs, normal, &by_coal);
        double depth;
        // libccd counts touching as overlap
        if (ours.distance < -1e-9 && ccd_depth(a, b, &depth, &normal)) {
            judge(a, b, ours, depth, normal, &by_ccd);
        }
    }
    const std::string what = std::string(names[i]) + " and " + names[k];
    const bool good = by_coal.report(what, "Coal");
    return by_ccd.report(what, "libccd") && good;
}

} // namespace

int main(int argc, char **argv) {
    const long pairs = crosscheck::pairs_asked(argc, argv, 200);
    bool good = true;
    std::printf("\nsigned distances of convex bodies; off is who is refuted by a direction of the other\n");
    for (int i = 0; i < 7; i++) {
        for (int k = i; k < 7; k++) {
            good = compare(i, k, pairs) && good;
        }
    }
    std::printf("%s\n", good ? "ours is refuted nowhere" : "FAILED");
    return good ? 0 : 1;
}
