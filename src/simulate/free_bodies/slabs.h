/// Large batches of the swarm cut into slabs of space.
#ifndef KKI_SIMULATE_LOOSE_SLABS_H
#define KKI_SIMULATE_LOOSE_SLABS_H

#include "simulate/simulator.h"

/// Chunks of a batch; where there are several, each tree's number among all chunks goes into x->chunk. @param first  the batch's first
int kki_free_bodies_cut(const kk_model *m, kk_simulator *s, int batch, int first);

#endif
