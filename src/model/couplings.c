/// Couplings: followers are set from their leaders, in the order of the model, leaders first.
#include <string.h>

#include "model/model.h"

void kk_couplings_apply(const kk_model *m, double *q, double *v) {
    for (int i = 0; i < m->ncoupling; i++) {
        const kki_coupling *c = &m->coupling[i];
        if (q) {
            q[c->follower_q] = c->ratio * q[c->leader_q] + c->offset;
        }
        if (v) {
            v[c->follower_v] = c->ratio * v[c->leader_v];
        }
    }
}

int kk_couplings_independent(const kk_model *m) {
    return m->nv - m->ncoupling;
}

void kk_couplings_matrix(const kk_model *m, double *G) {
    const size_t columns = (size_t)kk_couplings_independent(m);
    memset(G, 0, (size_t)m->nv * columns * sizeof *G);
    size_t column = 0;
    for (int i = 0; i < m->nv; i++) {
        if (m->follower_of[i] < 0) {
            G[(size_t)i * columns + column++] = 1;
        }
    }
    for (int i = 0; i < m->ncoupling; i++) {
        const kki_coupling *c = &m->coupling[i];
        for (size_t k = 0; k < columns; k++) {
            G[(size_t)c->follower_v * columns + k] = c->ratio * G[(size_t)c->leader_v * columns + k];
        }
    }
}
