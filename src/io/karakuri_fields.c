/// The tables of the <karakuri> element.
#include "io/karakuri_fields.h"

#include <string.h>

// ---- words

static const kki_keyword joint_words[] = {{"fixed", KK_JOINT_FIXED},
                                          {"hinge", KK_JOINT_HINGE},
                                          {"slide", KK_JOINT_SLIDE},
                                          {"screw", KK_JOINT_SCREW},
                                          {"cylindrical", KK_JOINT_CYLINDRICAL},
                                          {"universal", KK_JOINT_UNIVERSAL},
                                          {"planar", KK_JOINT_PLANAR},
                                          {"ball", KK_JOINT_BALL},
                                          {"free", KK_JOINT_FREE},
                                          {NULL, 0}};
static const kki_keyword shape_words[] = {{"plane", KK_SHAPE_PLANE},
                                          {"sphere", KK_SHAPE_SPHERE},
                                          {"capsule", KK_SHAPE_CAPSULE},
                                          {"cylinder", KK_SHAPE_CYLINDER},
                                          {"cone", KK_SHAPE_CONE},
                                          {"ellipsoid", KK_SHAPE_ELLIPSOID},
                                          {"box", KK_SHAPE_BOX},
                                          {"hull", KK_SHAPE_HULL},
                                          {"mesh", KK_SHAPE_MESH},
                                          {"height_field", KK_SHAPE_HEIGHT_FIELD},
                                          {NULL, 0}};
static const kki_keyword combine_words[] = {
    {"mean", KK_COMBINE_MEAN}, {"min", KK_COMBINE_MIN}, {"max", KK_COMBINE_MAX}, {NULL, 0}};
static const kki_keyword loop_words[] = {{"point", KK_LOOP_POINT},
                                         {"axis", KK_LOOP_AXIS},
                                         {"weld", KK_LOOP_WELD},
                                         {"distance", KK_LOOP_DISTANCE},
                                         {NULL, 0}};
static const kki_keyword tendon_words[] = {{"fixed", KK_TENDON_FIXED}, {"spatial", KK_TENDON_SPATIAL}, {NULL, 0}};
static const kki_keyword actuator_words[] = {{"force", KK_ACTUATOR_FORCE},
                                             {"position", KK_ACTUATOR_POSITION},
                                             {"velocity", KK_ACTUATOR_VELOCITY},
                                             {"damper", KK_ACTUATOR_DAMPER},
                                             {"general", KK_ACTUATOR_GENERAL},
                                             {"muscle", KK_ACTUATOR_MUSCLE},
                                             {NULL, 0}};
static const kki_keyword transmission_words[] = {{"joint", KK_TRANSMISSION_JOINT}, {"tendon", KK_TRANSMISSION_TENDON},
                                                 {"frame", KK_TRANSMISSION_FRAME}, {"body", KK_TRANSMISSION_BODY},
                                                 {"crank", KK_TRANSMISSION_CRANK}, {NULL, 0}};
static const kki_keyword interpolation_words[] = {
    {"hold", KK_DELAY_HOLD}, {"linear", KK_DELAY_LINEAR}, {"cubic", KK_DELAY_CUBIC}, {NULL, 0}};
static const kki_keyword activation_words[] = {{"none", KK_ACTIVATION_NONE},
                                               {"filter", KK_ACTIVATION_FILTER},
                                               {"integrate", KK_ACTIVATION_INTEGRATE},
                                               {"muscle", KK_ACTIVATION_MUSCLE},
                                               {NULL, 0}};
static const kki_keyword side_words[] = {
    {"any", KK_SIDE_ANY}, {"shape", KK_SIDE_SHAPE}, {"link", KK_SIDE_BODY}, {"subtree", KK_SIDE_SUBTREE}, {NULL, 0}};
static const kki_keyword choice_words[] = {{"first", KK_CHOOSE_FIRST},
                                           {"deepest", KK_CHOOSE_DEEPEST},
                                           {"strongest", KK_CHOOSE_STRONGEST},
                                           {"sum", KK_CHOOSE_SUM},
                                           {NULL, 0}};
static const kki_keyword integrator_words[] = {
    {"midpoint", KK_INTEGRATOR_MIDPOINT}, {"rk4", KK_INTEGRATOR_RK4}, {NULL, 0}};

// ---- fields

#define AT(type, member) offsetof(type, member)
#define NUMBER(name, type, member, meaning) \
    { name, KKI_FIELD_NUMBER, false, AT(type, member), NULL, meaning }
#define TEXT(name, type, member, need, meaning) \
    { name, KKI_FIELD_TEXT, need, AT(type, member), NULL, meaning }
#define WORD(name, type, member, words, need, meaning) \
    { name, KKI_FIELD_WORD, need, AT(type, member), words, meaning }
#define OTHER(name, kind, type, member, need, meaning) \
    { name, kind, need, AT(type, member), NULL, meaning }
#define END \
    { NULL, KKI_FIELD_NUMBER, false, 0, NULL, NULL }

static const kki_field option_fields[] = {
    OTHER("gravity", KKI_FIELD_VEC3, kk_options, gravity, false, "m/s²"),
    NUMBER("timestep", kk_options, timestep, "s"),
    OTHER("magnetic", KKI_FIELD_VEC3, kk_options, magnetic, false, "flux that sensors of the magnetic field read"),
    WORD("integrator", kk_options, integrator, integrator_words, false, "how the step integrates"),
    OTHER("adjacent_collide", KKI_FIELD_FLAG, kk_options, adjacent_collide, false,
          "bodies joined by a joint may touch as well"),
    OTHER("max_contacts", KKI_FIELD_COUNT, kk_options, max_contacts, false,
          "contact points that a simulator begins with room for; it takes more when they come. 0: a few"),
    END};

static const kki_field joint_fields[] = {
    WORD("type", kki_karakuri_joint, type, joint_words, false, "instead of the type of the <joint>"),
    OTHER("axis2", KKI_FIELD_VEC3, kki_karakuri_joint, axis2, false,
          "universal: second axis; planar: direction of the first coordinate"),
    NUMBER("pitch", kki_karakuri_joint, pitch, "screw: m/rad"),
    OTHER("offset_xyz", KKI_FIELD_XYZ, kki_karakuri_joint, offset, false,
          "body frame in the joint's; everything else is still told in the joint's"),
    OTHER("offset_rpy", KKI_FIELD_RPY, kki_karakuri_joint, offset, false, "rad"),
    END};

static const kki_field dof_fields[] = {
    OTHER("index", KKI_FIELD_COUNT, kki_karakuri_dof, index, false, "which degree of the joint, from 0"),
    NUMBER("lower", kki_karakuri_dof, dof.lower, "limit, rad or m"),
    NUMBER("upper", kki_karakuri_dof, dof.upper, "limit, rad or m"),
    NUMBER("stiffness", kki_karakuri_dof, dof.stiffness, "spring, N m/rad or N/m"),
    NUMBER("rest", kki_karakuri_dof, dof.rest, "where the spring is slack"),
    NUMBER("damping", kki_karakuri_dof, dof.damping, "N m s/rad or N s/m"),
    NUMBER("friction", kki_karakuri_dof, dof.friction, "dry friction, N m or N"),
    NUMBER("armature", kki_karakuri_dof, dof.armature, "inertia added on the joint's side, kg m² or kg"),
    NUMBER("start", kki_karakuri_dof, dof.start, "coordinate in a new state"),
    NUMBER("rotor_inertia", kki_karakuri_dof, dof.rotor_inertia, "adds rotor_inertia · gear_ratio² to the armature"),
    NUMBER("gear_ratio", kki_karakuri_dof, dof.gear_ratio, "rotor turns a joint turn"),
    NUMBER("restitution", kki_karakuri_dof, dof.restitution,
           "of its limits: share of the speed that a stop gives back"),
    NUMBER("velocity_limit", kki_karakuri_dof, dof.velocity_limit, "rad/s or m/s"),
    NUMBER("effort_limit", kki_karakuri_dof, dof.effort_limit, "N m or N"),
    END};

static const kki_field link_fields[] = {
    OTHER("material", KKI_FIELD_MATERIAL, kki_karakuri_link, material, false, "contact material of all its collisions"),
    NUMBER("gravity_compensation", kki_karakuri_link, gravity_compensation,
           "share of its weight that it is relieved of"),
    END};

static const kki_field shape_fields[] = {
    WORD("type", kk_shape_def, type, shape_words, false,
         "instead of the <geometry>; mesh: collide with the triangles, hull: with their convex hull"),
    OTHER("size", KKI_FIELD_NUMBERS3, kk_shape_def, size, false,
          "of that type: radius, length; three radii; three edge lengths"),
    OTHER("height_field", KKI_FIELD_HEIGHT_FIELD, kk_shape_def, height_field, false, "name of a <height_field>"),
    OTHER("material", KKI_FIELD_MATERIAL, kk_shape_def, material, false, "name of a contact material"),
    NUMBER("margin", kk_shape_def, margin, "m, the shape is thickened by it"),
    OTHER("group", KKI_FIELD_MASK, kk_shape_def, group, false,
          "bits: two shapes may touch where (a.group & b.mask) | "
          "(b.group & a.mask) is not 0"),
    OTHER("mask", KKI_FIELD_MASK, kk_shape_def, mask, false, "bits"),
    OTHER("surface", KKI_FIELD_SIX, kk_shape_def, surface, false,
          "velocity of the surface against the body, angular then linear: conveyors"),
    END};

static const kki_field height_field_fields[] = {
    TEXT("name", kk_height_field_def, name, true, ""),
    OTHER("rows", KKI_FIELD_COUNT, kk_height_field_def, rows, true, "along y"),
    OTHER("columns", KKI_FIELD_COUNT, kk_height_field_def, columns, true, "along x"),
    NUMBER("half_x", kk_height_field_def, half_x, "m"),
    NUMBER("half_y", kk_height_field_def, half_y, "m"),
    NUMBER("base", kk_height_field_def, base, "m, thickness below 0"),
    END};

#define MATERIAL_NUMBERS(type, prefix)                                                                        \
    NUMBER("friction", type, prefix friction, "Coulomb's μ while sliding"),                                   \
        NUMBER("static_friction", type, prefix static_friction, "μ while sticking; negative: the same"),      \
        NUMBER("friction_across", type, prefix friction_across, "μ along the shape's y; negative: the same"), \
        NUMBER("torsion", type, prefix torsion, "m"), NUMBER("rolling", type, prefix rolling, "m"),           \
        NUMBER("restitution", type, prefix restitution, "0 … 1"),                                             \
        NUMBER("stiffness", type, prefix stiffness, "N/m a point; without it: rigid"),                        \
        NUMBER("damping", type, prefix damping, "N s/m a point"),                                             \
        NUMBER("adhesion", type, prefix adhesion, "N a point"),                                               \
        NUMBER("slip", type, prefix slip, "creep, m/s a newton: tangential speed over tangential force")

static const kki_field material_fields[] = {
    TEXT("name", kk_material_def, name, true, "\"default\" is that of shapes that name none"),
    MATERIAL_NUMBERS(kk_material_def, ),
    WORD("combine", kk_material_def, combine, combine_words, false, "how two materials meet"), END};

static const kki_field material_pair_fields[] = {
    OTHER("material1", KKI_FIELD_MATERIAL, kk_material_pair_def, material[0], true, ""),
    OTHER("material2", KKI_FIELD_MATERIAL, kk_material_pair_def, material[1], true, ""),
    MATERIAL_NUMBERS(kk_material_pair_def, together.), END};

static const kki_field pair_fields[] = {
    OTHER("shape1", KKI_FIELD_SHAPE, kk_pair_def, shape[0], true, "name of a <collision>"),
    OTHER("shape2", KKI_FIELD_SHAPE, kk_pair_def, shape[1], true, ""),
    OTHER("material", KKI_FIELD_MATERIAL, kk_pair_def, material, false, "that holds between them"),
    NUMBER("margin", kk_pair_def, margin, "m"), END};

static const kki_field exclude_fields[] = {OTHER("link1", KKI_FIELD_BODY, kk_exclude_def, body[0], true, ""),
                                           OTHER("link2", KKI_FIELD_BODY, kk_exclude_def, body[1], true, ""), END};

static const kki_field frame_fields[] = {
    TEXT("name", kk_frame_def, name, true, "unique among frames and links"),
    OTHER("link", KKI_FIELD_BODY, kk_frame_def, body, false, "\"world\" where it stands in none"),
    OTHER("xyz", KKI_FIELD_XYZ, kk_frame_def, placement, false, "m"),
    OTHER("rpy", KKI_FIELD_RPY, kk_frame_def, placement, false, "rad"), END};

static const kki_field loop_fields[] = {
    TEXT("name", kk_loop_def, name, false, ""),
    WORD("type", kk_loop_def, type, loop_words, true,
         "origins coincide; and z axes; frames coincide; origins stay a distance apart"),
    OTHER("link1", KKI_FIELD_BODY, kk_loop_def, body[0], true, ""),
    OTHER("xyz1", KKI_FIELD_XYZ, kk_loop_def, placement[0], false, "frame A in link1, m"),
    OTHER("rpy1", KKI_FIELD_RPY, kk_loop_def, placement[0], false, "rad"),
    OTHER("link2", KKI_FIELD_BODY, kk_loop_def, body[1], true, ""),
    OTHER("xyz2", KKI_FIELD_XYZ, kk_loop_def, placement[1], false, "frame B in link2, m"),
    OTHER("rpy2", KKI_FIELD_RPY, kk_loop_def, placement[1], false, "rad"),
    NUMBER("distance", kk_loop_def, distance, "m"),
    NUMBER("stiffness", kk_loop_def, stiffness, "N/m; without it: rigid. With it: a bush"),
    NUMBER("damping", kk_loop_def, damping, "N s/m"),
    NUMBER("angular_stiffness", kk_loop_def, angular_stiffness, "N m/rad; without it: rigid"),
    NUMBER("angular_damping", kk_loop_def, angular_damping, "N m s/rad"),
    NUMBER("break_force", kk_loop_def, break_force, "N"),
    NUMBER("break_moment", kk_loop_def, break_moment, "N m"),
    OTHER("active", KKI_FIELD_FLAG, kk_loop_def, is_active, false, "false: starts switched off"),
    END};

static const kki_field coupling_fields[] = {
    TEXT("name", kk_coupling_def, name, false, ""),
    TEXT("follower", kk_coupling_def, follower, true, "joint"),
    TEXT("leader", kk_coupling_def, leader, true, "joint"),
    OTHER("follower_dof", KKI_FIELD_COUNT, kk_coupling_def, follower_dof, false, ""),
    OTHER("leader_dof", KKI_FIELD_COUNT, kk_coupling_def, leader_dof, false, ""),
    NUMBER("ratio", kk_coupling_def, ratio, "q_follower = ratio · q_leader + offset"),
    NUMBER("offset", kk_coupling_def, offset, ""),
    END};

static const kki_field tendon_fields[] = {
    TEXT("name", kk_tendon_def, name, true, ""),
    WORD("type", kk_tendon_def, type, tendon_words, true, "a sum of joint positions; or the way between frames"),
    NUMBER("lower", kk_tendon_def, lower, "limit of the length"),
    NUMBER("upper", kk_tendon_def, upper, "limit of the length"),
    NUMBER("restitution", kk_tendon_def, restitution, "of its limits: share of the speed that a stop gives back"),
    NUMBER("stiffness", kk_tendon_def, stiffness, "N/m"),
    NUMBER("damping", kk_tendon_def, damping, "N s/m"),
    NUMBER("rest_lower", kk_tendon_def, rest_lower, "slack from here"),
    NUMBER("rest_upper", kk_tendon_def, rest_upper, "to here"),
    NUMBER("friction", kk_tendon_def, friction, "N"),
    NUMBER("armature", kk_tendon_def, armature, "inertia of its length, kg"),
    NUMBER("pull_lower", kk_tendon_def, pull_lower, "limit of what its actuators pull with together, N"),
    NUMBER("pull_upper", kk_tendon_def, pull_upper, "the same above"),
    OTHER("is_held", KKI_FIELD_FLAG, kk_tendon_def, is_held, false,
          "its length is held_0 + held_1 L + … + held_4 L⁴, with L that of its leader"),
    TEXT("leader", kk_tendon_def, leader, false, "tendon; none: the length is held_0"),
    NUMBER("held_0", kk_tendon_def, held[0], ""),
    NUMBER("held_1", kk_tendon_def, held[1], ""),
    NUMBER("held_2", kk_tendon_def, held[2], ""),
    NUMBER("held_3", kk_tendon_def, held[3], ""),
    NUMBER("held_4", kk_tendon_def, held[4], ""),
    END};

static const kki_field item_fields[] = {
    TEXT("name", kk_tendon_item, name, false, "joint (fixed) or frame (spatial); neither it nor `wrap`: a pulley"),
    OTHER("dof", KKI_FIELD_COUNT, kk_tendon_item, dof, false, "which degree of the joint"),
    NUMBER("coefficient", kk_tendon_item, coefficient, ""),
    TEXT("wrap", kk_tendon_item, wrap, false, "instead of a name: a sphere or cylinder that the way goes round"),
    TEXT("side", kk_tendon_item, side, false, "frame that says on which side; inside: the way goes through"),
    END};

static const kki_field actuator_fields[] = {
    TEXT("name", kk_actuator_def, name, false, ""),
    WORD("type", kk_actuator_def, type, actuator_words, false, "what is commanded"),
    WORD("transmission", kk_actuator_def, transmission, transmission_words, false, "what the target is"),
    TEXT("target", kk_actuator_def, target, false, "joint, tendon, frame or link; inside a joint: that one"),
    TEXT("reference", kk_actuator_def, reference, false,
         "frame whose axes `direction` is in; cranks: frame along whose z the slider moves"),
    OTHER("dof", KKI_FIELD_COUNT, kk_actuator_def, dof, false, "which degree of the joint"),
    NUMBER("gear", kk_actuator_def, gear, "length = gear · q"),
    OTHER("direction", KKI_FIELD_SIX, kk_actuator_def, direction, false, "frames: moment, force"),
    NUMBER("gain", kk_actuator_def, gain, "force = gain · u + bias[0] + bias[1] · length + bias[2] · rate"),
    OTHER("bias", KKI_FIELD_NUMBERS3, kk_actuator_def, bias, false, ""),
    NUMBER("control_lower", kk_actuator_def, control_lower, ""),
    NUMBER("control_upper", kk_actuator_def, control_upper, ""),
    NUMBER("force_lower", kk_actuator_def, force_lower, ""),
    NUMBER("force_upper", kk_actuator_def, force_upper, ""),
    WORD("lag", kk_actuator_def, activation, activation_words, false, "between the control and what acts"),
    NUMBER("time_constant", kk_actuator_def, time_constant, "s"),
    NUMBER("activation_lower", kk_actuator_def, activation_lower, ""),
    NUMBER("activation_upper", kk_actuator_def, activation_upper, ""),
    NUMBER("rod_length", kk_actuator_def, rod_length, "cranks: m"),
    NUMBER("delay", kk_actuator_def, delay, "of the control, s"),
    OTHER("delay_samples", KKI_FIELD_COUNT, kk_actuator_def, delay_samples, false, "controls that are remembered"),
    WORD("delay_interpolation", kk_actuator_def, delay_interpolation, interpolation_words, false, "between samples"),
    NUMBER("muscle_force", kk_actuator_def, muscle.force, "muscles: the most they pull with, N"),
    NUMBER("muscle_length_lower", kk_actuator_def, muscle.length_lower, "length at which they are muscle_range_lower"),
    NUMBER("muscle_length_upper", kk_actuator_def, muscle.length_upper, "length at which they are muscle_range_upper"),
    NUMBER("muscle_range_lower", kk_actuator_def, muscle.range[0], "in units of their optimal length"),
    NUMBER("muscle_range_upper", kk_actuator_def, muscle.range[1], "the same"),
    NUMBER("muscle_lmin", kk_actuator_def, muscle.lmin, "where active force begins"),
    NUMBER("muscle_lmax", kk_actuator_def, muscle.lmax, "where it ends"),
    NUMBER("muscle_vmax", kk_actuator_def, muscle.vmax, "optimal lengths a second without force"),
    NUMBER("muscle_fpmax", kk_actuator_def, muscle.fpmax, "passive force at lmax"),
    NUMBER("muscle_fvmax", kk_actuator_def, muscle.fvmax, "active force while drawn out"),
    NUMBER("muscle_time_on", kk_actuator_def, muscle.time_constant[0], "of activation, s"),
    NUMBER("muscle_time_off", kk_actuator_def, muscle.time_constant[1], "of deactivation, s"),
    NUMBER("muscle_smoothing", kk_actuator_def, muscle.smoothing, "between both"),
    END};

static const kki_field sensor_fields[] = {
    TEXT("name", kk_sensor_def, name, false, ""),
    OTHER("type", KKI_FIELD_SENSOR, kk_sensor_def, type, true, "see the list below"),
    TEXT("target", kk_sensor_def, target, false,
         "joint, actuator, frame, link, tendon; inside a joint or link: that one"),
    TEXT("reference", kk_sensor_def, reference, false, "frame or link to measure against"),
    OTHER("dof", KKI_FIELD_COUNT, kk_sensor_def, dof, false, "which degree of the joint"),
    NUMBER("noise", kk_sensor_def, noise, "standard deviation"),
    NUMBER("cutoff", kk_sensor_def, cutoff, "sensor data are clamped to it; range sensors: reach, m"),
    NUMBER("field", kk_sensor_def, field, "range sensors: half angle, rad"),
    OTHER("rays", KKI_FIELD_COUNT, kk_sensor_def, rays, false, "range sensors"),
    WORD("zone", kk_sensor_def, zone, shape_words, false,
         "contact, contacts, inside: sphere, capsule, cylinder, ellipsoid or box about a frame; those in it count"),
    OTHER("zone_size", KKI_FIELD_NUMBERS3, kk_sensor_def, zone_size, false, "whole sizes, as a shape's; 0: everywhere"),
    TEXT("zone_frame", kk_sensor_def, zone_frame, false, "contacts: the zone's frame"),
    WORD("of", kk_sensor_def, side[0], side_words, false, "distances, contacts: what the target is"),
    WORD("to", kk_sensor_def, side[1], side_words, false, "distances, contacts: what the reference is"),
    OTHER("slots", KKI_FIELD_COUNT, kk_sensor_def, slots, false, "contacts: how many are told of"),
    OTHER("tell", KKI_FIELD_COUNT, kk_sensor_def, tell, false,
          "contacts: sum of 1 found, 2 force, 4 torque, 8 gap, 16 position, 32 normal, 64 tangent"),
    WORD("choice", kk_sensor_def, choice, choice_words, false, "contacts: which, where there are more than slots"),
    END};

static const kki_field keyframe_fields[] = {TEXT("name", kk_keyframe_def, name, false, ""),
                                            NUMBER("time", kk_keyframe_def, time, "s"), END};

static const kki_field script_fields[] = {
    TEXT("name", kk_script_def, name, false,
         "as other scripts import it; the one without a name runs before every step"),
    END};

static const kki_field parameter_fields[] = {TEXT("name", kk_parameter_def, name, true, ""),
                                             NUMBER("value", kk_parameter_def, value, ""),
                                             NUMBER("lower", kk_parameter_def, lower, "end of its slider"),
                                             NUMBER("upper", kk_parameter_def, upper, "the other end"), END};

static const kki_fields elements[KKI_ELEMENT_COUNT] = {
    [KKI_ELEMENT_OPTION] = {"option", "karakuri", "what belongs to the whole scene", option_fields},
    [KKI_ELEMENT_JOINT] = {"karakuri", "joint", "joints that URDF does not have", joint_fields},
    [KKI_ELEMENT_DOF] = {"dof", "karakuri in joint", "springs, rotors, limits of each degree of freedom", dof_fields},
    [KKI_ELEMENT_LINK] = {"karakuri", "link", "", link_fields},
    [KKI_ELEMENT_SHAPE] = {"karakuri", "collision, visual", "how it touches", shape_fields},
    [KKI_ELEMENT_HEIGHT_FIELD] = {"height_field", "karakuri",
                                  "heights over a grid: rows · columns numbers as its text, m", height_field_fields},
    [KKI_ELEMENT_MATERIAL] = {"material", "karakuri", "a contact material", material_fields},
    [KKI_ELEMENT_MATERIAL_PAIR] = {"material_pair", "karakuri", "what holds where two materials meet",
                                   material_pair_fields},
    [KKI_ELEMENT_PAIR] = {"pair", "karakuri", "two collisions that may touch whatever their groups say", pair_fields},
    [KKI_ELEMENT_EXCLUDE] = {"exclude", "karakuri", "two links that never touch", exclude_fields},
    [KKI_ELEMENT_FRAME] = {"frame", "karakuri, karakuri in link", "a named place on a link", frame_fields},
    [KKI_ELEMENT_LOOP] = {"loop", "karakuri", "closes a loop between two links", loop_fields},
    [KKI_ELEMENT_COUPLING] = {"coupling", "karakuri",
                              "one degree of freedom follows another, also of joints with several", coupling_fields},
    [KKI_ELEMENT_TENDON] = {"tendon", "karakuri", "has <item>s in it", tendon_fields},
    [KKI_ELEMENT_ITEM] = {"item", "tendon", "", item_fields},
    [KKI_ELEMENT_ACTUATOR] =
        {"actuator", "karakuri, karakuri in joint",
         "a motor or a servo. Short forms: kp, kd for position, kv for velocity instead of gain and "
         "bias",
         actuator_fields},
    [KKI_ELEMENT_SENSOR] = {"sensor", "karakuri, karakuri in joint or link", "", sensor_fields},
    [KKI_ELEMENT_KEYFRAME] = {"keyframe", "karakuri",
                              "a state by name: <q>, <v>, <control> in it hold the numbers, links in order",
                              keyframe_fields},
    [KKI_ELEMENT_SCRIPT] = {"script", "karakuri", "JavaScript of the studio as its text; the engine keeps it",
                            script_fields},
    [KKI_ELEMENT_PARAMETER] = {"parameter", "karakuri", "a number that a script reads and a slider sets",
                               parameter_fields},
};

const kki_fields *kki_fields_of(kki_karakuri_element element) {
    return &elements[element];
}

// ---- sensors

static const char *const sensor_names[] = {
#define SENSOR_NAME(id, text, count, target) text,
    KK_SENSOR_LIST(SENSOR_NAME)
#undef SENSOR_NAME
};
enum { SENSOR_COUNT = sizeof sensor_names / sizeof sensor_names[0] };

const char *kki_sensor_word(kk_sensor_type type, char *word, size_t size) {
    const char *name = (unsigned)type < SENSOR_COUNT ? sensor_names[type] : "";
    size_t i = 0;
    for (; name[i] && i + 1 < size; i++) {
        word[i] = name[i] == ' ' || name[i] == '-' ? '_' : name[i];
    }
    word[i] = 0;
    return word;
}

int kki_sensor_of_word(const char *word) {
    for (int i = 0; i < SENSOR_COUNT; i++) {
        char own[64];
        if (strcmp(kki_sensor_word((kk_sensor_type)i, own, sizeof own), word) == 0) {
            return i;
        }
    }
    return -1;
}
