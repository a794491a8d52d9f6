/// Results as a table for people and as JSON for machines.
#ifndef KARAKURI_BENCHMARKS_REPORT_HPP
#define KARAKURI_BENCHMARKS_REPORT_HPP

#include "machine.hpp"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace benchmarks {

/// One measured line. A bar of 0 means none: the line is for information.
struct result {
    std::string section, model, what;
    int dof;
    double ours, theirs; ///< ns; theirs 0: nobody to compare with
    double bar;          ///< least ratio
    double ratio() const {
        return ours > 0 ? theirs / ours : 0;
    }
    bool holds() const {
        return bar == 0 || ratio() >= bar;
    }
};

/// Time a body over chains of different lengths.
struct growth_result {
    std::string what;
    std::vector<int> lengths;
    std::vector<double> ours, theirs; ///< ns a body; theirs 0 where not measured
    double bar;                       ///< greatest spread, as a part
    double spread = 0;                ///< slowest over fastest, less one
    bool holds() const {
        return spread <= bar;
    }
};

using notes = std::vector<std::pair<std::string, std::string>>;

inline void print_header(const std::string &section) {
    std::printf("\n%s\n%-12s %4s  %-40s %10s %10s %7s %5s\n", section.c_str(), "robot", "DoF", "what", "ours",
                "Pinocchio", "ratio", "bar");
}

inline void print_row(const result &r) {
    std::printf("%-12s %4d  %-40s %10.4f ", r.model.c_str(), r.dof, r.what.c_str(), r.ours * 1e-3);
    if (r.theirs > 0) {
        std::printf("%10.4f %7.2f ", r.theirs * 1e-3, r.ratio());
    } else {
        std::printf("%10s %7s ", "", "");
    }
    if (r.bar > 0) {
        std::printf("%5.1f  %s", r.bar, r.holds() ? "ok" : "MISSED");
    }
    std::printf("\n");
    std::fflush(stdout);
}

inline void print_growth(const growth_result &g) {
    std::printf("%-28s", (g.what + ", ns a body: ours").c_str());
    for (double t : g.ours) {
        std::printf("%10.1f", t);
    }
    std::printf("   spread %.0f %%, bar %.0f %%  %s\n%-28s", 100 * g.spread, 100 * g.bar, g.holds() ? "ok" : "MISSED",
                "            Pinocchio");
    for (double t : g.theirs) {
        if (t > 0) {
            std::printf("%10.1f", t);
        } else {
            std::printf("%10s", "-");
        }
    }
    std::printf("\n");
    std::fflush(stdout);
}

inline std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + "\"";
}

template <typename T> std::string json_list(const std::vector<T> &numbers) {
    std::string out;
    for (const T &x : numbers) {
        char text[32];
        std::snprintf(text, sizeof text, "%.6g", static_cast<double>(x));
        out += (out.empty() ? "" : ", ") + std::string(text);
    }
    return "[" + out + "]";
}

inline bool write_json(const std::string &path, const machine &m, const notes &extra,
                       const std::vector<result> &results, const std::vector<growth_result> &growth) {
    std::FILE *f = std::fopen(path.c_str(), "w");
    if (!f) {
        return false;
    }
    std::fprintf(f,
                 "{\n  \"machine\": {\"cpu\": %s, \"cores\": %u, \"avx2\": %s, \"avx512\": %s, \"date\": %s, "
                 "\"compiler\": %s},\n",
                 quoted(m.cpu).c_str(), m.cores, m.avx2 ? "true" : "false", m.avx512 ? "true" : "false",
                 quoted(m.date).c_str(), quoted(m.compiler).c_str());
    std::fprintf(f, "  \"notes\": {");
    for (std::size_t i = 0; i < extra.size(); i++) {
        std::fprintf(f, "%s%s: %s", i ? ", " : "", quoted(extra[i].first).c_str(), quoted(extra[i].second).c_str());
    }
    std::fprintf(f, "},\n  \"results\": [\n");
    for (std::size_t i = 0; i < results.size(); i++) {
        const result &r = results[i];
        std::fprintf(f,
                     "    {\"section\": %s, \"robot\": %s, \"dof\": %d, \"what\": %s, \"ours_ns\": %.6g, "
                     "\"pinocchio_ns\": %.6g, "
                     "\"ratio\": %.4g, \"bar\": %.3g, \"holds\": %s}%s\n",
                     quoted(r.section).c_str(), quoted(r.model).c_str(), r.dof, quoted(r.what).c_str(), r.ours,
                     r.theirs, r.ratio(), r.bar, r.holds() ? "true" : "false", i + 1 < results.size() ? "," : "");
    }
    std::fprintf(f, "  ],\n  \"growth\": [\n");
    for (std::size_t i = 0; i < growth.size(); i++) {
        const growth_result &g = growth[i];
        std::fprintf(
            f,
            "    {\"what\": %s, \"bodies\": %s, \"ours_ns_a_body\": %s, \"pinocchio_ns_a_body\": %s, \"spread\": %.4g, "
            "\"bar\": %.3g, \"holds\": %s}%s\n",
            quoted(g.what).c_str(), json_list(g.lengths).c_str(), json_list(g.ours).c_str(),
            json_list(g.theirs).c_str(), g.spread, g.bar, g.holds() ? "true" : "false",
            i + 1 < growth.size() ? "," : "");
    }
    std::fprintf(f, "  ]\n}\n");
    return std::fclose(f) == 0;
}

} // namespace benchmarks
#endif
