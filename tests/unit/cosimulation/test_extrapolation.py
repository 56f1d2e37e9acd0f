"""Polynomials go through the last values of a signal, or have its last means."""

import numpy as np
import pytest

from robodyn.computation.cosimulation import CosimSettings, SignalConnection, cosimulate


class Parabola:
    """y = c0 + c1 t + c2 t^2, as it is or as its mean over the last macro step; it hears of it from a mirror."""

    name, inputs, outputs = "parabola", ("heard",), {"y": ""}
    c = np.array([2.0, -3.0, 5.0])

    def __init__(self, mean):
        self.mean, self.time, self.begin, self.heard = mean, 0.0, 0.0, []

    def start(self, time):
        pass

    def read(self):
        if not self.mean or self.time == self.begin:
            return {"y": np.polyval(self.c[::-1], self.time)}
        whole = [np.polyval(np.polyint(self.c[::-1]), t) for t in (self.begin, self.time)]
        return {"y": (whole[1] - whole[0]) / (self.time - self.begin)}

    def write(self, inputs):
        self.heard.append((self.time, inputs["heard"]))

    def advance(self, time, step):
        self.begin, self.time = time, time + step


@pytest.mark.parametrize("mean", [False, True])
def test_a_quadratic_is_found_again_from_values_and_from_means(mean, monkeypatch):
    from robodyn.computation.cosimulation import macro_steps
    from robodyn.computation.cosimulation.connection import Channel

    channel = Channel("parabola", ("y",), "parabola", ("heard",), order=2, mean=mean)
    monkeypatch.setattr(macro_steps, "make_channels", lambda *_: [channel])
    unit = Parabola(mean)
    link = SignalConnection("parabola.y", "parabola.heard", order=2)
    cosimulate([unit], signal_connections=[link], settings=CosimSettings(0.1), duration=0.7)
    # From the third value on, the first mean being that of an instant, the polynomial is known.
    known = [entry for entry in unit.heard if entry[0] > 0.35]
    assert len(known) == 4
    for time, found in known:
        shifted = [np.polyval(np.polyder(unit.c[::-1], k), time) / (1, 1, 2)[k] for k in range(3)]
        # Three equations in steps of 0.1: condition some hundreds.
        np.testing.assert_allclose(found, shifted, atol=1e-10)
