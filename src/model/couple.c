/// Resolves couplings from joint names to degrees of freedom and sorts them, leaders before followers.
///
/// A degree of freedom follows at most one other, so couplings form chains towards the leaders. Each chain is walked
/// once, up to a coupling that is already in the order or to an independent leader, and then taken in reverse; meeting
/// oneself on the way is a cycle.
#include <string.h>

#include "model/compile.h"
#include "model/joint.h"

// ---- from names to indices

static kk_status check_end(kki_item item, const kk_model *m, int body, const char *joint, int dof, kk_error *error) {
    if (body < 0) {
        return kki_item_error(error, KK_NOT_FOUND, item, "there is no joint \"%s\"; check the spelling", joint);
    }
    const kk_joint_type type = (kk_joint_type)m->body[body].joint_type;
    if (type == KK_JOINT_BALL || type == KK_JOINT_FREE || type == KK_JOINT_FIXED) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "joint \"%s\" is %s; only joints with an angle or a travel can be coupled", joint,
                              kki_joint_type_of(type)->name);
    }
    if (dof < 0 || dof >= m->body[body].nv) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "joint \"%s\" has no degree of freedom %d; it has %d, counted from 0", joint, dof,
                              (int)m->body[body].nv);
    }
    return KK_OK;
}

static kk_status check_pair(kki_item item, const kk_coupling_def *def, const kk_model *m, const kki_coupling *coupling,
                            kk_error *error) {
    if (coupling->follower_v == coupling->leader_v) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "joint \"%s\" follows itself; name another joint as leader", def->follower);
    }
    if (m->follower_of[coupling->follower_v] >= 0) {
        return kki_item_error(error, KK_INVALID_MODEL, item,
                              "joint \"%s\" already follows another; a joint can have one leader only", def->follower);
    }
    return KK_OK;
}

static kk_status resolve(const kk_spec *spec, kk_model *m, int i, kk_error *error) {
    const kk_coupling_def *def = &spec->coupling[i];
    const kki_item item = kki_item_coupling(def);
    const int follower = kk_model_find_joint(m, def->follower), leader = kk_model_find_joint(m, def->leader);
    kk_status status = check_end(item, m, follower, def->follower, def->follower_dof, error);
    status = status ? status : check_end(item, m, leader, def->leader, def->leader_dof, error);
    if (status != KK_OK) {
        return status;
    }
    kki_coupling *coupling = &m->coupling[i];
    coupling->follower_q = m->body[follower].q_index + def->follower_dof;
    coupling->follower_v = m->body[follower].v_index + def->follower_dof;
    coupling->leader_q = m->body[leader].q_index + def->leader_dof;
    coupling->leader_v = m->body[leader].v_index + def->leader_dof;
    coupling->ratio = def->ratio;
    coupling->offset = def->offset;
    status = check_pair(item, def, m, coupling, error);
    if (status == KK_OK) {
        m->follower_of[coupling->follower_v] = i;
    }
    return status;
}

// ---- order

enum { UNSEEN, ON_THE_WAY, PLACED };

static void reverse(int32_t *a, int count) {
    for (int i = 0; i < count / 2; i++) {
        const int32_t t = a[i];
        a[i] = a[count - 1 - i];
        a[count - 1 - i] = t;
    }
}

/// Appends coupling i behind the couplings that drive its leader and raises *placed; gives a coupling of the cycle if
/// there is one, −1 otherwise.
static int32_t place_chain(const kk_model *m, int32_t i, int32_t *mark, int32_t *order, int *placed) {
    int32_t *chain = order + *placed;
    int count = 0;
    while (i >= 0 && mark[i] == UNSEEN) {
        mark[i] = ON_THE_WAY;
        chain[count++] = i;
        i = m->follower_of[m->coupling[i].leader_v];
    }
    if (i >= 0 && mark[i] == ON_THE_WAY) {
        return i;
    }
    reverse(chain, count);
    for (int k = 0; k < count; k++) {
        mark[chain[k]] = PLACED;
    }
    *placed += count;
    return -1;
}

static kk_status sort_couplings(const kk_spec *spec, const kk_model *m, int32_t *mark, int32_t *order,
                                kk_error *error) {
    memset(mark, 0, (size_t)m->ncoupling * sizeof *mark);
    int placed = 0;
    for (int i = 0; i < m->ncoupling; i++) {
        const int32_t cycle = place_chain(m, i, mark, order, &placed);
        if (cycle >= 0) {
            const kk_coupling_def *def = &spec->coupling[cycle];
            return kki_item_error(error, KK_INVALID_MODEL, kki_item_coupling(def),
                                  "following the leaders of joint \"%s\" leads back to it; take one coupling "
                                  "out of the cycle",
                                  def->follower);
        }
    }
    return KK_OK;
}

static void apply_order(kk_model *m, const int32_t *order, kki_coupling *unsorted) {
    memcpy(unsorted, m->coupling, (size_t)m->ncoupling * sizeof *unsorted);
    for (int k = 0; k < m->ncoupling; k++) {
        m->coupling[k] = unsorted[order[k]];
        m->follower_of[m->coupling[k].follower_v] = k;
    }
}

kk_status kki_couple(const kk_spec *spec, kk_model *m, int32_t *scratch, kki_coupling *unsorted, kk_error *error) {
    for (int i = 0; i < m->nv; i++) {
        m->follower_of[i] = -1;
    }
    if (m->ncoupling == 0) {
        return KK_OK;
    }
    kk_status status = KK_OK;
    for (int i = 0; i < m->ncoupling && status == KK_OK; i++) {
        status = resolve(spec, m, i, error);
    }
    int32_t *mark = scratch, *order = scratch + m->ncoupling;
    status = status ? status : sort_couplings(spec, m, mark, order, error);
    if (status == KK_OK) {
        apply_order(m, order, unsorted);
    }
    return status;
}
