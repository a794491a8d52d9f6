// Contact problems of robots: G from the library's own kk_delassus, g from the velocities that the robot would have.
#ifndef KK_TESTS_CONTACT_ROBOT_PROBLEMS_H
#define KK_TESTS_CONTACT_ROBOT_PROBLEMS_H

#include "problems.h"
#include "support/scene.h"

typedef struct robot_contact {
    int body;
    double point[3], normal[3], friction; // world axes
} robot_contact;

static inline kk_constraint_row robot_row(const robot_contact *k, const double *direction) {
    double moment[3];
    case_cross(k->point, direction, moment);
    return (kk_constraint_row){
        k->body, KK_WORLD, {{moment[0], moment[1], moment[2]}, {direction[0], direction[1], direction[2]}}};
}

static inline double robot_row_velocity(const scene *s, const kk_constraint_row *row) {
    const kk_motion V = kk_body_velocity(s->model, s->data, row->body, KK_WORLD_ORIGIN);
    const double *d = &row->direction.angular.x, *x = &V.angular.x;
    double sum = 0;
    for (int k = 0; k < 6; k++) {
        sum += d[k] * x[k];
    }
    return sum;
}

/// G at s->q, g at the given velocity.
static inline void robot_case(contact_case *c, scene *s, const robot_contact *contact, int count, const double *v) {
    static kk_constraint_row row[CASE_ROWS];
    static double G[CASE_ROWS * CASE_ROWS];
    case_clear(c);
    for (int k = 0; k < count; k++) {
        double t1[3], t2[3];
        case_tangents(contact[k].normal, t1, t2);
        kki_block *block = case_block(c, KKI_LAW_CONTACT);
        block->friction = contact[k].friction;
        row[block->row] = robot_row(&contact[k], contact[k].normal);
        row[block->row + 1] = robot_row(&contact[k], t1);
        row[block->row + 2] = robot_row(&contact[k], t2);
    }
    case_finish(c, false);
    c->p.Y = NULL; // has no bodies
    const int n = c->p.nrow;
    KK_CHECK_EQ_INT(kk_delassus(s->model, s->data, s->q, row, n, G), KK_OK);
    kk_kinematics_velocity(s->model, s->data, s->q, v);
    for (int i = 0; i < n; i++) {
        memcpy(c->G + i * c->p.stride, G + i * n, sizeof(double) * (size_t)n);
        c->g[i] = robot_row_velocity(s, &row[i]);
    }
}

/// Up to `most` contacts at random points of random bodies, normals upwards within a cone.
static inline int robot_draw_contacts(const scene *s, kk_random *r, int most, robot_contact *contact) {
    const int count = 1 + (int)kk_random_next_below(r, (uint64_t)most);
    kk_kinematics(s->model, s->data, s->q);
    for (int k = 0; k < count; k++) {
        robot_contact *x = &contact[k];
        x->body = 1 + (int)kk_random_next_below(r, (uint64_t)s->nbody - 1);
        const kk_vec3 p = kk_body_pose(s->model, s->data, x->body).p;
        const double at[3] = {p.x, p.y, p.z};
        case_random_direction(r, x->normal);
        x->normal[2] += 1.5;
        const double length =
            sqrt(x->normal[0] * x->normal[0] + x->normal[1] * x->normal[1] + x->normal[2] * x->normal[2]);
        for (int i = 0; i < 3; i++) {
            x->point[i] = at[i] + kk_random_next_between(r, -0.1, 0.1);
            x->normal[i] /= length;
        }
        x->friction = kk_random_next_between(r, 0.1, 1.2);
    }
    return count;
}

#endif
