#!/usr/bin/env python3
"""Makes tests/golden/random_models.bin anew from MuJoCo 4.0.1 (pip install mujoco-core==4.0.1 numpy). Run by hand:

    mkdir -p build/random && KK_RANDOM_MODELS=build/random build/release/karakuri_tests random_models
    tests/golden/make_random.py build/random tests/golden/random_models.bin

For each model its accelerations, doubles one after the other. With KK_RANDOM_COUNT=100000 for the first, and KK_RANDOM_COUNT and KK_RANDOM_GOLDEN for a
second run of the test, as many models as that are compared.
"""
import pathlib
import sys

import mujoco
import numpy as np


def accelerations(folder, number):
    model = mujoco.MjModel.from_xml_path(str(folder / f"{number}.xml"))
    data = mujoco.MjData(model)
    numbers = np.array((folder / f"{number}.txt").read_text().split(), dtype=float)
    assert len(numbers) == model.nq + 2 * model.nv, number
    data.qpos[:] = numbers[:model.nq]
    data.qvel[:] = numbers[model.nq::2]
    data.qfrc_applied[:] = numbers[model.nq + 1::2]
    mujoco.mj_forward(model, data)
    return data.qacc.copy()


def main():
    folder, target = map(pathlib.Path, sys.argv[1:])
    count = len(list(folder.glob("*.xml")))
    target.write_bytes(b"".join(accelerations(folder, i).astype("<f8").tobytes() for i in range(count)))
    print(f"{count} models")


if __name__ == "__main__":
    main()
