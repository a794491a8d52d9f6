// Things on a stage; see stage.h.
#include "stage.h"

#include <stdlib.h>

#include "../text.h"

int stage_add_form(stage *s, form *f) {
    if (s->form_count == s->form_room) {
        s->form_room = s->form_room ? 2 * s->form_room : 32;
        s->form = cli_reallocate(s->form, (size_t)s->form_room, sizeof *s->form);
    }
    s->form[s->form_count] = *f;
    *f = (form){0};
    return s->form_count++;
}

thing *stage_add(stage *s, thing t) {
    if (s->thing_count == s->thing_room) {
        s->thing_room = s->thing_room ? 2 * s->thing_room : 32;
        s->thing = cli_reallocate(s->thing, (size_t)s->thing_room, sizeof *s->thing);
    }
    s->thing[s->thing_count] = t;
    return &s->thing[s->thing_count++];
}

void stage_cut(stage *s, int forms, int things) {
    while (s->form_count > forms) {
        form_free(&s->form[--s->form_count]);
    }
    s->thing_count = things < s->thing_count ? things : s->thing_count;
}

void stage_free(stage *s) {
    stage_cut(s, 0, 0);
    free(s->form);
    free(s->thing);
    *s = (stage){0};
}

// ---- the sheet

static void make_room(sheet *sh, int vertices, int faces) {
    if (sh->vertex_count + vertices > sh->vertex_room) {
        sh->vertex_room = 2 * (sh->vertex_count + vertices);
        sh->position = cli_reallocate(sh->position, (size_t)sh->vertex_room, sizeof *sh->position);
        sh->normal = cli_reallocate(sh->normal, (size_t)sh->vertex_room, sizeof *sh->normal);
    }
    if (sh->face_count + faces > sh->face_room) {
        sh->face_room = 2 * (sh->face_count + faces);
        sh->face = cli_reallocate(sh->face, (size_t)sh->face_room, sizeof *sh->face);
        sh->thing = cli_reallocate(sh->thing, (size_t)sh->face_room, sizeof *sh->thing);
        sh->own = cli_reallocate(sh->own, (size_t)sh->face_room, sizeof *sh->own);
    }
}

/// Normals turn by the inverse transpose; for columns that are orthogonal: each divided by its length squared.
static affine normal_map(const affine *a) {
    const float x = v3_dot(a->x, a->x), y = v3_dot(a->y, a->y), z = v3_dot(a->z, a->z);
    return (affine){v3_scale(a->x, x > 0 ? 1 / x : 0), v3_scale(a->y, y > 0 ? 1 / y : 0),
                    v3_scale(a->z, z > 0 ? 1 / z : 0), v3_make(0, 0, 0)};
}

static void add_face(sheet *sh, int a, int b, int c, int thing_index, int own) {
    const int i = sh->face_count++;
    sh->face[i][0] = a;
    sh->face[i][1] = b;
    sh->face[i][2] = c;
    sh->thing[i] = thing_index;
    sh->own[i] = own;
}

static void add_solid(sheet *sh, const form *f, const affine *place, int index) {
    const affine turn = normal_map(place);
    const int first = sh->vertex_count;
    make_room(sh, f->vertex_count, f->face_count);
    for (int i = 0; i < f->vertex_count; i++) {
        sh->position[first + i] = affine_point(place, f->position[i]);
        sh->normal[first + i] = v3_normalize(affine_vector(&turn, f->normal[i]));
    }
    sh->vertex_count += f->vertex_count;
    for (int i = 0; i < f->face_count; i++) {
        add_face(sh, first + f->face[i][0], first + f->face[i][1], first + f->face[i][2], index, i);
    }
}

/// A square below the middle of what is framed, large enough to reach the mist.
static void add_floor(sheet *sh, const affine *place, int index) {
    const v3 middle = v3_scale(v3_add(sh->low, sh->high), 0.5f), d = v3_sub(middle, place->o);
    const v3 foot = v3_along(v3_along(place->o, v3_dot(d, place->x), place->x), v3_dot(d, place->y), place->y);
    const float reach = 60 * f_max(sh->size, 0.01f);
    const int first = sh->vertex_count;
    make_room(sh, 4, 2);
    for (int i = 0; i < 4; i++) {
        const v3 corner = v3_along(foot, i == 0 || i == 3 ? -reach : reach, place->x);
        sh->position[first + i] = v3_along(corner, i < 2 ? -reach : reach, place->y);
        sh->normal[first + i] = place->z;
    }
    sh->vertex_count += 4;
    add_face(sh, first, first + 1, first + 2, index, 0);
    add_face(sh, first, first + 2, first + 3, index, 0);
}

static void widen(sheet *sh, const form *f, const affine *place, bool *is_begun) {
    for (int i = 0; i < 8; i++) {
        const v3 corner =
            v3_make(i & 1 ? f->high.x : f->low.x, i & 2 ? f->high.y : f->low.y, i & 4 ? f->high.z : f->low.z);
        const v3 p = affine_point(place, corner);
        sh->low = *is_begun ? v3_make(f_min(sh->low.x, p.x), f_min(sh->low.y, p.y), f_min(sh->low.z, p.z)) : p;
        sh->high = *is_begun ? v3_make(f_max(sh->high.x, p.x), f_max(sh->high.y, p.y), f_max(sh->high.z, p.z)) : p;
        *is_begun = true;
    }
}

/// Bounds of the things that are framed, or of all where none is.
static void find_bounds(sheet *sh, const stage *s) {
    bool is_begun = false;
    sh->low = sh->high = v3_make(0, 0, 0);
    for (int pass = 0; pass < 2 && !is_begun; pass++) {
        for (int i = 0; i < s->thing_count; i++) {
            const thing *t = &s->thing[i];
            if (t->kind == THING_SOLID && (t->is_framed || pass)) {
                widen(sh, &s->form[t->form], &t->place, &is_begun);
            }
        }
    }
    sh->size = is_begun ? v3_norm(v3_sub(sh->high, sh->low)) : 1;
}

void sheet_fill(sheet *sh, const stage *s) {
    sh->vertex_count = sh->face_count = 0;
    find_bounds(sh, s);
    for (int i = 0; i < s->thing_count; i++) {
        const thing *t = &s->thing[i];
        if (t->kind == THING_FLOOR) {
            add_floor(sh, &t->place, i);
        } else {
            add_solid(sh, &s->form[t->form], &t->place, i);
        }
    }
}

void sheet_free(sheet *sh) {
    free(sh->position);
    free(sh->normal);
    free(sh->face);
    free(sh->thing);
    free(sh->own);
    *sh = (sheet){0};
}
