"""Batches: many simulations of one model, stepped together."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import c
from ._errors import Error
from ._model import Array, Model, State, step_options


def _type_of(struct: str) -> np.dtype[Any]:
    names, formats, offsets, size = c.layout(struct)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def ray(model: Model, body: str | int, origin: Sequence[float], direction: Sequence[float], limit: float, *, axes: str = "body",
        sees_all: bool = False) -> c.kk_body_ray:
    """A ray that goes with a body, in the axes of the body, of the world, or z up and x ahead ("yaw"). It sees what is fixed to the world, or all."""
    numbers = {"body": c.KK_RAY_BODY, "yaw": c.KK_RAY_YAW, "world": c.KK_RAY_WORLD}
    if axes not in numbers:
        raise ValueError(f"axes is {axes!r}; it is one of {', '.join(numbers)}")
    return c.kk_body_ray(body=model.body(body), axes=numbers[axes], origin=list(origin), direction=list(direction), limit=limit, sees_all=int(sees_all))


def height_scan(model: Model, body: str | int, x: Sequence[float], y: Sequence[float], *, above: float = 1, reach: float = 5) -> list[c.kk_body_ray]:
    """Rays straight down over a grid of the ground around a body that turns with it: x outer, y inner. They begin `above` the body's origin, so the height of
    the ground below it is above − distance."""
    return [ray(model, body, (a, b, above), (0, 0, -1), reach, axes="yaw") for a in x for b in y]


class Batch:
    """n simulations of one model. Row i of every array is simulation i; arrays are views, so writing them drives and places simulations.

    workers is a number of threads (all processors by default); results are the same bits for any number. sensors and poses say what is
    filled in after a step; contacts is how many of each are told of in `.contacts`, rays go with bodies (see height_scan) and
    measure `.distances`. variations give simulations parameters of their own, see Model.variation. Other options are those of kk_step_options.
    """

    _twin: Batch | None

    def __init__(self, model: Model, count: int, *, workers: int | None = None, sensors: bool = True, poses: bool = False,
                 contacts: int = 0, rays: Sequence[c.kk_body_ray] = (), seed: int = 0, variations: Sequence[Model | None] | None = None, **options: Any) -> None:
        threads = min(workers if workers is not None else len(os.sched_getaffinity(0)), count)
        self.model, self.count = model, count
        self._varied: list[Model | None] = [None] * count
        self._made = {"workers": workers, "sensors": sensors, "poses": poses, "contacts": contacts, "seed": seed, **options}
        self._rays, self._twin = list(rays), None
        self._step_options = options
        definition = c.kk_simulations_def(sensors=int(sensors), poses=int(poses), contacts=contacts, seed=seed)
        if self._rays:
            definition.ray = self._rays
        definition.step = step_options({**options, **({"workers": threads} if threads > 1 else {})})
        self.raw = c.kk_simulations_create(model.raw, count, definition)
        raw, n = self.raw, count
        self._time, self._q, self._v = (np.asarray(f(raw)) for f in (c.kk_simulations_time, c.kk_simulations_q, c.kk_simulations_v))
        self._act, self._control = np.asarray(c.kk_simulations_activation(raw)), np.asarray(c.kk_simulations_control(raw))
        self._tau = np.asarray(c.kk_simulations_tau(raw))
        self._wrench = np.asarray(c.kk_simulations_wrench(raw)).reshape(n, model.nbody, 6)
        self.sensors: Array = np.asarray(c.kk_simulations_sensor_data(raw))
        self.poses: Array = np.asarray(c.kk_simulations_poses(raw)).reshape(n, model.nbody, 7)
        self.velocities: Array = np.asarray(c.kk_simulations_velocities(raw)).reshape(n, model.nbody, 6)
        self.results: NDArray[Any] = np.asarray(c.kk_simulations_results(raw)).reshape(-1).view(_type_of("kk_simulation_result"))
        self.distances: Array = np.asarray(c.kk_simulations_distances(raw)).reshape(n, len(self._rays))
        self.ncontact: NDArray[np.int32] = np.asarray(c.kk_simulations_ncontact(raw))
        told = np.asarray(c.kk_simulations_contacts(raw)).reshape(-1)
        self.contacts: NDArray[Any] = told.view(_type_of("kk_contact")).reshape(n, contacts)
        if variations is not None:
            self.vary(variations)
            self.reset()

    @property
    def variations(self) -> list[Model]:
        """The model of each simulation."""
        return [varied if varied is not None else self.model for varied in self._varied]

    def vary(self, variations: Sequence[Model | None] | Model | None, index: Sequence[int] | NDArray[Any] | None = None) -> None:
        """Gives simulations parameters of their own, or one variation to all of them; None: those of the model. Their rows stay as they are, so
        a reset belongs behind it."""
        chosen = self._index(index)
        rows = range(self.count) if chosen is None else chosen.tolist()
        listed = [variations] * len(rows) if variations is None or isinstance(variations, Model) else list(variations)
        if len(listed) != len(rows):
            raise ValueError(f"variations are {len(listed)}; {len(rows)} are wanted, one for each simulation")
        for row, varied in zip(rows, listed):
            c.kk_simulations_vary(self.raw, row, varied.raw if varied is not None else None)
            self._varied[row] = varied

    def __len__(self) -> int:
        return self.count

    def _set(self, name: str, array: Array, value: Any) -> None:
        try:
            array[...] = value
        except (TypeError, ValueError) as wrong:
            raise type(wrong)(f"{name} must be {array.shape} numbers: {wrong}") from None

    @property
    def time(self) -> Array:
        return self._time

    @time.setter
    def time(self, value: Any) -> None:
        self._set("time", self._time, value)

    @property
    def q(self) -> Array:
        """[n, nq]"""
        return self._q

    @q.setter
    def q(self, value: Any) -> None:
        self._set("q", self._q, value)

    @property
    def v(self) -> Array:
        """[n, nv]"""
        return self._v

    @v.setter
    def v(self, value: Any) -> None:
        self._set("v", self._v, value)

    @property
    def act(self) -> Array:
        """[n, na]"""
        return self._act

    @act.setter
    def act(self, value: Any) -> None:
        self._set("act", self._act, value)

    @property
    def control(self) -> Array:
        """[n, nu], kept from step to step."""
        return self._control

    @control.setter
    def control(self, value: Any) -> None:
        self._set("control", self._control, value)

    @property
    def tau(self) -> Array:
        """[n, nv] further joint forces, kept from step to step."""
        return self._tau

    @tau.setter
    def tau(self, value: Any) -> None:
        self._set("tau", self._tau, value)

    @property
    def wrench(self) -> Array:
        """[n, nbody, 6] moment and force on each body in its frame, kept from step to step."""
        return self._wrench

    @wrench.setter
    def wrench(self, value: Any) -> None:
        self._set("wrench", self._wrench, value)

    def _index(self, index: Sequence[int] | NDArray[Any] | None) -> NDArray[np.int32] | None:
        if index is None:
            return None
        array = np.asarray(index)
        if array.dtype == np.bool_:
            if array.shape != (self.count,):
                raise ValueError(f"index has {array.shape} truths; {self.count} are wanted")
            array = np.flatnonzero(array)
        if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
            raise TypeError("index must be a list of numbers of simulations, or their truths")
        return np.ascontiguousarray(array, dtype=np.int32)

    def step(self, substeps: int = 1, index: Sequence[int] | NDArray[Any] | None = None, *, check: bool = True) -> None:
        """So many steps of all simulations, or of those named. All others go on where one fails; that is then raised, with the numbers of all
        that failed in `.simulations`, unless check is False: `results["status"]` tells as well."""
        try:
            c.kk_simulations_step(self.raw, self._index(index), substeps)
        except Error as error:
            failed = np.flatnonzero(self.results["status"])
            if check or not len(failed) or error.text.startswith("index"):
                error.simulations = failed.tolist()  # type: ignore[attr-defined]
                raise

    def rollout(self, control: Any, substeps: int = 1, index: Sequence[int] | NDArray[Any] | None = None, *, sensors: bool = False,
                check: bool = True) -> tuple[Array, ...]:
        """Open loop: control is [n, steps, nu], each row held for so many substeps. Gives q [n, steps, nq], v [n, steps, nv] and, if asked for,
        the sensors [n, steps, nsensordata] after each row."""
        rows, model = self._index(index), self.model
        n = self.count if rows is None else len(rows)
        control = np.ascontiguousarray(control, np.float64)
        if control.ndim != 3 or control.shape[0] != n or control.shape[2] != model.nu:
            raise ValueError(f"control is {control.shape}; ({n}, steps, {model.nu}) is wanted")
        steps = control.shape[1]
        q, v, readings = (np.zeros((n, steps, width)) for width in (model.nq, model.nv, model.nsensordata))
        try:
            c.kk_simulations_rollout(self.raw, rows, steps, substeps, control, q, v, readings if sensors else None)
        except Error as error:
            failed = np.flatnonzero(self.results["status"])
            if check or not len(failed) or error.text.startswith("index"):
                error.simulations = failed.tolist()  # type: ignore[attr-defined]
                raise
        return (q, v, readings) if sensors else (q, v)

    def reset(self, index: Sequence[int] | NDArray[Any] | None = None, state: State | None = None,
              keyframe: str | int | None = None) -> None:
        """Puts simulations at a state, a keyframe or the model's start; controls and forces become zero."""
        if keyframe is not None:
            if state is not None:
                raise ValueError("state and keyframe are both given")
            state = State(self.model).set_keyframe(keyframe)
        c.kk_simulations_reset(self.raw, self._index(index), state.raw if state is not None else None)

    def forward(self, index: Sequence[int] | NDArray[Any] | None = None) -> None:
        """Fills poses and velocities from q and v as they are."""
        c.kk_simulations_forward(self.raw, self._index(index))

    def linearize(self, index: Sequence[int] | NDArray[Any] | None = None, *, substeps: int = 1, step: float = 1e-3) -> tuple[Array, Array, Array, Array]:
        """The step's derivatives where simulations are now, with their controls, by central differences over a batch of its own: δx' = A δx + B δu,
        δsensors = C δx + D δu, x = (configuration along the model's tangent, v, activations). A [n, nx, nx], B [n, nx, nu], C [n, ns, nx], D [n, ns, nu].
        Contacts are felt as they are: across a change of contact the slope is that of the chord."""
        model, chosen = self.model, self._index(index)
        rows = np.arange(self.count) if chosen is None else chosen
        nv, na, nu, ns = model.nv, model.na, model.nu, model.nsensordata
        nx, width = 2 * nv + na, 2 * nv + na + nu
        twin = self._twin if self._twin is not None and len(self._twin) == 2 * width else Batch(model, 2 * width, sensors=ns > 0, **self._step_options)
        self._twin = twin
        A, B = np.zeros((len(rows), nx, nx)), np.zeros((len(rows), nx, nu))
        C, D = np.zeros((len(rows), ns, nx)), np.zeros((len(rows), ns, nu))
        tangent = np.zeros(nv)
        for k, row in enumerate(rows.tolist()):
            state, middle = self.state(row), self.q[row].copy()
            twin.vary(self._varied[row])
            twin.reset()
            for i in range(2 * width):
                twin.set_state(i, state)
            twin.control[:], twin.tau[:], twin.wrench[:] = self.control[row], self.tau[row], self.wrench[row]
            for j in range(width):
                for i, way in ((2 * j, step), (2 * j + 1, -step)):
                    if j < nv:
                        tangent[:] = 0
                        tangent[j] = way
                        c.kk_integrate(model.raw, middle, tangent, twin.q[i])
                    elif j < 2 * nv:
                        twin.v[i, j - nv] += way
                    elif j < nx:
                        twin.act[i, j - 2 * nv] += way
                    else:
                        twin.control[i, j - nx] += way
            twin.step(substeps)
            change = np.zeros((width, nx))
            for j in range(width):
                c.kk_difference(model.raw, twin.q[2 * j + 1], twin.q[2 * j], change[j, :nv])
            change[:, nv:2 * nv] = twin.v[0::2] - twin.v[1::2]
            change[:, 2 * nv:] = twin.act[0::2] - twin.act[1::2]
            change /= 2 * step
            read = (twin.sensors[0::2] - twin.sensors[1::2]) / (2 * step)
            A[k], B[k], C[k], D[k] = change[:nx].T, change[nx:].T, read[:nx].T, read[nx:].T
        return A, B, C, D

    def state(self, index: int) -> State:
        """A simulation as a state, with all that its next step starts from."""
        if not -self.count <= index < self.count:
            raise IndexError(f"simulation {index}: there are {self.count}")
        state = State(self._varied[index] or self.model)
        c.kk_simulations_get_state(self.raw, index, state.raw)
        return state

    def set_state(self, index: int, state: State) -> None:
        c.kk_simulations_set_state(self.raw, index, state.raw)

    def __reduce__(self) -> tuple[Any, ...]:
        kept = [self.control.copy(), self.tau.copy(), self.wrench.copy(), [self.state(k).save() for k in range(self.count)], self._varied]
        rays = [{name: getattr(ray, name) for name in ("body", "axes", "limit", "sees_all")} | {"origin": np.array(ray.origin).tolist(),
                                                                                        "direction": np.array(ray.direction).tolist()}
                for ray in self._rays]
        return _rebuilt, (self.model, self.count, self._made, kept, rays)

    def __repr__(self) -> str:
        return f"<Batch of {self.count} of {self.model.name!r}>"


def _rebuilt(model: Model, count: int, made: dict[str, Any], kept: list[Any], rays: list[dict[str, Any]]) -> Batch:
    batch = Batch(model, count, rays=[c.kk_body_ray(**ray) for ray in rays], **made)
    if any(kept[4]):
        batch.vary(kept[4])
    batch.control, batch.tau, batch.wrench = kept[:3]
    for k, saved in enumerate(kept[3]):
        state = State(kept[4][k] or model)
        state.restore(saved)
        batch.set_state(k, state)
    return batch
