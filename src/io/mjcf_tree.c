/// <worldbody> walked into lists: bodies in depth-first order, which is MuJoCo's, and joints, geoms and sites of each.
///
/// Frames and copies disappear here: every item knows the frame that it stands in and the suffix of its copy. The i-th
/// copy of <replicate> stands at (offset, euler)ⁱ. The stack is one of our own, as deep as the file's elements.
#include <string.h>

#include "base/allocator.h"
#include "base/print.h"
#include "io/mjcf.h"
#include "io/text.h"

/// Bytes that copies may add to a name: what stands in many replicates, each with its separator, has long ones.
enum { MOST_SUFFIX = 255 };

/// Elements that copies may make in all, and how many make a trial worth it; a file may have any number itself. Few for
/// fuzzing, which is not after speed.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { MOST_COPIED = 64, MANY_COPIED = 8 };
#else
enum { MOST_COPIED = 1 << 18, MANY_COPIED = 1 << 10 };
#endif

typedef struct level {
    int32_t node, next; ///< the element and the child to visit
    int body, class;
    const kk_transform *frame; ///< in the body
    const char *suffix, *outer_suffix;
    kki_mjcf_series *series; ///< of a trial; NULL: none
    int64_t index, count;    ///< of copies
    int instance;            ///< see kki_mjcf_copy
    int64_t product;         ///< copies of this level all in all
    kk_transform step;
} level;

typedef struct walker {
    kki_mjcf *m;
    level *level;
    int count, room;
    bool is_over; ///< too many copies
} walker;

static level *push(walker *w, const level *made) {
    level *place = kki_mjcf_push(w->m, (void **)&w->level, &w->count, &w->room, sizeof *w->level);
    if (place) {
        *place = *made;
    }
    return place;
}

// ---- items

static const char *suffixed(kki_mjcf *m, kki_mjcf_kind kind, int32_t node, const level *at) {
    const char *name = kki_xml_value(m->xml, node, "name");
    if (!name || !name[0]) {
        return NULL;
    }
    if (!at->suffix[0]) {
        return name;
    }
    kki_mjcf_add_copy(m, kind, name, at->suffix, at->series, at->instance);
    return kki_mjcf_copy_name(m, node, name, at->suffix, at->series);
}

/// Of an element in this level: how many it stands for.
static int64_t copies_at(const level *at) {
    return at->series ? at->series->copies : 1;
}

static void add_item(kki_mjcf *m, const level *at, int32_t node, int what, kki_mjcf_kind kind) {
    kki_mjcf_item *item = KKI_MJCF_PUSH(m, item);
    if (!item) {
        return;
    }
    const int index = m->item_count - 1;
    kki_mjcf_body *body = &m->body[at->body];
    *item = (kki_mjcf_item){.node = node, .next = -1, .class = at->class, .suffix = at->suffix, .made = -1};
    item->frame = at->frame;
    item->copies = copies_at(at);
    item->name = suffixed(m, kind, node, at);
    kki_mjcf_name_put(m, kind, item->name, index, node);
    body->joint_count += what == KKI_MJCF_IS_JOINT;
    if (m->is_check) {
        kki_mjcf_try_item(m, at->body, index, what);
        return;
    }
    if (body->first[what] < 0) {
        body->first[what] = index;
    } else {
        m->item[body->last[what]].next = index;
    }
    body->last[what] = index;
}

static void add_inertial(kki_mjcf *m, const level *at, int32_t node) {
    kki_mjcf_body *body = &m->body[at->body];
    if (at->body == 0) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, node, NULL, "<inertial> of the world has no effect; remove it");
    } else if (body->inertial != KKI_XML_NONE) {
        kki_mjcf_report(m, KKI_ERROR, KK_DUPLICATE_NAME, node, NULL, "the body has two <inertial>; remove one");
    } else {
        body->inertial = node;
        body->inertial_frame = at->frame;
    }
}

static void add_joint(kki_mjcf *m, const level *at, int32_t node) {
    if (at->body == 0) {
        kki_mjcf_report(m, KKI_ERROR, KK_INVALID_MODEL, node, NULL, "the world has a joint; put it into a <body>");
        return;
    }
    add_item(m, at, node, KKI_MJCF_IS_JOINT, KKI_MJCF_JOINT);
}

// ---- bodies, frames, copies

static level below(const level *at, const kki_xml *xml, int32_t node, int class) {
    level made = *at;
    made.node = node;
    made.next = kki_xml_first(xml, node, NULL);
    made.class = class;
    made.index = 0;
    made.count = 1;
    return made;
}

static void open_body(walker *w, const level at, int32_t node) {
    kki_mjcf *m = w->m;
    const kki_mjcf_at element = kki_mjcf_element_here(m, node);
    const kk_transform X_PB = kk_transform_mul(*at.frame, kki_mjcf_pose(&element));
    const kki_mjcf_place place = {X_PB, kk_transform_mul(m->body[at.body].place->X_WB, X_PB)};
    kki_mjcf_body *body = KKI_MJCF_PUSH(m, body);
    if (!body) {
        return;
    }
    *body = (kki_mjcf_body){.node = node, .parent = at.body, .first = {-1, -1, -1}};
    body->inertial = body->free_joint = KKI_XML_NONE;
    body->place = m->is_check ? &m->still : kki_mjcf_keep(m, &place, sizeof place);
    const int index = m->body_count - 1;
    const char *name = suffixed(m, KKI_MJCF_BODY, node, &at);
    m->body[index].name = name;
    kki_mjcf_name_put(m, KKI_MJCF_BODY, name, index, node);
    if (m->is_check) {
        kki_mjcf_try_body(m, index);
    } else if (name) {
        kki_mjcf_name_set(m, KKI_MJCF_FRAME_NAME, name, 0);
    }
    level made = below(&at, m->xml, node, kki_mjcf_class_of(m, node, "childclass", at.class));
    made.body = index;
    made.frame = &m->still.X_PB;
    push(w, &made);
}

static const kk_transform *moved(kki_mjcf *m, const kk_transform *frame, kk_transform X) {
    const kk_transform product = kk_transform_mul(*frame, X);
    return kki_mjcf_keep(m, &product, sizeof product);
}

static void open_frame(walker *w, const level at, int32_t node) {
    const kki_mjcf_at element = kki_mjcf_element_here(w->m, node);
    level made = below(&at, w->m->xml, node, kki_mjcf_class_of(w->m, node, "childclass", at.class));
    made.frame = moved(w->m, at.frame, kki_mjcf_pose(&element));
    push(w, &made);
}

/// Nodes from an element to its end; they stand one after the other.
static int64_t subtree_size(const kki_xml *xml, int32_t node) {
    int32_t up = node;
    while (up != KKI_XML_NONE && xml->node[up].next == KKI_XML_NONE) {
        up = xml->node[up].parent;
    }
    return (up == KKI_XML_NONE ? xml->node_count : xml->node[up].next) - node;
}

static int digits_of(int64_t number) {
    int digits = 1;
    for (; number >= 10; number /= 10) {
        digits++;
    }
    return digits;
}

static const char *copy_suffix(kki_mjcf *m, const level *at) {
    char number[32];
    const char *sep = kki_xml_value(m->xml, at->node, "sep");
    kki_print(number, sizeof number, "%0*d", digits_of(at->count), (int)at->index);
    const char *own = sep && sep[0] ? kki_mjcf_join(m, sep, number) : NULL;
    return kki_mjcf_join(m, own ? own : number, at->outer_suffix);
}

/// The first copy of a level in a trial. It stands for all of them where they would be many: a small file can ask for a large
/// model, and what is wrong with it is to cost no more than the file.
static kki_mjcf_series *begin_series(kki_mjcf *m, const level *at, const level *made, int64_t size) {
    const char *sep = kki_xml_value(m->xml, made->node, "sep");
    kki_mjcf_series s = {.outer = at->series, .sep = sep ? sep : "", .count = made->count};
    s.digits = digits_of(made->count);
    s.is_left_out = made->count > 1 && m->copied + made->product * size > MANY_COPIED;
    s.copies = copies_at(at) * (s.is_left_out ? s.count : 1);
    m->is_short = m->is_short || s.is_left_out;
    return kki_mjcf_keep(m, &s, sizeof s);
}

/// Ends the walk: there is one such error, whatever else would be copied.
static void report_many_copies(walker *w, int32_t node) {
    kki_mjcf_report(w->m, KKI_ERROR, KK_LIMIT_EXCEEDED, node, "count",
                    "the copies would be more than %d elements in all; make count smaller", MOST_COPIED);
    w->is_over = true;
}

static void open_replicate(walker *w, const level at, int32_t node) {
    kki_mjcf *m = w->m;
    const kki_mjcf_at element = kki_mjcf_element_here(m, node);
    double angles[3] = {0, 0, 0};
    kki_mjcf_numbers(&element, "euler", 3, 3, angles);
    level made = below(&at, m->xml, node, at.class);
    made.count = kki_mjcf_whole(&element, "count", 0, 1000000000, -1);
    if (made.count < 0) {
        kki_mjcf_report(m, KKI_ERROR, KK_NOT_FOUND, node, "count", "<replicate> needs a count; add count=\"...\"");
        return;
    }
    made.product = at.product * made.count;
    const int64_t size = subtree_size(m->xml, node);
    if (made.product * size > MOST_COPIED) {
        report_many_copies(w, node);
        return;
    }
    made.step =
        kk_transform_make(kki_mjcf_euler(m, angles), kki_mjcf_vector(&element, "offset", kk_vec3_make(0, 0, 0)));
    made.instance = ++m->instances;
    made.outer_suffix = at.suffix;
    made.suffix = copy_suffix(m, &made);
    if (strlen(made.suffix) > MOST_SUFFIX) {
        kki_mjcf_report(m, KKI_ERROR, KK_LIMIT_EXCEEDED, node, "sep",
                        "names of copies would be more than %d bytes longer; write a shorter sep", MOST_SUFFIX);
        w->is_over = true;
        return;
    }
    made.series = m->is_trial ? begin_series(m, &at, &made, size) : NULL;
    if (made.count > 0) {
        push(w, &made);
    }
}

static void visit(walker *w, const level at, int32_t node) {
    kki_mjcf *m = w->m;
    const char *name = kki_xml_name(m->xml, node);
    kki_mjcf_enter(m, node);
    // "body" is its own row of the table: its parent is a body or the world
    if (strcmp(name, "body") == 0) {
        kki_mjcf_check_attributes(m, kki_mjcf_element_of("body"), node);
        open_body(w, at, node);
    } else if (!kki_mjcf_is_read(m, "body", node)) {
        const bool is_lost = strcmp(name, "composite") == 0 || strcmp(name, "flexcomp") == 0;
        m->lost_body = is_lost ? node : m->lost_body;
    } else if (strcmp(name, "frame") == 0) {
        open_frame(w, at, node);
    } else if (strcmp(name, "replicate") == 0) {
        open_replicate(w, at, node);
    } else if (strcmp(name, "inertial") == 0) {
        add_inertial(m, &at, node);
    } else if (strcmp(name, "geom") == 0) {
        add_item(m, &at, node, KKI_MJCF_IS_GEOM, KKI_MJCF_GEOM);
    } else if (strcmp(name, "site") == 0) {
        add_item(m, &at, node, KKI_MJCF_IS_SITE, KKI_MJCF_SITE);
    } else if (strcmp(name, "karakuri") != 0) { // that is read at the end
        add_joint(m, &at, node);
    }
}

static void begin_copy(kki_mjcf *m, level *top) {
    top->index++;
    top->instance = ++m->instances;
    top->frame = moved(m, top->frame, top->step);
    top->next = kki_xml_first(m->xml, top->node, NULL);
    top->suffix = copy_suffix(m, top);
    top->series = top->series ? kki_mjcf_keep(m, top->series, sizeof *top->series) : NULL;
    if (top->series) {
        top->series->index = top->index;
    }
}

/// The next copy, or the end of the level. What is wrong already is not copied: the same errors would come over and over.
static void close_level(walker *w) {
    kki_mjcf *m = w->m;
    level *top = &w->level[w->count - 1];
    const int64_t rest = top->count - 1 - top->index, size = subtree_size(m->xml, top->node);
    if (rest > 0 && top->series && m->loader->diagnostics->has_error) {
        top->series->is_left_out = m->is_short = m->is_cut = true;
    }
    const bool is_left_out = top->series && top->series->is_left_out;
    if (rest == 0 || m->loader->diagnostics->has_error) {
        w->count--;
        if (m->is_check && top->node == m->body[top->body].node) {
            kki_mjcf_enter(m, top->node);
            kki_mjcf_try_end(m, top->body);
        }
        return;
    }
    m->copied += size * (is_left_out ? rest * (copies_at(top) / top->count) : copies_at(top));
    if (m->copied > MOST_COPIED) { // copies beside each other, each of which is within the limit
        report_many_copies(w, top->node);
    } else if (is_left_out) {
        w->count--;
    } else {
        begin_copy(m, top);
    }
}

/// What the element will make but for copies: arrays that grow touch more memory than they keep.
static void reserve(kki_mjcf *m, int32_t worldbody) {
    const int64_t end = worldbody + subtree_size(m->xml, worldbody);
    int bodies = m->body_count, items = m->item_count;
    for (int32_t i = worldbody; i < end; i++) {
        const char *name = kki_xml_name(m->xml, i);
        bodies += strcmp(name, "body") == 0;
        items += strcmp(name, "geom") == 0 || strcmp(name, "joint") == 0 || strcmp(name, "site") == 0 ||
                 strcmp(name, "freejoint") == 0;
    }
    KKI_MJCF_RESERVE(m, body, bodies);
    KKI_MJCF_RESERVE(m, item, items);
}

void kki_mjcf_walk(kki_mjcf *m, int32_t worldbody) {
    walker w = {.m = m};
    if (!m->is_check) {
        reserve(m, worldbody);
    }
    const level world = {.node = worldbody,
                         .next = kki_xml_first(m->xml, worldbody, NULL),
                         .class = kki_mjcf_class_of(m, worldbody, "childclass", 0),
                         .frame = &m->still.X_PB,
                         .suffix = "",
                         .outer_suffix = "",
                         .count = 1,
                         .product = 1};
    push(&w, &world);
    while (w.count > 0 && !w.is_over && m->status == KK_OK) {
        level *top = &w.level[w.count - 1];
        if (top->next == KKI_XML_NONE) {
            close_level(&w);
            continue;
        }
        const int32_t node = top->next;
        top->next = kki_xml_next(m->xml, node, NULL);
        visit(&w, *top, node);
    }
    kki_mjcf_enter(m, worldbody);
    kki_release_array(&m->loader->allocator, w.level, (size_t)w.room, sizeof *w.level);
}

static void check_name(kki_mjcf *m, kki_mjcf_kind kind, const char *name, int32_t node) {
    if (name && kki_mjcf_is_left_out(m, kind, name)) {
        kki_mjcf_report(m, kki_fault(m->loader), KK_DUPLICATE_NAME, node, "name",
                        "a copy will have the name '%s', too; rename one", kki_shorten_string(name).text);
    }
}

void kki_mjcf_check_left_out(kki_mjcf *m) {
    for (int i = 1; i < m->body_count; i++) {
        if (m->body[i].name == kki_xml_value(m->xml, m->body[i].node, "name")) { // it is no copy itself
            check_name(m, KKI_MJCF_BODY, m->body[i].name, m->body[i].node);
        }
    }
    for (int i = 0; i < m->item_count; i++) {
        const kki_mjcf_item *item = &m->item[i];
        const bool is_geom = kki_xml_is(m->xml, item->node, "geom"), is_site = kki_xml_is(m->xml, item->node, "site");
        if (!item->suffix[0]) {
            check_name(m, is_geom ? KKI_MJCF_GEOM : is_site ? KKI_MJCF_SITE : KKI_MJCF_JOINT, item->name, item->node);
        }
    }
}
