// Two trees against each other. Two boxes are tried along the six axes of both frames; the nine products of edges, which
// would part a few more, cost more than they save (van den Bergen 1997).
#include "geometry/tree_pair.h"

enum { STACK = 2 * KKI_TREE_STACK };

typedef struct centred {
    double c[3], h[3]; // middle and half
} centred;

typedef struct two_nodes {
    kki_tree_entry a, b;
    centred a_box, b_box; // each in its own frame
} two_nodes;

typedef struct placement {
    double R[9], Q[9], p[3]; // Q: absolute values of R
    double limit;
} placement;

static placement place(const kk_transform *X, double limit) {
    placement p = {.p = {X->p.x, X->p.y, X->p.z}, .limit = limit};
    for (int i = 0; i < 9; i++) {
        p.R[i] = X->R.m[i];
        p.Q[i] = __builtin_fabs(X->R.m[i]);
    }
    return p;
}

static bool are_apart(const placement *x, const centred *a, const centred *b) {
    double t[3];
    for (int i = 0; i < 3; i++) {
        const double *R = x->R + 3 * i, *Q = x->Q + 3 * i;
        t[i] = R[0] * b->c[0] + R[1] * b->c[1] + R[2] * b->c[2] + x->p[i] - a->c[i];
        if (__builtin_fabs(t[i]) > a->h[i] + (Q[0] * b->h[0] + Q[1] * b->h[1] + Q[2] * b->h[2]) + x->limit) {
            return true;
        }
    }
    for (int j = 0; j < 3; j++) {
        const double s = x->R[j] * t[0] + x->R[3 + j] * t[1] + x->R[6 + j] * t[2];
        if (__builtin_fabs(s) >
            b->h[j] + (x->Q[j] * a->h[0] + x->Q[3 + j] * a->h[1] + x->Q[6 + j] * a->h[2]) + x->limit) {
            return true;
        }
    }
    return false;
}

static centred lane_box(const kki_tree_node *n, int lane) {
    centred b;
    for (int k = 0; k < 3; k++) {
        const double low = (double)n->lower[k][lane], high = (double)n->upper[k][lane];
        b.c[k] = 0.5 * (low + high);
        b.h[k] = 0.5 * (high - low);
    }
    return b;
}

static double size_of(const centred *b) {
    return b->h[0] + b->h[1] + b->h[2];
}

static int open_node(const kki_tree *a, const kki_tree *b, const placement *x, const two_nodes *top, two_nodes *stack,
                     int depth) {
    const bool is_a = top->b.count > 0 || (top->a.count == 0 && size_of(&top->a_box) >= size_of(&top->b_box));
    const kki_tree_node *n = is_a ? &a->node[top->a.child] : &b->node[top->b.child];
    for (int lane = 0; lane < 4; lane++) {
        if (n->child[lane] < 0) {
            continue;
        }
        const centred box = lane_box(n, lane);
        if (are_apart(x, is_a ? &box : &top->a_box, is_a ? &top->b_box : &box)) {
            continue;
        }
        two_nodes *next = &stack[depth++];
        *next = *top;
        *(is_a ? &next->a : &next->b) = (kki_tree_entry){n->child[lane], n->count[lane]};
        *(is_a ? &next->a_box : &next->b_box) = box;
    }
    return depth;
}

// Without bounds at first: the root's own lanes have boxes.
static centred endless(void) {
    return (centred){{0, 0, 0}, {1e300, 1e300, 1e300}};
}

void kki_tree_pairs(const kki_tree *a, const kki_tree *b, const kk_transform *X_AB, double limit, kki_leaf_pair *visit,
                    void *user) {
    two_nodes stack[STACK];
    const placement x = place(X_AB, limit);
    int depth = a->item_count > 0 && b->item_count > 0;
    stack[0] = (two_nodes){{0, 0}, {0, 0}, endless(), endless()};
    while (depth > 0) {
        const two_nodes top = stack[--depth];
        if (top.a.count > 0 && top.b.count > 0) {
            visit(user, top.a, top.b);
        } else {
            depth = open_node(a, b, &x, &top, stack, depth);
        }
    }
}
