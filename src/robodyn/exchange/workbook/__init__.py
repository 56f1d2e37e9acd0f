"""Spreadsheet export: a run as a workbook of live formulas that any spreadsheet program recalculates."""

from robodyn.base import imported_names

from .plan import WorkbookPlan, make_plan
from .writing import write_workbook

__all__ = imported_names(__name__)
