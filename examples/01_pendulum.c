// A robot by API calls: one link on a hinge. The torque that holds it still is m g l sin q.
#include <karakuri/karakuri.h>

#include <math.h>
#include <stdio.h>

int main(void) {
    const double mass = 2.0, length = 0.7, angle = 0.5;
    kk_error error = {0};
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_data *data = NULL;

    // the spec is the editable description; body 0 is the world
    kk_body_def link = kk_body_def_default();
    link.name = "link";
    link.joint.type = KK_JOINT_HINGE;
    link.joint.axis = kk_vec3_make(0, 1, 0);
    link.inertia = kk_inertia_solid_sphere(mass, 0.05);
    link.inertia.com = kk_vec3_make(0, 0, -length);
    if (kk_spec_create(NULL, &spec) || kk_spec_add_body(spec, &link, NULL, &error) ||
        kk_model_compile(spec, NULL, &model, &error) || kk_data_create(model, NULL, &data)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }

    // the model never changes, the data is scratch that can be thrown away
    const double q = angle, zero = 0;
    double tau = 0;
    kk_inverse_dynamics(model, data, &q, &zero, &zero, &tau);
    const double expected = mass * 9.81 * length * sin(angle);
    printf("torque that holds the pendulum at %.2f rad: %.12f N m (m g l sin q = %.12f)\n", angle, tau, expected);

    kk_data_free(data);
    kk_model_free(model);
    kk_spec_free(spec);
    return fabs(tau - expected) < 1e-12 ? 0 : 1;
}
