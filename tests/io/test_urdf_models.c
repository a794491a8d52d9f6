// Robots of others, as they were published.
#include "urdf_support.h"

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(urdf_jvrc1_loads_unedited) {
    KK_SKIP("no folder to read robots from");
}
#else

KK_TEST(urdf_jvrc1_loads_unedited) {
    const char *path = KK_SOURCE_DIR "/../shared/models/jvrc1/urdf/jvrc1.urdf";
    FILE *file = fopen(path, "rb");
    if (!file) {
        KK_SKIP("../shared/models is not there");
    }
    fclose(file);
    robot r = robot_from_file(path, NULL);
    if (robot_is_good(&r, path)) {
        // the mass is the sum of its 45 masses; a free base and 44 hinges
        KK_CHECK_EQ_INT(kk_model_nq(r.model), 51);
        KK_CHECK_EQ_INT(kk_model_nv(r.model), 50);
        KK_CHECK_NEAR(kk_model_mass(r.model), 62.4, 1e-12);
        KK_CHECK_EQ_INT(kk_spec_shape_count(r.spec), 70);
        KK_CHECK_EQ_INT(kk_spec_mesh_count(r.spec), 35);
        KK_CHECK_EQ_INT(kk_messages_count_of(r.messages, KK_SEVERITY_WARNING), 0);
    }
    robot_free(&r);
}
#endif
