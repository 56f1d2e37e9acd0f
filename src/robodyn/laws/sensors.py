"""What does a sensor report of a signal?"""

from robodyn import symbolic as sym
from robodyn.laws.definition import law


@law(value="{u}", measured="{u}", resolution="{u}", checks={"resolution": "positive"})
def quantised(value, *, resolution):
    """The nearest multiple of the resolution: `r floor(u / r + 1/2)`."""
    return {"measured": resolution * sym.floor(value / resolution + 0.5)}


@law(
    value="{x}",
    measured="{x}",
    measured_rate="{x}/s",
    previous="{x}",
    resolution="{x}",
    period="s",
    memory={"previous": 0.0},
    checks={"resolution": "positive", "period": "positive"},
)
def sampled_encoder(value, previous, *, resolution, period):
    """An encoder read once a sample: quantised position and the velocity from its last two readings."""
    measured = resolution * sym.floor(value / resolution + 0.5)
    return {"measured": measured, "measured_rate": (measured - previous) / period, "previous_next": measured}


@law(value="{u}", output="{u}")
def sample_and_hold(value):
    """The input as it was at the last sample."""
    return {"output": value}
