"""Tables at the top of a scenario's file: which hold named parts, and which name parts? As the descriptions declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from robodyn.description.files.mechanism_tables import BODIES
from robodyn.description.files.path_forms import PATHS
from robodyn.description.files.reading import key_of
from robodyn.description.model import Scenario
from robodyn.description.model.description import Description
from robodyn.description.model.kinds import Kind, Numbers, Part, Parts, ReferenceMap, Texts
from robodyn.description.structures.beams import SECTIONS


def keys_of(cls: type[Description]) -> Iterator[tuple[str, str, Kind, type[Description]]]:
    """Every key of a class with its field, kind and owner, those of parts that files give beside them included."""
    for name, kind in cls.KINDS.items():
        if isinstance(kind, Part) and kind.inline:
            yield from keys_of(kind.classes[0])
        else:
            yield key_of(name, kind)[0], name, kind, cls


TOP = {key: kind for key, _, kind, _ in keys_of(Scenario)}
GROUPS: Mapping[str, Sequence[type[Description]]] = {
    **{key: kind.classes for key, kind in TOP.items() if isinstance(kind, Parts)},
    "bodies": BODIES,
    "sections": SECTIONS,
    "paths": PATHS,
}
"""Tables of named parts, and what they are."""
BY_NAME = tuple(
    key
    for key, kind in TOP.items()
    if (isinstance(kind, Numbers) and kind.dotted) or (isinstance(kind, ReferenceMap) and kind.keys_to)
)
"""Tables whose keys name parts."""
LISTS = tuple(key for key, kind in TOP.items() if isinstance(kind, Texts))
"""Lists of names."""
