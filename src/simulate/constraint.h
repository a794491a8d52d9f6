/// What a kind of constraint is: one file in constraint/, one line in KKI_CONSTRAINT_KINDS.
#ifndef KKI_SIMULATE_CONSTRAINT_H
#define KKI_SIMULATE_CONSTRAINT_H

#include "simulate/simulator.h"

/// What solvers and passes ask of a kind.
typedef enum kki_constraint_class {
    KKI_CLASS_CONTACT,
    KKI_CLASS_STOP,    ///< one row with λ ≥ 0: limits
    KKI_CLASS_DRY,     ///< one row with λ within bounds: dry friction of joints and tendons
    KKI_CLASS_CLOSURE, ///< equalities of positions: couplings, loops, held lengths
    KKI_CLASS_DRIVE,   ///< forces that answer a rate, as rows: their work is no constraint's
    KKI_CLASS_LINEAR   ///< rows of papers
} kki_constraint_class;

typedef struct kki_constraint_type {
    const char *name; ///< for messages
    kki_constraint_class kind;
    int is_spread; ///< it may act on more degrees of freedom than two branches up to the root
    /// Lists those of this step; NULL: another kind or a paper does.
    void (*assemble)(const kk_model *m, kk_simulator *s);
    /// Blocks, λ to start from, bias and compliance, which are zero before. @param warm  what the state kept, by `slot`
    void (*law)(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm);
    /// Where its forces stand in the state; NULL: they are not kept there.
    int (*slot)(const kki_warm_layout *w, const kki_constraint *c);
    /// λ for readers: forces by source, velocities. @param rate  one over the step
    void (*report)(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate);
    /// Of kinds between two bodies, which act on nodes; NULL: it acts along joints.
    void (*bodies)(const kk_model *m, const kk_simulator *s, const kki_constraint *c, int body[2]);
    /// Of kinds that are closed to rounding at the step's end (loop_projection.c): how far the widest of all is open, and the gaps of one's rows.
    double (*opening)(const kk_model *m, const kk_simulator *s, const kk_data *poses);
    void (*gaps)(const kk_model *m, const kk_simulator *s, const kk_data *poses, int item, double gap[KKI_MOST_ROWS]);
} kki_constraint_type;

#define KKI_CONSTRAINT_DECLARE(KIND, name) extern const kki_constraint_type kki_constraint_##name;
KKI_CONSTRAINT_KINDS(KKI_CONSTRAINT_DECLARE)

extern const kki_constraint_type *const kki_constraint_types[KKI_CONSTRAINT_KIND_COUNT];

static inline const kki_constraint_type *kki_type_of(const kki_constraint *c) {
    return kki_constraint_types[c->kind];
}
static inline int kki_is_dry(const kki_constraint *c) {
    return kki_type_of(c)->kind == KKI_CLASS_DRY;
}
static inline int kki_is_stop(const kki_constraint *c) {
    return kki_type_of(c)->kind == KKI_CLASS_STOP;
}
static inline int kki_is_closure(const kki_constraint *c) {
    return kki_type_of(c)->kind == KKI_CLASS_CLOSURE;
}
static inline int kki_is_drive(const kki_constraint *c) {
    return kki_type_of(c)->kind == KKI_CLASS_DRIVE;
}
static inline kki_constraint *kki_constraint_at(const kk_simulator *s, const kki_island *I, int i) {
    return &s->constraints.list[s->constraints.order[I->first_constraint + i]];
}

// ---- constraint.c: for the files of constraint/

/// `scale` times a unit force on a degree of freedom.
void kki_constraint_dof_part(const kk_model *m, kk_simulator *s, int row, int dof, double scale);
/// One more: a row on a degree of freedom.
kki_constraint *kki_constraint_on_dof(const kk_model *model, kk_simulator *s, kki_constraint_kind kind, int item,
                                      int dof, double scale);
/// The last degree of freedom of a node; −1 for the world.
int kki_last_dof(const kk_model *model, int node);
/// Laws that several kinds have: of a bound, of dry friction of `most` N s, of equalities.
void kki_stop_law(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm);
void kki_dry_law(kk_simulator *s, kki_constraint *c, double most, double warm);
void kki_equality_law(const kk_model *m, kk_simulator *s, kki_constraint *c, const double *warm);

/// Creep of a contact, over so much time: compliance of its two friction rows, of which the second may be scaled.
static inline void kki_set_creep(const kki_contact_law *law, double time, double *compliance) {
    if (law->slip > 0) {
        compliance[1] = law->slip / time;
        compliance[2] = law->slip / time * (law->ratio * law->ratio);
    }
}

/// What stuck in the last step starts this one at rest: its velocity now is that of rows that have turned a little.
static inline int kki_is_stuck(const double lambda[2], double bound) {
    const double most = bound * (1 - 1e-6);
    return bound > 0 && lambda[0] * lambda[0] + lambda[1] * lambda[1] < most * most;
}

#endif
