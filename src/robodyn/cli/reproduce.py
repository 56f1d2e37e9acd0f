"""robodyn reproduce: do we get what a study published?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robodyn.base.waiting import quietly
from robodyn.cli.answers import writing
from robodyn.cli.application import app, fail, messages, output, print_json

if TYPE_CHECKING:
    from robodyn.presentation.studies import PublishedValue, Study

NOT_REPRODUCED = 1


@app.command("reproduce")
def reproduce_study(
    study: Annotated[str, typer.Argument(help="Name of a study, for example scara.")],
    part: Annotated[
        list[str] | None, typer.Option(help="Only the figures under this heading, or a part of its words; repeatable.")
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Write the study's page and pictures into this folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run a study and print its published figures beside ours; exit code 1 if one is out."""
    from robodyn.presentation.studies import find_study

    chosen = find_study(study)
    if part and page is not None:
        raise fail("--page writes the whole study: leave out --part")
    headings = _choose_parts(chosen, part) if part else None
    figures: list[PublishedValue] = []
    with quietly(), messages.console.status(f"reproducing {chosen.title}") as status:
        for figure in chosen.figures(headings):
            figures.append(figure)
            status.update(f"{len(figures)} figures, last: {figure.name}")
            if not as_json:
                _print(figure)
    if page is not None:
        _write_page(chosen, figures, page)
    if as_json:
        print_json([figure.as_plain() for figure in figures])
    else:
        _sum_up(figures)
    if any(figure.ok is False for figure in figures):
        raise typer.Exit(NOT_REPRODUCED)


def _choose_parts(study: Study, words: list[str]) -> list[str]:
    known = list(study.parts())
    unknown = [word for word in words if not any(word.lower() in heading.lower() for heading in known)]
    if unknown:
        raise fail(f"--part {unknown[0]}: no such part of {study.name}; there are: {'; '.join(known)}")
    return [heading for heading in known if any(word.lower() in heading.lower() for word in words)]


def _write_page(study: Study, figures: list[PublishedValue], folder: Path) -> None:
    from robodyn.presentation.studies import write_overview, write_page

    with writing(f"--page {folder}"):
        path = write_page(study, figures, folder)
        write_overview(folder)
    messages.print(f"page: {path}")


def _print(figure: PublishedValue) -> None:
    value = "-" if figure.value is None else f"{figure.value:.6g} {figure.unit}".rstrip()
    apart = "" if figure.deviation is None else f", deviation {figure.deviation:+.3g}"
    seen = "" if figure.measured is None else f", measured {figure.measured:.6g}"
    message = f"ours {value}, expected {figure.expectation}{apart}{seen}"
    output.print(f"{figure.verdict:<17} {figure.name} ({figure.kind}): {message}")
    output.print(f"{'':<17} {figure.reason}" + (f" [{figure.source}]" if figure.source else ""))


def _sum_up(figures: list[PublishedValue]) -> None:
    from robodyn.presentation.studies import describe_counts

    for line in describe_counts(figures):
        output.print(line)
