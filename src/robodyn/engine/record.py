"""How does compiled code reach a run's record, and one part of the engine another?

A run's record is passed as one pointer. Arrays and other parts of the engine are reached through addresses
kept in it: arrays passed by value would cost more than the work of a step, and parts that were linked
together would be optimised again with each caller.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    lower_getattr_generic,
    lower_setattr_generic,
    register_model,
)

from robodyn.engine.caching import compile_entry, empty_folder, engine_folder
from robodyn.engine.workspace import RUN

intrinsic: Any = extending.intrinsic
FIELDS: dict[str, Any] = dict(RUN.fields or {})
UNITS: dict[str, Callable[..., Any]] = {}
"""The parts of the engine, by the name of their field in the record."""


class RunType(types.Type):
    """A pointer to a record of the layout RUN."""

    def __init__(self):
        super().__init__(name="Run")


RUN_TYPE = RunType()
register_model(RunType)(models.OpaqueModel)


def _number_type(field: str):
    return types.float64 if FIELDS[field][0].kind == "f" else types.int64


@infer_getattr
class RunFields(AttributeTemplate):
    """Types of the record's fields."""

    key = RunType

    def generic_resolve(self, record, field):  # type: ignore[override]
        return _number_type(field) if field in FIELDS else None


def _field_pointer(context, builder, record, field):
    place = builder.ptrtoint(record, ir.IntType(64))
    place = builder.add(place, ir.Constant(ir.IntType(64), FIELDS[field][1]))
    return builder.inttoptr(place, context.get_value_type(_number_type(field)).as_pointer())


@lower_getattr_generic(RunType)
def load_field(context, builder, record_type, record, field):
    """Read a field of the record."""
    return builder.load(_field_pointer(context, builder, record, field))


@lower_setattr_generic(RunType)
def store_field(context, builder, signature, arguments, field):
    """Write a field of the record."""
    value = context.cast(builder, arguments[1], signature.args[1], _number_type(field))
    builder.store(value, _field_pointer(context, builder, arguments[0], field))


def unit(function: Callable[..., Any]) -> Any:
    """Make f(run) -> whole number or truth value a part of its own, called through its address in the
    record."""
    field = f"unit_{function.__name__}"
    UNITS[field] = function

    @intrinsic
    def call_unit(typing_context, run):
        def generate(context, builder, signature, arguments):
            address = builder.load(_field_pointer(context, builder, arguments[0], field))
            unit_type = ir.FunctionType(ir.IntType(64), [arguments[0].type])
            return builder.call(builder.inttoptr(address, unit_type.as_pointer()), [arguments[0]])

        return types.int64(RUN_TYPE), generate

    return call_unit


@cache
def compile_units() -> dict[str, Any]:
    """All parts of the engine, compiled or from the engine's folder, by their fields."""
    try:
        return _compile_all()
    except Exception:  # noqa: BLE001  numba raises whatever unpickling a damaged file raises
        empty_folder()
        return _compile_all()


def _compile_all() -> dict[str, Any]:
    return {field: compile_entry(function, types.int64(RUN_TYPE)) for field, function in UNITS.items()}


def is_ready() -> bool:
    """Whether the engine needs no compiling: it is loaded, or every part of it lies in its folder."""
    folder = engine_folder()
    if compile_units.cache_info().currsize > 0:
        return True
    return folder is not None and len(list(folder.rglob("*.nbi"))) >= len(UNITS)
