// The compiled scene: what may touch what, contact laws, keyframes, what actuators and sensors point to, readers, hash.
#include <karakuri/state.h>
#include <stdlib.h>

#include "model/model.h"
#include "model/warm.h"
#include "scene_fixture.h"

static const double inf = __builtin_inf();

// ---- pairs

static int may_touch(const kk_model *m, const char *a, const char *b) {
    const int x = kk_model_find_shape(m, a), y = kk_model_find_shape(m, b);
    KK_CHECK(x >= 0 && y >= 0);
    const int answer = kk_model_may_touch(m, x, y, NULL);
    KK_CHECK_EQ_INT(kk_model_may_touch(m, y, x, NULL), answer);
    return answer;
}

KK_TEST(shapes_touch_unless_fixed_together_or_joined) {
    kk_model *m = fixture_compile(scene_spec());
    KK_CHECK_EQ_INT(may_touch(m, "floor", "ball"), 1);
    KK_CHECK_EQ_INT(may_touch(m, "floor", "upper"), 1); // hinged to the world, yet the floor is no neighbor
    KK_CHECK_EQ_INT(may_touch(m, "floor", "hill"), 0);  // both at rest
    KK_CHECK_EQ_INT(may_touch(m, "upper", "fore"), 0);  // a hinge between them
    KK_CHECK_EQ_INT(may_touch(m, "upper", "hand"), 0);  // the same hinge, for the hand is fixed to fore
    KK_CHECK_EQ_INT(may_touch(m, "fore", "hand"), 0);   // fixed together
    KK_CHECK_EQ_INT(may_touch(m, "fore", "eye"), 1);    // siblings
    KK_CHECK_EQ_INT(may_touch(m, "upper", "eye"), 0);
    KK_CHECK_EQ_INT(may_touch(m, "seen", "floor"), 0); // does not collide
    KK_CHECK_EQ_INT(may_touch(m, "ball", "ball"), 0);
    KK_CHECK_EQ_INT(kk_model_may_touch(m, -1, 0, NULL), 0);
    KK_CHECK_EQ_INT(kk_model_may_touch(m, 0, 9, NULL), 0);
    kk_model_free(m);
}

KK_TEST(neighbors_touch_where_the_options_say_so) {
    kk_spec *spec = scene_spec();
    kk_spec_options(spec)->adjacent_collide = 1;
    kk_model *m = fixture_compile(spec);
    KK_CHECK_EQ_INT(may_touch(m, "upper", "fore"), 1);
    KK_CHECK_EQ_INT(may_touch(m, "upper", "hand"), 1);
    KK_CHECK_EQ_INT(may_touch(m, "fore", "hand"), 0);
    KK_CHECK_EQ_INT(may_touch(m, "floor", "hill"), 0);
    kk_model_free(m);
}

// the pedestal of an arm is fixed to the world, like the floor; the arm's first link is the pedestal's neighbor only
KK_TEST(what_is_fixed_to_the_world_is_a_neighbor_by_itself) {
    kk_spec *spec = fixture_spec();
    const int base = fixture_add_box(spec, "base", KK_WORLD, KK_JOINT_FIXED);
    const int flange = fixture_add_box(spec, "flange", base, KK_JOINT_FIXED);
    const int link = fixture_add_box(spec, "link", flange, KK_JOINT_UNIVERSAL);
    const int table = fixture_add_box(spec, "table", KK_WORLD, KK_JOINT_FIXED);
    const int cup = fixture_add_box(spec, "cup", table, KK_JOINT_FREE);
    scene_shape(spec, "base", base, KK_SHAPE_SPHERE, 1, 0, 0);
    scene_shape(spec, "link", link, KK_SHAPE_SPHERE, 1, 0, 0);
    scene_shape(spec, "table", table, KK_SHAPE_SPHERE, 1, 0, 0);
    scene_shape(spec, "cup", cup, KK_SHAPE_SPHERE, 1, 0, 0);
    scene_shape(spec, "floor", KK_WORLD, KK_SHAPE_PLANE, 0, 0, 0);
    kk_model *m = fixture_compile(spec);
    KK_CHECK_EQ_INT(may_touch(m, "base", "link"), 0);
    KK_CHECK_EQ_INT(may_touch(m, "table", "link"), 1);
    KK_CHECK_EQ_INT(may_touch(m, "floor", "link"), 1);
    KK_CHECK_EQ_INT(may_touch(m, "base", "table"), 0);
    KK_CHECK_EQ_INT(may_touch(m, "table", "cup"), 1); // a free joint joins nothing
    kk_model_free(m);
}

// what counts as a part of the world is nobody's neighbor, with all that is fixed to it
KK_TEST(what_is_ground_may_be_touched_by_what_is_joined_to_it) {
    kk_spec *spec = fixture_spec();
    const int base = fixture_add_box(spec, "base", KK_WORLD, KK_JOINT_FIXED);
    const int flange = fixture_add_box(spec, "flange", base, KK_JOINT_FIXED);
    const int link = fixture_add_box(spec, "link", flange, KK_JOINT_UNIVERSAL);
    const int fore = fixture_add_box(spec, "fore", link, KK_JOINT_HINGE);
    kk_spec_body(spec, base)->is_ground = 1;
    scene_shape(spec, "base", base, KK_SHAPE_SPHERE, 1, 0, 0);
    scene_shape(spec, "flange", flange, KK_SHAPE_SPHERE, 1, 0, 0);
    scene_shape(spec, "link", link, KK_SHAPE_SPHERE, 1, 0, 0);
    scene_shape(spec, "fore", fore, KK_SHAPE_SPHERE, 1, 0, 0);
    kk_model *m = fixture_compile(spec);
    KK_CHECK_EQ_INT(may_touch(m, "base", "link"), 1);
    KK_CHECK_EQ_INT(may_touch(m, "flange", "link"), 1);
    KK_CHECK_EQ_INT(may_touch(m, "link", "fore"), 0);
    KK_CHECK_EQ_INT(may_touch(m, "base", "flange"), 0);
    kk_model_free(m);
}

KK_TEST(groups_and_masks_meet_from_either_side) {
    static const struct {
        uint32_t group_a, mask_a, group_b, mask_b;
        int answer;
    } cases[] = {{1, 0, 0, 1, 1},
                 {0, 1, 1, 0, 1},
                 {1, 0, 1, 0, 0},
                 {2, 1, 1, 2, 1},
                 {2, 2, 1, 1, 0},
                 {0, 0, ~0u, ~0u, 0},
                 {0x80000000u, 0, 0, 0x80000000u, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kk_spec *spec = scene_spec();
        kk_spec_shape(spec, 0)->group = cases[i].group_a;
        kk_spec_shape(spec, 0)->mask = cases[i].mask_a;
        kk_spec_shape(spec, 4)->group = cases[i].group_b;
        kk_spec_shape(spec, 4)->mask = cases[i].mask_b;
        kk_model *m = fixture_compile(spec);
        KK_CHECK_EQ_INT(may_touch(m, "floor", "ball"), cases[i].answer);
        kk_model_free(m);
    }
}

static void add_pair(kk_spec *spec, int a, int b, int material) {
    const kk_pair_def pair = {{a, b}, material, 0, {0}};
    KK_CHECK_EQ_INT(kk_spec_add_pair(spec, &pair, NULL, NULL), KK_OK);
}

static void exclude(kk_spec *spec, int a, int b) {
    const kk_exclude_def def = {{a, b}, {0}};
    KK_CHECK_EQ_INT(kk_spec_add_exclude(spec, &def, NULL, NULL), KK_OK);
}

KK_TEST(explicit_pairs_and_excludes) {
    kk_spec *spec = scene_spec();
    kk_spec_shape(spec, 4)->group = kk_spec_shape(spec, 4)->mask = 0;
    add_pair(spec, 5, 4, -1);
    add_pair(spec, 4, 0, -1);
    add_pair(spec, 2, 1, -1); // across a hinge
    add_pair(spec, 3, 2, -1); // fixed together
    add_pair(spec, 3, 5, -1);
    exclude(spec, 5, 3);
    exclude(spec, 5, 2);
    exclude(spec, 0, 5);
    kk_model *m = fixture_compile(spec);
    KK_CHECK_EQ_INT(may_touch(m, "eye", "ball"), 1);
    KK_CHECK_EQ_INT(may_touch(m, "floor", "ball"), 1);
    KK_CHECK_EQ_INT(may_touch(m, "sheet", "ball"), 0);
    KK_CHECK_EQ_INT(may_touch(m, "upper", "fore"), 1);
    KK_CHECK_EQ_INT(may_touch(m, "hand", "fore"), 0);
    KK_CHECK_EQ_INT(may_touch(m, "hand", "eye"), 0); // excluded, though paired
    KK_CHECK_EQ_INT(may_touch(m, "fore", "eye"), 0);
    KK_CHECK_EQ_INT(may_touch(m, "floor", "eye"), 0);
    KK_CHECK_EQ_INT(may_touch(m, "floor", "fore"), 1);
    kk_model_free(m);
}

/// The list against the question, pair by pair.
static void check_list(const kk_model *m) {
    int listed = 0;
    for (int a = 0; a < m->nshape; a++) {
        for (int b = a + 1; b < m->nshape; b++) {
            int law = -1;
            if (kki_model_pair_may_touch(m, a, b, &law)) {
                KK_CHECK(listed < m->npair && m->pair[listed].first == a && m->pair[listed].second == b);
                KK_CHECK_EQ_INT(m->pair[listed].law, law);
                KK_CHECK(law >= 0 && law < m->nlaw);
                listed++;
            }
        }
    }
    KK_CHECK_EQ_INT(m->npair, listed);
}

static kk_model *spheres(int count, int are_static) {
    kk_spec *spec = fixture_spec();
    scene_shape(spec, NULL, KK_WORLD, KK_SHAPE_PLANE, 0, 0, 0);
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        const int body = are_static ? KK_WORLD : fixture_add_box(spec, name, KK_WORLD, KK_JOINT_FREE);
        scene_shape(spec, NULL, body, KK_SHAPE_SPHERE, 1, 0, 0);
    }
    return fixture_compile(spec);
}

KK_TEST(pairs_are_listed_while_there_are_few) {
    kk_model *m = fixture_compile(scene_spec());
    KK_CHECK_EQ_INT(m->has_pairs, 1);
    KK_CHECK(m->npair > 8);
    check_list(m);
    kk_model_free(m);
    m = spheres(90, 0); // 91 · 90 / 2 = 4095
    KK_CHECK_EQ_INT(m->npair, 4095);
    check_list(m);
    kk_model_free(m);
    m = spheres(91, 0); // 4186
    KK_CHECK_EQ_INT(m->has_pairs, 0);
    KK_CHECK_EQ_INT(m->npair, 0);
    KK_CHECK_EQ_INT(kk_model_may_touch(m, 3, 90, NULL), 1);
    kk_model_free(m);
    m = spheres(20000, 1);
    KK_CHECK_EQ_INT(m->has_pairs, 0);
    KK_CHECK_EQ_INT(kk_model_may_touch(m, 3, 90, NULL), 0);
    kk_model_free(m);
}

// ---- laws

/// Floor and ball of the scene with these materials; a NULL one is the default.
static kk_contact_law law_of(const kk_material_def *floor, const kk_material_def *ball) {
    kk_spec *spec = scene_spec();
    int id = 0;
    kk_spec_shape(spec, 0)->material = kk_spec_shape(spec, 4)->material = 0;
    if (floor) {
        KK_CHECK_EQ_INT(kk_spec_add_material(spec, floor, &id, NULL), KK_OK);
        kk_spec_shape(spec, 0)->material = id;
    }
    if (ball) {
        KK_CHECK_EQ_INT(kk_spec_add_material(spec, ball, &id, NULL), KK_OK);
        kk_spec_shape(spec, 4)->material = id;
    }
    kk_model *m = fixture_compile(spec);
    kk_contact_law law = {0};
    KK_CHECK_EQ_INT(kk_model_may_touch(m, 4, 0, &law), 1);
    kk_model_free(m);
    return law;
}

static kk_material_def soft(void) {
    return (kk_material_def){.friction = 0.4,
                             .static_friction = 0.9,
                             .friction_across = -1,
                             .torsion = 0.01,
                             .rolling = 0.04,
                             .restitution = 0.3,
                             .stiffness = 300,
                             .damping = 10,
                             .adhesion = 4,
                             .slip = 0.25};
}

static kk_material_def hard(void) {
    return (kk_material_def){.friction = 0.9,
                             .static_friction = -1,
                             .friction_across = -1,
                             .torsion = 0.04,
                             .rolling = 0.01,
                             .restitution = 0.5,
                             .stiffness = 600,
                             .damping = 15,
                             .adhesion = 9,
                             .slip = 0.5};
}

static void check_law(kk_contact_law l, double friction, double sticking, double torsion, double rolling,
                      double restitution, double stiffness, double damping, double adhesion) {
    KK_CHECK_REL(l.friction, friction, 1e-15);
    KK_CHECK_REL(l.friction_across, friction, 1e-15);
    KK_CHECK_REL(l.static_friction, sticking, 1e-15);
    KK_CHECK_REL(l.torsion, torsion, 1e-15);
    KK_CHECK_REL(l.rolling, rolling, 1e-15);
    KK_CHECK_REL(l.restitution, restitution, 1e-15);
    KK_CHECK_REL(l.stiffness, stiffness, 1e-15);
    KK_CHECK_REL(l.damping, damping, 1e-15);
    KK_CHECK_REL(l.adhesion, adhesion, 1e-15);
}

KK_TEST(materials_combine_by_the_larger_rule) {
    kk_material_def a = soft(), b = hard();
    check_law(law_of(&a, &b), 0.6, 0.9, 0.02, 0.02, 0.5, 200, 6, 6);
    a.combine = KK_COMBINE_MIN;
    check_law(law_of(&a, &b), 0.4, 0.9, 0.01, 0.01, 0.3, 300, 10, 4);
    b.combine = KK_COMBINE_MAX;
    check_law(law_of(&a, &b), 0.9, 0.9, 0.04, 0.04, 0.5, 600, 15, 9);
}

// two that creep are dampers in series
KK_TEST(slips_add_up) {
    kk_material_def a = soft(), b = hard();
    KK_CHECK_NEAR(law_of(&a, &b).slip, 0.75, 0);
    a.combine = KK_COMBINE_MIN;
    KK_CHECK_NEAR(law_of(&a, &b).slip, 0.25, 0);
    b.combine = KK_COMBINE_MAX;
    KK_CHECK_NEAR(law_of(&a, &b).slip, 0.5, 0);
    b.slip = 0;
    KK_CHECK_NEAR(law_of(&a, &b).slip, 0.25, 0);
}

// springs in series: a rigid one adds nothing to give way
KK_TEST(rigid_leaves_spring_and_damper_to_the_other) {
    kk_material_def a = soft(), b = hard();
    b.stiffness = inf;
    check_law(law_of(&a, &b), 0.6, 0.9, 0.02, 0.02, 0.5, 300, 10, 6);
    check_law(law_of(&b, &a), 0.6, 0.9, 0.02, 0.02, 0.5, 300, 10, 6);
    a.combine = KK_COMBINE_MIN;
    check_law(law_of(&a, &b), 0.4, 0.9, 0.01, 0.01, 0.3, 300, 10, 4);
    a.combine = KK_COMBINE_MAX;
    check_law(law_of(&a, &b), 0.9, 0.9, 0.04, 0.04, 0.5, inf, 0, 9);
    a = b;
    KK_CHECK_BITS(law_of(&a, &b).damping, 0);
    KK_CHECK_BITS(law_of(&a, &b).stiffness, inf);
}

KK_TEST(default_material_leaves_everything_to_the_other) {
    const kk_material_def a = soft();
    check_law(law_of(&a, NULL), 0.4, 0.9, 0.01, 0.04, 0.3, 300, 10, 4);
    check_law(law_of(NULL, &a), 0.4, 0.9, 0.01, 0.04, 0.3, 300, 10, 4);
    check_law(law_of(NULL, NULL), 0.8, 0.8, 0, 0, 0, inf, 0, 0);
    const kk_material_def same = kk_material_def_default(); // equal numbers, but not material 0
    kk_material_def b = soft();
    b.combine = KK_COMBINE_MIN;
    check_law(law_of(&same, &b), 0.4, 0.8, 0, 0, 0, 300, 10, 0);
    check_law(law_of(&b, &same), 0.4, 0.8, 0, 0, 0, 300, 10, 0);
}

KK_TEST(grain_belongs_to_the_shape_that_has_it) {
    kk_material_def a = soft(), b = hard();
    a.friction_across = 0.1;
    kk_contact_law l = law_of(&a, &b);
    KK_CHECK_EQ_INT(l.axes, 0);
    KK_CHECK_REL(l.friction, 0.6, 1e-15);
    KK_CHECK_REL(l.friction_across, 0.3, 1e-15);
    l = law_of(&b, &a);
    KK_CHECK_EQ_INT(l.axes, 4);
    KK_CHECK_REL(l.friction, 0.6, 1e-15);
    KK_CHECK_REL(l.friction_across, 0.3, 1e-15);
    l = law_of(NULL, &a);
    KK_CHECK_EQ_INT(l.axes, 4);
    KK_CHECK_REL(l.friction_across, 0.1, 1e-15);
    b.friction_across = 0.4; // by its mean, 0.6
    l = law_of(&a, &b);
    KK_CHECK_EQ_INT(l.axes, 0);
    KK_CHECK_REL(l.friction, kk_sqrt(0.24), 1e-15);
    KK_CHECK_REL(l.friction_across, kk_sqrt(0.06), 1e-15);
}

KK_TEST(overrides_of_material_pairs_and_shape_pairs) {
    kk_spec *spec = scene_spec();
    const int ice = scene_material(spec, "ice", 0.02), snow = scene_material(spec, "snow", 0.02);
    kk_material_pair_def pair = kk_material_pair_def_default();
    pair.material[0] = ice;
    pair.material[1] = 1;
    pair.together = soft();
    pair.together.friction_across = 0.1;
    KK_CHECK_EQ_INT(kk_spec_add_material_pair(spec, &pair, NULL, NULL), KK_OK);
    kk_spec_shape(spec, 5)->material = ice;
    kk_spec_shape(spec, 2)->material = snow;
    add_pair(spec, 4, 0, ice);
    add_pair(spec, 7, 4, -1);
    add_pair(spec, 6, 4, snow);
    kk_spec_material(spec, snow)->torsion = 0.5;
    kk_model *m = fixture_compile(spec);
    kk_contact_law l = {0};
    KK_CHECK_EQ_INT(kk_model_may_touch(m, 4, 5, &l), 1); // rubber and ice
    KK_CHECK_BITS(l.friction, 0.4);
    KK_CHECK_BITS(l.stiffness, 300);
    KK_CHECK_EQ_INT(l.axes, 5);
    KK_CHECK_EQ_INT(kk_model_may_touch(m, 4, 2, &l), 1); // rubber and snow, without an override
    KK_CHECK_REL(l.friction, kk_sqrt(0.024), 1e-15);
    KK_CHECK_EQ_INT(kk_model_may_touch(m, 4, 0, &l), 1);
    KK_CHECK_BITS(l.friction, 0.02);
    KK_CHECK_BITS(l.torsion, 0);
    KK_CHECK_EQ_INT(kk_model_may_touch(m, 4, 6, &l), 1);
    KK_CHECK_BITS(l.torsion, 0.5);
    KK_CHECK_EQ_INT(kk_model_may_touch(m, 4, 7, &l), 1);
    KK_CHECK_BITS(l.friction, 1.2);
    check_list(m);
    kk_model_free(m);
}

KK_TEST(equal_materials_share_laws_and_too_many_are_refused) {
    for (int differ = 0; differ < 2; differ++) {
        kk_spec *spec = fixture_spec();
        for (int i = 0; i < 600; i++) {
            const int material = scene_material(spec, NULL, differ ? 0.001 * i : 0.5);
            const int shape = scene_shape(spec, NULL, KK_WORLD, KK_SHAPE_SPHERE, 1, 0, 0);
            kk_spec_shape(spec, shape)->material = material;
        }
        if (differ) {
            fixture_refused(spec, KK_LIMIT_EXCEEDED, "shape 512:", "more than 512 different materials");
        } else {
            kk_model *m = fixture_compile(spec);
            KK_CHECK_EQ_INT(m->nlaw, 1);
            kk_model_free(m);
        }
    }
}

// ---- trees, boxes, what is looked up

KK_TEST(trees_are_ranges_of_degrees_of_freedom) {
    kk_spec *spec = fixture_spec();
    const int base = fixture_add_box(spec, "base", KK_WORLD, KK_JOINT_FIXED);
    fixture_add_box(spec, "free", KK_WORLD, KK_JOINT_FREE);
    const int arm = fixture_add_box(spec, "arm", base, KK_JOINT_PLANAR);
    fixture_add_box(spec, "fore", arm, KK_JOINT_BALL);
    kk_model *m = fixture_compile(spec);
    KK_CHECK_EQ_INT(m->ntree, 2);
    KK_CHECK_EQ_INT(m->tree_first_dof[0], 0);
    KK_CHECK_EQ_INT(m->tree_first_dof[1], 6); // the arm, 3 + 3, comes first: its base does
    KK_CHECK_EQ_INT(m->tree_first_dof[2], 12);
    KK_CHECK_EQ_INT(m->node_tree[0], -1);
    KK_CHECK_EQ_INT(m->node_tree[m->body[2].node], 1);
    KK_CHECK_EQ_INT(m->node_tree[m->body[3].first_node], 0);
    KK_CHECK_EQ_INT(m->node_tree[m->body[4].node], 0);
    kk_model_free(m);
}

static void check_box(const kk_model *m, int shape, kk_vec3 lower, kk_vec3 upper) {
    const kki_aabb box = m->shape[shape].box;
    KK_CHECK_BYTES(&box.lower, &lower, sizeof lower);
    KK_CHECK_BYTES(&box.upper, &upper, sizeof upper);
}

KK_TEST(boxes_hold_the_shapes_with_their_margins) {
    kk_spec *spec = scene_spec();
    kk_spec_shape(spec, 3)->margin = 0.25;
    kk_spec_shape(spec, 0)->margin = 0.5;
    kk_model *m = fixture_compile(spec);
    KK_CHECK(m->shape[0].box.lower.z == -1e30 && m->shape[0].box.upper.x == 1e30 && m->shape[0].box.upper.z == 0.5);
    check_box(m, 1, kk_vec3_make(-0.1, -0.1, -0.35), kk_vec3_make(0.1, 0.1, 0.35));
    check_box(m, 2, kk_vec3_make(-0.05, -0.1, -0.15), kk_vec3_make(0.05, 0.1, 0.15));
    check_box(m, 3, kk_vec3_make(-0.25, -0.25, -0.25), kk_vec3_make(1.25, 1.25, 1.25));
    check_box(m, 4, kk_vec3_make(-0.2, -0.2, -0.2), kk_vec3_make(0.2, 0.2, 0.2));
    check_box(m, 5, kk_vec3_make(-0.1, -0.2, -0.3), kk_vec3_make(0.1, 0.2, 0.3));
    check_box(m, 6, kk_vec3_make(-1, -1, -0.0), kk_vec3_make(1, 1, 0.6));
    KK_CHECK_EQ_INT(m->ncollider, 8);
    KK_CHECK_EQ_INT(m->shape[8].collider, -1);
    // the hand's shape rides on fore's node, half a meter out
    KK_CHECK_EQ_INT(m->shape[3].node, m->body[2].node);
    const kk_transform X = kk_transform_mul(kk_transform_inverse(m->shape[2].X_NS), m->shape[3].X_NS);
    KK_CHECK_NEAR(X.p.x, 0.5, 1e-15);
    kk_model_free(m);
}

// once for each mesh, and only for what collides
KK_TEST(collision_geometry_is_made_on_demand) {
    kk_spec *spec = scene_spec();
    scene_shape(spec, "again", 4, KK_SHAPE_HULL, 0, 0, 0);
    kk_model *m = fixture_compile(spec);
    KK_CHECK(m->shape[3].shape.convex != NULL && m->shape[3].shape.convex == m->mesh[0].convex);
    KK_CHECK(m->shape[9].shape.convex == m->shape[3].shape.convex);
    KK_CHECK(m->shape[7].shape.surface != NULL && m->shape[7].shape.surface == m->mesh[0].surface);
    KK_CHECK(m->shape[6].shape.field != NULL && m->shape[6].shape.field == m->field[0].field);
    KK_CHECK(m->shape[3].shape.surface == NULL && m->shape[4].shape.convex == NULL);
    kk_model_free(m);
    spec = scene_spec();
    kk_spec_shape(spec, 3)->purpose = kk_spec_shape(spec, 6)->purpose = kk_spec_shape(spec, 7)->purpose =
        KK_SHAPE_VISIBLE;
    m = fixture_compile(spec);
    KK_CHECK(m->mesh[0].convex == NULL && m->mesh[0].surface == NULL && m->field[0].field == NULL);
    kk_model_free(m);
}

KK_TEST(actuators_and_sensors_find_what_they_name) {
    kk_spec *spec = scene_spec();
    kk_spec_sensor(spec, 2)->reference = "hand";
    kk_model *m = fixture_compile(spec);
    kk_actuator_info a = kk_model_actuator(m, kk_model_find_actuator(m, "servo"));
    KK_CHECK_STR(a.name, "servo");
    KK_CHECK_EQ_INT(a.joint, 2);
    KK_CHECK_EQ_INT(a.v_index, kk_model_joint(m, 2).v_index);
    KK_CHECK_EQ_INT(a.activation_index, 0);
    KK_CHECK_EQ_INT(m->actuator[0].q_index, kk_model_joint(m, 2).q_index);
    a = kk_model_actuator(m, 1);
    KK_CHECK_EQ_INT(a.tendon, 1);
    KK_CHECK_EQ_INT(a.activation_index, -1);
    a = kk_model_actuator(m, 2);
    KK_CHECK_EQ_INT(a.frame, 0);
    KK_CHECK_EQ_INT(a.reference, -1);
    KK_CHECK_EQ_INT(a.activation_index, 1);
    KK_CHECK_EQ_INT(kk_model_nactivation(m), 2);
    static const int targets[] = {2, 5, 0, 1, 1, 1, -1}, firsts[] = {0, 1, 5, 8, 11, 12, 13};
    for (int i = 0; i < 7; i++) {
        KK_CHECK_EQ_INT(kk_model_sensor(m, i).target, targets[i]);
        KK_CHECK_EQ_INT(kk_model_sensor(m, i).first, firsts[i]);
    }
    KK_CHECK_EQ_INT(kk_model_nsensordata(m), 14);
    KK_CHECK_EQ_INT(m->sensor[2].target_is_body, 0);
    KK_CHECK(m->sensor[2].reference == 3 && m->sensor[2].reference_is_body == 1);
    KK_CHECK(m->sensor[3].reference == KK_WORLD && m->sensor[3].reference_is_body == 1);
    KK_CHECK_EQ_INT(m->tendon[1].first_term, 2);
    KK_CHECK(m->tendon_term[0].v_index == m->body[1].v_index && m->tendon_term[1].v_index == m->body[2].v_index);
    KK_CHECK(m->tendon_term[2].frame == 0 && m->tendon_term[3].frame == 1 && m->tendon_term[4].frame == -1);
    KK_CHECK(m->loop[0].node[0] == m->body[2].node && m->loop[0].node[1] == m->body[4].node);
    kk_model_free(m);
}

// coordinates go body after body in the spec, depth first in the model: eye (5) comes before ball (4)
KK_TEST(keyframes_are_reordered_and_set_the_state) {
    kk_model *m = fixture_compile(scene_spec());
    kk_state *state = NULL;
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &state), KK_OK);
    KK_CHECK_EQ_INT(kk_state_set_keyframe(m, state, kk_model_find_keyframe(m, "home")), KK_OK);
    static const double q[13] = {0.1, 0.2, 0, 0.6, 0.8, 0, 1, 0, 0, 0, 3, 4, 5};
    static const double v[11] = {1, 2, 9, 10, 11, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < 13; i++) {
        KK_CHECK_NEAR(kk_state_q_const(state)[i], q[i], 1e-15);
    }
    KK_CHECK_BYTES(kk_state_v_const(state), v, sizeof v);
    KK_CHECK_BITS(kk_state_time(state), 2);
    KK_CHECK_BITS(kk_state_activation_const(state)[0], 0.5); // a filter where the control would settle it
    KK_CHECK_BITS(kk_state_activation_const(state)[1], 0);
    KK_CHECK_EQ_INT(kk_state_check(m, state, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_state_set_keyframe(m, state, 1), KK_NOT_FOUND);
    KK_CHECK_EQ_INT(kk_state_set_keyframe(m, state, -1), KK_NOT_FOUND);
    KK_CHECK_BITS(kk_model_keyframe(m, 0).control[2], 7);
    kk_state_free(state);
    kk_model_free(m);
}

KK_TEST(keyframe_without_numbers_is_the_neutral_state) {
    kk_spec *spec = scene_spec();
    kk_spec_keyframe(spec, 0)->q = kk_spec_keyframe(spec, 0)->v = kk_spec_keyframe(spec, 0)->control = NULL;
    kk_spec_keyframe(spec, 0)->time = 0;
    kk_spec_actuator(spec, 0)->activation_lower = 0.25;
    kk_model *m = fixture_compile(spec);
    kk_state *a = NULL, *b = NULL;
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &a), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &b), KK_OK);
    KK_CHECK_BITS(kk_state_activation_const(a)[0], 0.25);
    kk_state_v(b)[3] = kk_state_activation(b)[1] = kk_state_q(b)[0] = 1;
    KK_CHECK_EQ_INT(kk_state_set_keyframe(m, b, 0), KK_OK);
    KK_CHECK_EQ_INT(kk_state_equal(a, b), 1);
    kk_state_free(a);
    kk_state_free(b);
    kk_model_free(m);
}

KK_TEST(activations_are_saved_and_checked) {
    kk_model *m = fixture_compile(scene_spec());
    kk_state *a = NULL, *b = NULL;
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &a), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &b), KK_OK);
    kk_state_activation(a)[1] = 0.75;
    const size_t size = kk_state_saved_size(a);
    unsigned char *bytes = malloc(size);
    KK_CHECK_EQ_INT(size, 56 + 8 * (1 + 13 + 11 + 2 + (size_t)kki_warm_layout_of(m).size) + 8);
    KK_CHECK_EQ_INT(kk_state_save(a, bytes, size), KK_OK);
    KK_CHECK_EQ_INT(bytes[36], 2);
    KK_CHECK_EQ_INT(kk_state_restore(b, bytes, size, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_state_equal(a, b), 1);
    KK_CHECK_BITS(kk_state_activation_const(b)[1], 0.75);
    kk_state_activation(b)[1] = __builtin_nan("");
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_state_check(m, b, &error), KK_NOT_FINITE);
    KK_CHECK_STR(error.text, "actuator 2 \"jet\": its lag is nan; it must be finite");
    free(bytes);
    kk_state_free(a);
    kk_state_free(b);
    kk_model_free(m);
}

// ---- readers

KK_TEST(readers_give_back_what_the_spec_had) {
    kk_spec *spec = scene_spec();
    kk_model *m = NULL;
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &m, NULL), KK_OK);
    KK_CHECK_STR(kk_model_name(m), "everything");
    KK_CHECK_BITS(kk_model_options(m).timestep, 1e-3);
    KK_CHECK_EQ_INT(kk_model_nshape(m), 9);
    for (int i = 0; i < 9; i++) {
        const kk_shape_def *want = kk_spec_shape_const(spec, i);
        const kk_shape_def got = kk_model_shape(m, i);
        KK_CHECK_STR(got.name, want->name);
        KK_CHECK_BYTES(got.size, want->size, sizeof got.size);
        KK_CHECK_BYTES(&got.placement, &want->placement, sizeof got.placement);
        KK_CHECK(got.body == want->body && got.type == want->type && got.mesh == want->mesh &&
                 got.visual == want->visual && got.height_field == want->height_field && got.purpose == want->purpose &&
                 got.material == want->material && got.group == want->group && got.mask == want->mask);
    }
    kk_spec_free(spec); // the model stands by itself
    const kk_mesh_def mesh = kk_model_mesh(m, kk_model_find_mesh(m, "tetrahedron"));
    KK_CHECK(mesh.vertex_count == 4 && mesh.face_count == 4 && mesh.part_count == 1);
    KK_CHECK_BYTES(mesh.vertex, scene_vertices, sizeof scene_vertices);
    KK_CHECK_BYTES(mesh.face, scene_faces, sizeof scene_faces);
    KK_CHECK_STR(mesh.part[0].texture, "skin.png");
    KK_CHECK_BYTES(kk_model_height_field(m, 0).height, scene_heights, sizeof scene_heights);
    KK_CHECK_STR(kk_model_height_field(m, 0).name, "hill");
    KK_CHECK_STR(kk_model_visual(m, 0).name, "grey");
    KK_CHECK_STR(kk_model_material(m, 1).name, "rubber");
    KK_CHECK_STR(kk_model_loop_name(m, 0), "rod");
    KK_CHECK_STR(kk_model_tendon_name(m, kk_model_find_tendon(m, "rope")), "rope");
    KK_CHECK_EQ_INT(kk_model_find_sensor(m, "clock"), 6);
    KK_CHECK_EQ_INT(kk_model_find_loop(m, "rod"), 0);
    KK_CHECK_EQ_INT(kk_model_find_material(m, "rubber"), 1);
    KK_CHECK_EQ_INT(kk_model_find_height_field(m, "hill"), 0);
    kk_model_free(m);
}

KK_TEST(readers_survive_ids_that_do_not_exist) {
    kk_model *m = fixture_compile(scene_spec());
    static const int bad[] = {-1, 100};
    for (int i = 0; i < 2; i++) {
        KK_CHECK_EQ_INT(kk_model_shape(m, bad[i]).body, -1);
        KK_CHECK_EQ_INT(kk_model_mesh(m, bad[i]).vertex_count, 0);
        KK_CHECK(kk_model_height_field(m, bad[i]).height == NULL);
        KK_CHECK(kk_model_visual(m, bad[i]).name == NULL);
        KK_CHECK_BITS(kk_model_material(m, bad[i]).friction, 0.8);
        KK_CHECK(kk_model_loop_name(m, bad[i]) == NULL && kk_model_tendon_name(m, bad[i]) == NULL);
        KK_CHECK_EQ_INT(kk_model_actuator(m, bad[i]).joint, -1);
        KK_CHECK_EQ_INT(kk_model_sensor(m, bad[i]).target, -1);
        KK_CHECK(kk_model_keyframe(m, bad[i]).q == NULL);
    }
    KK_CHECK_EQ_INT(kk_model_find_shape(m, "none"), -1);
    KK_CHECK_EQ_INT(kk_model_find_shape(m, ""), -1);
    KK_CHECK_EQ_INT(kk_model_find_shape(m, NULL), -1);
    kk_model_free(m);
}

// ---- hash

static uint64_t hash_and_free(kk_spec *spec) {
    kk_model *m = fixture_compile(spec);
    const uint64_t hash = kk_model_hash(m);
    kk_model_free(m);
    return hash;
}

#define HASH_WITH(change) (s = scene_spec(), (change), hash_and_free(s))
#define SEEN(kind, id, field, value) KK_CHECK(HASH_WITH(kk_spec_##kind(s, id)->field = (value)) != hash)
#define UNSEEN(kind, id, field, value) KK_CHECK(HASH_WITH(kk_spec_##kind(s, id)->field = (value)) == hash)

KK_TEST(hash_sees_every_number_of_shapes_and_materials) {
    static const kk_vec3 other_vertices[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1.5}};
    static const int32_t other_faces[4][3] = {{2, 1, 0}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    static const double other_heights[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.7};
    kk_spec *s = NULL;
    const uint64_t hash = hash_and_free(scene_spec());
    KK_CHECK(hash_and_free(scene_spec()) == hash);
    SEEN(shape, 4, size[0], 0.21);
    SEEN(shape, 1, size[1], 0.51);
    SEEN(shape, 4, margin, 1e-9);
    SEEN(shape, 4, placement.p.x, 1e-9);
    SEEN(shape, 4, body, 1);
    SEEN(shape, 4, type, KK_SHAPE_PLANE);
    SEEN(shape, 4, group, 3);
    SEEN(shape, 4, mask, 3);
    SEEN(shape, 4, material, 0);
    SEEN(shape, 4, purpose, KK_SHAPE_VISIBLE);
    SEEN(shape, 4, surface.linear.x, 1);
    SEEN(shape, 4, surface.angular.x, 1);
    SEEN(shape, 8, purpose, KK_SHAPE_COLLIDES);
    SEEN(mesh, 0, vertex, other_vertices);
    SEEN(mesh, 0, face, other_faces);
    SEEN(height_field, 0, height, other_heights);
    SEEN(height_field, 0, half_x, 2);
    SEEN(height_field, 0, half_y, 2);
    SEEN(height_field, 0, base, 2);
    SEEN(material, 1, friction, 1.3);
    SEEN(material, 1, static_friction, 1.3);
    SEEN(material, 1, friction_across, 1.3);
    SEEN(material, 1, torsion, 1);
    SEEN(material, 1, rolling, 1);
    SEEN(material, 1, restitution, 1);
    SEEN(material, 1, stiffness, 1);
    SEEN(material, 1, adhesion, 1);
    SEEN(material, 1, slip, 1);
    SEEN(material, 0, friction, 0.7);
    KK_CHECK(HASH_WITH(add_pair(s, 4, 0, -1)) != hash);
    const uint64_t paired = HASH_WITH(add_pair(s, 4, 0, 0));
    KK_CHECK(HASH_WITH(add_pair(s, 4, 0, 1)) != paired);
    KK_CHECK(HASH_WITH(exclude(s, 1, 0)) != hash);
    KK_CHECK(HASH_WITH(kk_spec_options(s)->timestep = 2e-3) != hash);
    KK_CHECK(HASH_WITH(kk_spec_options(s)->integrator = KK_INTEGRATOR_RK4) != hash);
    KK_CHECK(HASH_WITH(kk_spec_options(s)->adjacent_collide = 1) != hash);
    KK_CHECK(HASH_WITH(kk_spec_options(s)->max_contacts = 7) != hash);
    // names, looks and what is only seen
    UNSEEN(shape, 4, name, "other");
    UNSEEN(shape, 4, visual, 0);
    UNSEEN(shape, 8, size[0], 1);
    UNSEEN(visual, 0, color[0], 0);
    UNSEEN(material, 1, name, "other");
    UNSEEN(material, 1, damping, 1); // of a rigid material
    KK_CHECK(HASH_WITH(scene_material(s, "unused", 0.3)) == hash);
    KK_CHECK(HASH_WITH(kk_spec_shape(s, scene_shape(s, "", 1, KK_SHAPE_SPHERE, 1, 0, 0))->purpose = 2) == hash);
}

KK_TEST(hash_sees_every_number_of_constraints_and_control) {
    static const kk_tendon_item other[] = {{.name = "upper_joint", .coefficient = 2},
                                           {.name = "fore_joint", .coefficient = -2}};
    static const kk_tendon_item third[] = {{.name = "fore_joint", .coefficient = 2},
                                           {.name = "upper_joint", .coefficient = -1}};
    static const double q[13] = {0.1, 0.2, 1, 0, 0, 0, 3, 4, 6, 0, 0.6, 0.8, 0};
    static const double v[11] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12}, control[3] = {0.5, 6, 8};
    kk_spec *s = NULL;
    const uint64_t hash = hash_and_free(scene_spec());
    SEEN(loop, 0, type, KK_LOOP_POINT);
    SEEN(loop, 0, body[1], 5);
    SEEN(loop, 0, placement[0].p.y, 1);
    SEEN(loop, 0, placement[1].p.y, 1);
    SEEN(loop, 0, distance, 1);
    SEEN(loop, 0, stiffness, 1);
    SEEN(loop, 0, damping, 1);
    SEEN(loop, 0, angular_stiffness, 1);
    SEEN(loop, 0, angular_damping, 1);
    SEEN(loop, 0, break_force, 1);
    SEEN(loop, 0, break_moment, 1);
    SEEN(loop, 0, is_active, 0);
    SEEN(tendon, 0, item, other);
    SEEN(tendon, 0, item, third);
    SEEN(tendon, 0, lower, -1);
    SEEN(tendon, 0, upper, 1);
    SEEN(tendon, 0, stiffness, 1);
    SEEN(tendon, 0, damping, 1);
    SEEN(tendon, 0, rest_lower, -1);
    SEEN(tendon, 0, rest_upper, 1);
    SEEN(tendon, 0, friction, 1);
    SEEN(actuator, 0, type, KK_ACTUATOR_GENERAL);
    SEEN(actuator, 0, target, "upper_joint");
    SEEN(actuator, 1, target, "sum");
    SEEN(actuator, 2, target, "anchor");
    SEEN(actuator, 2, reference, "anchor");
    SEEN(actuator, 0, gear, 2);
    SEEN(actuator, 0, gain, 2);
    SEEN(actuator, 0, bias[0], 2);
    SEEN(actuator, 0, bias[1], 2);
    SEEN(actuator, 0, bias[2], 2);
    SEEN(actuator, 2, direction.linear.z, 2);
    SEEN(actuator, 2, direction.angular.z, 2);
    SEEN(actuator, 0, control_lower, -2);
    SEEN(actuator, 0, control_upper, 2);
    SEEN(actuator, 0, force_lower, -2);
    SEEN(actuator, 0, force_upper, 2);
    SEEN(actuator, 0, activation, KK_ACTIVATION_NONE);
    SEEN(actuator, 0, activation_lower, -2);
    SEEN(actuator, 0, activation_upper, 2);
    SEEN(actuator, 0, time_constant, 2);
    SEEN(sensor, 0, type, KK_SENSOR_JOINT_VELOCITY);
    SEEN(sensor, 0, target, "upper_joint");
    SEEN(sensor, 2, target, "upper");
    SEEN(sensor, 2, reference, "anchor");
    SEEN(sensor, 2, noise, 1);
    SEEN(sensor, 2, cutoff, 1);
    SEEN(sensor, 2, field, 1);
    SEEN(sensor, 2, rays, 2);
    SEEN(keyframe, 0, time, 1);
    SEEN(keyframe, 0, q, q);
    SEEN(keyframe, 0, v, v);
    SEEN(keyframe, 0, control, control);
    UNSEEN(actuator, 0, name, "other");
    UNSEEN(sensor, 0, name, "other");
    UNSEEN(keyframe, 0, name, "other");
    UNSEEN(loop, 0, name, "other");
}
