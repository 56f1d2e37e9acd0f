"""Account of MJCF: what becomes of the elements and attributes of a model, by their tags?

Numbers come from MuJoCo's compiled model, so that defaults, includes, units and frames are as MuJoCo itself takes them.
"""

from __future__ import annotations

from robodyn.description.robots.mjcf_source import TRANSPARENT
from robodyn.description.robots.xml_tree import CONVERTED, READ, UNUSED, Element

CONTACT = "contacts are not imported: say [contacts] in the scenario's file"
DRAWN = "is not drawn"
SOLVER = "belongs to MuJoCo's solver; [solver] sets robodyn's"
SOFT = "softness of MuJoCo's constraints: robodyn's are exact, limits are watched, `stop_stiffness` gives end stops"
COMPILED = "by MuJoCo's compiler: units, frames and defaults resolved, SI"
POSE = "pose R, p [m] by MuJoCo's compiler"
SHAPE = "inertia of the body by MuJoCo's compiler, where it has no <inertial>; its look"
START = "position s = q - q_ref: 0 where the model stands; limits are watched, `stop_stiffness` gives end stops"
MEDIUM = "forces of a fluid around the bodies are left out"
POSES = ("pos", "quat", "euler", "axisangle", "xyaxes", "zaxis")
DROPPED = {
    "visual": DRAWN,
    "statistic": DRAWN,
    "camera": DRAWN,
    "light": DRAWN,
    "texture": DRAWN,
    "skin": DRAWN,
    "hfield": CONTACT,
    "contact": CONTACT,
    "pair": CONTACT,
    "size": "sizes of MuJoCo's memory",
    "sensor": "sensors are added to the machine: say blocks in the scenario's file",
    "keyframe": "the robot starts where the model stands; [initial] gives other positions",
    "custom": "has a meaning to MuJoCo's callbacks only",
    "extension": "plugins of MuJoCo are not called",
    "plugin": "plugins of MuJoCo are not called",
    "deformable": "deformable bodies are not imported: [bodies.NAME.beam] and its like describe flexible ones",
    "composite": "made into bodies by MuJoCo's compiler",
    "replicate": "made into bodies by MuJoCo's compiler",
    "flexcomp": "deformable bodies are not imported",
    "attach": "made into bodies by MuJoCo's compiler",
    "muscle": "muscles have no law in robodyn",
    "adhesion": CONTACT,
}
Fates = dict[str, tuple[str, str]]


def _fates(column: str, note: str, keys: str) -> Fates:
    return dict.fromkeys(keys.split(), (column, note))


NAMED = _fates(READ, "", "name class childclass")
ACTUATOR = NAMED | _fates(
    CONVERTED,
    "torque = gear (gain u + bias_0) + gear^2 (bias_1 q + bias_2 v), u the command",
    "joint tendon gear kp kv gainprm gaintype biasprm biastype dampratio inheritrange timeconst",
)
ACTUATOR |= _fates(CONVERTED, "limit of the torque: gear times it", "forcerange forcelimited")
ACTUATOR |= _fates(CONVERTED, "gear^2 times it on the joint", "armature damping")
ACTUATOR |= _fates(CONVERTED, "the command is 0, or the nearest that it allows", "ctrlrange ctrllimited")
KNOWN: dict[str, Fates] = {
    "mujoco": _fates(READ, "", "model"),
    "mujocoinclude": {},
    "include": {},
    "worldbody": {},
    "default": NAMED,
    "compiler": {},
    "asset": {},
    "actuator": {},
    "equality": {},
    "tendon": {},
    "option": _fates(READ, "", "gravity") | _fates(UNUSED, MEDIUM, "density viscosity wind"),
    "flag": _fates(CONVERTED, "gravity is 0 where it is disabled", "gravity"),
    "frame": NAMED | _fates(CONVERTED, POSE, " ".join(POSES)),
    "body": NAMED
    | _fates(CONVERTED, f"{POSE}; our body's frame stands at the anchor of its last joint", " ".join(POSES))
    | _fates(CONVERTED, "a constant force at the centre of mass, gravcomp times its weight", "gravcomp"),
    "inertial": _fates(READ, "", "mass")
    | _fates(CONVERTED, "I = R diag R^T about the centre of mass [kg m^2]", "diaginertia fullinertia")
    | _fates(CONVERTED, POSE, " ".join(POSES)),
    "joint": NAMED
    | _fates(CONVERTED, COMPILED, "type axis pos damping frictionloss armature springdamper stiffness springref")
    | _fates(CONVERTED, f"{START} [rad or m]", "range limited ref")
    | _fates(CONVERTED, "`effort_limit`", "actuatorfrcrange actuatorfrclimited")
    | _fates(UNUSED, SOFT, "solreflimit solimplimit solreffriction solimpfriction margin"),
    "freejoint": NAMED,
    "geom": NAMED
    | _fates(
        CONVERTED,
        SHAPE,
        f"type size mass density fromto mesh fitscale shellinertia {' '.join(POSES)} material rgba group",
    )
    | _fates(UNUSED, CONTACT, "contype conaffinity condim friction solref solimp solmix priority margin gap"),
    "site": NAMED
    | _fates(CONVERTED, f"a point of the body; {POSE}", f"{' '.join(POSES)} fromto")
    | _fates(UNUSED, DRAWN, "type size rgba group material"),
    "material": NAMED | _fates(CONVERTED, "colour #rrggbb: 255 times each, rounded", "rgba"),
    "mesh": NAMED | _fates(CONVERTED, f"{SHAPE}: the file's full path", "file scale refpos refquat inertia"),
    "connect": NAMED
    | _fates(CONVERTED, "a spherical loop joint between two points", "body1 body2 anchor site1 site2 active"),
    "weld": NAMED
    | _fates(CONVERTED, "a fixed loop joint between two points", "body1 body2 anchor relpose site1 site2 active"),
    "equality/joint": NAMED
    | _fates(CONVERTED, "s_1 = c_0 + c_1 s_2, s from where the model stands", "joint1 joint2 polycoef active"),
    "fixed": NAMED
    | _fates(CONVERTED, "a coordinate: the weighted sum of positions", "stiffness damping springlength")
    | _fates(UNUSED, "only joints have limits, friction and rotors", "range limited margin frictionloss armature")
    | _fates(UNUSED, SOFT, "solreflimit solimplimit solreffriction solimpfriction")
    | _fates(UNUSED, DRAWN, "width rgba material group"),
    "fixed/joint": _fates(CONVERTED, "weight of a joint in the sum", "joint coef"),
    "dcmotor": ACTUATOR
    | _fates(
        CONVERTED,
        "torque = g K i, L i_dot + R i = u - K g v; LuGre friction on the shaft, on the joint's side",
        "motorconst resistance nominal inductance lugre",
    ),
    "general": ACTUATOR,
    "motor": ACTUATOR,
    "position": ACTUATOR,
    "velocity": ACTUATOR,
    "intvelocity": ACTUATOR,
    "damper": ACTUATOR,
    "cylinder": ACTUATOR,
}
REASONS = {
    "option": SOLVER,
    "flag": SOLVER,
    "material": DRAWN,
    "spatial": "tendons through sites have no coordinate in robodyn; a distance of two points has",
}


def account(root: Element) -> None:
    """Put every element and attribute into its column, by its tag; parts that could not be used are marked before."""
    for element in root.walk():
        for tag, reason in DROPPED.items():
            if element.tag == tag:
                element.drop(reason)
        fates = _known(element)
        if fates is None:
            if element.tag in REASONS:
                element.drop(REASONS[element.tag])
            continue
        element.fates.setdefault("", (READ, ""))
        whole = element.fates[""] if element.fates[""][0] == UNUSED else None
        for key in element.attributes:
            fate = whole or fates.get(key)
            if fate is None and element.tag == "compiler":
                fate = (CONVERTED, "applied by MuJoCo's compiler")
            if fate is None and element.tag in REASONS:
                fate = (UNUSED, REASONS[element.tag])
            if fate is not None:
                element.fates.setdefault(key, fate)


def _known(element: Element) -> Fates | None:
    """Fates of an element's attributes; joints of tendons and equalities are others than those of bodies."""
    parent = element.parent
    while parent is not None and parent.tag in TRANSPARENT:
        parent = parent.parent
    return KNOWN.get(f"{parent.tag}/{element.tag}" if parent is not None else "", KNOWN.get(element.tag))
