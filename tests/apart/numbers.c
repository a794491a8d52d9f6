// base and math alone: numbers, rotations, a picture.
#include <karakuri/elementary.h>
#include <karakuri/project.h>
#include <karakuri/random.h>

int main(void) {
    const kk_quat turn = kk_quat_exp(kk_vec3_make(0, 0, KK_HALF_PI));
    const kk_vec3 x = kk_mat3_mul_vec(kk_quat_to_mat3(turn), kk_vec3_make(1, 0, 0));
    const kk_camera c = kk_camera_parallel(x, kk_vec3_make(0, 0, -1), kk_vec3_make(0, 1, 0), 1, 100, 100);
    const double at = kk_project(&c, kk_vec3_make(0, 1, 0)).x, drawn = kk_random_uniform_at(1, 2, 3);
    return !(at > 49.999 && at < 50.001 && drawn >= 0 && drawn < 1);
}
