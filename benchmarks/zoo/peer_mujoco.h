/// MuJoCo's model behind the zoo's handle.
#ifndef KARAKURI_BENCHMARKS_ZOO_PEER_MUJOCO_H
#define KARAKURI_BENCHMARKS_ZOO_PEER_MUJOCO_H

#include <mujoco/mujoco.h>

struct zoo_peer {
    mjModel *m;
};

#endif
