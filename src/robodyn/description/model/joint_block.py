"""Blocks of joints: what is a joint's damping, friction or end stop to a machine? A law, with numbers of the joint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from robodyn.description.model.block import Block
from robodyn.description.model.fields import EMPTY, reference_map
from robodyn.description.model.numbers import Number


class JointBlock(Block):
    """A block that a property of a joint stands for; files do not give it."""

    sources: Mapping[str, str] = reference_map(
        "number", default=EMPTY, doc="parameter = number of the joint that it is"
    )

    def numbers(self, prefix: str | None = None) -> Iterator[Number]:
        """None of its own: they are the joint's."""
        return iter(())
