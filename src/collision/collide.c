// The table of pairs.
#include "collision/mesh_contact.h"
#include "collision/pairs.h"

#define CONVEX kki_collide_convex
#define ROUND kki_collide_round
#define PLANE kki_collide_plane_convex
#define MESH kki_collide_mesh
#define FLOOR kki_collide_plane_mesh

// rows and columns in the order of kk_shape_type, the lower type first; NULL: this pair has no contacts
// (two planes, two height fields)
static kki_collide_pair *const PAIR[KK_SHAPE_TYPE_COUNT][KK_SHAPE_TYPE_COUNT] = {
    [KK_SHAPE_PLANE] = {NULL, PLANE, PLANE, PLANE, PLANE, PLANE, PLANE, PLANE, FLOOR, FLOOR},
    [KK_SHAPE_SPHERE] = {NULL, ROUND, ROUND, ROUND, ROUND, ROUND, ROUND, CONVEX, MESH, MESH},
    [KK_SHAPE_CAPSULE] = {NULL, NULL, CONVEX, CONVEX, CONVEX, CONVEX, CONVEX, CONVEX, MESH, MESH},
    [KK_SHAPE_CYLINDER] = {NULL, NULL, NULL, CONVEX, CONVEX, CONVEX, CONVEX, CONVEX, MESH, MESH},
    [KK_SHAPE_CONE] = {NULL, NULL, NULL, NULL, CONVEX, CONVEX, CONVEX, CONVEX, MESH, MESH},
    [KK_SHAPE_ELLIPSOID] = {NULL, NULL, NULL, NULL, NULL, CONVEX, CONVEX, CONVEX, MESH, MESH},
    [KK_SHAPE_BOX] = {NULL, NULL, NULL, NULL, NULL, NULL, kki_collide_box_box, CONVEX, MESH, MESH},
    [KK_SHAPE_HULL] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, CONVEX, MESH, MESH},
    [KK_SHAPE_MESH] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, MESH, MESH},
};

// The points of a manifold seen from the other body.
static void turn_round(kki_manifold *m) {
    for (int i = 0; i < m->count; i++) {
        kki_contact_point *p = &m->point[i];
        p->position = kk_vec3_add(p->position, kk_vec3_scale(m->normal, p->gap));
    }
    m->normal = kk_vec3_neg(m->normal);
}

int kki_collide(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                double reach, kki_pair_memory *memory, kki_manifold *manifold, int room) {
    const int is_turned = a->type > b->type;
    if (a->type == KK_SHAPE_PLANE && b->type > KK_SHAPE_PLANE && b->type < KK_SHAPE_MESH && room > 0) {
        return PLANE(a, X_WA, b, X_WB, reach, memory, manifold,
                     room); // most contacts of robots: nobody need guess where to go on
    }
    kki_collide_pair *const pair = is_turned ? PAIR[b->type][a->type] : PAIR[a->type][b->type];
    if (!pair || room <= 0) {
        return 0;
    }
    if (!is_turned) {
        return pair(a, X_WA, b, X_WB, reach, memory, manifold, room);
    }
    const int found = pair(b, X_WB, a, X_WA, reach, memory, manifold, room);
    const int written = found < 0 ? room : found;
    for (int i = 0; i < written; i++) {
        turn_round(&manifold[i]);
    }
    return found;
}
