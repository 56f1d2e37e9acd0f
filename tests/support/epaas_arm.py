"""The EPAAS arm and its linkages, from the printed tables of the published modelling study of that robot."""

from __future__ import annotations

import numpy as np

from robodyn.base.symbolic import cos, sqrt
from robodyn.computation.assembly import System, assemble
from robodyn.description.files import DHRow, mechanism_from_dh
from robodyn.description.model import Body, FunctionCoordinate, Machine, Mechanism, Point, Scenario

APSQBP, APBP2, PMSQPN, PMPN2 = 7.0925e-2, 5.5408e-2, 3.9717e-2, 2.6443e-2
PSI0, THETA0 = 0.0826, 1.3034
CENTRED = {"L1": 0.182263, "L2": 0.182263, "L3": 0.258053, "L4": 0.182263, "vane": 0.0}
ACTUATORS = ("L1", "L2", "L3", "L4", "vane")
PAYLOAD = Body("payload", 4.0)
# Pistons centred: alpha, beta = gamma, psi = phi = 0.
ALPHA, BETA = np.radians([89.753, 1.097])
START = np.array([0.0, ALPHA, 2 * np.pi + BETA - ALPHA, 0.0, 0.0])

# Mass, centre of mass, inertia about the link frame's origin: xx, yy, zz, then products.
LINKS = (
    (21.938, (0.0, 0.0, 0.0), (0.0, 0.1352050, 0.0, 0.0, 0.0, 0.0)),
    (2.316, (-0.135, 0.014, 0.0003), (0.0058297, 0.0621710, 0.0610359, 0.0037936, 0.0, 0.0)),
    (0.914, (-0.201, 0.001, 0.0008), (0.0013536, 0.0566100, 0.0554180, 0.0005841, 0.0, 0.0)),
    (0.0, (0.0, 0.0, 0.0), (0.0,) * 6),
    (0.752, (0.0072, 0.0024, 0.069), (0.0064589, 0.0066672, 0.0011179, 0.0000243, -0.0001454, 0.0002236)),
)
TWISTS, LENGTHS = np.radians([90.0, 0.0, 0.0, 270.0, 180.0]), (0.0, 0.310, 0.248, 0.0, 0.0)


def epaas_mechanism() -> Mechanism:
    """Five revolute axes, gripper vertical; the wrist is a point."""
    bodies = [
        # The printed products enter the pseudo-inertia matrix with their opposite sign, as a tensor's entries do.
        Body.about_origin(f"link{k}", mass, com, inertia, physical=False)
        for k, (mass, com, inertia) in enumerate(LINKS, start=1)
    ]
    rows = [DHRow(f"axis{k}", a, alpha) for k, (a, alpha) in enumerate(zip(LENGTHS, TWISTS, strict=True), start=1)]
    return mechanism_from_dh("epaas", rows, bodies, points=(Point("wrist", "link3"),))


def epaas_linkages(stroke: float) -> tuple[FunctionCoordinate, ...]:
    """The four cylinders' lengths and the vane's angle; each cylinder moves by the stroke to both sides.

    alpha = q2, beta = q2 + q3 - 2 pi, gamma = q2 + q3 + q4 - 2 pi, psi = q5
    """

    def side(turn, squares=PMSQPN, product=PMPN2):
        return sqrt(squares - product * cos(turn))

    functions = {
        "L1": (("axis2", "axis3", "axis4"), lambda a, b, c: side(a + b + c + THETA0)),
        "L2": (("axis2", "axis3", "axis5"), lambda a, b, e: side(a + b + e + THETA0)),
        "L3": (("axis2",), lambda a: side(np.pi - a - PSI0, APSQBP, APBP2)),
        "L4": (("axis2", "axis3"), lambda a, b: side(a + b + THETA0)),
    }
    vane = FunctionCoordinate(
        "vane", ("axis1",), lambda turn: turn, unit="rad", range=(-np.radians(160), np.radians(160))
    )
    cylinders = [
        FunctionCoordinate(name, of, function, range=(CENTRED[name] - stroke, CENTRED[name] + stroke))
        for name, (of, function) in functions.items()
    ]
    return (*cylinders, vane)


def epaas_system(payload_at: float | None = None, stroke: float = 0.05) -> System:
    """The arm alone, at rest in the start-up position; with 4 kg on the gripper's axis, this far from the wrist [m]."""
    mechanism = epaas_mechanism()
    if payload_at is not None:
        mechanism = mechanism.with_payload(PAYLOAD, "link5", (0.0, 0.0, payload_at))
    machine = Machine("epaas", mechanism, (), coordinates=epaas_linkages(stroke))
    return assemble(Scenario("epaas", machine, 1.0, {f"axis{k}.position": q for k, q in enumerate(START, start=1)}))
