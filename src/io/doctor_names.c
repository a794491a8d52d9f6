/// Names that stand twice, and things that nothing uses.
#include <string.h>

#include "base/allocator.h"
#include "io/doctor.h"
#include "io/name_table.h"
#include "io/text.h"

typedef struct naming {
    kki_doctor *doctor;
    const char *what;
    kki_name_table *table, *numbers;
} naming;

static kk_status rename_item(const naming *n, const char **name) {
    char text[KKI_NAME_SIZE];
    const kk_status status = kki_name_table_choose(n->table, n->numbers, *name, text);
    return status ? status : kk_spec_keep_text(n->doctor->spec, text, name, NULL);
}

/// The first of a name keeps it.
static kk_status enter_name(const naming *n, const char *name, int id) {
    const bool is_new = name && name[0] && kki_name_table_find(n->table, name) < 0;
    return is_new ? kki_name_table_set(n->table, name, id) : KK_OK;
}

static kk_status check_name(const naming *n, const char **name, int id, const kk_origin *origin) {
    kki_doctor *d = n->doctor;
    if (!*name || !(*name)[0] || kki_name_table_find(n->table, *name) == id) {
        return KK_OK;
    }
    const kki_short_text old = kki_shorten_string(*name);
    if (!d->options->repair) {
        if (kki_is_made_by_calls(origin)) {
            kki_doctor_report(d, KKI_ERROR, false, origin, "rename one of them", "a second %s has the name '%s'",
                              n->what, old.text);
        }
        return KK_OK;
    }
    const kk_status status = rename_item(n, name);
    kki_doctor_report(d, KKI_WARNING, true, origin, "rename one of them", "a second %s '%s' is called '%s'", n->what,
                      old.text, kki_shorten_string(*name).text);
    return status ? status : kki_name_table_set(n->table, *name, id);
}

// each kind with its names: all of them first, so that no new name takes one that comes later; frames share theirs with
// bodies, and are numbered behind them
#define CHECK_KIND(kind, what_it_is, base)                                             \
    static kk_status check_##kind(kki_doctor *d, kki_name_table *tables) {             \
        const naming n = {d, what_it_is, &tables[0], &tables[1]};                      \
        const kk_spec *s = d->spec;                                                    \
        kk_status status = KK_OK;                                                      \
        for (int i = 0; i < s->n##kind && status == KK_OK; i++) {                      \
            status = enter_name(&n, s->kind[i].name, (base) + i);                      \
        }                                                                              \
        for (int i = 0; i < s->n##kind && status == KK_OK; i++) {                      \
            status = check_name(&n, &s->kind[i].name, (base) + i, &s->kind[i].origin); \
        }                                                                              \
        return status;                                                                 \
    }
CHECK_KIND(body, "body", 0)
CHECK_KIND(frame, "frame", s->nbody)
CHECK_KIND(shape, "shape", 0)
CHECK_KIND(mesh, "mesh", 0)
CHECK_KIND(actuator, "actuator", 0)
CHECK_KIND(sensor, "sensor", 0)
CHECK_KIND(tendon, "tendon", 0)
CHECK_KIND(loop, "loop", 0)
CHECK_KIND(keyframe, "keyframe", 0)
CHECK_KIND(material, "material", 0)

static kk_status check_joints(kki_doctor *d, kki_name_table *tables) {
    const naming n = {d, "joint", &tables[0], &tables[1]};
    kk_status status = KK_OK;
    for (int i = 1; i < d->spec->nbody && status == KK_OK; i++) {
        status = enter_name(&n, d->spec->body[i].joint.name, i);
    }
    for (int i = 1; i < d->spec->nbody && status == KK_OK; i++) {
        status = check_name(&n, &d->spec->body[i].joint.name, i, &d->spec->body[i].joint.origin);
    }
    return status;
}

/// @param tables  of names, and of the next numbers behind them
typedef kk_status kind_check(kki_doctor *d, kki_name_table *tables);

static void create_tables(kki_name_table tables[2], const kk_allocator *allocator) {
    kki_name_table_create(&tables[0], allocator);
    kki_name_table_create(&tables[1], allocator);
}

static void destroy_tables(kki_name_table tables[2]) {
    kki_name_table_destroy(&tables[0]);
    kki_name_table_destroy(&tables[1]);
}

kk_status kki_doctor_names(kki_doctor *doctor) {
    static kind_check *const kinds[] = {
        check_body, check_frame,  NULL, check_joints, NULL, check_shape, NULL, check_mesh,     NULL, check_actuator,
        NULL,       check_sensor, NULL, check_tendon, NULL, check_loop,  NULL, check_keyframe, NULL, check_material};
    kki_name_table tables[2];
    kk_status status = KK_OK;
    create_tables(tables, &doctor->allocator);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == KK_OK; i++) {
        if (kinds[i]) {
            status = kinds[i](doctor, tables);
        } else { // another kind has names of its own
            destroy_tables(tables);
            create_tables(tables, &doctor->allocator);
        }
    }
    destroy_tables(tables);
    return status;
}

// ---- what nothing uses

static void tell_unused(kki_doctor *doctor, const uint8_t *mesh_used, const uint8_t *material_used,
                        const uint8_t *visual_used) {
    const kk_spec *s = doctor->spec;
    for (int i = 0; i < s->nvisual; i++) {
        if (!visual_used[i] && s->visual[i].name && s->visual[i].name[0]) {
            kki_doctor_report(doctor, KKI_NOTE, false, &s->visual[i].origin, "remove it",
                              "material '%s' is used by no visual", kki_shorten_string(s->visual[i].name).text);
        }
    }
    for (int i = 0; i < s->nmesh; i++) {
        if (!mesh_used[i]) {
            // MJCF fits primitives to meshes, and the spec has only the fit
            kki_doctor_report(doctor, KKI_WARNING, false, &s->mesh[i].origin,
                              "remove it, unless a size or an inertia is taken from it",
                              "mesh '%s' is used by no shape", kki_shorten_string(s->mesh[i].name).text);
        }
    }
    for (int i = 1; i < s->nmaterial; i++) {
        if (!material_used[i]) {
            kki_doctor_report(doctor, KKI_NOTE, false, &s->material[i].origin, "remove it",
                              "material '%s' is used by no shape",
                              kki_shorten_string(s->material[i].name ? s->material[i].name : "").text);
        }
    }
}

kk_status kki_doctor_unused(kki_doctor *doctor) {
    const kk_spec *s = doctor->spec;
    const size_t meshes = (size_t)s->nmesh + 1, materials = (size_t)s->nmaterial + 1;
    const size_t all = meshes + materials + (size_t)s->nvisual;
    uint8_t *used = kki_allocate_array_zeroed(&doctor->allocator, all, 1);
    if (!used) {
        return KK_OUT_OF_MEMORY;
    }
    for (int i = 0; i < s->nshape; i++) {
        const kk_shape_def *shape = &s->shape[i];
        if (shape->mesh >= 0 && shape->mesh < s->nmesh) {
            used[shape->mesh] = 1;
        }
        if (shape->material >= 0 && shape->material < s->nmaterial) {
            used[meshes + (size_t)shape->material] = 1;
        }
        if (shape->visual >= 0 && shape->visual < s->nvisual) {
            used[meshes + materials + (size_t)shape->visual] = 1;
        }
    }
    tell_unused(doctor, used, used + meshes, used + meshes + materials);
    kki_release_array(&doctor->allocator, used, all, 1);
    return KK_OK;
}
