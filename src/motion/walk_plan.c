/// What the footsteps say about every moment: where soles are, where the ZMP shall be, which way the body looks.
///
/// Soles move on cycloids, (φ − sin φ)/2π forward and (1 − cos φ)/2 up, φ from 0 to 2π: at rest where they leave and meet the floor. On one
/// foot the ZMP stays at its middle, on two it goes over smoothly.
#include "motion/walk.h"

// ---- footsteps

static kki_foothold after(kki_foothold a, double x, double y, double yaw) {
    double s, c;
    kk_sincos(a.yaw, &s, &c);
    return (kki_foothold){a.x + c * x - s * y, a.y + s * x + c * y, a.yaw + yaw};
}

void kk_footsteps_from_strides(const kk_stride *strides, int count, kk_foot first_foot, double width,
                               kk_footstep *steps) {
    kki_foothold body = {0, 0, 0};
    for (int i = 0; i < count; i++) {
        const kk_foot foot = (i % 2 == 0) == (first_foot == KK_LEFT) ? KK_LEFT : KK_RIGHT;
        body = after(body, strides[i].forward, strides[i].sideways, strides[i].turn);
        const kki_foothold at = after(body, 0, (foot == KK_LEFT ? 0.5 : -0.5) * width, 0);
        steps[i] = (kk_footstep){.foot = foot, .x = at.x, .y = at.y, .yaw = at.yaw};
    }
}

static kki_foothold middle(const kki_foothold *two) {
    return (kki_foothold){0.5 * (two[0].x + two[1].x), 0.5 * (two[0].y + two[1].y), 0.5 * (two[0].yaw + two[1].yaw)};
}

double kki_walk_schedule(kk_walk *w, const kk_footstep *steps) {
    const kki_foothold origin = middle(w->start);
    kki_foothold now[2] = {w->start[0], w->start[1]};
    double time = w->options.start;
    for (int i = 0; i < w->steps; i++) {
        const kk_footstep *f = &steps[i];
        const double duration = f->duration > 0 ? f->duration : w->options.step_time;
        kki_step *s = &w->step[i];
        s->foot = (int)f->foot;
        s->from = now[f->foot];
        s->to = now[f->foot] = after(origin, f->x, f->y, f->yaw);
        s->stance = now[1 - f->foot];
        s->lift_off = time;
        s->land = time + duration - w->options.double_support;
        s->next = time += duration;
    }
    return time + w->options.end;
}

// ---- moments

/// 0 … 1 with level ends.
static double smooth(double part) {
    return part <= 0 ? 0 : part >= 1 ? 1 : 0.5 * (1 - kk_cos(KK_PI * part));
}

/// The last step that has begun; −1 before the first.
static int step_at(const kk_walk *w, double time) {
    int low = -1, high = w->steps - 1;
    while (low < high) {
        const int half = (low + high + 1) / 2;
        if (w->step[half].lift_off <= time) {
            low = half;
        } else {
            high = half - 1;
        }
    }
    return low;
}

/// Where the ZMP shall be while a foot bears alone.
static kki_foothold bearing_point(const kk_walk *w, kki_foothold sole, int foot) {
    const double inward = foot == KK_LEFT ? -w->options.zmp_inward : w->options.zmp_inward;
    return after(sole, w->options.zmp_forward, inward, 0);
}

/// Where it comes from and goes to in the double support before step i, and behind the last.
static void ends_of_shift(const kk_walk *w, int i, kki_foothold *from, kki_foothold *to) {
    const kki_step *s = w->step;
    kki_foothold both[2];
    if (i > 0) {
        *from = bearing_point(w, s[i - 1].stance, 1 - s[i - 1].foot);
    } else {
        both[0] = bearing_point(w, w->start[0], 0);
        both[1] = bearing_point(w, w->start[1], 1);
        *from = middle(both);
    }
    if (i < w->steps) {
        *to = bearing_point(w, s[i].stance, 1 - s[i].foot);
    } else if (i > 0) {
        both[0] = bearing_point(w, s[i - 1].stance, 1 - s[i - 1].foot);
        both[1] = bearing_point(w, s[i - 1].to, s[i - 1].foot);
        *to = middle(both);
    } else {
        *to = *from;
    }
}

/// How far the shift before step i has come.
static double shift(const kk_walk *w, int i, double time) {
    const double end = i < w->steps ? w->step[i].lift_off : i > 0 ? w->step[i - 1].next : 0;
    return smooth((time - end) / w->options.double_support + 1);
}

/// Index of the shift that is under way or behind us: step i bears alone from its end on.
static int shift_at(const kk_walk *w, double time) {
    const int i = step_at(w, time);
    return i >= 0 && time < w->step[i].land ? i : i + 1;
}

kk_vec3 kki_walk_zmp(const kk_walk *w, double time) {
    kki_foothold from, to;
    const int i = shift_at(w, time);
    const double part = shift(w, i, time);
    ends_of_shift(w, i, &from, &to);
    return kk_vec3_make(from.x + part * (to.x - from.x), from.y + part * (to.y - from.y), 0);
}

/// Share of the weight on the left foot at one end of the shift before step i.
static double left_share(const kk_walk *w, int i) {
    return i < 0 || i >= w->steps ? 0.5 : w->step[i].foot == KK_LEFT ? 0 : 1;
}

static double load_of(const kk_walk *w, int foot, double time) {
    const int i = shift_at(w, time);
    const double part = shift(w, i, time), before = i > 0 ? left_share(w, i - 1) : 0.5;
    const double left = before + part * (left_share(w, i) - before);
    return foot == KK_LEFT ? left : 1 - left;
}

/// Where a foot is: the step that moves it, how far that has come (φ), or the place where it stands.
static kki_foothold foot_at(const kk_walk *w, int foot, double time, double *up) {
    int i = step_at(w, time);
    *up = 0;
    while (i >= 0 && w->step[i].foot != foot) {
        i--;
    }
    if (i < 0) {
        return w->start[foot];
    }
    const kki_step *s = &w->step[i];
    if (time >= s->land) {
        return s->to;
    }
    const double phase = KK_TWO_PI * (time - s->lift_off) / (s->land - s->lift_off);
    const double part = (phase - kk_sin(phase)) / KK_TWO_PI;
    *up = w->options.lift * 0.5 * (1 - kk_cos(phase));
    return (kki_foothold){s->from.x + part * (s->to.x - s->from.x), s->from.y + part * (s->to.y - s->from.y),
                          s->from.yaw + part * (s->to.yaw - s->from.yaw)};
}

kk_transform kki_walk_sole(const kk_walk *w, int foot, double time, double *load) {
    double up;
    const kki_foothold f = foot_at(w, foot, time, &up);
    *load = load_of(w, foot, time);
    return kk_transform_make(kk_mat3_from_rpy(0, 0, f.yaw), kk_vec3_make(f.x, f.y, up));
}

double kki_walk_yaw(const kk_walk *w, double time) {
    double up;
    return 0.5 * (foot_at(w, KK_LEFT, time, &up).yaw + foot_at(w, KK_RIGHT, time, &up).yaw);
}
