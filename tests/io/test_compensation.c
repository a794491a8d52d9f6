// Shares of their weight that bodies are relieved of: read from MJCF and URDF, and written to both.
#include <karakuri/save.h>

#include "mjcf_support.h"

static double share_of(const robot *r) {
    return r->status == KK_OK ? kk_spec_body(r->spec, kk_spec_body_count(r->spec) - 1)->gravity_compensation : -1;
}

KK_TEST(shares_of_weight_survive_both_formats) {
    robot r = mjcf_from_text("<mujoco><worldbody><body gravcomp='0.75'><joint/><joint axis='1 0 0'/><geom size='.1'/>"
                             "</body></worldbody></mujoco>");
    KK_CHECK_NEAR(share_of(&r), 0.75, 0);
    for (int i = 0; i < 2 && r.spec; i++) {
        char *text = NULL;
        size_t size = 0;
        KK_CHECK_EQ_INT(i ? kk_spec_write_urdf(r.spec, NULL, NULL, &text, &size, &r.error)
                          : kk_spec_write_mjcf(r.spec, NULL, NULL, &text, &size, &r.error),
                        KK_OK);
        robot again = i ? robot_from_text(text, NULL) : mjcf_from_text(text);
        KK_CHECK_NEAR(share_of(&again), 0.75, 0);
        robot_free(&again);
        kk_text_free(NULL, text, size);
    }
    robot_free(&r);
}
