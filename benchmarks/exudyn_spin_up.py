"""The spin-up of a beam of `tests/references/test_flexible_beams.py` in Exudyn, an independent program.

The manoeuvre of Kane, Ryan and Banerjee (1987): a hub turns by psi(t), a beam of ANCF cable elements is clamped to it.
Prints the tip's deflection from the hub's axis. `pip install exudyn` (1.13 was used), then
`python benchmarks/exudyn_spin_up.py 16`.
"""

import math
import sys

import exudyn as exu
import numpy as np
from exudyn import itemInterface as ei

LENGTH, YOUNG, DENSITY, AREA, SECOND = 8.0, 6.8952e10, 2766.67, 7.2968e-5, 8.2181e-9
SPEED, RISE, END = 6.0, 15.0, 20.0
TIMES = (4.0, 6.0, 8.0, 10.0, 12.0, 15.0)


def angle(t):
    """psi [rad]: psi' rises from 0 to SPEED in RISE."""
    if t >= RISE:
        return SPEED * (t - RISE / 2)
    return SPEED / RISE * (t * t / 2 + (RISE / (2 * math.pi)) ** 2 * (math.cos(2 * math.pi * t / RISE) - 1))


def build(n):
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    ground = mbs.AddNode(ei.PointGround(referenceCoordinates=[0.0, 0.0, 0.0]))
    nodes = [mbs.AddNode(ei.Point2DS1(referenceCoordinates=[LENGTH * k / n, 0.0, 1.0, 0.0])) for k in range(n + 1)]
    for pair in zip(nodes[:-1], nodes[1:], strict=True):
        mbs.AddObject(
            ei.Cable2D(
                length=LENGTH / n,
                massPerLength=DENSITY * AREA,
                bendingStiffness=YOUNG * SECOND,
                axialStiffness=YOUNG * AREA,
                nodeNumbers=list(pair),
                useReducedOrderIntegration=1,
            )
        )
    zero = mbs.AddMarker(ei.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    turned = (
        None,
        None,
        lambda mbs, t, item, offset: math.cos(angle(t)) - 1,
        lambda mbs, t, item, o: math.sin(angle(t)),
    )
    for k, function in enumerate(turned):
        root = mbs.AddMarker(ei.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
        constraint = ei.CoordinateConstraint(markerNumbers=[zero, root])
        if function is not None:
            constraint.offsetUserFunction = function
        mbs.AddObject(constraint)
    return mbs, nodes[-1]


def main(n, step):
    mbs, tip = build(n)
    position = exu.OutputVariableType.Position
    sensor = mbs.AddSensor(ei.SensorNode(nodeNumber=tip, outputVariableType=position, storeInternal=True))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.7
    settings.timeIntegration.newton.relativeTolerance = 1e-6
    settings.timeIntegration.newton.absoluteTolerance = 1e-6
    settings.timeIntegration.adaptiveStep = False
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = step
    settings.timeIntegration.endTime = END
    settings.timeIntegration.numberOfSteps = round(END / step)
    mbs.SolveDynamic(settings)
    t, x, y = mbs.GetSensorStoredData(sensor)[:, :3].T
    psi = np.array([angle(time) for time in t])
    deflection, along = y * np.cos(psi) - x * np.sin(psi), x * np.cos(psi) + y * np.sin(psi)
    k = int(np.argmin(deflection))
    print("largest", t[k], deflection[k], "end", np.abs(deflection[t > RISE]).max(), along[-1])
    for time in TIMES:
        row = int(np.argmin(np.abs(t - time)))
        print(t[row], deflection[row])


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 2e-3)
