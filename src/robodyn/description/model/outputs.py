"""Outputs of laws: under which name does a block give what its law returns?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robodyn.description.laws import arguments_of
from robodyn.description.model.block import FORCE_NAMES, Block


def name_results(block: Block, returned: Any) -> dict[str, Any]:
    """What a law returned, by name."""
    return dict(returned) if isinstance(returned, Mapping) else {single_output(block): returned}


def single_output(block: Block) -> str:
    """Name of a value that is returned without one.

    The one that the law gives a unit, that `acts` or `hold` names; else `force` of a block that is on something, and
    `value` of any other.
    """
    arguments = {argument.name for argument in arguments_of(block.function)}
    declared = [name for name in block.info.units if name not in arguments and not name.endswith(("_dot", "_next"))]
    if block.on and not block.acts:
        declared = [name for name in declared if name in FORCE_NAMES]
    names = next((names for names in (declared, list(block.acts), list(block.hold)) if len(names) == 1), None)
    return names[0] if names else ("force" if block.on else "value")
