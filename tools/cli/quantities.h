/// What `karakuri compute` can compute: a table of quantities, each with its columns and a function for one state.
#ifndef KARAKURI_CLI_QUANTITIES_H
#define KARAKURI_CLI_QUANTITIES_H

#include "columns.h"
#include "load.h"

enum { NEEDS_Q = 1 << COLUMN_Q, NEEDS_V = 1 << COLUMN_V, NEEDS_A = 1 << COLUMN_A, NEEDS_TAU = 1 << COLUMN_TAU };

/// One state and the room to compute.
typedef struct instant {
    const kk_model *model;
    kk_data *data;
    double *q, *v, *a, *tau; ///< [nq], [nv]
    double *scratch;         ///< [max(nv², 6 nv)] where a quantity needs it
    double floor;            ///< height for the ZMP
    kk_reference reference;
} instant;

struct quantity_kind;

/// One word of --what.
typedef struct quantity {
    const struct quantity_kind *kind;
    const char *argument; ///< as given, behind the colon; NULL
    int body, frame;      ///< what it names; −1: not that
    int first, count;     ///< its columns in the row
} quantity;

typedef struct quantity_kind {
    const char *name;
    const char *argument; ///< "FRAME", "JOINT" or NULL
    const char *usage, *about;
    unsigned needs;
    bool needs_matrix; ///< scratch of nv²
    void (*columns)(const instant *s, const quantity *x, column_list *list);
    kk_status (*compute)(const instant *s, const quantity *x, double *out);
} quantity_kind;

typedef struct quantity_list {
    quantity *item;
    int count;
    unsigned needs;
    bool needs_matrix;
    char *words; ///< the arguments' texts
} quantity_list;

/// Names, for completion; NULL at the end.
extern const char *const quantity_names[];
cli_term quantity_term(int index);

/// Reads "rnea,jacobian:foot". 0, or the exit code after an error; frees nothing then.
int quantities_parse(cli *c, const kk_model *model, const char *what, quantity_list *list);
void quantities_free(quantity_list *list);

#endif
