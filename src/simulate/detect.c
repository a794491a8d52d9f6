/// What touches what: contact points of the pairs that are near, and what they start from.
///
/// Everything is seen at the step's middle. A pair counts where its gap can close in the half step that is left; points
/// with a gap take part as a bound on the approach, so nothing has to overlap before it is stopped.
#include <string.h>

#include "base/fetch.h"
#include "base/float_bits.h"
#include "model/warm.h"
#include "simulate/simulator.h"

static const double DEAD_BAND = KKI_DEAD_BAND;
static const double CLOSING = KKI_CLOSING;

// ---- contact points

/// Perpendicular to n, as near as can be to the axis n has least of.
static inline __attribute__((always_inline)) kk_vec3 first_tangent(kk_vec3 n) {
    const double x = __builtin_fabs(n.x), y = __builtin_fabs(n.y), z = __builtin_fabs(n.z);
    const kk_vec3 e = x <= y && x <= z ? kk_vec3_make(1, 0, 0) : y <= z ? kk_vec3_make(0, 1, 0) : kk_vec3_make(0, 0, 1);
    const kk_vec3 t = kk_vec3_sub(e, kk_vec3_scale(n, kk_vec3_dot(n, e)));
    return kk_vec3_scale(t, 1 / __builtin_sqrt(kk_vec3_dot(t, t)));
}

/// A normal and its tangents: one after the other, many points have the same, as all on a floor.
typedef struct direction {
    kk_vec3 normal, tangent[2];
} direction;

static inline void turn_to(kk_vec3 n, direction *last) {
    if (memcmp(&n, &last->normal, sizeof n) != 0) {
        last->normal = n;
        last->tangent[0] = first_tangent(n);
        last->tangent[1] = kk_vec3_cross(n, last->tangent[0]);
    }
}

/// Along the first shape's x axis where friction differs by direction.
static kk_vec3 friction_axis(const kk_simulator *s, int shape, kk_vec3 n) {
    const kk_vec3 x = kk_mat3_column(s->shapes.X_WS[shape].R, 0);
    const kk_vec3 t = kk_vec3_sub(x, kk_vec3_scale(n, kk_vec3_dot(n, x)));
    const double length = kk_vec3_norm(t);
    return length > 1e-3 ? kk_vec3_scale(t, 1 / length) : first_tangent(n);
}

/// Velocity of a shape's surface at a point, from a conveyor's motion, in the world.
static kk_vec3 surface_velocity(const kk_model *m, const kk_simulator *s, int shape, kk_vec3 point) {
    const kk_motion V = m->shape[shape].surface;
    const kk_transform *X = &s->shapes.X_WS[shape];
    const kk_vec3 w = kk_mat3_mul_vec(X->R, V.angular), u = kk_mat3_mul_vec(X->R, V.linear);
    return kk_vec3_add(u, kk_vec3_cross(w, kk_vec3_sub(point, X->p)));
}

/// How far the points' heights along n differ: on A, and on B.
static double spread(const kki_manifold *f, int on_b) {
    double low = __builtin_inf(), high = -__builtin_inf();
    for (int i = 0; i < f->count; i++) {
        const double z = kk_vec3_dot(f->normal, f->point[i].position) + (on_b ? f->point[i].gap : 0);
        low = z < low ? z : low;
        high = z > high ? z : high;
    }
    return high - low;
}

/// Whose surface rows act on. Of a patch the flatter side's: one that lands a little tilted stays consistent. Of a single point a
/// sphere's, so that it rolls on its own radius even where it overlaps what it rolls on.
static int acts_on_b(const kk_model *m, int a, int b, const kki_manifold *f) {
    if (f->count == 1) {
        return m->shape[b].shape.type == KK_SHAPE_SPHERE && m->shape[a].shape.type != KK_SHAPE_SPHERE;
    }
    return spread(f, 1) < spread(f, 0);
}

/// All that points of a manifold have in common.
typedef struct face {
    direction along;
    int32_t shape[2], node[2], law, pair;
} face;

/// Field by field: a copy of a whole contact takes the processor longer than to write it.
static inline __attribute__((always_inline)) void fill_point(const kk_simulator *s, const face *f,
                                                             const kki_contact_point *p, int on_b, kki_contact *c) {
    const kk_vec3 none = {0, 0, 0};
    c->point = on_b ? kk_vec3_add(p->position, kk_vec3_scale(f->along.normal, p->gap)) : p->position;
    c->gap = p->gap;
    c->position = p->position;
    c->feature = p->feature;
    c->node[0] = f->node[0];
    c->node[1] = f->node[1];
    c->law = f->law;
    c->pair = f->pair;
    c->shape[0] = f->shape[0];
    c->shape[1] = f->shape[1];
    c->normal = f->along.normal;
    c->tangent[0] = f->along.tangent[0];
    c->tangent[1] = f->along.tangent[1];
    c->open = c->swing = c->friction = 0;
    c->kept = c->impulse = c->velocity = none;
    if (!s->traits.has_plain_contacts) {
        c->moment = c->kept_moment = none;
        c->surface[0] = c->surface[1] = 0;
    }
}

/// Where surfaces run.
static void run_surfaces(const kk_model *m, const kk_simulator *s, kki_contact *c) {
    const kk_vec3 slip =
        kk_vec3_sub(surface_velocity(m, s, c->shape[1], c->point), surface_velocity(m, s, c->shape[0], c->point));
    c->surface[0] = kk_vec3_dot(slip, c->tangent[0]);
    c->surface[1] = kk_vec3_dot(slip, c->tangent[1]);
}

/// What is left to close of the points of a manifold, from number `from` to `end` − 1. Within the dead band nothing is. Where one side of a
/// face has landed and the other has not, all of its points count from the nearest: a band for each alone would ask the four
/// corners of a rigid face for speeds that no motion has. What bore in the last step comes back to the band, and not through it: let go as a whole it would
/// fall for a step, and land with a knock.
void kki_measure_openings(kk_simulator *s, int from, int end, int bore) {
    const double edge = KKI_LANDED, beyond = bore ? DEAD_BAND : 0;
    double least = __builtin_inf(), most = -__builtin_inf();
    for (int i = from; i < end; i++) {
        const double gap = kki_seen_gap(s, &s->contacts.list[i]);
        least = gap < least ? gap : least;
        most = gap > most ? gap : most;
    }
    const double closed = least > DEAD_BAND ? beyond : least < -DEAD_BAND ? -DEAD_BAND : least;
    const double base = least < edge ? least : edge;
    const double share = most > edge ? CLOSING * (most - edge) / (DEAD_BAND - edge) : 0;
    // a face that hovers as a whole comes down evenly; by the square of its height alone it would take seconds
    const double sinks = least > edge ? 0.5 * CLOSING * (least - edge) : 0;
    for (int i = from; i < end; i++) {
        const double gap = kki_seen_gap(s, &s->contacts.list[i]), open = gap - closed;
        s->contacts.list[i].open = most <= DEAD_BAND ? share * (gap - base) + sinks : open > 0 ? open : 0;
    }
}

/// The points of a manifold as contacts from number `from` on. @param pair  in the list of those that touch
static void fill_manifold(const kk_model *m, kk_simulator *s, int a, int b, int law, const kki_manifold *f, int pair,
                          int from, direction *last) {
    direction own;
    if (m->law[law].ratio == 1) {
        turn_to(f->normal, last);
    } else {
        const kk_vec3 t = friction_axis(s, a, f->normal);
        own = (direction){f->normal, {t, kk_vec3_cross(f->normal, t)}};
        last = &own;
    }
    const face all = {.along = *last,
                      .shape = {a, b},
                      .node = {s->near.owner[a].node, s->near.owner[b].node},
                      .law = law,
                      .pair = pair};
    const int on_b = acts_on_b(m, a, b, f);
    for (int i = 0; i < f->count; i++) {
        fill_point(s, &all, &f->point[i], on_b, &s->contacts.list[from + i]);
    }
    for (int i = 0; i < f->count && !s->traits.has_plain_contacts && (m->shape[a].runs || m->shape[b].runs); i++) {
        run_surfaces(m, s, &s->contacts.list[from + i]);
    }
    kki_open_face(s, from, from + f->count, 0);
}

// ---- what the state remembers

static kki_pair_memory memory_of(const uint64_t *record) {
    return (kki_pair_memory){
        .reference = kki_warm_low(record[1]),
        .feature = {kki_warm_high(record[1]), kki_warm_low(record[2]), kki_warm_high(record[2]),
                    kki_warm_low(record[3])},
        .direction = {kki_float(kki_warm_high(record[3])), kki_float(kki_warm_low(record[4])),
                      kki_float(kki_warm_high(record[4]))},
    };
}

/// Records are sorted by shapes, as the pairs come: a mark in each list goes on with them.
typedef struct memory_book {
    kki_warm_list list;
    int next_pair, next_contact;
} memory_book;

static memory_book open_book(const kk_state *state) {
    return (memory_book){.list = kki_state_list(state)};
}

/// Whether a record's shapes are before a pair; and whether they are the pair.
static int is_before(const uint64_t *record, int first, int second) {
    const int a = (int)kki_warm_low(record[KKI_WARM_SHAPES]), b = (int)kki_warm_high(record[KKI_WARM_SHAPES]);
    return a < first || (a == first && b < second);
}
static int is_of(const uint64_t *record, int first, int second) {
    return record[KKI_WARM_SHAPES] == kki_warm_both((uint32_t)first, (uint32_t)second);
}

/// The first record, of `count` with `size` words each, whose two shapes are not before a pair.
static int first_record(const uint64_t *record, int count, int size, int first, int second) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const int before = is_before(record + (size_t)middle * (size_t)size, first, second);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

static kk_vec3 old_vec(const uint64_t *x) {
    return kk_vec3_make(kki_double(x[0]), kki_double(x[1]), kki_double(x[2]));
}

/// Record of a pair; NULL where there is none.
static const uint64_t *find_pair(memory_book *book, int first, int second) {
    for (; book->next_pair < book->list.pairs; book->next_pair++) {
        const uint64_t *r = kki_warm_pair(&book->list, book->next_pair);
        if (!is_before(r, first, second)) {
            return is_of(r, first, second) ? r : NULL;
        }
    }
    return NULL;
}

static int has_plane(const kki_near *n, const kki_near_pair *p) {
    return n->outline[p->first].is_plane | n->outline[p->second].is_plane;
}

/// Record of a near pair where it counts; contacts with a plane depend on nothing that was before.
static const uint64_t *past_of(const kk_simulator *s, memory_book *book, const kki_near_pair *p) {
    const kki_near *n = &s->near;
    return has_plane(n, p) ? NULL : find_pair(book, n->owner[p->first].collider, n->owner[p->second].collider);
}

/// The new contact of `from` … `end` − 1 that is nearest to the place of an old one.
static kki_contact *nearest(kk_simulator *s, int from, int end, const uint64_t *old) {
    const kk_vec3 place =
        kk_transform_point(s->shapes.X_WS[s->contacts.list[from].shape[0]], old_vec(old + KKI_WARM_PLACE));
    kki_contact *best = NULL;
    double least = __builtin_inf();
    for (int i = from; i < end; i++) {
        const kk_vec3 d = kk_vec3_sub(s->contacts.list[i].position, place);
        const double distance = kk_vec3_dot(d, d);
        if (distance < least) {
            least = distance;
            best = &s->contacts.list[i];
        }
    }
    return best;
}

/// The one it lives on in: the same feature, or else the nearest place.
static kki_contact *heir(kk_simulator *s, int from, int end, const uint64_t *old) {
    const uint64_t feature = old[KKI_WARM_FEATURE];
    for (int i = from; i < end; i++) {
        if (s->contacts.list[i].feature == feature) {
            return &s->contacts.list[i];
        }
    }
    return nearest(s, from, end, old);
}

/// Old contacts of a pair: the mark stands on the first, and is put behind the last; gives how many there are.
static int find_contacts(memory_book *book, int a, int b) {
    const uint64_t *old = kki_warm_contact(&book->list, book->next_contact);
    int count = 0;
    for (; book->next_contact < book->list.contacts; book->next_contact++, old += book->list.contact_size) {
        const int is_same = is_of(old, a, b);
        if (!is_same && !is_before(old, a, b)) {
            break;
        }
        count += is_same;
    }
    return count;
}

static inline __attribute__((always_inline)) void take_force(const kk_simulator *s, const uint64_t *old,
                                                             kki_contact *c) {
    const kk_vec3 force = old_vec(old + KKI_WARM_FORCE);
    c->kept = kk_vec3_add(c->kept, force);
    c->impulse = kk_vec3_add(c->impulse, kk_vec3_scale(force, s->h));
    if (!s->traits.has_plain_contacts) {
        const kk_vec3 moment = old_vec(old + KKI_WARM_MOMENT);
        c->kept_moment = kk_vec3_add(c->kept_moment, moment);
        c->moment = kk_vec3_add(c->moment, kk_vec3_scale(moment, s->h));
    }
}

/// Hands the forces of a pair's old contacts, behind the last of which the mark stands, to new ones, from number `from` to `end` − 1.
static void inherit(kk_simulator *s, int from, int end, const memory_book *book, int count) {
    for (int i = book->next_contact - count; i < book->next_contact; i++) {
        const uint64_t *old = kki_warm_contact(&book->list, i);
        kki_contact *c = heir(s, from, end, old);
        if (c) { // else so far away that distances are no numbers
            take_force(s, old, c);
        }
    }
}

// ---- pairs

/// How far apart points still count. What is faster than its thickness is followed along its motion (fast.c) and need not be seen from
/// afar, where its rows would act on a long lever. Nothing is faster than a plane is thick.
static double contact_reach(const kk_model *m, const kk_simulator *s, const kki_near_pair *p) {
    if (s->options.detection || has_plane(&s->near, p)) {
        return p->reach;
    }
    const double most = kki_thickness(m, p->first, p->second) + 1e-4;
    return p->reach < most ? p->reach : most;
}

/// Manifolds of a pair, at most `room`; below zero where there are more.
static int find_manifolds(const kk_model *m, const kk_simulator *s, const kki_near_pair *near, const uint64_t *record,
                          kki_pair_memory *memory, kki_manifold *manifold, int room) {
    const int a = near->first, b = near->second;
    const kki_struck *hit = s->fast.nstruck > 0 ? kki_struck_pair(s, a, b) : NULL;
    *memory = record ? memory_of(record) : (kki_pair_memory){0};
    if (hit) {
        return kki_collide_struck(m, s, hit, manifold);
    }
    return kki_collide(&m->shape[a].shape, &s->shapes.X_WS[a], &m->shape[b].shape, &s->shapes.X_WS[b],
                       contact_reach(m, s, near), memory, manifold, room);
}

/// All but the memory, which stands there already.
static void set_touching(const kk_simulator *s, const kki_near_pair *p, int from, int count, int manifolds,
                         kki_touching *t) {
    t->first = p->first;
    t->second = p->second;
    t->contact = from;
    t->count = count;
    t->manifolds = manifolds;
    t->node[0] = s->near.owner[p->first].node;
    t->node[1] = s->near.owner[p->second].node;
    t->law = p->law;
}

/// What is round over a plane has one point, as a rule, and most contacts of robots are such: without a manifold on the way. Gives 0 where it is not so simple.
static int touch_plane(const kk_model *m, kk_simulator *s, memory_book *book, const kki_near_pair *near,
                       direction *last) {
    const int a = near->first, b = near->second, from = s->contacts.count;
    const kki_shape *plane = &m->shape[a].shape, *round = &m->shape[b].shape;
    kki_touching *own = &s->contacts.touching[s->contacts.ntouching]; // there is room for one more
    kki_contact_point p;
    if (plane->type != KK_SHAPE_PLANE || round->type > KK_SHAPE_CAPSULE || m->law[near->law].ratio != 1 ||
        !s->traits.has_plain_contacts || s->contacts.ntouching == s->contacts.max_touching || from == s->contacts.max ||
        s->lacking.room.contacts > 0) {
        return 0;
    }
    own->memory = (kki_pair_memory){0};
    const int count =
        kki_round_over_plane(plane, &s->shapes.X_WS[a], round, &s->shapes.X_WS[b], near->reach, &own->memory, &p);
    if (count <= 0) {
        return count == 0; // how far apart is not asked over planes
    }
    turn_to(kk_mat3_column(s->shapes.X_WS[a].R, 2), last);
    const kki_owner *A = &s->near.owner[a], *B = &s->near.owner[b];
    const face f = {*last, {a, b}, {A->node, B->node}, near->law, s->contacts.ntouching++};
    kki_contact *c = &s->contacts.list[s->contacts.count++];
    fill_point(s, &f, &p, round->type == KK_SHAPE_SPHERE, c);
    set_touching(s, near, from, 1, 1, own);
    kki_measure_opening(s, c, 0);
    const int old = find_contacts(book, A->collider, B->collider);
    const uint64_t *record = kki_warm_contact(&book->list, book->next_contact - old);
    if (old == 1 && record[KKI_WARM_FEATURE] == p.feature) {
        take_force(s, record, c);
    } else {
        inherit(s, from, from + 1, book, old);
    }
    return 1;
}

/// Whether there is no room for the contacts of a pair; then all that touch are counted on, to the last, so that room for them can be made at once.
static int lacks_room(kk_simulator *s, const kki_manifold *manifold, int count) {
    int32_t *lacking = &s->lacking.room.contacts, points = 0;
    for (int k = 0; k < count; k++) {
        points += manifold[k].count;
    }
    if (*lacking > 0) {
        *lacking += points > 0 ? points : 1;
    } else {
        kki_room_ask(s->contacts.count + points, s->contacts.max, lacking);
        kki_room_ask(s->contacts.ntouching + 1, s->contacts.max_touching, lacking);
    }
    return *lacking > 0;
}

/// @param i  of the pairs that are near    @param met  what workers have found of it; NULL: nobody has looked
static void collide_pair(const kk_model *m, kk_simulator *s, memory_book *book, int i, const kki_meeting *met,
                         direction *last) {
    const kki_near_pair *near = &s->near.list[i];
    const int a = near->first, b = near->second;
    const kki_manifold *manifold = s->contacts.manifold;
    kki_touching *own = &s->contacts.touching[s->contacts.ntouching]; // there is room for one more
    int count = 0;
    if (met && met->count >= 0) {
        own->memory = met->memory;
        manifold = &met->manifold;
        count = met->count;
    } else {
        count =
            find_manifolds(m, s, near, past_of(s, book, near), &own->memory, s->contacts.manifold, s->room.manifolds);
    }
    if (count < 0) {
        kki_room_ask(-1 - count, s->room.manifolds, &s->lacking.room.manifolds);
        return;
    }
    if (count == 0) {
        kki_near_parted(m, s, i);
        return;
    }
    if (lacks_room(s, manifold, count)) {
        return;
    }
    const int from = s->contacts.count;
    s->contacts.ntouching++;
    for (int k = 0; k < count; k++) {
        fill_manifold(m, s, a, b, near->law, &manifold[k], s->contacts.ntouching - 1, s->contacts.count, last);
        s->contacts.count += manifold[k].count;
    }
    set_touching(s, near, from, s->contacts.count - from, count, own);
    if (s->contacts.count > from) {
        const int old = find_contacts(book, s->near.owner[a].collider, s->near.owner[b].collider);
        inherit(s, from, s->contacts.count, book, old);
    }
}

/// Of a pair a few further on, what is looked at of its second shape, which may be anywhere: thousands of shapes are far from the processor. In line, as
/// kki_fetch.
static inline __attribute__((always_inline)) void fetch_pair(const kk_model *m, const kk_simulator *s, int i,
                                                             int count) {
    enum { AHEAD = 6 };
    if (i + AHEAD < count) {
        const int b = s->near.list[i + AHEAD].second;
        kki_fetch(&m->shape[b].shape, KKI_LINE);
        kki_fetch(&s->shapes.X_WS[b], KKI_LINE);
        kki_fetch(&s->shapes.X_WS[b].p, sizeof s->shapes.X_WS[b].p);
    }
}

// ---- by several workers

typedef struct looking {
    const kk_model *m;
    kk_simulator *s;
    const memory_book *book;
    int count; ///< near pairs
} looking;

static int end_of_meetings(const looking *x, int number) {
    const int end = (number + 1) * KKI_MEETINGS;
    return end < x->count ? end : x->count;
}

/// The book with its marks at the first of some pairs.
static memory_book open_at(const looking *x, int pair) {
    const kki_near_pair *p = &x->s->near.list[pair];
    const int a = x->s->near.owner[p->first].collider, b = x->s->near.owner[p->second].collider;
    memory_book book = *x->book;
    book.next_pair = first_record(kki_warm_pair(&book.list, 0), book.list.pairs, KKI_WARM_PAIR_SIZE, a, b);
    book.next_contact = first_record(book.list.word, book.list.contacts, book.list.contact_size, a, b);
    return book;
}

static void look_at_some(void *context, int first, int end, int worker) {
    const looking *x = context;
    kk_simulator *s = x->s;
    (void)worker;
    for (int n = first; n < end; n++) {
        kki_meetings sum = {0, 0, 0};
        memory_book book = open_at(x, n * KKI_MEETINGS);
        for (int i = n * KKI_MEETINGS; i < end_of_meetings(x, n); i++) {
            const kki_near_pair *p = &s->near.list[i];
            kki_meeting *met = &s->workers.met[i];
            const uint64_t *record = past_of(s, &book, p);
            fetch_pair(x->m, s, i, x->count);
            met->count = find_manifolds(x->m, s, p, record, &met->memory, &met->manifold, 1);
            sum.several |= met->count < 0;
            sum.pairs += met->count > 0;
            sum.contacts += met->count > 0 ? met->manifold.count : 0;
        }
        s->workers.meetings[n] = sum;
    }
}

/// Where each worker's contacts will stand. False where a pair has several manifolds, or there is no room: then one thread does it all, and says so.
static int number_contacts(kk_simulator *s, int meetings) {
    int64_t contacts = 0, pairs = 0;
    int several = 0;
    for (int i = 0; i < meetings; i++) {
        const kki_meetings own = s->workers.meetings[i];
        s->workers.meetings[i] = (kki_meetings){(int32_t)contacts, (int32_t)pairs, 0};
        several |= own.several;
        contacts += own.contacts;
        pairs += own.pairs;
        if (several || contacts > s->contacts.max || pairs > s->contacts.max_touching) {
            return 0;
        }
    }
    s->contacts.count = (int32_t)contacts;
    s->contacts.ntouching = (int32_t)pairs;
    return 1;
}

/// The list of pairs that touch, before their contacts are written.
static void list_touching(const looking *x) {
    kk_simulator *s = x->s;
    int contacts = 0, pairs = 0;
    for (int i = 0; i < x->count; i++) {
        const kki_meeting *met = &s->workers.met[i];
        if (met->count > 0) {
            kki_touching *own = &s->contacts.touching[pairs++];
            own->memory = met->memory;
            set_touching(s, &s->near.list[i], contacts, met->manifold.count, met->count, own);
            contacts += met->manifold.count;
        }
    }
}

/// What goes to the swarm can be said as soon as it is known what touches, which is one thread's work: it is a piece among the others, and the first.
static void fill_some(void *context, int first, int end, int worker) {
    const looking *x = context;
    kk_simulator *s = x->s;
    direction last = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
    (void)worker;
    if (first == 0) {
        list_touching(x);
        kki_free_bodies_choose(x->m, s);
        s->free_bodies.is_chosen = 1;
    }
    for (int n = first > 0 ? first - 1 : 0; n < end - 1; n++) {
        memory_book book = open_at(x, n * KKI_MEETINGS);
        int from = s->workers.meetings[n].contacts, pair = s->workers.meetings[n].pairs;
        for (int i = n * KKI_MEETINGS; i < end_of_meetings(x, n); i++) {
            const kki_meeting *met = &s->workers.met[i];
            const kki_near_pair *p = &s->near.list[i];
            if (met->count > 0) {
                const int count = met->manifold.count;
                const int old =
                    find_contacts(&book, s->near.owner[p->first].collider, s->near.owner[p->second].collider);
                fill_manifold(x->m, s, p->first, p->second, p->law, &met->manifold, pair++, from, &last);
                inherit(s, from, from + count, &book, old);
                from += count;
            }
        }
    }
}

/// How far workers get: not at all where there are too few pairs, to what they find in s->workers.met, or to the end.
typedef enum progress { NOTHING_DONE, LOOKED_AT, ALL_DONE } progress;

static progress look_together(const kk_model *m, kk_simulator *s, const memory_book *book, int count) {
    const int meetings = (count + KKI_MEETINGS - 1) / KKI_MEETINGS;
    looking x = {m, s, book, count};
    if (s->workers.count < 2 || s->options.workers.count < 2 || meetings < 4) {
        return NOTHING_DONE;
    }
    kki_workers_share(&s->options.workers, meetings, 1, look_at_some, &x);
    if (!number_contacts(s, meetings)) {
        return LOOKED_AT;
    }
    kki_workers_share(&s->options.workers, meetings + 1, 1, fill_some, &x);
    return ALL_DONE;
}

/// Contacts of all near pairs.
static kk_status collide(const kk_model *model, kk_simulator *s, const kk_state *state, int count) {
    memory_book book = open_book(state);
    const progress done = look_together(model, s, &book, count);
    if (done == ALL_DONE) {
        return kki_room_status(s);
    }
    kk_status status = KK_OK;
    direction last = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}};
    for (int i = 0; i < count && status == KK_OK; i++) {
        fetch_pair(model, s, i, count);
        if (done == LOOKED_AT || !touch_plane(model, s, &book, &s->near.list[i], &last)) {
            collide_pair(model, s, &book, i, done == LOOKED_AT ? &s->workers.met[i] : NULL, &last);
        }
    }
    return status ? status : kki_room_status(s);
}

kk_status kki_detect(const kk_model *model, kk_simulator *s, const kk_state *state) {
    s->contacts.count = s->contacts.ntouching = s->fast.nstruck = s->free_bodies.is_chosen = 0;
    if (s->contacts.max == 0) {
        return KK_OK;
    }
    int count = 0;
    kk_status status = kki_near_find(model, s, &count);
    s->fast.nnear = count;
    if (status == KK_OK && s->fast.policy == KKI_FAST_AHEAD) {
        kki_first_meeting(model, s, count);
        if (s->fast.meeting >= 0) {
            return KK_OK; // the step will be taken in parts
        }
    } else if (status == KK_OK && s->fast.policy == KKI_FAST_IMPACTS) {
        kki_strike(model, s, count);
        status = kki_room_status(s);
    }
    status = status ? status : collide(model, s, state, count);
    if (status == KK_OK && s->fast.policy == KKI_FAST_AHEAD) {
        kki_first_deep_meeting(model, s);
    }
    return status;
}
