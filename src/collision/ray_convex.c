// Rays against convex shapes: each is met in one span of t, an intersection or a union of simpler spans.
//
// A shape with margin is the union of its faces pushed out and of capsules along its edges; the union is convex, so its
// span runs from the least entry to the greatest exit. Quadratics are solved about the ray's point nearest to the
// center, where the discriminant does not cancel.
#include "collision/ray.h"

#include "geometry/convex.h"

typedef struct span {
    double in, out;
    kk_vec3 n_in, n_out;
    int32_t f_in, f_out;
} span;

static const span NOTHING = {.in = 1, .out = -1};

static span everything(void) {
    const double inf = __builtin_inf();
    return (span){.in = -inf, .out = inf};
}

static bool is_nothing(const span *s) {
    return !(s->in <= s->out);
}

static span both(span a, span b) {
    if (is_nothing(&a) || is_nothing(&b)) {
        return NOTHING;
    }
    span s = a;
    if (b.in > a.in) {
        s.in = b.in, s.n_in = b.n_in, s.f_in = b.f_in;
    }
    if (b.out < a.out) {
        s.out = b.out, s.n_out = b.n_out, s.f_out = b.f_out;
    }
    return s;
}

static span either(span a, span b) {
    if (is_nothing(&a) || is_nothing(&b)) {
        return is_nothing(&a) ? b : a;
    }
    span s = a;
    if (b.in < a.in) {
        s.in = b.in, s.n_in = b.n_in, s.f_in = b.f_in;
    }
    if (b.out > a.out) {
        s.out = b.out, s.n_out = b.n_out, s.f_out = b.f_out;
    }
    return s;
}

static kk_vec3 at(kk_vec3 p, kk_vec3 d, double t) {
    return kk_vec3_add(p, kk_vec3_scale(d, t));
}

static kk_vec3 unit(kk_vec3 v) {
    const double size = kk_vec3_norm(v);
    return size > 0 ? kk_vec3_make(v.x / size, v.y / size, v.z / size) : v;
}

// the first crossing at 0 ≤ t ≤ limit: the entry, or from inside the exit
static bool first_crossing(const span *s, const kki_ray *ray, kki_ray_hit *hit) {
    if (is_nothing(s)) {
        return false;
    }
    if (s->in >= 0) {
        *hit = (kki_ray_hit){s->in, s->n_in, s->f_in, false};
        return s->in <= ray->limit;
    }
    *hit = (kki_ray_hit){s->out, s->n_out, s->f_out, true};
    return s->out >= 0 && s->out <= ray->limit;
}

// ---- pieces

static span half_space(kki_plane h, kk_vec3 p, kk_vec3 d) {
    span s = everything();
    const double speed = kk_vec3_dot(h.normal, d), depth = h.d - kk_vec3_dot(h.normal, p);
    if (speed > 0) {
        s.out = depth / speed;
        s.n_out = h.normal;
    } else if (speed < 0) {
        s.in = depth / speed;
        s.n_in = h.normal;
    } else if (depth < 0) {
        return NOTHING;
    }
    return s;
}

static span slab(int axis, double low, double high, kk_vec3 p, kk_vec3 d) {
    const kk_vec3 n = kk_vec3_make(axis == 0, axis == 1, axis == 2);
    return both(half_space((kki_plane){n, high}, p, d), half_space((kki_plane){kk_vec3_neg(n), -low}, p, d));
}

static span ball(kk_vec3 center, double radius, kk_vec3 p, kk_vec3 d) {
    const kk_vec3 o = kk_vec3_sub(p, center);
    const double dd = kk_vec3_dot(d, d);
    const double middle = dd > 0 ? -kk_vec3_dot(o, d) / dd : 0;
    const kk_vec3 near = at(o, d, middle);
    const double chord = radius * radius - kk_vec3_dot(near, near);
    if (!(chord >= 0)) {
        return NOTHING;
    }
    if (!(dd > 0)) {
        return everything();
    }
    const double half = kk_sqrt(chord / dd);
    return (span){
        .in = middle - half, .out = middle + half, .n_in = unit(at(near, d, -half)), .n_out = unit(at(near, d, half))};
}

// endless, of unit axis through `center`
static span tube(kk_vec3 center, kk_vec3 axis, double radius, kk_vec3 p, kk_vec3 d) {
    const kk_vec3 o = kk_vec3_sub(p, center);
    const kk_vec3 across = kk_vec3_sub(o, kk_vec3_scale(axis, kk_vec3_dot(o, axis)));
    const kk_vec3 speed = kk_vec3_sub(d, kk_vec3_scale(axis, kk_vec3_dot(d, axis)));
    // a ray along the axis has no speed across it but for rounding
    if (kk_vec3_dot(speed, speed) <= 1e-30 * kk_vec3_dot(d, d)) {
        return kk_vec3_dot(across, across) <= radius * radius ? everything() : NOTHING;
    }
    return ball(kk_vec3_make(0, 0, 0), radius, across, speed);
}

static span capsule_between(kk_vec3 a, kk_vec3 b, double radius, kk_vec3 p, kk_vec3 d) {
    const kk_vec3 u = kk_vec3_sub(b, a);
    const double length = kk_vec3_norm(u);
    span s = either(ball(a, radius, p, d), ball(b, radius, p, d));
    if (length > 0) {
        const kk_vec3 axis = kk_vec3_scale(u, 1 / length);
        const kki_plane top = {axis, kk_vec3_dot(axis, b)}, bottom = {kk_vec3_neg(axis), -kk_vec3_dot(axis, a)};
        span side = both(tube(a, axis, radius, p, d), both(half_space(top, p, d), half_space(bottom, p, d)));
        s = either(s, side);
    }
    return s;
}

static span brick(const double half[3], kk_vec3 p, kk_vec3 d) {
    return both(slab(0, -half[0], half[0], p, d),
                both(slab(1, -half[1], half[1], p, d), slab(2, -half[2], half[2], p, d)));
}

// corner of a box by bits
static kk_vec3 box_corner(const double half[3], int bits) {
    return kk_vec3_make(bits & 1 ? half[0] : -half[0], bits & 2 ? half[1] : -half[1], bits & 4 ? half[2] : -half[2]);
}

static span round_brick(const double half[3], double margin, kk_vec3 p, kk_vec3 d) {
    span s = NOTHING;
    for (int k = 0; k < 3; k++) {
        double grown[3] = {half[0], half[1], half[2]};
        grown[k] += margin;
        s = either(s, brick(grown, p, d));
    }
    for (int corner = 0; corner < 8; corner++) {
        for (int k = 0; k < 3; k++) {
            if (!(corner & (1 << k))) {
                s = either(
                    s, capsule_between(box_corner(half, corner), box_corner(half, corner | (1 << k)), margin, p, d));
            }
        }
    }
    return s;
}

// ---- the cone: x² + y² ≤ k² (h − z)² below its tip

// of a place on it, by x and y alone: of a flat one h − z is rounding, and may have the wrong sign
static kk_vec3 cone_normal(double k, kk_vec3 p) {
    const kk_vec3 n = kk_vec3_make(p.x, p.y, k * kk_sqrt(p.x * p.x + p.y * p.y));
    return kk_vec3_dot(n, n) > 0 ? unit(n) : kk_vec3_make(0, 0, 1);
}

static span cone_side(double k, double h, kk_vec3 p, kk_vec3 d) {
    const double kk = k * k, z = h - p.z;
    const double a = d.x * d.x + d.y * d.y - kk * d.z * d.z, b = p.x * d.x + p.y * d.y + kk * z * d.z;
    const double c = p.x * p.x + p.y * p.y - kk * z * z;
    const double root2 = b * b - a * c;
    if (!(root2 >= 0) && a > 0) {
        return NOTHING;
    }
    // one root without cancellation, the other by Vieta; an infinite one where the ray runs along the side
    const double q = -(b + (b < 0 ? -kk_sqrt(kki_greater(root2, 0)) : kk_sqrt(kki_greater(root2, 0))));
    const double inf = __builtin_inf();
    const double t1 = a > 0 || a < 0 ? q / a : inf, t2 = q > 0 || q < 0 ? c / q : t1;
    const double low = kki_lesser(t1, t2), high = kki_greater(t1, t2);
    span s = everything();
    if (a > 0) {
        s.in = low, s.out = high;
    } else if (a < 0) {
        // steep: one end in each half of the double cone; the lower half lies where z falls
        s.in = d.z < 0 ? high : -inf;
        s.out = d.z < 0 ? inf : low;
    } else {
        const double t = b > 0 || b < 0 ? -c / (2 * b) : (c <= 0 ? inf : -inf);
        s.in = b < 0 ? t : -inf;
        s.out = b < 0 ? inf : t;
    }
    s.n_in = s.in > -inf ? cone_normal(k, at(p, d, s.in)) : s.n_in;
    s.n_out = s.out < inf ? cone_normal(k, at(p, d, s.out)) : s.n_out;
    return s;
}

// ---- shapes

// The ray from its point nearest to the shape's origin on, where numbers are of the shape's size.
static double shifted(const kki_ray *ray, kk_vec3 *p) {
    const double dd = kk_vec3_dot(ray->direction, ray->direction);
    const double t = dd > 0 ? -kk_vec3_dot(ray->origin, ray->direction) / dd : 0;
    *p = at(ray->origin, ray->direction, t);
    return t;
}

static bool crossing_after_shift(span s, double shift, const kki_ray *ray, kki_ray_hit *hit) {
    s.in += shift;
    s.out += shift;
    return first_crossing(&s, ray, hit);
}

bool kki_ray_cast_plane(double margin, const kki_ray *ray, kki_ray_hit *hit) {
    const kki_plane h = {kk_vec3_make(0, 0, 1), margin};
    const span s = half_space(h, ray->origin, ray->direction);
    return first_crossing(&s, ray, hit);
}

bool kki_ray_cast_sphere(double radius, const kki_ray *ray, kki_ray_hit *hit) {
    const span s = ball(kk_vec3_make(0, 0, 0), radius, ray->origin, ray->direction);
    return first_crossing(&s, ray, hit);
}

bool kki_ray_cast_capsule(double radius, double half, const kki_ray *ray, kki_ray_hit *hit) {
    kk_vec3 p;
    const double shift = shifted(ray, &p);
    const span s = capsule_between(kk_vec3_make(0, 0, -half), kk_vec3_make(0, 0, half), radius, p, ray->direction);
    return crossing_after_shift(s, shift, ray, hit);
}

bool kki_ray_cast_cylinder(double radius, double half, const kki_ray *ray, kki_ray_hit *hit) {
    kk_vec3 p;
    const double shift = shifted(ray, &p);
    const span side = tube(kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 1), radius, p, ray->direction);
    return crossing_after_shift(both(side, slab(2, -half, half, p, ray->direction)), shift, ray, hit);
}

// A ray steeper than the side is taken from the tip's height on: of a flat cone all else cancels.
bool kki_ray_cast_cone(double radius, double half, const kki_ray *ray, kki_ray_hit *hit) {
    const kk_vec3 d = ray->direction;
    const double k = radius / (2 * half);
    kk_vec3 p;
    double shift = shifted(ray, &p);
    if (k * k * d.z * d.z > d.x * d.x + d.y * d.y) {
        const double down = (half - p.z) / d.z;
        p = kk_vec3_make(p.x + down * d.x, p.y + down * d.y, half);
        shift += down;
    }
    return crossing_after_shift(both(cone_side(k, half, p, d), slab(2, -half, half, p, d)), shift, ray, hit);
}

// the ball of radius 1 in coordinates divided by the radii
bool kki_ray_cast_ellipsoid(const double r[3], const kki_ray *ray, kki_ray_hit *hit) {
    const kk_vec3 p = kk_vec3_make(ray->origin.x / r[0], ray->origin.y / r[1], ray->origin.z / r[2]);
    const kk_vec3 d = kk_vec3_make(ray->direction.x / r[0], ray->direction.y / r[1], ray->direction.z / r[2]);
    const span s = ball(kk_vec3_make(0, 0, 0), 1, p, d);
    if (!first_crossing(&s, ray, hit)) {
        return false;
    }
    hit->normal = unit(kk_vec3_make(hit->normal.x / r[0], hit->normal.y / r[1], hit->normal.z / r[2]));
    return true;
}

bool kki_ray_cast_box(const double half[3], double margin, const kki_ray *ray, kki_ray_hit *hit) {
    if (!(margin > 0)) {
        const span s = brick(half, ray->origin, ray->direction);
        return first_crossing(&s, ray, hit);
    }
    kk_vec3 p;
    const double shift = shifted(ray, &p);
    return crossing_after_shift(round_brick(half, margin, p, ray->direction), shift, ray, hit);
}

// the triangle pushed out to both sides, and capsules along its edges
static span thick_triangle(const kk_vec3 v[3], kk_vec3 n, double margin, kk_vec3 p, kk_vec3 d) {
    const double height = kk_vec3_dot(n, v[0]);
    span s = both(half_space((kki_plane){n, height + margin}, p, d),
                  half_space((kki_plane){kk_vec3_neg(n), margin - height}, p, d));
    for (int k = 0; k < 3; k++) {
        const kk_vec3 side = unit(kk_vec3_cross(kk_vec3_sub(v[(k + 1) % 3], v[k]), n));
        s = both(s, half_space((kki_plane){side, kk_vec3_dot(side, v[k])}, p, d));
    }
    s = kk_vec3_dot(n, n) > 0 ? s : NOTHING;
    for (int k = 0; k < 3; k++) {
        s = either(s, capsule_between(v[k], v[(k + 1) % 3], margin, p, d));
    }
    return s;
}

bool kki_ray_through_triangle(const kk_vec3 corner[3], kk_vec3 n, double margin, const kki_ray *ray, double t[2],
                              kk_vec3 normal[2]) {
    // from the ray's point nearest to the triangle on, where numbers are of its size
    const kk_vec3 o = kk_vec3_sub(ray->origin, corner[0]), d = ray->direction;
    const double dd = kk_vec3_dot(d, d), shift = dd > 0 ? -kk_vec3_dot(o, d) / dd : 0;
    const kk_vec3 v[3] = {{0, 0, 0}, kk_vec3_sub(corner[1], corner[0]), kk_vec3_sub(corner[2], corner[0])};
    const span s = thick_triangle(v, n, margin, at(o, d, shift), d);
    t[0] = s.in + shift, t[1] = s.out + shift;
    normal[0] = s.n_in, normal[1] = s.n_out;
    return !is_nothing(&s);
}

bool kki_ray_cast_planes(const kki_plane *plane, int count, const kki_ray *ray, kki_ray_hit *hit) {
    span s = everything();
    for (int i = 0; i < count && !is_nothing(&s); i++) {
        span h = half_space(plane[i], ray->origin, ray->direction);
        h.f_in = h.f_out = i;
        s = both(s, h);
    }
    return first_crossing(&s, ray, hit);
}

bool kki_ray_cast_convex(const kki_convex *convex, const kki_ray *ray, kki_ray_hit *hit) {
    span s = everything();
    for (int32_t i = 0; i < convex->face_count && !is_nothing(&s); i++) {
        const kki_plane plane = {convex->face[i].normal, convex->face[i].offset};
        span h = half_space(plane, ray->origin, ray->direction);
        h.f_in = h.f_out = i;
        s = both(s, h);
    }
    return first_crossing(&s, ray, hit);
}
