/// Writing MJCF: what the tree of bodies (mjcf_write.c) and the sections behind it (mjcf_write_sections.c) share.
#ifndef KARAKURI_IO_MJCF_WRITE_H
#define KARAKURI_IO_MJCF_WRITE_H

#include <karakuri/save.h>

#include "io/mjcf_write_contact.h"
#include "io/xml_write.h"

typedef struct kki_mjcf_output {
    const kk_spec *spec;
    const kk_save_options *options;
    kki_xml_writer w;
    int *first_child, *next_sibling; ///< [nbody] −1: none
    int *shape_first, *shape_next;   ///< [nbody], [nshape]
    int *frame_first, *frame_next;
    int *order;       ///< [nbody] bodies as they are written, which is the order of MuJoCo's coordinates
    int *q_at, *v_at; ///< [nbody] a body's first coordinate in a keyframe of the spec
    int order_count;
    kki_mjcf_contacts contacts;
    kk_status status;
    kk_error *error;
} kki_mjcf_output;

/// The contact, equality, tendon, actuator, sensor and keyframe elements, which refer to the bodies written before.
void kki_mjcf_write_sections(kki_mjcf_output *o);

/// Fills q_at and v_at; their element 0, the world's, holds how many coordinates there are.
void kki_mjcf_number_coordinates(kki_mjcf_output *o);

const char *kki_mjcf_body_name(const kki_mjcf_output *o, int id);
void kki_mjcf_put_word(kki_xml_writer *w, const char *name, const char *prefix, int number);
void kki_mjcf_put_range(kki_xml_writer *w, const char *name, double lower, double upper);
void kki_mjcf_put_shape_name(kki_xml_writer *w, const char *attribute, const kk_spec *spec, int id);

/// A comment in the file for what MJCF has no words for.
__attribute__((format(printf, 2, 3))) void kki_mjcf_comment(kki_mjcf_output *o, const char *format, ...);

#endif
