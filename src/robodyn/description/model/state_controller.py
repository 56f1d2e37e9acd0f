"""State controllers: which weights, noises or poles say how states are fed back and observed?"""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.base.errors import FlawList
from robodyn.description.model.description import Description
from robodyn.description.model.fields import EMPTY, part_name, quantity, references, vector, weights
from robodyn.description.model.numbers import Floats


class StateController(Description):
    """A sampled controller or observer whose gains follow from the linear model of the machine (LQR, LQG, Luenberger).

    Its signals are `NAME.command.0` and so on, and, with an observer, `NAME.estimate.0` and so on, in the order of the
    machine's states. Gains are those of the machine as it is described: they do not follow numbers that a run changes.
    """

    NOUN = "controller"

    name: str = part_name()
    period: float = quantity("s", positive=True, named=False, doc="sample time")
    delay: float = quantity(
        "s", non_negative=True, named=False, default=0.0, doc="from a sample to its commands' taking effect"
    )
    states: Mapping[str, float] = weights(
        "signal",
        empty=True,
        default=EMPTY,
        doc='weights of states\' squares (LQR): `{"rail.position" = 20}`, 0 for those not named',
        absent="commands nothing: an observer alone",
    )
    commands: Floats = vector("", None, default=(), doc="weight of each command's square, as many as commands")
    acts: tuple[str, ...] = references(
        "joint or coordinate", empty=True, default=(), doc="what each command acts on", absent="blocks read them"
    )
    measured: tuple[str, ...] = references(
        "signal", empty=True, default=(), doc="what an observer sees", absent="no observer: all states are read"
    )
    applied: tuple[str, ...] = references(
        "signal", empty=True, default=(), doc="of an observer alone: outputs of blocks that drive the machine"
    )
    noise: Mapping[str, float] = weights(
        "signal",
        empty=True,
        default=EMPTY,
        doc="Kalman filter: variance of what each state gets in a sample by noise, 0 for those not named",
    )
    measured_noise: Floats = vector("", None, default=(), doc="and of the noise of each measured signal")
    poles: Floats = vector("", None, default=(), doc="or Luenberger observer: its poles [1/s], one for each state")
    at: Mapping[str, float] = weights(
        "signal", empty=True, default=EMPTY, doc="operating point: values of states", absent="where the scenario starts"
    )

    def check(self, flaws: FlawList) -> None:
        if flaws.found:
            return
        if self.states:
            self._check_regulator(flaws)
        else:
            self._check_observer_alone(flaws)
        if self.measured:
            self._check_observer(flaws)
        else:
            for key in self.stated("noise", "measured_noise", "poles"):
                flaws.add(key, "has no effect without measured", "name what an observer sees")

    def _check_regulator(self, flaws: FlawList) -> None:
        if not self.commands or min(self.commands) <= 0:
            flaws.add("commands", "must be a positive weight for each command", "commands = [0.1]")
        if self.acts and len(self.acts) != len(self.commands):
            flaws.add("acts", f"names {len(self.acts)}, there are {len(self.commands)} commands")
        if self.applied:
            flaws.add("applied", "has no effect: the controller knows what it commands", "leave it out")

    def _check_observer_alone(self, flaws: FlawList) -> None:
        for key in self.stated("commands", "acts", "delay"):
            flaws.add(key, "has no effect without weights of states", 'states = {"rail.position" = 1}')
        if not self.measured or not self.applied:
            flaws.add("states", "is missing", "weigh states, or name what an observer has: measured and applied")

    def _check_observer(self, flaws: FlawList) -> None:
        if bool(self.poles) == bool(self.noise or self.measured_noise):
            flaws.add(
                "poles", "or noise and measured_noise: give one of them", "a Luenberger observer or a Kalman filter"
            )
        elif not self.poles and len(self.measured_noise) != len(self.measured):
            what = f"has {len(self.measured_noise)} values, {len(self.measured)} signals are measured"
            flaws.add("measured_noise", what, "give each its variance")
        elif not self.poles and min(self.measured_noise) <= 0:
            flaws.add("measured_noise", "must be positive", "give a small one for a good sensor")
