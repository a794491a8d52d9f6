/// The rows by group, one file each; a list ends with number 0. To add a group: a file and a name here.
#ifndef KARAKURI_CLI_EXAM_ROWS_H
#define KARAKURI_CLI_EXAM_ROWS_H

#include "exam.h"

#define EXAM_GROUPS(X) \
    X(friction)        \
    X(grip)            \
    X(impacts)         \
    X(free)            \
    X(joints)          \
    X(stacks)          \
    X(masonry)         \
    X(ground)          \
    X(robots)          \
    X(papers)          \
    X(order)           \
    X(energy)          \
    X(springs)         \
    X(linkages)        \
    X(spins)           \
    X(limits)          \
    X(meetings)        \
    X(times)

#define EXAM_DECLARE(group) extern const exam_row exam_rows_##group[];
EXAM_GROUPS(EXAM_DECLARE)
#undef EXAM_DECLARE

#endif
