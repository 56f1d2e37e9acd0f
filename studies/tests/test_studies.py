"""Is every study tested, does a figure that is out fail it, and has it a page?"""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from robodyn.cli import app
from robodyn.presentation.studies import Headline, Kind, Picture, PublishedValue, write_overview, write_page
from robodyn_studies import STUDIES


@pytest.mark.parametrize("name", STUDIES)
def test_a_figure_that_fails_fails_its_study_whatever_computed_it(name, monkeypatch):
    wrong = (
        PublishedValue("number", 2.0, np.float64(2.3), tolerance=0.2),
        PublishedValue("truth", None, None, holds=np.bool_(False)),
    )
    for figure in wrong:
        failing = dataclasses.replace(STUDIES[name], parts=lambda figure=figure: {"part": lambda: iter([figure])})
        monkeypatch.setitem(STUDIES, name, failing)
        done = CliRunner().invoke(app, ["reproduce", name, "--json"])
        assert done.exit_code == 1
        assert json.loads(done.stdout)[0]["ok"] is False


def test_every_study_has_its_tests_and_one_that_all_its_figures_come_out():
    for name in STUDIES:
        assert f'flawed_figures("{name}"' in (Path(__file__).parent / f"test_{name}.py").read_text()


def test_every_scenario_file_is_run_by_a_test():
    folder = Path(__file__).parents[1]
    files = {path.name for path in folder.rglob("*.toml")} - {"pyproject.toml"}
    tests = "".join(path.read_text(encoding="utf-8") for path in folder.glob("tests/*.py"))
    assert files
    assert [name for name in files if f'/ "{name}")' not in tests] == []


def test_the_page_of_a_study_shows_its_figures_and_pictures(tmp_path):
    study = dataclasses.replace(STUDIES["scara"], pictures=lambda: STUDIES["scara"].pictures()[:3])
    page = write_page(study, [PublishedValue("some_figure", 2.0, 2.1, "s", 0.2, "why | so", "there")], tmp_path)
    text = page.read_text()
    assert "| `some_figure` | own check | 2 within 0.2 | 2.1 | s | holds | why \\| so | there |" in text
    for picture in study.pictures():
        assert f"scara/{picture.name}.png" in text
        assert (tmp_path / "scara" / f"{picture.name}.png").stat().st_size > 10_000


def test_an_overview_begins_with_headlines_whose_numbers_are_figures(tmp_path):
    """What a publication says first, ours with values of figures in it, and the picture."""
    picture = Picture("curve", "a curve", lambda path: path.write_bytes(b"png"))
    headline = Headline("It is fast.", "{speed} times; {other}; {reproduced} of {published}", "curve")
    study = dataclasses.replace(STUDIES["scara"], pictures=lambda: (picture,), headline=headline)
    figures = [
        PublishedValue("speed", 5.0, 4.4321, tolerance=1.0, source="page 2", kind=Kind.RESULT),
        PublishedValue("gap", 5.0, 9.0, source="page 2", kind=Kind.RESULT),
        PublishedValue("broad", 1.0, 1.5, tolerance=1.0, source="page 2", kind=Kind.RESULT, wide="one digit"),
    ]
    write_page(study, figures, tmp_path)
    text = write_overview(tmp_path).read_text(encoding="utf-8")
    assert "Published: *It is fast.*" in text
    assert "Here: 4.43 times; (other: not computed); 1 of 3" in text
    assert "![a curve](scara/curve.png)" in text
    assert "1 reproduced, 1 too small to compare, 1 different" in text
    assert text.index("Published:") < text.index("## In numbers")


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_a_headline_with_a_picture_of_its_own(name):
    headline = STUDIES[name].headline
    assert headline.picture in {picture.name for picture in STUDIES[name].pictures()}


def test_an_overview_counts_what_all_pages_in_a_folder_prove(tmp_path):
    fitted = PublishedValue("poles", 5.2, 5.2, "rad/s", 0.05, "digits", "page 3", Kind.INPUT, fitted="the masses")
    gap = PublishedValue("sway", 75.0, 35.0, "%", None, "its span is not printed", "page 4", Kind.RESULT)
    found = {"scara": [fitted, gap], "epaas": [PublishedValue("sum", 1.0, 1.0, tolerance=0.1, reason="rounding")]}
    for name, figures in found.items():
        write_page(dataclasses.replace(STUDIES[name], pictures=tuple), figures, tmp_path)
    text = write_overview(tmp_path).read_text(encoding="utf-8")
    assert "| study | published results | inputs | own checks |" in text
    assert "| [SCARA benchmark ARGESIM C11](scara.md) | 1 different | 1 given | - |" in text
    assert "| [EPAAS, a hydraulic assembly robot](epaas.md) | - | - | 1 holds |" in text
    assert "| all | 1 different | 1 given | 1 holds |" in text
    assert "- `sway`: printed 75, ours 35 %; its span is not printed" in text
    assert "- the masses, to `poles`" in text
    assert "**What differs and why.** The paper's EXCEL and MATLAB part at 2 ms" in text


def test_a_page_begins_with_printed_results_and_has_pictures_beside_the_study_s_figures(tmp_path):
    beside = Picture("b", "ours", lambda path: path.write_text(""), "Figure 3: joints over time")
    other = Picture("o", "more", lambda path: path.write_text(""))
    study = dataclasses.replace(STUDIES["scara"], pictures=lambda: (other, beside))
    printed = PublishedValue("printed", 2.0, 2.1, "s", 0.2, "digits", "page 3", Kind.RESULT)
    text = write_page(study, [PublishedValue("own", 1.0, 1.0, "s", 0.1, "why"), printed], tmp_path).read_text()
    results, redrawn, beyond, everything = (
        text.index(f"## {title}")
        for title in (
            "What the study printed, and what comes out",
            "Its figures, redrawn",
            "Beyond its figures",
            "All figures",
        )
    )
    assert results < text.index("| `printed` | 2 within 0.2 | 2.1 | s | reproduced | digits |") < redrawn
    assert redrawn < text.index("### Figure 3\n\nThe study's: joints over time. Ours: ours.") < beyond
    assert beyond < text.index("scara/o.png") < everything
    assert text.index("`own`") > everything
    gap = PublishedValue("gap", 2.0, None, "s", None, "not public", "page 4", Kind.RESULT)
    many = [dataclasses.replace(printed, name=f"printed{k}") for k in range(60)]
    text = write_page(dataclasses.replace(study, pictures=tuple), [*many, gap], tmp_path).read_text()
    assert "60 of 61 printed results are reproduced" in text
    assert text.count("`gap`") == 2
    assert text.count("`printed7`") == 1


@pytest.mark.parametrize("name", ["scara", "constraints", "rx90", "cosimulation"])
def test_a_study_says_from_what_and_what_differs_and_stands_beside_its_figures(name):
    about = STUDIES[name].about
    assert about.index("**From what.**") < about.index("**What comes out.**") < about.index("**What differs and why.**")
    assert any(picture.beside.startswith("Figure ") and ": " in picture.beside for picture in STUDIES[name].pictures())


def test_pages_of_a_study_are_written_and_linked(tmp_path):
    message = Picture("replay", "The robot in motion", lambda path: path.write_text("<html></html>"))
    study = dataclasses.replace(STUDIES["scara"], pictures=tuple, pages=lambda: (message,))
    page = write_page(study, [], tmp_path).read_text(encoding="utf-8")
    assert "- [The robot in motion](scara/replay.html)" in page
    assert (tmp_path / "scara" / "replay.html").exists()
