"""References of a move in a scenario: which blocks give them, and who reads them instead of the old ones?"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.model import Block, Machine, Scenario
from robodyn.paths import CartesianPath, JointPath, build_arm
from robodyn.paths.deviation import deviation_law, nominal_tool


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


def tool_blocks(machine: Machine, name: str, tool: str, path: CartesianPath, plan: JointPath) -> tuple[Block, ...]:
    """Deviations from a path: of the tool; and of where encoders see it, if every joint has one."""
    assert machine.mechanism is not None
    law, way = deviation_law(path), {"s": f"{name}.s"}
    places = {axis: f"{tool}.position.{axis}" for axis in "xyz"}
    found = [Block(f"{name}.deviation", law, inputs=places | way)]
    encoders = [f"{joint}.encoder" for joint in plan.joints]
    if {block.name for block in machine.blocks} >= set(encoders):
        measured = tuple(f"{encoder}.measured" for encoder in encoders)
        nominal = Block(
            f"{name}.nominal", nominal_tool(build_arm(machine.mechanism, tool)), inputs={"positions": measured}
        )
        seen = {axis: f"{name}.nominal.{axis}" for axis in "xyz"}
        found += [nominal, Block(f"{name}.seen", law, inputs=seen | way)]
    return tuple(found)
