"""Pure delays: how does a signal arrive later?"""

from __future__ import annotations

from robodyn.description.model.description import Description
from robodyn.description.model.fields import part_name, quantity, reference


class Delay(Description):
    """A pure delay of a continuous signal: `output(t) = signal(t - time)`."""

    NOUN = "delay"

    name: str = part_name()
    signal: str = reference("signal", doc="what is delayed; the result is `NAME.output`")
    time: float = quantity("s", positive=True, remedy="leave the delay out where there is none", doc="by how much")
    before: float | None = quantity(default=None, doc="value until then", absent="the signal's start value")
