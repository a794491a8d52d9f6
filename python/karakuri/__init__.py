"""Karakuri: deterministic rigid multibody dynamics.

    import karakuri

    model = karakuri.load("robot.xml")
    sim = model.simulator()
    while sim.time < 1:
        sim.control[:] = 0.1
        sim.step()
    print(sim.state.joint("knee").q)

The model never changes, the state is all you must save, the simulator is scratch. `Batch` steps thousands of simulations at once;
`karakuri.c` is the whole C interface, call by call; `karakuri.mj` and `karakuri.pin` speak MuJoCo's and Pinocchio's dialects.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import c
from ._errors import (Error, FileFault, InvalidArgument, InvalidModel, NotConverged, NotFinite, NotFound, OutOfMemory,
                      SizeMismatch, SyntaxFault, Unsupported)
from ._spec import Message, Spec

if TYPE_CHECKING:
    from ._batch import Batch, height_scan, ray
    from ._model import Dynamics, Joint, JointState, Model, Picture, Simulator, State, render
    from ._variation import Randomization, add, scale

__version__ = c.kk_version() or ""
__all__ = ["Batch", "Dynamics", "Error", "FileFault", "InvalidArgument", "InvalidModel", "Joint", "JointState", "Message",
           "Model", "NotConverged", "NotFinite", "NotFound", "OutOfMemory", "Picture", "Randomization", "Simulator", "SizeMismatch", "Spec", "State",
           "SyntaxFault", "Unsupported", "add", "c", "height_scan", "load", "loads", "ray", "render", "scale"]


def __getattr__(name: str) -> Any:
    """What needs numpy is imported when it is first asked for."""
    import importlib
    if name in ("Batch", "height_scan", "ray"):
        return getattr(importlib.import_module("._batch", __name__), name)
    if name in ("Randomization", "add", "scale"):
        return getattr(importlib.import_module("._variation", __name__), name)
    if name in ("Dynamics", "Joint", "JointState", "Model", "Picture", "Simulator", "State", "render"):
        return getattr(importlib.import_module("._model", __name__), name)
    if name in ("mj", "pin", "gym"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'karakuri' has no attribute {name!r}")


def load(path: Any, **options: Any) -> Model:
    """A model from a file: URDF, xacro, MJCF. Options as of Spec.load."""
    from ._model import Model as made
    return made.load(path, **options)


def loads(text: str | bytes, **options: Any) -> Model:
    """A model from a text, with assets={path: bytes}."""
    from ._model import Model as made
    return made.from_string(text, **options)
