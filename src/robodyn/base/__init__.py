"""Base: what every floor uses: errors, units, frozen records, symbolic and spatial arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import load_when_used

if TYPE_CHECKING:
    from .atomic import replacing, write_file
    from .errors import Flaw, FlawList, ModelError, near_names, nearest, refuse, refuse_unknown, refuse_word
    from .extensions import Extension, collect
    from .lazy import Displayed, ca, imported_names, load_when_used, view
    from .numerics import Array, bisect, limit_step, solve_newton
    from .plain import evaluate, schema_of, to_plain
    from .records import frozen
    from .signals import SignalInfo, choose_first, find_unmatched, fits, number_units
    from .units import (
        ShownUnit,
        UnitError,
        UnitOfMeasure,
        check_units,
        choose_unit,
        fill_unit,
        known_unit,
        parse_unit,
        same_quantity,
        show_number,
        show_quantities,
        show_quantity,
        split_heading,
        with_unit,
        write_unit,
    )
    from .untrusted import Unreadable, parse_toml
    from .waiting import WaitingLine, clear_line, end_line, listen, quietly, report_progress, update_line

__getattr__, __dir__, __all__ = load_when_used(__name__)
