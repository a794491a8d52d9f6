/// What rows of the second exam share: scenes in the default mode, and small readers.
#ifndef KARAKURI_CLI_EXAM_MOTION_H
#define KARAKURI_CLI_EXAM_MOTION_H

#include "scene.h"

/// A scene in the default mode, not strict: its uncertified steps are counted.
void motion_begin(scene *s, exam *e, double gravity);
/// The scene ends; its uncertified steps are added to `uncertified`.
void motion_end(scene *s, long *uncertified);
/// No step was degraded, held or refused.
void motion_note_steps(exam *e, long uncertified);
/// A figure whose name is made of two texts.
void motion_at_most(exam *e, const char *subject, const char *what, double value, double bar);

/// A uniform bar on a joint at its parent's `at`, hanging along `along` from there.
int motion_bar(scene *s, int parent, kk_joint_type type, kk_vec3 axis, kk_vec3 at, kk_vec3 along, double mass,
               double width);
/// Removes limits, springs, losses and shapes that collide: what is left of a robot is its trees.
void motion_strip(scene *s);
/// Every velocity between −most and most.
void motion_fling(scene *s, kk_random *random, double most);
/// 0 where the scene is broken.
double motion_kinetic(scene *s);
/// Kinetic, of gravity, and of the springs of joints of one degree of freedom.
double motion_energy(scene *s);
int motion_nv(const scene *s);

#endif
