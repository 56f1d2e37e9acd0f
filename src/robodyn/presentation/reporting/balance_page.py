"""Balance sheet as a page: where did every element and attribute of a robot file go?"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from .policy import policy_of

STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222}
table{border-collapse:collapse;width:100%}td,th{padding:.2rem .6rem;text-align:left;vertical-align:top;
border-bottom:1px solid #ddd}th{position:sticky;top:0;background:#fff}.n{text-align:right}
code{overflow-wrap:anywhere}label{margin-right:1rem}.choice{background:#fff6da}.not-used{color:#777}"""
SCRIPT = """for (const box of document.querySelectorAll("input")) box.onchange = () => {
  for (const row of document.querySelectorAll("tr." + box.value)) row.hidden = !box.checked; };"""


def balance_page(sheet: Mapping[str, Any]) -> str:
    """One HTML page of a balance sheet as plain values, which needs nothing from elsewhere."""
    counts = {key: value for key, value in sheet["counts"].items() if key != "entries"}
    boxes = "".join(
        f'<label><input type="checkbox" checked value="{_class(column)}"> {escape(column)}: {count}</label>'
        for column, count in counts.items()
    )
    rows = "\n".join(_row(entry) for entry in sheet["entries"])
    source = escape(str(sheet["source"]))
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8">{policy_of(STYLE, SCRIPT)}
<title>Balance sheet of {source}</title><style>{STYLE}</style>
<h1>Balance sheet</h1>
<p>{source}: {sheet["counts"]["entries"]} elements and attributes, each in one column.</p>
<p>{boxes}</p>
<table><thead><tr><th class="n">line</th><th>element or attribute</th><th>value</th><th>column</th>
<th>how, or why not</th></tr></thead><tbody>
{rows}
</tbody></table><script>{SCRIPT}</script></html>
"""


def _class(column: str) -> str:
    return column.replace(" ", "-")


def _row(entry: Mapping[str, Any]) -> str:
    cells = [f"<code>{escape(entry['path'])}</code>", f"<code>{escape(entry['value'])}</code>"]
    cells += [escape(entry["column"]), escape(entry["note"])]
    inner = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr class="{_class(entry["column"])}"><td class="n">{entry["line"]}</td>{inner}</tr>'
