"""Spreadsheet export: a run as a workbook of live formulas that any spreadsheet program recalculates."""

from robodyn.exchange.workbook.plan import WorkbookPlan, make_plan
from robodyn.exchange.workbook.writing import write_workbook

__all__ = ["WorkbookPlan", "make_plan", "write_workbook"]
