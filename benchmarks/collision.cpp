// Collision beside libccd, Coal, FCL and Bullet. Run by benchmarks/run.py; `--json FILE` writes the rows, `--strict` fails
// where a bar is missed, `--only hulls,boxes,meshes,scenes` takes some of the sections.
#include "collision.hpp"

#include <cmath>
#include <cstring>

#include "machine.hpp"

extern "C" {
#include "geometry/surface.h"
}

benchmarks::triangle_ball benchmarks::bumpy_ball(int triangles, double radius) {
    const int n = static_cast<int>(std::sqrt(triangles));
    return {n, triangles / (2 * n), [radius](double a, double b) {
                return radius * (1 + 0.05 * std::sin(9 * a) * std::sin(7 * b) * std::sin(b));
            }};
}

kki_surface *benchmarks::surface_of(const triangle_ball &ball) {
    kki_mesh *mesh = nullptr;
    kki_surface *surface = nullptr;
    std::vector<kki_face> face(ball.face.size() / 3);
    for (std::size_t i = 0; i < ball.face.size(); i++) {
        face[i / 3].vertex[i % 3] = ball.face[i];
    }
    if (kki_mesh_create(ball.vertex.data(), static_cast<int>(ball.vertex.size()), face.data(),
                        static_cast<int>(face.size()), nullptr, &mesh, nullptr) == KK_OK) {
        (void)kki_surface_create(mesh, nullptr, &surface, nullptr);
    }
    kki_mesh_free(mesh);
    return surface;
}

namespace {

bool write_json(const std::string &path, const benchmarks::collision_table &table) {
    std::FILE *f = std::fopen(path.c_str(), "w");
    if (!f) {
        return false;
    }
    const benchmarks::machine m = benchmarks::describe_machine();
    std::fprintf(
        f,
        "{\n  \"machine\": {\"cpu\": \"%s\", \"cores\": %u, \"date\": \"%s\", \"compiler\": \"%s\"},\n  \"rows\": [\n",
        m.cpu.c_str(), m.cores, m.date.c_str(), m.compiler.c_str());
    for (std::size_t i = 0; i < table.rows.size(); i++) {
        const benchmarks::collision_row &r = table.rows[i];
        std::fprintf(f,
                     "    {\"what\": \"%s\", \"peer\": \"%s\", \"ours_ns\": %.6g, \"peer_ns\": %.6g, \"bar\": %.4g, "
                     "\"holds\": %s}%s\n",
                     r.what.c_str(), r.peer.c_str(), r.ours, r.theirs, r.bar, r.holds() ? "true" : "false",
                     i + 1 < table.rows.size() ? "," : "");
    }
    std::fprintf(f, "  ]\n}\n");
    return std::fclose(f) == 0;
}

} // namespace

int main(int argc, char **argv) {
    std::string json, only = "hulls,boxes,meshes,scenes";
    bool is_strict = false;
    for (int i = 1; i < argc; i++) {
        if (!std::strcmp(argv[i], "--strict")) {
            is_strict = true;
        } else if (i + 1 < argc && (!std::strcmp(argv[i], "--json") || !std::strcmp(argv[i], "--only"))) {
            (argv[i][2] == 'j' ? json : only) = argv[i + 1];
            i++;
        } else {
            std::fprintf(stderr, "usage: collision [--json FILE] [--only SECTIONS] [--strict]\n");
            return 2;
        }
    }
    (void)benchmarks::pin_to_cpu(-1);
    benchmarks::collision_table table;
    for (const benchmarks::section &s : benchmarks::sections()) {
        if (only.find(s.name) != std::string::npos) {
            s.measure(table);
        }
    }
    int missed = 0;
    for (const benchmarks::collision_row &r : table.rows) {
        missed += !r.holds();
    }
    std::printf("\n%s: %d missed\n", missed ? "NOT ALL BARS HOLD" : "all bars hold", missed);
    if (!json.empty() && !write_json(json, table)) {
        std::fprintf(stderr, "cannot write %s\n", json.c_str());
        return 1;
    }
    return is_strict && missed ? 1 : 0;
}
