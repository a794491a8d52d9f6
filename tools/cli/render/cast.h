/// The cast: a model's shapes as things on a stage, and where its bodies put them.
#ifndef KARAKURI_CLI_RENDER_CAST_H
#define KARAKURI_CLI_RENDER_CAST_H

#include "stage.h"

typedef struct actor {
    int body;
    kk_transform placement; ///< on the body
} actor;

typedef struct cast {
    stage s;
    actor *actor; ///< [count] of the first things of the stage
    int count, forms;
} cast;

typedef enum cast_shapes {
    CAST_SEEN,    ///< what is there to be seen; collision shapes where a model has nothing else
    CAST_COLLIDES ///< what touches
} cast_shapes;

/// Shapes of the model; boxes of the same inertia for a model without any.
void cast_make(cast *c, const kk_model *model, cast_shapes which);
/// Puts everything where the bodies are, and forgets signs. @param data  after kk_kinematics
void cast_place(cast *c, const kk_model *model, const kk_data *data);
/// The lowest corner of all that is on the stage, fixed things included, where they are now, m.
double cast_lowest(const cast *c);
/// Adds a floor at this height, for models without.
void cast_add_floor(cast *c, double z);
bool cast_has_floor(const cast *c);
void cast_free(cast *c);

#endif
