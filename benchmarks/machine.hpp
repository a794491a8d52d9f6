/// What the figures were measured on. Linux; other systems report less.
#ifndef KARAKURI_BENCHMARKS_MACHINE_HPP
#define KARAKURI_BENCHMARKS_MACHINE_HPP

#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#ifdef __linux__
#include <sched.h>
#endif

namespace benchmarks {

struct machine {
    std::string cpu = "unknown", date, compiler;
    unsigned cores = std::thread::hardware_concurrency();
    bool avx2 = false, avx512 = false;
};

inline machine describe_machine() {
    machine m;
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos) {
            continue;
        }
        if (line.compare(0, 10, "model name") == 0) {
            m.cpu = line.substr(colon + 2);
        } else if (line.compare(0, 5, "flags") == 0) {
            std::istringstream flags(line.substr(colon + 2));
            for (std::string flag; flags >> flag;) {
                m.avx2 = m.avx2 || flag == "avx2";
                m.avx512 = m.avx512 || flag == "avx512f";
            }
        }
    }
    char now[32] = "";
    const std::time_t t = std::time(nullptr);
    std::strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
    m.date = now;
    m.compiler =
#ifdef __clang__
        "clang "
#else
        "gcc "
#endif
        __VERSION__;
    return m;
}

/// Keeps the process on one CPU; the last one if `cpu` is negative. False where that cannot be done.
inline bool pin_to_cpu(int cpu) {
#ifdef __linux__
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu >= 0 ? cpu : static_cast<int>(std::thread::hardware_concurrency()) - 1), &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
#else
    (void)cpu;
    return false;
#endif
}

} // namespace benchmarks
#endif
