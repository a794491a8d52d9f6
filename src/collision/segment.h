/// Two segments in closed form, which is a capsule against a capsule.
#ifndef KKI_COLLISION_SEGMENT_H
#define KKI_COLLISION_SEGMENT_H

#include <karakuri/math.h>

/// Parameters in [−1, 1] of the closest points of the segments c + s h, half lengths h as vectors. Of parallel ones the
/// middle of the stretch that faces the other.
void kki_segments_closest(kk_vec3 c1, kk_vec3 h1, kk_vec3 c2, kk_vec3 h2, double *s1, double *s2);

#endif
