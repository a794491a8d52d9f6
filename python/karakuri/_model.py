"""Models, states, simulators: the three objects of the engine."""
from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import c
from ._spec import Message, Spec, fill
from ._variation import Edit, Items, Randomization, apply, check, merge

Array = NDArray[np.float64]


class Joint:
    """A joint of a model: where its numbers stand in q and v."""

    __slots__ = ("name", "body", "type", "q_slice", "v_slice")

    def __init__(self, model: Model, body: int) -> None:
        info = c.kk_model_joint(model.raw, body)
        self.name, self.body, self.type = info.name or "", body, info.type
        self.q_slice = slice(info.q_index, info.q_index + info.nq)
        self.v_slice = slice(info.v_index, info.v_index + info.nv)

    def __repr__(self) -> str:
        return f"<joint {self.name!r}: q[{self.q_slice.start}:{self.q_slice.stop}], v[{self.v_slice.start}:{self.v_slice.stop}]>"


class JointState:
    """A joint's numbers in a state: views, so that writing them moves the joint."""

    __slots__ = ("_state", "joint")

    def __init__(self, state: State, joint: Joint) -> None:
        self._state, self.joint = state, joint

    @property
    def q(self) -> Any:
        """A number where the joint has one, else a view."""
        return _number_or_view(self._state.q[self.joint.q_slice])

    @q.setter
    def q(self, value: Any) -> None:
        self._state.q[self.joint.q_slice] = value

    @property
    def v(self) -> Any:
        return _number_or_view(self._state.v[self.joint.v_slice])

    @v.setter
    def v(self, value: Any) -> None:
        self._state.v[self.joint.v_slice] = value


def _number_or_view(x: Array) -> Any:
    return float(x[0]) if len(x) == 1 else x


def _rebuild(spec: Spec, model_hash: int) -> Model:
    model = Model(spec)
    if model.hash != model_hash:
        raise ValueError("the pickled model gives another model here: it was made by another version of the engine")
    return model


def _vary_again(base: Model, numbers: dict[str, Any]) -> Model:
    return base.variation(**numbers)


class Model:
    """What never changes. `Model.load("robot.urdf")`, `Model.from_string(xml)`, or `Model(spec)`."""

    def __init__(self, spec: Spec) -> None:
        self._begin(c.kk_model_compile(spec.raw), spec.copy(), spec.messages)

    def _begin(self, raw: c.kk_model, spec: Spec, messages: list[Message], base: Model | None = None,
               numbers: Mapping[str, Any] | None = None) -> None:
        self.raw, self._spec, self.messages = raw, spec, messages
        self._base, self._numbers = base, dict(numbers or {})
        self._items: Items | None = None
        self._editing = threading.Lock()
        self.nq, self.nv, self.nbody = c.kk_model_nq(raw), c.kk_model_nv(raw), c.kk_model_nbody(raw)
        self.nu, self.na = c.kk_model_nactuator(raw), c.kk_model_nactivation(raw)
        self.nsensor, self.nsensordata = c.kk_model_nsensor(raw), c.kk_model_nsensordata(raw)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> Model:
        """Reads URDF, xacro or MJCF; options as of Spec.load."""
        return cls(Spec.load(path, **options))

    @classmethod
    def from_string(cls, text: str | bytes, *, assets: Mapping[str, bytes | str] | None = None, **options: Any) -> Model:
        return cls(Spec.from_string(text, assets=assets, **options))

    @classmethod
    def from_description(cls, name: str, **options: Any) -> Model:
        """A robot of the package robot_descriptions by its name: "go1_mj_description"."""
        import importlib
        module = importlib.import_module(f"robot_descriptions.{name}")
        path = getattr(module, "MJCF_PATH", None) or getattr(module, "URDF_PATH", None) or module.XACRO_PATH
        return cls.load(path, allow_absolute=True, **options)

    # ---- what it is made of

    @property
    def name(self) -> str:
        return c.kk_model_name(self.raw) or ""

    @property
    def hash(self) -> int:
        """Of everything that can change a result; equal on every machine."""
        return c.kk_model_hash(self.raw)

    @property
    def mass(self) -> float:
        return c.kk_model_mass(self.raw)

    @property
    def timestep(self) -> float:
        return c.kk_model_options(self.raw).timestep

    @property
    def gravity(self) -> Array:
        return np.array(c.kk_model_gravity(self.raw))

    def spec(self) -> Spec:
        """A copy of the spec it was compiled from, to be edited."""
        copy = self._spec.copy()
        if self._base is not None:
            apply(Edit(Items(copy, self.raw)), self._numbers)
        return copy

    # ---- variations

    @property
    def base(self) -> Model:
        """The model that this is a variation of; itself where it is none."""
        return self._base if self._base is not None else self

    @property
    def numbers(self) -> dict[str, Any]:
        """What differs from the base."""
        return dict(self._numbers)

    def items_of_spec(self) -> Items:
        """The items that parameters are of; only to be read."""
        if self._items is None:
            self._items = Items(self._spec, self.raw)
        return self._items

    def variation(self, **numbers: Any) -> Model:
        """The same structure with other numbers: `model.variation(mass={"trunk": 7.2}, friction=0.8, gravity=(0, 0, -9.7))`.

        A number is for all items of its kind, a mapping for those it names. A batch gives each of its simulations one of its own. Parameters:
        gravity; of bodies mass (moments follow), com, moment, place; of joints damping, stiffness, rest, armature, dry_friction, lower, upper,
        start; of materials friction, restitution; of actuators gain, gear, kp, kd and limits; of shapes size.
        """
        base = self.base
        merged = merge(self._numbers, numbers)
        check(merged)
        with base._editing, Edit(base.items_of_spec()) as edit:
            apply(edit, merged)
            raw = c.kk_model_vary(base.raw, base._spec.raw)
        varied = Model.__new__(Model)
        varied._begin(raw, base._spec, base.messages, base, merged)
        return varied

    def randomization(self, **ranges: Any) -> Randomization:
        """Ranges to draw variations from; see Randomization."""
        return Randomization(self.base, **ranges)

    def _id(self, kind: str, which: str | int, count: int) -> int:
        if isinstance(which, str):
            found = getattr(c, f"kk_model_find_{kind}")(self.raw, which)
            if found < 0:
                raise LookupError(f"there is no {kind} named {which!r}")
            return found
        if not 0 <= which < count:
            raise IndexError(f"{kind} {which}: there are {count}")
        return which

    def body(self, which: str | int) -> int:
        """The id of a body by its name."""
        return self._id("body", which, self.nbody)

    def frame(self, which: str | int) -> int:
        return self._id("frame", which, c.kk_model_nframe(self.raw))

    def actuator(self, which: str | int) -> int:
        return self._id("actuator", which, self.nu)

    def sensor(self, which: str | int) -> slice:
        """Where a sensor's numbers stand among all readings."""
        info = c.kk_model_sensor(self.raw, self._id("sensor", which, self.nsensor))
        return slice(info.first, info.first + info.count)

    def keyframe(self, which: str | int) -> int:
        return self._id("keyframe", which, c.kk_model_nkeyframe(self.raw))

    def joint(self, which: str | int) -> Joint:
        """A joint by its name, or that of a body by the body's id."""
        return Joint(self, self._id("joint", which, self.nbody) if isinstance(which, str) else self.body(which))

    @property
    def body_names(self) -> list[str]:
        return [c.kk_model_body_name(self.raw, k) or "" for k in range(self.nbody)]

    @property
    def joints(self) -> list[Joint]:
        """All joints that move, in the order of the bodies."""
        return [joint for joint in (Joint(self, k) for k in range(1, self.nbody)) if joint.v_slice.stop > joint.v_slice.start]

    @property
    def actuator_names(self) -> list[str]:
        return [c.kk_model_actuator(self.raw, k).name or "" for k in range(self.nu)]

    @property
    def control_range(self) -> Array:
        """[nu, 2] limits of the controls; ∓inf: none."""
        infos = [c.kk_model_actuator(self.raw, k) for k in range(self.nu)]
        return np.array([[info.control_lower, info.control_upper] for info in infos]).reshape(self.nu, 2)

    # ---- configurations

    def neutral(self) -> Array:
        q = np.zeros(self.nq)
        c.kk_model_neutral(self.raw, q)
        return q

    def start(self) -> Array:
        q = np.zeros(self.nq)
        c.kk_model_start(self.raw, q)
        return q

    def random_q(self, seed: int = 0, stream: int = 0) -> Array:
        q = np.zeros(self.nq)
        c.kk_model_random_q(self.raw, seed, stream, q)
        return q

    def integrate(self, q: Any, v: Any) -> Array:
        """q moved along v for one unit of time."""
        result = np.zeros(self.nq)
        c.kk_integrate(self.raw, _numbers("q", q, self.nq), _numbers("v", v, self.nv), result)
        return result

    def difference(self, q0: Any, q1: Any) -> Array:
        """v with integrate(q0, v) = q1."""
        result = np.zeros(self.nv)
        c.kk_difference(self.raw, _numbers("q0", q0, self.nq), _numbers("q1", q1, self.nq), result)
        return result

    # ---- what is made of it

    def state(self) -> State:
        return State(self)

    def simulator(self, state: State | None = None, **options: Any) -> Simulator:
        return Simulator(self, state, **options)

    def batch(self, count: int, **options: Any) -> Any:
        from ._batch import Batch
        return Batch(self, count, **options)

    def dynamics(self) -> Dynamics:
        return Dynamics(self)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._base is not None:
            return _vary_again, (self._base, self._numbers)
        return _rebuild, (self._spec, self.hash)

    def __copy__(self) -> Model:
        return self  # it never changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.nbody - 1} bodies, nq {self.nq}, nv {self.nv}, {self.nu} actuators>"


def _numbers(name: str, value: Any, count: int) -> Array:
    """As float64 of a length, or an exception that names the argument."""
    try:
        array = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError) as wrong:
        raise TypeError(f"{name} must be {count} numbers: {wrong}") from None
    if array.size != count:
        raise ValueError(f"{name} has {array.size} numbers; {count} are wanted")
    return array


def _restored(model: Model, saved: bytes) -> State:
    state = State(model)
    state.restore(saved)
    return state


class State:
    """All you must save. `q`, `v` and `act` are views: writing them writes the state."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.raw = c.kk_state_create(model.raw)
        self._q, self._v = np.asarray(c.kk_state_q(self.raw)), np.asarray(c.kk_state_v(self.raw))
        self._act = np.asarray(c.kk_state_activation(self.raw))

    @property
    def q(self) -> Array:
        return self._q

    @q.setter
    def q(self, value: Any) -> None:
        self._q[:] = _numbers("q", value, self.model.nq)

    @property
    def v(self) -> Array:
        return self._v

    @v.setter
    def v(self, value: Any) -> None:
        self._v[:] = _numbers("v", value, self.model.nv)

    @property
    def act(self) -> Array:
        return self._act

    @act.setter
    def act(self, value: Any) -> None:
        self._act[:] = _numbers("act", value, self.model.na)

    @property
    def time(self) -> float:
        return c.kk_state_time(self.raw)

    @time.setter
    def time(self, time: float) -> None:
        c.kk_state_set_time(self.raw, time)

    def joint(self, name: str | int) -> JointState:
        return JointState(self, self.model.joint(name))

    def set_keyframe(self, which: str | int) -> State:
        c.kk_state_set_keyframe(self.model.raw, self.raw, self.model.keyframe(which))
        return self

    def set_loop(self, name: str, on: bool) -> None:
        c.kk_state_set_loop(self.model.raw, self.raw, c.kk_model_find_loop(self.model.raw, name), int(on))

    @property
    def hash(self) -> int:
        """Of every number in it; equal on every machine."""
        return c.kk_state_hash(self.raw)

    def check(self) -> None:
        """Raises where a number is not finite or a quaternion not of unit length."""
        c.kk_state_check(self.model.raw, self.raw)

    def save(self) -> bytes:
        saved = bytearray(c.kk_state_saved_size(self.raw))
        c.kk_state_save(self.raw, saved)
        return bytes(saved)

    def restore(self, saved: bytes) -> None:
        c.kk_state_restore(self.raw, saved)

    def assign(self, other: State) -> None:
        """Takes over all of another state of the same model."""
        c.kk_state_copy(self.raw, other.raw)

    def copy(self) -> State:
        copy = State(self.model)
        copy.assign(self)
        return copy

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.model, self.save())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and bool(c.kk_state_equal(self.raw, other.raw))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<State of {self.model.name!r} at {self.time:g} s>"


def step_options(options: Mapping[str, Any]) -> c.kk_step_options:
    """Options of a step by their names in kk_step_options; workers is a number of threads or a pool of karakuri.c.workers."""
    raw = c.kk_step_options()
    rest = dict(options)
    workers = rest.pop("workers", None)
    unknown = [name for name in rest if not hasattr(raw, name)]
    if unknown:
        raise TypeError(f"there is no option {unknown[0]!r} of a step")
    fill(raw, {name: int(value) if isinstance(value, bool) else value for name, value in rest.items()})
    if workers is not None:
        raw.workers = c.workers(workers) if isinstance(workers, int) else workers
    return raw


class Picture:
    """What a camera sees: `rgb` [height, width, 3] of bytes, `depth` [height, width] in m, infinite where nothing is, and `body` [height, width], ids of the
    bodies that are seen, −1 for the sky."""

    __slots__ = ("rgb", "depth", "body")

    def __init__(self, width: int, height: int) -> None:
        self.rgb = np.zeros((height, width, 3), np.uint8)
        self.depth = np.zeros((height, width))
        self.body = np.zeros((height, width), np.int32)

    def __repr__(self) -> str:
        return f"<Picture of {self.rgb.shape[1]} × {self.rgb.shape[0]}>"

    def _repr_png_(self) -> bytes:
        """What a notebook shows."""
        import struct
        import zlib
        height, width, _ = self.rgb.shape
        rows = np.concatenate([np.zeros((height, 1), np.uint8), self.rgb.reshape(height, 3 * width)], axis=1)

        def chunk(name: bytes, data: bytes) -> bytes:
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

        head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b"")


def render(model: Model, q: Any, width: int = 640, height: int = 480, *, eye: Any = None, target: Any = None, view: float = 40,
           azimuth: float = -60, elevation: float = 14, distance: float | None = None) -> Picture:
    """A picture by the engine's own renderer. The camera is at `eye`, or turned to azimuth and elevation (degrees) at a distance from the target, or so that
    everything is in view; view is the angle from the lower edge to the upper one, degrees."""
    none = np.full(3, np.nan)
    place = np.concatenate([none if eye is None else _numbers("eye", eye, 3), none if target is None else _numbers("target", target, 3),
                            [view, azimuth, elevation, np.nan if distance is None else distance]])
    if eye is not None and target is None:
        raise ValueError("eye looks at nothing: give target as well")
    picture = Picture(width, height)
    c._draw(model.raw, _numbers("q", q, model.nq), place, width, height, picture.rgb, picture.depth, picture.body)
    return picture


class Simulator:
    """Steps a state: `sim.control[:] = …; sim.step()`. Options are those of kk_step_options (timestep, tolerance, strict, effort, …)."""

    step: Callable[[], None]

    def __init__(self, model: Model, state: State | None = None, **options: Any) -> None:
        if state is not None and state.model is not model and state.model.hash != model.hash:
            raise ValueError("state belongs to another model")
        self.model = model
        self.state = state if state is not None else State(model)
        self.raw = c.kk_simulator_create(model.raw, step_options(options))
        self._control, self._tau = np.zeros(model.nu), np.zeros(model.nv)
        self._wrench = np.zeros((model.nbody, 6))
        self._input = c.kk_input(control=self._control, tau=self._tau, wrench=self._wrench)
        self._sensors = np.zeros(model.nsensordata)
        self._command: c.kk_command | None = None
        self.step = functools.partial(c.kk_step, model.raw, self.state.raw, self.raw, self._input)

    @property
    def control(self) -> Array:
        """[nu] kept from step to step."""
        return self._control

    @control.setter
    def control(self, value: Any) -> None:
        self._control[:] = _numbers("control", value, self.model.nu)

    @property
    def tau(self) -> Array:
        """[nv] further joint forces, kept from step to step."""
        return self._tau

    @tau.setter
    def tau(self, value: Any) -> None:
        self._tau[:] = _numbers("tau", value, self.model.nv)

    @property
    def wrench(self) -> Array:
        """[nbody, 6] moment and force on each body in its frame, kept from step to step."""
        return self._wrench

    @property
    def q(self) -> Array:
        return self.state.q

    @property
    def v(self) -> Array:
        return self.state.v

    @property
    def time(self) -> float:
        return self.state.time

    def run(self, steps: int, controller: Callable[[State, Simulator], Any] | None = None) -> None:
        """So many steps; the controller is asked before each and may write control, tau and wrench."""
        for _ in range(steps):
            if controller is not None:
                controller(self.state, self)
            self.step()

    def reset(self, keyframe: str | int | None = None) -> None:
        self.state.assign(State(self.model))
        if keyframe is not None:
            self.state.set_keyframe(keyframe)
        self._control[:], self._tau[:], self._wrench[:] = 0, 0, 0

    # ---- after a step

    @property
    def report(self) -> c.kk_report:
        """The proof of the last step, and what it cost."""
        return c.kk_simulator_report(self.raw)

    @property
    def contacts(self) -> list[c.kk_contact]:
        return c.kk_simulator_contacts(self.raw)

    def contact_wrench(self, body: str | int, other: str | int | None = None) -> Array:
        """What contacts do to a body: moment about the world's origin, force."""
        against = -1 if other is None else self.model.body(other)
        return np.array(c.kk_simulator_contact_wrench(self.raw, self.model.body(body), against))

    def sensors(self, seed: int = 0) -> Array:
        """All readings after the last step; the same array at every call."""
        c.kk_simulator_read_sensors(self.raw, self.state.raw, seed, self._sensors)
        return self._sensors

    def sensor(self, name: str) -> Array:
        return self.sensors()[self.model.sensor(name)]

    @property
    def acceleration(self) -> Array:
        return np.array(c.kk_simulator_acceleration(self.raw))

    def force(self, source: str) -> Array:
        """[nv] mean generalized forces over the step: actuator, passive, limit, friction, constraint, contact, applied."""
        number = getattr(c, f"KK_FORCE_{source.upper()}", None)
        if number is None:
            raise ValueError(f"source is {source!r}; it is one of actuator, passive, limit, friction, constraint, contact, applied")
        return np.array(c.kk_simulator_force(self.raw, number))

    def pose(self, body: str | int) -> tuple[Array, Array]:
        """Rotation matrix and position of a body now."""
        pose = c.kk_simulator_body_pose(self.raw, self.state.raw, self.model.body(body))
        return np.array(pose.R).reshape(3, 3), np.array(pose.p)

    def velocity(self, body: str | int) -> Array:
        """[6] angular and linear velocity of a body's origin now, world axes."""
        return np.array(c.kk_simulator_body_velocity(self.raw, self.state.raw, self.model.body(body), c.KK_WORLD_ALIGNED))

    def jacobian(self, body: str | int) -> Array:
        """[6, nv] of a body's origin now, world axes."""
        J = np.zeros((6, self.model.nv))
        c.kk_simulator_body_jacobian(self.raw, self.state.raw, self.model.body(body), c.KK_WORLD_ALIGNED, J)
        return J

    def render(self, width: int = 640, height: int = 480, **camera: Any) -> Picture:
        """A picture of now; the camera as of karakuri.render."""
        return render(self.model, self.q, width, height, **camera)

    def _repr_png_(self) -> bytes:
        return self.render(480, 360)._repr_png_()

    def __repr__(self) -> str:
        return f"<Simulator of {self.model.name!r} at {self.time:g} s>"


class Dynamics:
    """Articulated-body algorithms with scratch of their own; for one thread."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.raw = c.kk_data_create_with_matrices(model.raw)

    def _in(self, **arrays: Any) -> list[Array]:
        return [_numbers(name, value, self.model.nq if name == "q" else self.model.nv) for name, value in arrays.items()]

    def kinematics(self, q: Any, v: Any = None, a: Any = None) -> Dynamics:
        zeros = np.zeros(self.model.nv)
        c.kk_kinematics_acceleration(self.model.raw, self.raw, *self._in(q=q, v=zeros if v is None else v, a=zeros if a is None else a))
        return self

    def pose(self, body: str | int) -> tuple[Array, Array]:
        pose = c.kk_body_pose(self.model.raw, self.raw, self.model.body(body))
        return np.array(pose.R).reshape(3, 3), np.array(pose.p)

    def frame_pose(self, frame: str | int) -> tuple[Array, Array]:
        pose = c.kk_frame_pose(self.model.raw, self.raw, self.model.frame(frame))
        return np.array(pose.R).reshape(3, 3), np.array(pose.p)

    def velocity(self, body: str | int, reference: int = c.KK_LOCAL) -> Array:
        return np.array(c.kk_body_velocity(self.model.raw, self.raw, self.model.body(body), reference))

    def inverse(self, q: Any, v: Any, a: Any) -> Array:
        """tau that gives the acceleration a."""
        tau = np.zeros(self.model.nv)
        c.kk_inverse_dynamics(self.model.raw, self.raw, *self._in(q=q, v=v, a=a), tau)
        return tau

    def forward(self, q: Any, v: Any, tau: Any) -> Array:
        a = np.zeros(self.model.nv)
        c.kk_forward_dynamics(self.model.raw, self.raw, *self._in(q=q, v=v, tau=tau), a)
        return a

    def inertia(self, q: Any) -> Array:
        M = np.zeros((self.model.nv, self.model.nv))
        c.kk_inertia_matrix(self.model.raw, self.raw, *self._in(q=q), M)
        return M

    def bias(self, q: Any, v: Any) -> Array:
        tau = np.zeros(self.model.nv)
        c.kk_bias_force(self.model.raw, self.raw, *self._in(q=q, v=v), tau)
        return tau

    def gravity(self, q: Any) -> Array:
        tau = np.zeros(self.model.nv)
        c.kk_gravity_force(self.model.raw, self.raw, *self._in(q=q), tau)
        return tau

    def jacobian(self, q: Any, body: str | int, reference: int = c.KK_LOCAL) -> Array:
        """[6, nv], rows [angular; linear]."""
        J = np.zeros((6, self.model.nv))
        c.kk_jacobians(self.model.raw, self.raw, *self._in(q=q))
        c.kk_body_jacobian(self.model.raw, self.raw, self.model.body(body), reference, J)
        return J

    def center_of_mass(self, q: Any) -> Array:
        return np.array(c.kk_center_of_mass(self.model.raw, self.raw, *self._in(q=q)))

    def energy(self, q: Any, v: Any) -> tuple[float, float]:
        """Kinetic and potential."""
        q, v = self._in(q=q, v=v)
        return c.kk_kinetic_energy(self.model.raw, self.raw, q, v), c.kk_potential_energy(self.model.raw, self.raw, q)

    def inverse_derivatives(self, q: Any, v: Any, a: Any) -> tuple[Array, Array]:
        """d tau/d q and d tau/d v."""
        n = self.model.nv
        dq, dv = np.zeros((n, n)), np.zeros((n, n))
        c.kk_inverse_dynamics_derivatives(self.model.raw, self.raw, *self._in(q=q, v=v, a=a), dq, dv)
        return dq, dv
