"""Holds every joint that a motor drives where it was at the start: `karakuri run robot:humanoid36 -t 2 --controller "python -m karakuri.control hold.py"`"""

KP, KD = 20.0, 1.0
held = []


def start(robot):
    """Where the joints of the actuators stand among the signals."""
    names = [(k, name) for name, k in robot.actuator.items() if f"{name}.q" in robot.signal and f"{name}.v" in robot.signal]
    held.extend([k, robot.signal[f"{name}.q"], robot.signal[f"{name}.v"], None] for k, name in names)


def control(robot):
    x, u = robot.signals, robot.controls
    for joint in held:
        k, q, v, target = joint
        if target is None:
            target = joint[3] = x[q]
        u[k] = KP * (target - x[q]) - KD * x[v]
