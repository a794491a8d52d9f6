/// Trees: what hangs together on the world, as ranges of degrees of freedom.
///
/// Degrees of freedom are numbered depth first from the roots, so a tree is a contiguous range that begins where a degree
/// of freedom has no parent.
#include "model/compile.h"

void kki_trees(kk_model *m) {
    m->ntree = 0;
    for (int32_t i = 0; i < m->nv; i++) {
        if (m->dof_parent[i] < 0) {
            m->tree_first_dof[m->ntree++] = i;
        }
        // every degree of freedom of a node passes here once; the last one to set it agrees with the first
        m->node_tree[m->dof_node[i]] = m->ntree - 1;
    }
    m->tree_first_dof[m->ntree] = m->nv;
    m->node_tree[0] = -1;
}
