"""Writing MJCF: a machine as MuJoCo reads it, in explicit numbers that its compiler leaves as they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from robodyn.base.spatial import Pose, from_quaternion, quaternion_from_matrix
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    Distance,
    Freedom,
    Joint,
    LinearCombination,
    LinearConstraint,
    LoopJoint,
    Rod,
)
from robodyn.description.model.body import Look, MeshLook, tensor_of

from .building import distinct
from .links import rgb_of
from .mjcf import HIDDEN
from .writing import (
    PLACE,
    SIZES,
    JointEffects,
    RobotWriter,
    is_identity,
    number_text,
    pose_of,
)
from .xml_tree import CHOICE, CONVERTED, READ, UNUSED

WORLD = "world"
ROUNDING = 1e-13
"""Part of a moment of inertia that is rounding."""
SPECKS = 1e-14
"""Mass [kg] and moments of inertia [kg m^2] of what must have some: MuJoCo refuses less than 1e-15."""
ENDLESS = 1e10
"""The other end of a range that has one [rad or m]."""
VISIBLE = 2
"""Group of geoms that MuJoCo's viewers show, by custom those that touch nothing."""
WORDS = {"revolute": "hinge", "prismatic": "slide", "ball": "ball"}
MOST_FREEDOMS = 6
"""Of one of MuJoCo's bodies."""
MOST_FACES = 200_000
"""Of an STL file that MuJoCo reads."""


def both_ways(key: str, limit: float) -> dict[str, str]:
    """A range that is alike both ways, none without end."""
    return {key: number_text([-limit, limit])} if np.isfinite(limit) else {}


class MjcfWriter(RobotWriter):
    """Writes MJCF; several joints of one body stand for chains with massless links."""

    FORMAT = "MJCF"
    KINDS = {kind: kind for kind in ("revolute", "prismatic", "fixed", "ball", "universal", "cylindrical", "planar")}
    MESHES = (".stl", ".obj")

    def holds(self, joint: Joint) -> bool:
        return joint.kind in self.KINDS or (joint.kind == "free" and joint.parent == GROUND)

    def refusal(self, constraint: Any) -> str:
        if isinstance(constraint, LinearConstraint):
            sums = {part.name for part in self.machine.coordinates if isinstance(part, LinearCombination)}
            known = sums | {freedom.name for freedom in self.mechanism.axes}
            return "" if set(constraint.of) <= known else "its sums are those of joints"
        if isinstance(constraint, Rod):
            return ""
        if not isinstance(constraint, LoopJoint):
            return "its equalities hold points, bodies and joints together"
        return (
            "" if constraint.kind in ("spherical", "fixed", "revolute") else f"it has no '{constraint.kind}' equality"
        )

    def build(self) -> Element:
        root = Element("mujoco", model=self.machine.name)
        SubElement(root, "compiler", angle="radian", inertiafromgeom="false", autolimits="true")
        SubElement(root, "option", gravity=number_text(self.mechanism.gravity))
        self.account.mark(READ, "", "gravity")
        self.assets = SubElement(root, "asset")
        self.meshes: dict[tuple[str, tuple[float, ...]], str] = {}
        self.sites: dict[str, Element] = {}
        self.frames: dict[str, Element] = {GROUND: SubElement(root, "worldbody")}
        self.positions: dict[str, float] = {}
        """Positions in MuJoCo's order -> their values at the start."""
        self.joint_elements: list[Element] = []
        self.names = [body.name for body in self.mechanism.bodies]
        self.carried: dict[str, list[Joint]] = {}
        for joint in self.joints:
            self.carried.setdefault(joint.parent, []).append(joint)
        self.points_of: dict[str, list[Any]] = {}
        for point in self.points():
            self.points_of.setdefault(point.body, []).append(point)
        self.put_points(GROUND)
        for joint in self.carried.get(GROUND, ()):
            self.put_body(joint)
        self.tendons = SubElement(root, "tendon")
        for coordinate in self.machine.coordinates:
            self.put_tendon(coordinate)
        self.equalities = SubElement(root, "equality")
        self.put_equalities()
        self.actuators = SubElement(root, "actuator")
        self.put_actuators()
        self.put_start(root)
        for section in list(root):
            if not len(section) and not section.attrib:
                root.remove(section)
        return root

    # ----------------------------------------------------------------------------------------------
    # Bodies, with their joints, looks and points.

    def put_body(self, joint: Joint) -> None:
        """A body on its joint, and all that hangs on it.

        A massless link between two joints is none to MuJoCo: its body has both, each about an anchor a,

            X_parent_body = X_1 X_2,   J_1 at a_1 = X_2^-1 0 with its axis R_2^T k_1,   J_2 at 0.
        """
        carrier, chain = self.frames[joint.parent], [joint]
        while self.is_frame(chain[-1]):
            (beyond_frame,) = self.carried[chain[-1].child]
            if sum(len(link.freedoms) for link in [*chain, beyond_frame]) > MOST_FREEDOMS:
                break
            chain.append(beyond_frame)
        last = chain[-1]
        X = Pose.identity()
        motions: list[tuple[Joint, Freedom, Pose]] = []
        for link in reversed(chain):
            motions = [*((link, freedom, X) for freedom in link.freedoms), *motions]
            X = pose_of(link) @ X
        for link in chain[:-1]:
            self.say("body", link.child, note="a massless link between two joints of one body")
        body: Body = self.mechanism.body(last.child)
        # The world is a body to MuJoCo.
        name = distinct(f"{body.name}_link", self.names) if body.name == WORLD else body.name
        element = self.frames[body.name] = SubElement(carrier, "body", name=name)
        if last.kind == "free":
            X = self.zero_pose(last)
        self.put_pose(element, X)
        for link in chain:
            self.say("joint", link.name, "", *PLACE)
        if last.kind == "free":
            SubElement(element, "freejoint", name=last.name)
            # MuJoCo's positions of a free joint are its place in the world, where it starts too.
            self.positions |= {f"{last.name}.{axis}.position": p for axis, p in zip("xyz", X.p, strict=True)}
            turned = zip("wxyz", quaternion_from_matrix(X.R), strict=True)
            self.positions |= {f"{last.name}.orientation.{part}": value for part, value in turned}
            if not is_identity(pose_of(last)):
                note = "positions of a free joint are those of the world, not from its place"
                self.say("joint", last.name, "origin", "rotation", note=note, column=CHOICE)
        else:
            for link, freedom, beyond in motions:
                self.put_joint(element, link, freedom, beyond.inverse())
        self.put_inertia(element, body, last)
        for look in body.looks:
            self.put_look(element, body, look)
        self.put_points(body.name)
        for child in self.carried.get(body.name, ()):
            self.put_body(child)

    def is_frame(self, joint: Joint) -> bool:
        """Whether it carries a link that is only there for the next joint."""
        body = self.mechanism.body(joint.child)
        inner = self.carried.get(body.name, ())
        bare = not body.mass and not any(body.inertia) and not body.looks and body.name not in self.points_of
        return bare and len(inner) == 1 and not {"free", "fixed", "ball"} & {joint.kind, inner[0].kind}

    def put_pose(self, element: Element, pose: Pose) -> None:
        if np.any(pose.p):
            element.set("pos", number_text(pose.p))
        if not np.array_equal(pose.R, np.eye(3)):
            element.set("quat", number_text(quaternion_from_matrix(pose.R)))

    def zero_pose(self, joint: Joint) -> Pose:
        """Free joints are where they start."""
        if joint.kind != "free":
            return pose_of(joint)
        initial = self.scenario.initial
        p = [initial.get(f"{joint.name}.{axis}.position", 0.0) for axis in "xyz"]
        rest = {"w": 1.0, "x": 0.0, "y": 0.0, "z": 0.0}
        quaternion = [initial.get(f"{joint.name}.orientation.{part}", value) for part, value in rest.items()]
        return pose_of(joint) @ Pose(from_quaternion(*quaternion), np.array(p, float))

    def put_joint(self, element: Element, joint: Joint, freedom: Freedom, into: Pose) -> None:
        """An elementary motion; into: pose of its own frame in the body's."""
        self.taken.append(freedom.name)
        for name in freedom.positions:
            self.positions[name] = self.scenario.initial.get(name, float(name.endswith(".orientation.w")))
        words = {"name": freedom.name, "type": WORDS[freedom.kind]}
        made = SubElement(element, "joint", words)
        self.joint_elements.append(made)
        if np.any(into.p):
            made.set("pos", number_text(into.p))
        if freedom.axis is not None:
            made.set("axis", number_text(into.R @ np.array(freedom.axis)))
        if joint.kind not in ("revolute", "prismatic"):
            return
        effects = self.put_effects(made, joint.name, joint.armature)
        if effects.rest:
            made.set("springref", number_text(effects.rest))
        if joint.lower_limit is not None or joint.upper_limit is not None:
            lower = -ENDLESS if joint.lower_limit is None else joint.lower_limit
            upper = ENDLESS if joint.upper_limit is None else joint.upper_limit
            made.set("range", number_text([lower, upper]))
        if joint.effort_limit is not None:
            made.attrib |= both_ways("actuatorfrcrange", joint.effort_limit)
        self.say("joint", joint.name, "armature", "lower_limit", "upper_limit", "effort_limit")
        note = "MuJoCo's limits give way by their own softness"
        self.say("joint", joint.name, "stop_stiffness", "stop_damping", "stop_restitution", note=note, column=UNUSED)

    def put_effects(self, element: Element, on: str, armature: float = 0.0) -> JointEffects:
        """Rotor, losses and spring of a joint or tendon; where the spring rests is said by other words."""
        effects = self.effects(on)
        values = {"armature": armature, "damping": effects.damping, "frictionloss": effects.friction}
        for key, value in (values | {"stiffness": effects.stiffness}).items():
            if value:
                element.set(key, number_text(value))
        return effects

    def put_inertia(self, element: Element, body: Body, joint: Joint) -> None:
        """Moments along the principal axes: MuJoCo's own diagonalisation stops at 1e-12 kg m^2."""
        name = element.attrib["name"]
        self.say("body", body.name, note="" if name == body.name else f"the name is written '{name}'")
        moves = joint.kind != "fixed"
        if not moves and not body.mass and not any(body.inertia):
            return
        moments, R = np.linalg.eigh(tensor_of(body.inertia))
        R[:, 2] *= np.sign(np.linalg.det(R))
        if not body.physical and (moments[0] < 0 or moments[0] + moments[1] < moments[2] * (1 - 1e-9)):
            what = "is physically impossible, and MuJoCo refuses it"
            self.flaws.add(
                f"bodies.{body.name}.inertia", what, "change it, for example with --set; URDF and SDF can hold it"
            )
        # MuJoCo refuses A + B < C, however little rounded catalogue data miss it.
        short = moments[2] - (moments[0] + moments[1])
        if short > 0:
            moments[2] -= short
            if short > ROUNDING * moments[2]:
                note = f"rounded by {short:.1g} kg m^2 to a physically possible one, as MuJoCo requires"
                self.say("body", body.name, "inertia", note=note, column=CHOICE)
        mass = body.mass
        if moves and (mass < SPECKS or moments[0] < SPECKS):
            mass, moments = max(mass, SPECKS), np.maximum(moments, SPECKS)
            note = f"MuJoCo wants mass and inertia of what moves: {SPECKS:g} kg, kg m^2 at least"
            self.say("body", body.name, note=note, column=CHOICE)
        inertial = SubElement(element, "inertial", pos="0 0 0", mass=number_text(mass))
        inertial.set("diaginertia", number_text(moments))
        self.put_pose(inertial, Pose(R, np.array(body.com)))
        self.say("body", body.name, "mass", "com")
        if not short > ROUNDING * moments[2]:
            self.say("body", body.name, "inertia", "physical", note="principal moments and axes")

    def put_look(self, element: Element, body: Body, look: Look) -> None:
        account = next(e for e in self.part("body", body.name).all("look") if e.attributes["name"] == look.name)
        words: dict[str, str] = {"name": self.own_name(f"{body.name}_{look.name}")}
        kind = look.kind
        if isinstance(look, MeshLook):
            reason = self.unreadable(Path(look.file))
            if reason:
                account.drop(reason)
                return
            words |= {"type": "mesh", "mesh": self.mesh(look)}
        else:
            size = [getattr(look, key) for key in SIZES[kind]]
            # MuJoCo's boxes and lengths are half as large.
            halves = np.ravel(size) * (0.5 if kind == "box" else np.array([1.0, 0.5])[: len(size)])
            words |= {"type": kind, "size": number_text(halves)}
        if look.collision:
            words["group"] = str(HIDDEN)
        else:
            words |= {"group": str(VISIBLE), "contype": "0", "conaffinity": "0"}
        if look.colour:
            words["rgba"] = number_text([*rgb_of(look.colour), 1.0])
        self.put_pose(SubElement(element, "geom", words), pose_of(look))
        account.mark(READ, "", "", *account.attributes)

    def unreadable(self, file: Path) -> str:
        """Why MuJoCo does not read a mesh."""
        if file.suffix.lower() not in self.MESHES:
            return f"MuJoCo reads meshes of {' and '.join(self.MESHES)}"
        if file.suffix.lower() == ".obj":
            return ""
        with file.open("rb") as stream:
            head = stream.read(84)
        faces = int.from_bytes(head[80:84], "little")
        if file.stat().st_size != 84 + 50 * faces:
            return "MuJoCo reads binary STL files only"
        return "" if 0 < faces <= MOST_FACES else f"MuJoCo reads 1 to {MOST_FACES} faces, it has {faces}"

    def mesh(self, look: MeshLook) -> str:
        """The asset of a mesh; its own inertia has no effect, and is that of its surface, which each has."""
        key = (look.file, tuple(look.scale))
        if key not in self.meshes:
            self.meshes[key] = self.own_name(Path(look.file).stem)
            words = {"name": self.meshes[key], "file": str(self.mesh_name(look)), "inertia": "shell"}
            if look.scale != (1.0, 1.0, 1.0):
                words["scale"] = number_text(look.scale)
            SubElement(self.assets, "mesh", words)
        return self.meshes[key]

    def put_points(self, body: str) -> None:
        for point in self.points_of.get(body, ()):
            site = SubElement(self.frames[body], "site", name=self.own_name(point.name))
            self.put_pose(site, Pose.translation(np.array(point.origin)))
            self.sites[point.name] = site
            self.say_all("point", point.name, "a site")

    # ----------------------------------------------------------------------------------------------
    # Tendons and equalities.

    def site(self, point: str) -> str:
        """The site of a point, which may be one that is implied."""
        if point not in self.sites:
            body = self.point(point).body
            self.sites[point] = SubElement(self.frames[body], "site", name=self.own_name(f"{point}_site"))
        return self.sites[point].attrib["name"]

    def put_tendon(self, coordinate: Any) -> None:
        if coordinate.name in self.left_out:
            return
        words, inertia = {"name": self.own_name(coordinate.name)}, 0.0
        if isinstance(coordinate, LinearCombination):
            made, inertia = SubElement(self.tendons, "fixed", words), coordinate.inertia
            for joint, weight in coordinate.of.items():
                SubElement(made, "joint", joint=joint, coef=number_text(weight))
        elif isinstance(coordinate, Distance):
            made = SubElement(self.tendons, "spatial", words)
            for point in (coordinate.start, coordinate.end):
                SubElement(made, "site", site=self.site(point))
        else:
            return
        effects = self.put_effects(made, coordinate.name, inertia)
        if effects.stiffness:
            # A length of -1 asks MuJoCo for that of the model as it stands.
            rest = effects.rest if effects.rest != -1.0 else np.nextafter(-1.0, 0.0)
            made.set("springlength", number_text(rest))
        if coordinate.range is not None:
            made.set("range", number_text(coordinate.range))
        self.say_all("coordinate", coordinate.name, "a tendon")

    def put_equalities(self) -> None:
        soft = "MuJoCo's equality, which gives way a little"
        for name, follower, leader, ratio, offset, active in self.couplings():
            words = {"joint1": follower} | ({"joint2": leader} if leader else {})
            self.put_equality("joint", name, active, **words, polycoef=number_text([offset, ratio, 0, 0, 0]))
        for part in self.constraints:
            if isinstance(part, LinearConstraint) and not self.is_coupling(part):
                tendon, weight = self.sum_of(part)
                line = number_text([part.offset / weight, 0, 0, 0, 0])
                self.put_equality("tendon", part.name, part.active, tendon1=tendon, polycoef=line)
                self.say_all("constraint", part.name, soft)
            elif isinstance(part, Rod):
                self.put_rod(part)
                self.say_all("constraint", part.name, f"a tendon of fixed length: {soft}")
            elif isinstance(part, LoopJoint):
                self.put_loop(part)
                self.say_all("constraint", part.name, soft)

    def put_rod(self, rod: Rod) -> None:
        """A tendon between two sites whose length differs from that of the model as it stands by a constant."""
        tendon = SubElement(self.tendons, "spatial", name=self.own_name(f"{rod.name}_length"))
        poses, places = self.zero_poses(), []
        for name in (rod.start, rod.end):
            SubElement(tendon, "site", site=self.site(name))
            point = self.point(name)
            places.append(poses[point.body].apply(np.array(point.origin)))
        apart = float(np.linalg.norm(places[1] - places[0]))
        offset = number_text([rod.length - apart, 0, 0, 0, 0])
        self.put_equality("tendon", rod.name, rod.active, tendon1=tendon.attrib["name"], polycoef=offset)

    def sum_of(self, part: LinearConstraint) -> tuple[str, float]:
        """The tendon of a constraint's weighted sum, and by which factor the sum is larger than its length."""
        sums = {each.name: each for each in self.machine.coordinates if isinstance(each, LinearCombination)}
        first, *others = part.of
        if not others and first in sums:
            return first, part.of[first]
        tendon = SubElement(self.tendons, "fixed", name=self.own_name(f"{part.name}_sum"))
        weights: dict[str, float] = {}
        for name, weight in part.of.items():
            inner = sums[name].of if name in sums else {name: 1.0}
            for joint, factor in inner.items():
                weights[joint] = weights.get(joint, 0.0) + weight * factor
        for joint, weight in weights.items():
            SubElement(tendon, "joint", joint=joint, coef=number_text(weight))
        return tendon.attrib["name"], 1.0

    def put_equality(self, tag: str, name: str, active: bool, **words: str) -> None:
        element = SubElement(self.equalities, tag, {"name": self.own_name(name), **words})
        if not active:
            element.set("active", "false")

    def put_loop(self, loop: LoopJoint) -> None:
        """Sites that meet; a hinge is two places of its axis that do."""
        ends = [self.site(loop.first), self.site(loop.second)]
        if loop.kind == "fixed":
            second = self.point(loop.second)
            turned = SubElement(self.frames[second.body], "site", name=self.own_name(f"{loop.name}_frame"))
            self.put_pose(turned, Pose(np.array(loop.rotation).T, np.array(second.origin)))
            self.put_equality("weld", loop.name, loop.active, site1=ends[0], site2=turned.attrib["name"])
            return
        pairs: list[Sequence[str]] = [ends]
        if loop.kind == "revolute":
            there = []
            for point, axis in ((loop.first, loop.axis), (loop.second, loop.second_axis)):
                place = self.point(point)
                site = SubElement(self.frames[place.body], "site", name=self.own_name(f"{loop.name}_axis"))
                self.put_pose(site, Pose.translation(np.array(place.origin) + 0.1 * np.array(axis)))
                there.append(site.attrib["name"])
            pairs.append(there)
        for pair in pairs:
            self.put_equality("connect", loop.name, loop.active, site1=pair[0], site2=pair[1])

    # ----------------------------------------------------------------------------------------------
    # Actuators, and where all of it starts.

    def put_actuators(self) -> None:
        """Motors, servos and DC motors; commands that are constants stand in the keyframe."""
        self.commands: list[float] = []
        for block in self.machine.blocks:
            if block.on is None or self.transmission(block.on) is None:
                continue
            p = block.parameters
            if block.law == "torque_source":
                self.put_servo(block)
            elif block.law in ("current_source", "current_lag"):
                # The command is a current: the gear is the torque of an ampere.
                words = {"gear": number_text(p["torque_constant"] * p.get("gear", 1.0))}
                if block.law == "current_lag":
                    words |= {"dyntype": "filterexact", "dynprm": number_text(p["time_constant"])}
                else:
                    words |= both_ways("ctrlrange", p["current_limit"])
                self.put_actuator("general", block, words, "current_command", "its command is a current")
            elif block.law == "dc_motor" and p["torque_factor"] == 1.0:
                words = {"motorconst": number_text(p["torque_constant"]), "resistance": number_text(p["resistance"])}
                words |= {"inductance": number_text(p["inductance"]), "gear": number_text(p["gear"])}
                if np.isfinite(p["current_limit"]):
                    words["saturation"] = number_text([0.0, p["current_limit"], 0.0])
                self.put_actuator("dcmotor", block, words, "voltage", "a dcmotor: MuJoCo 3.7 or newer")
            elif block.law == "cogging_torque" and p["amplitude"]:
                # -A sin(n s + phi) = A sin(n s + phi + pi), of a motor without any current.
                words = {"input": "none", "motorconst": "0", "resistance": "1"}
                words["cogging"] = number_text([p["amplitude"], p["order"], p["phase"] + np.pi])
                self.put_actuator("dcmotor", block, words, "", "a passive dcmotor: MuJoCo 4 or newer")

    def transmission(self, on: str) -> dict[str, str] | None:
        """The joint or tendon that something acts on, None where the file has neither."""
        if any(joint.get("name") == on for joint in self.joint_elements):
            return {"joint": on}
        return {"tendon": on} if any(tendon.get("name") == on for tendon in self.tendons) else None

    def put_servo(self, block: Block) -> None:
        """A commanded torque: a position servo where a PD or PID loop of the same joint commands it."""
        loop = self.source(block, "command")
        limit = block.parameters["torque_limit"]
        own = {key: f"{block.on}.{key}" for key in ("position", "velocity")}
        servo = loop is not None and loop.law in ("pd_control", "pid_control") and loop.period is None
        # MuJoCo has no servos with negative gains.
        keys = ("proportional", "integral", "derivative")
        servo = servo and loop is not None and all(loop.parameters.get(key, 0.0) >= 0.0 for key in keys)
        if loop is None or not servo or {key: loop.inputs.get(key) for key in own} != own:
            self.put_actuator("motor", block, both_ways("forcerange", limit), "command", "a motor")
            return
        limit = min(limit, loop.parameters["limit"])
        gains = {"kp": loop.parameters["proportional"], "kv": loop.parameters["derivative"]}
        tag, note = "position", "a position servo"
        if loop.parameters.get("integral"):
            tag, note = "pid", "a pid servo: MuJoCo 4 or newer"
            gains["ki"] = loop.parameters["integral"]
        words = {key: number_text(value) for key, value in gains.items()}
        words |= {"input": "pos"} if tag == "pid" else {}
        words |= both_ways("forcerange", limit)
        self.put_actuator(tag, block, words, "", note)
        self.commands[-1:] = [self.say_command(loop, "target")]
        self.say_all("block", loop.name, note)
        for key in {"target_velocity", "feed_forward"} & loop.inputs.keys():
            inputs = self.part("block", loop.name).one("inputs")
            assert inputs is not None
            inputs.mark(UNUSED, "the servo has the position alone as its command", key)

    def put_actuator(self, tag: str, block: Block, words: dict[str, str], command: str, note: str) -> None:
        transmission = self.transmission(str(block.on))
        assert transmission is not None
        SubElement(self.actuators, tag, {"name": self.own_name(block.name), **transmission, **words})
        self.say_all("block", block.name, note)
        if words.get("input") != "none":
            self.commands.append(self.say_command(block, command) if command else 0.0)

    def source(self, block: Block, key: str) -> Block | None:
        """The block whose output is an input of another one, None where it is no block's."""
        name = str(block.inputs[key]).rpartition(".")[0]
        return next((other for other in self.machine.blocks if other.name == name), None)

    def say_command(self, block: Block, key: str) -> float:
        """The constant that commands a block; 0 where something else does, which a controller outside must replace."""
        source = self.source(block, key)
        if source is not None and source.law == "constant_reference":
            self.say_all("block", source.name, "ctrl of the keyframe 'start'")
            return float(source.parameters["constant"])
        inputs = self.part("block", block.name).one("inputs")
        if inputs is not None:
            inputs.mark(CHOICE, "is given as ctrl: MuJoCo has no references and controllers of their own", key)
        return 0.0

    def put_start(self, root: Element) -> None:
        """A keyframe with the positions of the start; MuJoCo's own start is 0, and that of free joints."""
        initial = {account: value for account, value in self.scenario.initial.items() if account in self.positions}
        known = self.account.one("initial")
        if known is not None:
            note = "a keyframe 'start'"
            known.mark(CONVERTED, note, "", *initial)
        if not any(initial.values()) and not any(self.commands):
            return
        words = {"name": "start", "qpos": number_text([*self.positions.values()])}
        if any(self.commands):
            words["ctrl"] = number_text(self.commands)
        SubElement(SubElement(root, "keyframe"), "key", words)
