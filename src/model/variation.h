/// A variation's arrays: those that differ from the model's in a block of its own, all others the model's.
#ifndef KKI_MODEL_VARIATION_H
#define KKI_MODEL_VARIATION_H

#include "model/model.h"

/// KK_INVALID_MODEL, with what differs, unless `full` has the structure of `base`.
kk_status kki_model_check_variation(const kk_model *base, const kk_model *full, kk_error *error);
/// A model of the numbers of `full` and, wherever both are the same, the arrays of `base`. @param full  a model of its own, whose
/// shapes are made to refer to the geometry of `base`
kk_status kki_model_overlay(const kk_model *base, kk_model *full, const kk_allocator *allocator, kk_model **variation);

#endif
