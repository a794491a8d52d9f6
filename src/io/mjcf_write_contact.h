/// Contact materials in MuJoCo's words.
#ifndef KARAKURI_IO_MJCF_WRITE_CONTACT_H
#define KARAKURI_IO_MJCF_WRITE_CONTACT_H

#include "io/xml_write.h"
#include "model/spec.h"

typedef struct kki_mjcf_contacts {
    const kk_spec *spec;
    kk_allocator allocator;
    double *mass;        ///< [nbody] of the tree that the body belongs to; of all that moves where it stands still
    int *priority;       ///< [nmaterial]
    bool has_priorities; ///< they say what the spec's pairs of materials say
} kki_mjcf_contacts;

kk_status kki_mjcf_contacts_create(kki_mjcf_contacts *c, const kk_spec *spec, const kk_allocator *allocator);
void kki_mjcf_contacts_destroy(kki_mjcf_contacts *c);

/// condim, friction, solref and solimp, priority and adhesion of a geom on the body, or of a pair (body: the world).
void kki_mjcf_put_contact(const kki_mjcf_contacts *c, kki_xml_writer *w, int material, int body, bool is_pair);

/// A comment for each thing that MJCF has no words for.
void kki_mjcf_tell_contacts(const kki_mjcf_contacts *c, kki_xml_writer *w);

#endif
