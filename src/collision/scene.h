/// Scenes of variations, and rays that pass through some of the shapes.
#ifndef KARAKURI_COLLISION_SCENE_H
#define KARAKURI_COLLISION_SCENE_H

#include <karakuri/collision.h>

/// As kk_scene_place, for a variation of the scene's model as well. @param data  of `model`
void kki_scene_place(kk_scene *scene, const kk_model *model, const kk_data *data);

/// As kk_scene_rays. @param is_skipped  [nshape] 1: a shape that is not seen; NULL: none
void kki_scene_rays(const kk_scene *scene, const unsigned char *is_skipped, const kk_ray *ray, int count,
                    kk_ray_hit *hit);

#endif
