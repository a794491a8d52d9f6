/// Contact materials in physical units, and which pairs may touch.
#ifndef KARAKURI_MATERIAL_H
#define KARAKURI_MATERIAL_H

#include <karakuri/status.h>

KK_BEGIN_DECLS

/// How the numbers of two surfaces become one.
typedef enum kk_combine {
    /// geometric mean of friction, torsion, rolling, adhesion; stiffnesses and dampings in series, a rigid one leaving both to
    /// the other; larger restitution; the sum of slips, which are in series, too
    KK_COMBINE_MEAN,
    KK_COMBINE_MIN,
    KK_COMBINE_MAX,
} kk_combine;

/// What a surface is made of. Where two surfaces meet, each number is combined as `combine` says (the larger of the two
/// rules, in the order of the enum); a surface of the default material leaves everything to the other one.
typedef struct kk_material_def {
    const char *name;       ///< NULL or "": none; otherwise unique among materials
    double friction;        ///< Coulomb's μ while sliding, ≥ 0
    double static_friction; ///< μ while sticking, ≥ friction; negative: the same
    double friction_across; ///< μ along the shape's y axis, friction being that along its x axis; negative: the same
    double torsion,
        rolling;        ///< m, ≥ 0: moment borne about the normal, and about the tangents, a newton of normal force
    double restitution; ///< 0 … 1
    double stiffness;   ///< N/m a point; +inf: rigid
    double damping;     ///< N s/m a point, with a finite stiffness
    double adhesion;    ///< N a point, ≥ 0: tension borne before it comes off
    double slip;        ///< m/s a newton, ≥ 0: creep, tangential speed over tangential force inside the cone
    kk_combine combine;
    kk_origin origin;
} kk_material_def;

/// What holds where these two materials meet, instead of a combination.
typedef struct kk_material_pair_def {
    int material[2];
    kk_material_def together; ///< its name and combine are not used
    kk_origin origin;
} kk_material_pair_def;

/// Two shapes that may touch whatever their groups and masks say, and across a joint. Both must collide; what is fixed
/// together or excluded does not touch even so.
typedef struct kk_pair_def {
    int shape[2];
    int material; ///< that holds between them; −1: as their own materials say
    double margin;
    kk_origin origin;
} kk_pair_def;

/// Two bodies whose shapes never touch.
typedef struct kk_exclude_def {
    int body[2];
    kk_origin origin;
} kk_exclude_def;

KK_END_DECLS
#endif
