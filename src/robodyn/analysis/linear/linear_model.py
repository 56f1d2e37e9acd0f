"""Linear state-space model: how does a system answer to small changes? Pure delays are kept as they are.

    x' = A x + B u + E d        states
    w  = F x + G u + H d        signals that are delayed
    d_i(t) = w_i(t - tau_i)
    y  = C x + D u + K d        outputs

All are deviations from an operating point. Without delays these are A, B, C, D alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.base import Array, Displayed, Flaw, FlawList, ModelError, frozen, refuse_unknown
from robodyn.computation.assembly.control.feedback import Variable as Variable
from robodyn.computation.assembly.control.feedback import approximate_delay as approximate_delay
from robodyn.computation.assembly.control.feedback import close_lines, join_lines

if TYPE_CHECKING:
    from .linearisation import OperatingPoint

# Matrix -> what its rows and columns stand for.
MATRICES = {
    **{"A": ("x", "x"), "B": ("x", "u"), "E": ("x", "d")},
    **{"F": ("d", "x"), "G": ("d", "u"), "H": ("d", "d")},
    **{"C": ("y", "x"), "D": ("y", "u"), "K": ("y", "d")},
}


def _not_given() -> Any:
    return field(default_factory=lambda: np.zeros((0, 0)))


@frozen
class DelayedSignal:
    """A pure delay of a linear model: `output(t) = signal(t - time)`, time in s."""

    name: str
    time: float
    unit: str = ""


@frozen(eq=False)
class LinearModel(Displayed):
    """A linear model with pure delays; a matrix that is not given is zero, names that are not are numbered.

    Attributes:
        point: where it was linearised.
        notes: sentences for whoever uses the numbers: what is held, what is not smooth.
    """

    A: Array
    B: Array = _not_given()
    C: Array = _not_given()
    D: Array = _not_given()
    E: Array = _not_given()
    F: Array = _not_given()
    G: Array = _not_given()
    H: Array = _not_given()
    K: Array = _not_given()
    states: tuple[Variable, ...] = ()
    inputs: tuple[Variable, ...] = ()
    outputs: tuple[Variable, ...] = ()
    delays: tuple[DelayedSignal, ...] = ()
    point: OperatingPoint | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        flaws = FlawList()
        for part, kind in (
            ("states", Variable),
            ("inputs", Variable),
            ("outputs", Variable),
            ("delays", DelayedSignal),
        ):
            for k, entry in enumerate(getattr(self, part)):
                if not isinstance(entry, kind):
                    flaws.add(f"{part}[{k}]", f"must be a {kind.__name__}, is {entry!r}")
        flaws.raise_if_any("linear model")
        # How many x, u, y and d there are, as the matrices that are given say; else as many as are named.
        shapes = {key: np.atleast_2d(np.asarray(getattr(self, key))).shape for key in MATRICES}
        sizes = {"x": shapes["A"][0], "d": len(self.delays), "u": len(self.inputs), "y": len(self.outputs)}
        sizes["u"] = max([shapes[key][1] for key in "BDG" if 0 not in shapes[key]], default=sizes["u"])
        sizes["y"] = max([shapes[key][0] for key in "CDK" if 0 not in shapes[key]], default=sizes["y"])
        for key, (row, column) in MATRICES.items():
            matrix = np.atleast_2d(np.array(getattr(self, key), float))
            shape = (sizes[row], sizes[column])
            if matrix.size and matrix.shape != shape:
                flaws.add(key, f"must be {shape[0]} by {shape[1]}, is {matrix.shape[0]} by {matrix.shape[1]}")
            elif not np.all(np.isfinite(matrix)):
                flaws.add(key, "has entries that are not finite numbers")
            matrix = matrix if matrix.size else np.zeros((sizes[row], sizes[column]))
            matrix.flags.writeable = False
            object.__setattr__(self, key, matrix)
        for part, letter in (("states", "x"), ("inputs", "u"), ("outputs", "y")):
            named = tuple(getattr(self, part)) or tuple(Variable(f"{letter}{k + 1}") for k in range(sizes[letter]))
            if len(named) != sizes[letter]:
                flaws.add(part, f"{len(named)} names for {sizes[letter]}")
            object.__setattr__(self, part, named)
        for delay in self.delays:
            if not (delay.time > 0 and np.isfinite(delay.time)):
                flaws.add(f"delays.{delay.name}", f"must be positive, is {delay.time:g} s", "leave it out")
        object.__setattr__(self, "delays", tuple(self.delays))
        flaws.raise_if_any("linear model")

    def __repr__(self) -> str:
        sizes = f"{self.order} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"<LinearModel of {sizes}{f', {len(self.delays)} delays' if self.delays else ''}>"

    @property
    def order(self) -> int:
        """Number of states; a delay adds infinitely many more."""
        return len(self.states)

    @property
    def delay_times(self) -> Array:
        """tau [s], (n_delays,)."""
        return np.array([delay.time for delay in self.delays], float)

    def transfer(self, s: ArrayLike) -> Array:
        """Transfer matrix Y(s) U(s)^-1 at complex frequencies, delays exact: (*s.shape, n_outputs, n_inputs).

        [s I - A     -E          ] [x]   [B]
        [-F          e^(s tau) - H] [d] = [G] u,   y = [C  K] [x; d] + D u
        """
        try:
            solved = np.linalg.solve(self.pencil(s), np.vstack([self.B, self.G]).astype(complex))
        except np.linalg.LinAlgError as error:
            what = "one of the frequencies is a pole of the model, where the response is unbounded"
            raise ModelError([Flaw("s", what, "leave it out")], "linear model") from error
        return np.hstack([self.C, self.K]) @ solved + self.D

    def frequency_response(self, omega: ArrayLike) -> Array:
        """Exact response at angular frequencies [rad/s]: (*omega.shape, n_outputs, n_inputs), complex."""
        return self.transfer(1j * np.asarray(omega, float))

    def pencil(self, s: ArrayLike) -> Array:
        """P(s) = [[s I - A, -E], [-F, e^(s tau) - H]]: singular exactly at the poles, (*s.shape, n, n)."""
        s = np.asarray(s, complex)[..., None]
        diagonal = np.concatenate([np.broadcast_to(s, (*s.shape[:-1], self.order)), np.exp(s * self.delay_times)], -1)
        return diagonal[..., None] * np.eye(diagonal.shape[-1]) - self.coupling

    @cached_property
    def coupling(self) -> Array:
        """[[A, E], [F, H]]."""
        return np.block([[self.A, self.E], [self.F, self.H]])

    def poles(self, order: int | None = None) -> Array:
        """Poles [rad/s], complex, by magnitude; with delays those of infinitely many that Pade of the order resolves.

        Without delays these are the eigenvalues of A. With delays each pole of the Pade model is refined by
        Newton's method on det P(s) = 0 with the exact e^(s tau) (see `pencil`), and kept where it stays near.
        """
        from .poles import PADE_ORDER, find_pole_values

        return find_pole_values(self, PADE_ORDER if order is None else order)

    def with_pade(self, order: int) -> LinearModel:
        """This model with each delay replaced by its Pade approximation: a finite model without delays.

        Args:
            order: of each approximation; 0 leaves the delays out (d = w).
        """
        if not self.delays:
            return self
        line = join_lines(tuple(delay.time for delay in self.delays), order)
        own = (self.A, self.B, self.E), (self.F, self.G, self.H), (self.C, self.D, self.K)
        try:
            A, B, C, D = close_lines(*own, line)
        except np.linalg.LinAlgError as error:
            what = f"Pade of order {order} makes an algebraic loop of delays that feed each other"
            raise ModelError([Flaw("order", what, "use an order of other parity")]) from error
        names = [Variable(f"{delay.name}.pade{k + 1}", delay.unit) for delay in self.delays for k in range(order)]
        return LinearModel(
            *(A, B, C, D),
            states=(*self.states, *names),
            inputs=self.inputs,
            outputs=self.outputs,
            point=self.point,
            notes=(*self.notes, f"delays replaced by Pade approximations of order {order}"),
        )

    def choose(self, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None) -> LinearModel:
        """This model with some of its inputs and outputs, in the order given; None keeps all."""
        columns = find_places(inputs, self.inputs, "inputs")
        rows = find_places(outputs, self.outputs, "outputs")
        return replace(
            self,
            B=self.B[:, columns],
            G=self.G[:, columns],
            C=self.C[rows],
            K=self.K[rows],
            D=self.D[np.ix_(rows, columns)],
            inputs=tuple(self.inputs[k] for k in columns),
            outputs=tuple(self.outputs[k] for k in rows),
        )

    def to_control(self, pade: int | None = None) -> Any:
        """This model for python-control: see `exchange.to_control`."""
        from .exchange import to_control

        return to_control(self, pade)

    @staticmethod
    def from_control(system: Any) -> LinearModel:
        """A model of python-control as one of ours: see `exchange.from_control`."""
        from .exchange import from_control

        return from_control(system)


def find_places(names: Sequence[str] | None, variables: tuple[Variable, ...], part: str) -> list[int]:
    """Indices of variables by name; all without names. An unknown name is a ModelError."""
    names_there = [variable.name for variable in variables]
    if names is None:
        return list(range(len(names_there)))
    refuse_unknown(names, names_there, f"is not one of the {part}", "linear model", part)
    return [names_there.index(name) for name in names]
