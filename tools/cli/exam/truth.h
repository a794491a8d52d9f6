/// Equations of motion that rows of the second exam integrate by themselves, finely, by Runge and Kutta: nothing of the step is in them.
#ifndef KARAKURI_CLI_EXAM_TRUTH_H
#define KARAKURI_CLI_EXAM_TRUTH_H

#include "scene.h"

enum { TRUTH_MOST = 40 };

/// ẏ of y [n].
typedef void (*truth_rate)(const void *system, const double *y, double *rate);
/// One step of the classical method of fourth order. @param n  at most TRUTH_MOST
void truth_step(truth_rate rate, const void *system, int n, double h, double *y);

/// A scene's tree with forces of joints: y = (q, v).
typedef struct truth_tree {
    const kk_model *model;
    kk_data *data;
    bool is_coupled; ///< couplings hold
    const void *forces;
    void (*add_forces)(const void *forces, const double *q, const double *v, double *tau); ///< NULL: none
} truth_tree;
void truth_tree_rate(const void *tree, const double *y, double *rate);

/// A ball on a floor whose center of mass lies off its center, on the axis of its inertia; it slides.
typedef struct truth_top {
    double mass, radius, below; ///< the center of mass is that much below the center, along the axis
    double across, along;       ///< moments about the center of mass
    double friction, gravity;
} truth_top;
/// Center of mass (x, y) and its velocity, the axis, the spin; all in the world.
typedef struct truth_top_state {
    double place[2], speed[2], axis[3], spin[3];
} truth_top_state;
void truth_top_rate(const void *top, const double *y, double *rate);

#endif
