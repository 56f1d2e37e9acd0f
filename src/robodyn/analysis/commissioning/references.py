"""References of a move in a scenario: which blocks give them, and who reads them instead of the old ones?"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.base.errors import FlawList
from robodyn.description.model import Block, Machine, Scenario
from robodyn.description.paths import JointPath


def with_references(
    scenario: Scenario, blocks: Sequence[Block], duration: float, plan: JointPath | None = None
) -> Scenario:
    """The same scenario with the references of a move, lasting at least until it is over.

    Joints' own references (`elbow.reference`) are replaced by those of the same name, or by a path's.
    """
    new = {block.name for block in blocks}
    moved = {f"{name}.reference" for name in plan.joints} if plan is not None else set()
    kept = [block for block in scenario.machine.blocks if block.name not in new | moved]
    renamed = {}
    for k, name in enumerate(plan.joints if plan is not None else (), start=1):
        for quantity in ("position", "velocity", "acceleration"):
            renamed[f"{name}.reference.{quantity}"] = f"{blocks[0].name}.{quantity}{k}"

    def rename(to: str, name: str) -> str:
        return renamed.get(name, name) if to == "signal" else name

    machine = scenario.machine.replaced(blocks=(*blocks, *(block.renamed(rename) for block in kept)))
    nominal = {joint: renamed.get(signal, signal) for joint, signal in scenario.nominal.items()}
    return scenario.replaced(machine=machine, nominal=nominal, duration=max(scenario.duration, duration))


def check_read(flaws: FlawList, scenario: Scenario, joints: Sequence[str]) -> None:
    """Joints whose references nothing reads would not move."""
    blocks = scenario.machine.blocks
    read = {name for block in blocks for _, to, name in block.references() if to == "signal"}
    for joint in joints:
        if f"{joint}.reference.position" not in read:
            what = f"nothing follows '{joint}.reference.position'"
            flaws.add(f"joints.{joint}", what, "dress the robot first; one that follows a path already has no others")


def encoders_of(machine: Machine, joints: Sequence[str]) -> tuple[str, ...]:
    """What encoders measure of joints; nothing where not every joint has one."""
    encoders = [f"{joint}.encoder" for joint in joints]
    known = {block.name for block in machine.blocks}
    return tuple(f"{encoder}.measured" for encoder in encoders) if known >= set(encoders) else ()
