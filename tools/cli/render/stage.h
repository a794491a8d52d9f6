/// What is drawn: things, each a form at a place with a color, and the sheet of triangles that they make together.
#ifndef KARAKURI_CLI_RENDER_STAGE_H
#define KARAKURI_CLI_RENDER_STAGE_H

#include "form.h"

typedef enum thing_kind {
    THING_SOLID,
    THING_FLOOR, ///< endless, with squares; its form is not used, z is its normal
    THING_SIGN,  ///< arrows and marks: no shadow, brighter than life
} thing_kind;

typedef struct thing {
    thing_kind kind;
    int form; ///< index
    affine place;
    v3 color;       ///< linear, of faces without one of their own
    float alpha;    ///< 1: solid
    bool is_framed; ///< the camera looks at it
    bool is_on_top; ///< a sign that nothing hides
} thing;

typedef struct stage {
    form *form;
    int form_count;
    thing *thing;
    int thing_count;
    int thing_room, form_room;
} stage;

/// Takes the form over and gives its index.
int stage_add_form(stage *s, form *f);
thing *stage_add(stage *s, thing t);
/// Forgets forms and things behind the given numbers.
void stage_cut(stage *s, int forms, int things);
void stage_free(stage *s);

/// Triangles of all things in the world.
typedef struct sheet {
    v3 *position, *normal; ///< [vertex_count]
    int32_t (*face)[3];    ///< [face_count]
    int32_t *thing;        ///< [face_count]
    int32_t *own;          ///< [face_count] its number in its form
    int vertex_count, face_count, vertex_room, face_room;
    v3 low, high; ///< bounds of what is framed
    float size;   ///< their diagonal
} sheet;

/// Fills the sheet, which may be one used before; floors become large squares.
void sheet_fill(sheet *sh, const stage *s);
void sheet_free(sheet *sh);

#endif
