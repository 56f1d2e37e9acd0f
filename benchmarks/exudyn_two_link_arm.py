"""The two-link flexible arm of `tests/references/test_flexible_beams.py` in Exudyn, an independent program.

Absolute nodal coordinates (ANCF cable elements), no floating frame and no modes: large rotations are in the
elements themselves. Prints the numbers that the test compares with. `pip install exudyn` (1.13 was used), then
`python benchmarks/exudyn_two_link_arm.py 16` for 16 elements a link.
"""

import sys

import exudyn as exu
import numpy as np
from exudyn import itemInterface as ei

LENGTH, WIDTH, THICKNESS = 1.0, 0.040, 0.006
YOUNG, DENSITY, PAYLOAD, GRAVITY = 7.0e10, 2700.0, 0.2, 9.81
TIMES = (0.25, 0.5, 0.75, 1.0)


def add_link(mbs, start, n):
    """Nodes of a straight link along x from `start`; all but its first and last are inner."""
    area, second = WIDTH * THICKNESS, WIDTH * THICKNESS**3 / 12
    nodes = []
    for k in range(n + 1):
        reference = [start + LENGTH * k / n, 0.0, 1.0, 0.0]
        nodes.append(mbs.AddNode(ei.Point2DS1(referenceCoordinates=reference)))
    for pair in zip(nodes[:-1], nodes[1:], strict=True):
        cable = mbs.AddObject(
            ei.Cable2D(
                length=LENGTH / n,
                massPerLength=DENSITY * area,
                bendingStiffness=YOUNG * second,
                axialStiffness=YOUNG * area,
                nodeNumbers=list(pair),
                useReducedOrderIntegration=1,
            )
        )
        marker = mbs.AddMarker(ei.MarkerBodyMass(bodyNumber=cable))
        mbs.AddLoad(ei.LoadMassProportional(markerNumber=marker, loadVector=[0.0, -GRAVITY, 0.0]))
    return nodes


def hold(mbs, first, second):
    """The same position for two nodes that start in the same place: a hinge."""
    for k in range(2):
        markers = [mbs.AddMarker(ei.MarkerNodeCoordinate(nodeNumber=node, coordinate=k)) for node in (first, second)]
        mbs.AddObject(ei.CoordinateConstraint(markerNumbers=markers))


def build(n):
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    ground = mbs.AddNode(ei.PointGround(referenceCoordinates=[0.0, 0.0, 0.0]))
    upper, lower = add_link(mbs, 0.0, n), add_link(mbs, LENGTH, n)
    zero = mbs.AddMarker(ei.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    for k in range(2):
        end = mbs.AddMarker(ei.MarkerNodeCoordinate(nodeNumber=upper[0], coordinate=k))
        mbs.AddObject(ei.CoordinateConstraint(markerNumbers=[zero, end]))
    hold(mbs, upper[-1], lower[0])
    # The payload as a mass of the last node itself: no coordinates and no constraints of its own.
    mass, weight = np.diag([PAYLOAD, PAYLOAD, 0.0, 0.0]), [0.0, -PAYLOAD * GRAVITY, 0.0, 0.0]
    mbs.AddObject(ei.ObjectGenericODE2(nodeNumbers=[lower[-1]], massMatrix=mass, forceVector=weight))
    position = exu.OutputVariableType.Position
    sensors = [
        mbs.AddSensor(ei.SensorNode(nodeNumber=node, outputVariableType=position, storeInternal=True))
        for node in (upper[-1], lower[-1])
    ]
    mbs.Assemble()
    return system, mbs, sensors


def settle(steps, tolerance=1e-8, watched=TIMES[0]):
    """Settings of the generalised alpha method: steps in all, Newton's tolerance, and when sensors are read [s]."""
    settings = exu.SimulationSettings()
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    # Tighter ones are not reached, and steps that fail leave the motion behind its time.
    settings.timeIntegration.newton.relativeTolerance = tolerance
    settings.timeIntegration.newton.absoluteTolerance = min(100 * tolerance, 1e-3)
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.adaptiveStep = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenDense
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = watched
    settings.timeIntegration.endTime = TIMES[-1]
    settings.timeIntegration.numberOfSteps = steps
    return settings


def read(mbs, sensors):
    """Elbow x, y and tip x, y at `TIMES` after a run with sensors [m], (4, 4)."""
    stored = [mbs.GetSensorStoredData(sensor) for sensor in sensors]
    rows = [int(np.argmin(np.abs(stored[0][:, 0] - time))) for time in TIMES]
    return np.hstack([table[rows, 1:3] for table in stored])


def main(n, step):
    system, mbs, sensors = build(n)
    mbs.SolveDynamic(settle(round(TIMES[-1] / step)))
    for time, places in zip(TIMES, read(mbs, sensors), strict=True):
        print(time, *places.tolist())


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 2e-4)
