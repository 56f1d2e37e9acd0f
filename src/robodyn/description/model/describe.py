"""Plain data of a description: what does it say? For files, provenance and digests."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from robodyn.description.model.description import Description


def describe(value: Any) -> Any:
    """Any description as dictionaries, lists, strings and numbers; fields at their defaults are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        # What does not count in comparisons is not what a thing says.
        counted = [field for field in dataclasses.fields(value) if field.compare]
        said = [field.name for field in counted if not _is_default(field, value)]
        plain = {"type": type(value).__name__} | {name: describe(getattr(value, name)) for name in said}
        return plain | (value.derived if isinstance(value, Description) else {})
    if isinstance(value, Mapping):
        return {str(key): describe(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [describe(entry) for entry in value]
    if callable(value):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}:{named.__qualname__}"
    return value


def _is_default(field: dataclasses.Field[Any], owner: Any) -> bool:
    value = getattr(owner, field.name)
    if field.default is not dataclasses.MISSING:
        return bool(value == field.default)
    return field.default_factory is not dataclasses.MISSING and value == field.default_factory()


def digest(value: Any) -> str:
    """A short fingerprint of a description."""
    text = json.dumps(describe(value), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
