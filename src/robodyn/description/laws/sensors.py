"""Sensors: what do they report of a signal? Quantised, sampled, held."""

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law


def nearest_multiple(value, resolution):
    """`r floor(u / r + 1/2)`; the value itself where the resolution is 0."""
    step = sym.where(resolution > 0, resolution, 1.0)
    return sym.where(resolution > 0, step * sym.floor(value / step + 0.5), value)


@law(value="{u}", measured="{u}", resolution="{u}", checks={"resolution": "non-negative"}, ideal={"resolution": 0.0})
def quantised(value, *, resolution):
    """The nearest multiple of the resolution: `r floor(u / r + 1/2)`; 0 is a perfect sensor."""
    return {"measured": nearest_multiple(value, resolution)}


@law(
    value="{x}",
    measured="{x}",
    measured_rate="{x}/s",
    previous="{x}",
    resolution="{x}",
    period="s",
    memory={"previous": 0.0},
    checks={"resolution": "non-negative", "period": "positive"},
    ideal={"resolution": 0.0},
)
def sampled_encoder(value, previous, *, resolution, period):
    """An encoder read once a sample: quantised position and the velocity from its last two readings.

    Args:
        resolution: between two counts; 0 is a perfect encoder.
    """
    measured = nearest_multiple(value, resolution)
    return {"measured": measured, "measured_rate": (measured - previous) / period, "previous_next": measured}


@law(
    value="{x}",
    output="{x}",
    amplitude="{x}",
    order="rad/{x}",
    phase="rad",
    slope="",
    checks={"amplitude": "non-negative"},
    ideal={"amplitude": 0.0, "slope": 0.0},
)
def position_error(value, *, amplitude=0.0, order=1.0, phase=0.0, slope=0.0):
    """A scale that is not even: `y = u + A sin(n u + phi) + b u`.

    Encoder eccentricity (one period a turn), interpolation or sub-divisional error (one period a line, and its double),
    pitch error of a screw (periodic and progressive, ISO 230-2), error of a strain-wave gear in front of an encoder.
    Several harmonics are several blocks in a row.

    Args:
        order: n, periods in 2 pi of the coordinate; slope: b, error per way.
    """
    return {"output": value + amplitude * sym.sin(order * value + phase) + slope * value}


@law(value="{u}", output="{u}")
def sample_and_hold(value):
    """The input as it was at the last sample."""
    return {"output": value}


DEVIATION = dict.fromkeys(("x", "y", "z", "way", "start_x", "start_y", "start_z"), "m")


@law(units=DEVIATION, heading="rad", rise="rad", horizontal="m", vertical="m", along="m")
def line_deviation(x, y, z, way, *, start_x, start_y, start_z, heading, rise=0.0):
    """How far a point is from where it should be on a straight line, seen along the line.

        e = p - (start + way u),   along = e.u,   horizontal = e.h,   vertical = e.(u x h)

    with h level and to the left of u.

    Args:
        way: wanted way along the line.
        heading: of the line in the level plane, from x towards y; rise: of the line above that plane.
    """
    dx, dy, dz = x - start_x, y - start_y, z - start_z
    cos_heading, sin_heading, cos_rise, sin_rise = sym.cos(heading), sym.sin(heading), sym.cos(rise), sym.sin(rise)
    forwards = cos_heading * dx + sin_heading * dy
    return {
        "horizontal": cos_heading * dy - sin_heading * dx,
        "vertical": cos_rise * dz - sin_rise * forwards,
        "along": cos_rise * forwards + sin_rise * dz - way,
    }
