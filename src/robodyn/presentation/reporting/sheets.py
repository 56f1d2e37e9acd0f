"""Sheets to sign: the measured figures of a machine, typeset on paper size with what they are of, as HTML or PDF.

A `TestSheet` says what stands on it; the two renderers below know what that looks like. The PDF is set by reportlab, an
extra, in the font that matplotlib brings.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from datetime import date
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.base import frozen, replacing, show_quantity, write_file

from .displays import PAGE_STYLE, Table, policy_of, table_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@frozen
class TestSheet:
    """The contents of a sheet.

    Attributes:
        facts: what was tested and how, a label and a value each; those that are empty are left to be filled in.
        results: the figures; picture: drawn below them; remarks: small print.
    """

    __test__ = False
    title: str
    standard: str
    facts: Sequence[tuple[str, str]]
    results: Sequence[Table]
    picture: Callable[[], Figure]
    remarks: Sequence[str] = ()
    written: date = field(default_factory=date.today)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """All facts, the date and the version of the program among them."""
        from robodyn import __version__

        own = [("Date", self.written.isoformat()), ("Simulated by", f"robodyn {__version__}")]
        return [*self.facts, *own]


SIGNATURES = ("Tested by", "Checked by")
_BLANK = "................................"


def show_payload(mass: float | None) -> str:
    """The payload of a test; empty where the machine names none."""
    return "" if mass is None else show_quantity(mass, "kg")


def write_test_sheet(sheet: TestSheet, path: str | Path) -> Path:
    """Write a sheet, HTML or PDF by the ending of the path."""
    path = Path(path)
    if path.suffix == ".html":
        write_file(path, to_sheet_html(sheet))
    elif path.suffix == ".pdf":
        with replacing(path) as draft:
            _write_pdf(sheet, draft)
    else:
        raise ValueError(f"{path}: must end in .html or .pdf")
    return path


def _draw_png(sheet: TestSheet) -> bytes:
    image = io.BytesIO()
    sheet.picture().savefig(image, format="png", dpi=200)
    return image.getvalue()


SHEET_STYLE = f"""{PAGE_STYLE}
body{{max-width:190mm;font-size:13px}}h1{{font-size:1.5rem;margin:0}}h2{{font-size:1.1rem;margin:1.2rem 0 .3rem}}
.standard{{color:#555;margin:0 0 1rem}}dl{{display:grid;grid-template-columns:auto 1fr auto 1fr;gap:.3rem 1rem;margin:0;
padding:.6rem 0;border-top:2px solid #222;border-bottom:2px solid #222}}dt{{color:#555}}dd{{margin:0;font-weight:600}}
td,th{{font-size:12px}}td{{overflow-wrap:break-word}}ul{{font-size:11px;color:#444;padding-left:1.2rem}}
.signatures{{display:grid;grid-template-columns:1fr 1fr;gap:3rem;margin-top:3.5rem;break-inside:avoid}}
.signatures div{{border-top:1px solid #222;padding-top:.3rem}}img,tr{{break-inside:avoid}}
@page{{size:A4;margin:15mm}}"""


def to_sheet_html(sheet: TestSheet) -> str:
    """One page that needs nothing from elsewhere, with fields to sign in."""
    facts = "".join(f"<dt>{escape(label)}</dt><dd>{escape(value) or _BLANK}</dd>" for label, value in sheet.lines)
    body = []
    for table in sheet.results:
        body.append(f"<h2>{escape(table.title)}</h2>{table_html(replace(table, most=len(table.rows)))}")
    image = base64.b64encode(_draw_png(sheet)).decode("ascii")
    body.append(f'<h2>Diagrams</h2><img alt="diagrams of the test" src="data:image/png;base64,{image}">')
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in sheet.remarks)
    signatures = "".join(f"<div>{label}, date</div>" for label in SIGNATURES)
    title = escape(sheet.title)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy_of(SHEET_STYLE, "")}">
<title>{title}: {escape(sheet.standard)}</title><style>{SHEET_STYLE}</style>
<h1>{title}</h1><p class="standard">{escape(sheet.standard)}</p><dl>{facts}</dl>
{"".join(body)}<h2>Remarks</h2><ul>{remarks}</ul><div class="signatures">{signatures}</div></html>
"""


def _write_pdf(sheet: TestSheet, path: Path) -> None:
    import matplotlib
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.lib.units import mm
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import Image, KeepTogether, Paragraph, SimpleDocTemplate, Spacer
    from reportlab.platypus import Table as Grid

    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    for name, file in (("Sheet", "DejaVuSans.ttf"), ("Sheet-Bold", "DejaVuSans-Bold.ttf")):
        pdfmetrics.registerFont(TTFont(name, str(fonts / file)))
    plain = ParagraphStyle("plain", fontName="Sheet", fontSize=7.5, leading=9.5)
    right = ParagraphStyle("right", plain, alignment=2)
    bold = ParagraphStyle("bold", plain, fontName="Sheet-Bold")
    bold_right = ParagraphStyle("bold_right", bold, alignment=2)
    grey = ParagraphStyle("grey", plain, textColor=colors.HexColor("#555555"))
    small = ParagraphStyle("small", plain, fontSize=6.5, leading=8.5, leftIndent=8, bulletIndent=0)
    title = ParagraphStyle("title", bold, fontSize=15, leading=19)
    section = ParagraphStyle("section", bold, fontSize=10, leading=13, spaceBefore=9, spaceAfter=3)
    room = A4[0] - 32 * mm

    # What was tested, in two columns of labels and values.
    lines = [(Paragraph(escape(label), grey), Paragraph(escape(value) or _BLANK, bold)) for label, value in sheet.lines]
    lines += [("", "")] * (len(lines) % 2)
    half = len(lines) // 2
    pairs = [[*left, *other] for left, other in zip(lines[:half], lines[half:], strict=True)]
    rules = [("LINEABOVE", (0, 0), (-1, 0), 1.2, colors.black), ("LINEBELOW", (0, -1), (-1, -1), 1.2, colors.black)]
    top = ("VALIGN", (0, 0), (-1, -1), "TOP")
    facts = Grid(pairs, colWidths=[0.15 * room, 0.35 * room] * 2, style=[*rules, top])
    story: list[Any] = [Paragraph(escape(sheet.title), title), Paragraph(escape(sheet.standard), grey), Spacer(0, 8)]
    story.append(facts)

    for table in sheet.results:
        heads, cells = table.cells()
        styles = [right if table.is_numeric(column) else plain for column in range(len(heads))]
        heading = [bold_right if style is right else bold for style in styles]
        rows = [[Paragraph(escape(text), style) for text, style in zip(heads, heading, strict=True)]]
        rows += [[Paragraph(escape(cell), style) for cell, style in zip(row, styles, strict=True)] for row in cells]
        # Columns are as wide as their longest texts ask for, by the square root, so that long ones are broken.
        longest = [max(len(text) for text in column) for column in zip(heads, *cells, strict=True)]
        wishes = [max(4.0, length) ** 0.5 for length in longest]
        widths = [room * wish / sum(wishes) for wish in wishes]
        hair = ("LINEBELOW", (0, 0), (-1, -1), 0.3, colors.HexColor("#cccccc"))
        head = ("LINEBELOW", (0, 0), (-1, 0), 0.8, colors.black)
        pads = [("LEFTPADDING", (0, 0), (-1, -1), 2), ("RIGHTPADDING", (0, 0), (-1, -1), 4)]
        grid = Grid(rows, colWidths=widths, repeatRows=1, style=[hair, head, top, *pads])
        story += [Paragraph(escape(table.title), section), grid]

    image = Image(io.BytesIO(_draw_png(sheet)))
    width = min(room, 0.5 * A4[1] * image.imageWidth / image.imageHeight)
    image.drawWidth, image.drawHeight = width, width * image.imageHeight / image.imageWidth
    story.append(KeepTogether([Paragraph("Diagrams", section), image]))
    remarks = [Paragraph(escape(remark), small, bulletText="•") for remark in sheet.remarks]
    line = ("LINEABOVE", (0, 0), (0, 0), 0.6, colors.black), ("LINEABOVE", (2, 0), (2, 0), 0.6, colors.black)
    first, second = (Paragraph(f"{label}, date", grey) for label in SIGNATURES)
    signatures = Grid([[first, "", second]], colWidths=[0.45 * room, 0.1 * room, 0.45 * room], style=list(line))
    story += [Paragraph("Remarks", section), *remarks, KeepTogether([Spacer(0, 50), signatures])]

    def number(canvas: Any, document: Any) -> None:
        canvas.setFont("Sheet", 6.5)
        canvas.drawString(16 * mm, 9 * mm, f"{sheet.title}: {sheet.standard}")
        canvas.drawRightString(A4[0] - 16 * mm, 9 * mm, f"page {document.page}")

    margins = {"leftMargin": 16 * mm, "rightMargin": 16 * mm, "topMargin": 14 * mm, "bottomMargin": 16 * mm}
    name = f"{sheet.title}: {sheet.standard}"
    document = SimpleDocTemplate(str(path), pagesize=A4, title=name, invariant=1, **margins)
    document.build(story, onFirstPage=number, onLaterPages=number)
