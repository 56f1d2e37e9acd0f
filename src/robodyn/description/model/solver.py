"""Solver settings: how is a run to be integrated?"""

from __future__ import annotations

import math

from robodyn.base import FlawList, frozen

from .description import Description
from .fields import choice, quantity, whole_number

ADAPTIVE_ONLY = ("rtol", "atol", "max_step", "min_step")
"""Settings of the control of steps by their error."""


@frozen
class MethodInfo:
    """Properties of a method by which it is chosen; its coefficients are in `robodyn.computation.engine`.

    Attributes:
        order: power of the step to which the error at a fixed time is proportional.
        family: "explicit", "symplectic", "stiff" (implicit, needs the Jacobian), "implicit_step" (the model gives the
            equations of a step), "fused_step" (the model takes the step itself) or "contact_step" (rigid contacts push
            by impulses over a step).
        adaptive: whether it chooses its steps by their error.
    """

    order: int
    family: str
    adaptive: bool = False


METHODS = {
    "auto": MethodInfo(5, "explicit", adaptive=True),
    "euler": MethodInfo(1, "explicit"),
    "heun": MethodInfo(2, "explicit"),
    "rk4": MethodInfo(4, "explicit"),
    "symplectic_euler": MethodInfo(1, "symplectic"),
    "heun_euler": MethodInfo(2, "explicit", adaptive=True),
    "dopri5": MethodInfo(5, "explicit", adaptive=True),
    "rodas4": MethodInfo(4, "stiff", adaptive=True),
    "rodas4p": MethodInfo(4, "stiff", adaptive=True),
    "trbdf2": MethodInfo(2, "stiff", adaptive=True),
    "rkc": MethodInfo(2, "explicit", adaptive=True),
    "generalised_alpha": MethodInfo(2, "implicit_step"),
    "rattle": MethodInfo(2, "implicit_step"),
    "rosw1": MethodInfo(2, "fused_step"),
    "rosw2": MethodInfo(2, "fused_step"),
    "stewart_trinkle": MethodInfo(1, "contact_step"),
}
PAIRS = {"auto": ("dopri5", "rodas4p")}
"""Methods that are two: the explicit one, and the one that takes over while the system is stiff."""


class Solver(Description):
    """Solver settings: method, steps, tolerances and limits.

    An adaptive step's error in state i stays below atol * scale_i + rtol * |x_i| (root mean square). The spectral
    radius of generalised_alpha is what is left after a step of motions too fast for it: 0 damps them at once, near 1
    hardly; 0.8 is this project's own choice.
    """

    NOUN = "solver"

    method: str = choice(METHODS, default="auto", doc="see [Solvers](solvers.md)")
    step: float | None = quantity(
        "s",
        positive=True,
        default=None,
        doc="of a fixed-step method; first step of an adaptive one",
        absent="1e-3; chosen",
    )
    rtol: float = quantity("1", positive=True, default=1e-6, doc="relative error of an adaptive step")
    atol: float = quantity("1", positive=True, default=1e-8, doc="its absolute error, in parts of a state's scale")
    max_step: float = quantity("s", positive=True, infinite=True, default=math.inf, doc="longest adaptive step")
    min_step: float | None = quantity(
        "s", positive=True, default=None, doc="shortest adaptive step", absent="the resolution of time"
    )
    max_steps: int | None = whole_number(
        default=10_000_000, none=True, doc="accepted and rejected steps before the run stops, 0 for no limit"
    )
    max_wall_time: float | None = quantity(
        "s", positive=True, default=None, doc="computing time before the run stops", absent="no limit"
    )
    spectral_radius: float = quantity(
        "1",
        non_negative=True,
        default=0.8,
        doc="of `generalised_alpha`: what one step leaves of motions too fast for it",
    )

    def check(self, flaws: FlawList) -> None:
        if flaws.found:
            return
        if self.spectral_radius >= 1:
            flaws.add("spectral_radius", f"must be at least 0 and below 1, is {self.spectral_radius!r}")
        if self.min_step is not None and self.min_step > self.max_step:
            flaws.add("min_step", f"must not be above max_step = {self.max_step:g}, is {self.min_step:g}")
        idle = () if self.method == "generalised_alpha" else ("spectral_radius",)
        for field in self.stated().keys() & {*idle, *(() if self.adaptive else ADAPTIVE_ONLY)}:
            sort = "method" if field == "spectral_radius" else "fixed-step method"
            flaws.add(field, f"has no effect on the {sort} {self.method}", "leave it out")

    @staticmethod
    def names() -> tuple[str, ...]:
        """All methods."""
        return tuple(METHODS)

    @property
    def adaptive(self) -> bool:
        """Whether the method chooses its steps by their error."""
        return METHODS[self.method].adaptive

    @property
    def order(self) -> int:
        """Power of the step to which the error at a fixed time is proportional."""
        return METHODS[self.method].order

    @property
    def pair(self) -> tuple[str, str] | None:
        """The explicit and the stiff method between which a run chooses, or None."""
        return PAIRS.get(self.method)

    @property
    def stiff(self) -> bool:
        """Whether the method is implicit and needs the Jacobian."""
        return METHODS[self.method].family == "stiff"

    @property
    def implicit_step(self) -> bool:
        """Whether the model itself gives the equations of a step."""
        return METHODS[self.method].family == "implicit_step"

    @property
    def fused_step(self) -> bool:
        """Whether the model takes the step itself."""
        return METHODS[self.method].family == "fused_step"

    @property
    def contact_step(self) -> bool:
        """Whether rigid contacts push by impulses over a step, in place of located events."""
        return METHODS[self.method].family == "contact_step"


def is_adaptive(method: str) -> bool:
    """Whether a method of this name chooses its steps by their error; False where there is none of this name."""
    return method in METHODS and METHODS[method].adaptive
