// Broad phase with 1000 and 100 000 moving boxes and rays against 100 000 triangles, beside Bullet.
#include <BulletCollision/NarrowPhaseCollision/btRaycastCallback.h>
#include <btBulletCollisionCommon.h>

#include <cmath>
#include <memory>

#include "collision.hpp"
#include "contest.hpp"

extern "C" {
#include "collision/broad_phase.h"
#include "collision/ray.h"
#include "geometry/surface.h"
}

namespace {

using namespace benchmarks;

btVector3 to_bullet(kk_vec3 p) {
    return {static_cast<btScalar>(p.x), static_cast<btScalar>(p.y), static_cast<btScalar>(p.z)};
}

// ---- broad phase: unit boxes in a cube with about one neighbor each, that all move a little every step

struct crowd {
    std::vector<kk_vec3> place, speed;
    double width;
    crowd(int count, uint64_t seed) : width(2 * std::cbrt(static_cast<double>(count))) {
        dice random(seed);
        for (int i = 0; i < count; i++) {
            const double x = random.uniform(0, width), y = random.uniform(0, width);
            place.push_back({x, y, random.uniform(0, width)});
            speed.push_back(kk_vec3_scale(random.direction(), 0.01));
        }
    }
    void move() {
        for (std::size_t i = 0; i < place.size(); i++) {
            double *p = &place[i].x, *v = &speed[i].x;
            for (int k = 0; k < 3; k++) {
                p[k] += v[k];
                v[k] = p[k] < 0 || p[k] > width ? -v[k] : v[k];
            }
        }
    }
    kki_aabb box(std::size_t i) const {
        const kk_vec3 p = place[i];
        return {{p.x - 0.5, p.y - 0.5, p.z - 0.5}, {p.x + 0.5, p.y + 0.5, p.z + 0.5}};
    }
};

struct our_scene {
    crowd all;
    kki_broad_phase *phase = nullptr;
    int32_t pairs = 0;
    explicit our_scene(int count) : all(count, 8) {
        kki_broad_phase_def def = {};
        def.capacity = count;
        def.pair_capacity = 20 * count;
        (void)kki_broad_phase_create(&def, nullptr, &phase, nullptr);
        for (int i = 0; i < count; i++) {
            kki_proxy proxy = {};
            proxy.box = all.box(static_cast<std::size_t>(i));
            proxy.group = proxy.mask = 1;
            kki_broad_phase_set(phase, i, &proxy);
        }
    }
    ~our_scene() {
        kki_broad_phase_free(phase);
    }
    our_scene(const our_scene &) = delete;
    our_scene &operator=(const our_scene &) = delete;
    void step() {
        all.move();
        for (std::size_t i = 0; i < all.place.size(); i++) {
            const kki_aabb b = all.box(i);
            kki_broad_phase_move(phase, static_cast<int32_t>(i), &b);
        }
        const kki_pair *pair = nullptr;
        (void)kki_broad_phase_update(phase, &pair, &pairs);
    }
};

struct bullet_scene {
    crowd all;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase phase;
    std::vector<btBroadphaseProxy *> proxy;
    explicit bullet_scene(int count) : all(count, 8) {
        for (std::size_t i = 0; i < all.place.size(); i++) {
            const kki_aabb b = all.box(i);
            proxy.push_back(phase.createProxy(to_bullet(b.lower), to_bullet(b.upper), BOX_SHAPE_PROXYTYPE, nullptr, 1,
                                              1, &dispatcher));
        }
    }
    ~bullet_scene() {
        for (btBroadphaseProxy *p : proxy) {
            phase.destroyProxy(p, &dispatcher);
        }
    }
    bullet_scene(const bullet_scene &) = delete;
    bullet_scene &operator=(const bullet_scene &) = delete;
    void step() {
        all.move();
        for (std::size_t i = 0; i < proxy.size(); i++) {
            const kki_aabb b = all.box(i);
            phase.setAabb(proxy[i], to_bullet(b.lower), to_bullet(b.upper), &dispatcher);
        }
        phase.calculateOverlappingPairs(&dispatcher);
    }
};

// returns our time a body
double compare_broad_phase(collision_table &table, int count) {
    our_scene mine(count);
    bullet_scene theirs(count);
    const auto steps = [](auto &scene) {
        return [&scene](int n) {
            for (int k = 0; k < n; k++) {
                scene.step();
            }
        };
    };
    contest c(count > 10000 ? 8 : 30, 2e-3);
    const auto a = c.enter(steps(mine), 1), b = c.enter(steps(theirs), 1);
    c.hold();
    table.add(
        {"broad phase of " + std::to_string(count) + " moving boxes", "Bullet", c.nanoseconds(a), c.nanoseconds(b), 1});
    return c.nanoseconds(a) / count;
}

// ---- rays

struct nearest_hit : btTriangleRaycastCallback {
    using btTriangleRaycastCallback::btTriangleRaycastCallback;
    btScalar reportHit(const btVector3 &, btScalar fraction, int, int) override {
        m_hitFraction = fraction;
        return fraction;
    }
};

void compare_rays(collision_table &table) {
    const triangle_ball ball = bumpy_ball(100000, 1);
    kki_surface *s = surface_of(ball);
    btTriangleMesh triangles;
    for (std::size_t i = 0; i < ball.face.size(); i += 3) {
        const auto corner = [&](std::size_t k) {
            return to_bullet(ball.vertex[static_cast<std::size_t>(ball.face[i + k])]);
        };
        triangles.addTriangle(corner(0), corner(1), corner(2));
    }
    btBvhTriangleMeshShape shape(&triangles, true);
    dice random(9);
    constexpr int count = 512;
    std::vector<kki_ray> ray;
    for (int i = 0; i < count; i++) {
        const kk_vec3 from = kk_vec3_scale(random.direction(), 3), to = kk_vec3_scale(random.direction(), 1);
        ray.push_back({from, kk_vec3_sub(to, from), 2});
    }
    contest c(30, 1e-3);
    int hits = 0, peer_hits = 0;
    const auto ours = c.enter(
        [&](int n) {
            for (int k = 0; k < n; k++) {
                hits = 0;
                for (const kki_ray &r : ray) {
                    kki_ray_hit hit;
                    hits += kki_ray_cast_surface(s, &r, &hit);
                }
            }
        },
        count);
    const auto theirs = c.enter(
        [&](int n) {
            for (int k = 0; k < n; k++) {
                peer_hits = 0;
                for (const kki_ray &r : ray) {
                    const btVector3 from = to_bullet(r.origin),
                                    to = to_bullet(kk_vec3_add(r.origin, kk_vec3_scale(r.direction, 2)));
                    nearest_hit callback(from, to);
                    shape.performRaycast(&callback, from, to);
                    peer_hits += callback.m_hitFraction < 1;
                }
            }
        },
        count);
    c.hold();
    table.add({"ray on 100000 triangles (" + std::to_string(hits) + " and " + std::to_string(peer_hits) + " hits)",
               "Bullet", c.nanoseconds(ours), c.nanoseconds(theirs), 2});
    kki_surface_free(s);
}

} // namespace

static void measure_scenes(collision_table &table) {
    table.section("scenes");
    const double few = compare_broad_phase(table, 1000), many = compare_broad_phase(table, 100000);
    // n log n would grow by 5/3 a body; caches hold 1000 bodies and not 100 000
    table.add({"time a body of 100000 against 1000, per cent", "", 100 * many / few, 0, 0});
    compare_rays(table);
}

static const in_section scenes("scenes", measure_scenes);
