"""Is a page one file that needs nothing else and holds what it was made from?"""

import json
import re
from collections import Counter
from importlib.resources import files

import pytest

from robodyn.presentation.pages import make_page, write_report
from robodyn.presentation.pages.contents import MOST_EVENTS, describe_run
from robodyn.presentation.pages.page import MOST_RUNS, SCRIPTS, STYLES, read_template

EVIL = """</script><script>window.broken=1</script>'"&<!--{{data}}"""


def data_of(page):
    """What the page's script reads, by the rules for script elements: the text up to the first end tag."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script', page, re.DOTALL)
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_a_page_loads_nothing(make_crane):
    page = make_page(make_crane())
    markup = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    assert "default-src 'none'" in markup
    assert not re.search(r"\b(src|href)\s*=\s*[\"'](?!#|data:)", markup)
    assert "@import" not in page
    assert "url(" not in page


def test_names_that_look_like_markup_stay_text(make_measured):
    page = make_page(make_measured((EVIL,), unit=EVIL), labels=[EVIL])
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    (run,) = data_of(page)["runs"]
    assert run["label"] == run["signals"][0]["name"] == run["signals"][0]["unit"] == EVIL


def test_every_template_is_in_the_page(make_crane):
    page = make_page(make_crane())
    shipped = {entry.name for entry in files("robodyn.presentation.pages").joinpath("template").iterdir()}
    other = {"modes.js", "modes.html", "view.js", "view.html", "live.js", "numbers.js"}
    assert shipped == {*SCRIPTS, *STYLES, "head.html", "foot.html", "page.html", *other}
    assert all(read_template(name) in page for name in (*SCRIPTS, *STYLES))
    assert "{{" not in page


def test_a_page_tells_what_the_run_tells(make_crane):
    (message,) = data_of(make_page(make_crane()))["runs"]
    assert message["title"] == "A crane"
    assert message["outcome"] == {
        "kind": "finished",
        "state": "ok",
        "sentence": "reached the end time 1 s",
        "time": 1.0,
    }
    assert message["warnings"] == ["The rope is taken as stiff."]
    assert message["events"][1] == {"name": "done", "time": 1.0, "terminal": True}
    assert message["parameters"] == [["mount.origin.x", 1.5, "m"]]
    statistics = dict(message["statistics"])
    assert statistics["steps"] == "10"
    assert statistics["× real time"] == "2"
    assert statistics["smallest step"] == "0.1"
    provenance = dict(message["provenance"])
    assert provenance["model digest"] == make_crane().provenance.digest
    assert (provenance["solver method"], provenance["solver max step"]) == ("rk4", "inf")
    assert "solver step" not in provenance


def test_numbers_json_does_not_know_become_texts(make_crane):
    numbers = {"limit": {"value": float("inf"), "unit": "N"}, "gap": {"value": float("nan"), "unit": ""}}
    (message,) = data_of(make_page(make_crane(parameters=numbers)))["runs"]
    assert message["parameters"] == [["limit", "inf", "N"], ["gap", "nan", ""]]


def test_equations_are_shown_where_the_run_has_them(make_crane):
    assert describe_run(make_crane(), "crane")["equations"] is None
    assert describe_run(make_crane(equations=["a = b"]), "crane")["equations"] == ["a = b"]


def test_very_many_events_are_cut_and_counted(make_crane):
    run = make_crane()
    object.__setattr__(run, "events", run.events[:1] * (MOST_EVENTS + 7))
    message = describe_run(run, "crane")
    assert (len(message["events"]), message["more_events"]) == (MOST_EVENTS, 7)


def test_equal_names_of_runs_are_numbered(make_crane):
    labels = [run["label"] for run in data_of(make_page([make_crane(), make_crane()]))["runs"]]
    assert labels == ["crane (1)", "crane (2)"]


@pytest.mark.parametrize("labels", [["a"], ["a", "a"], ["a", "b", "c"]])
def test_labels_must_tell_the_runs_apart(make_crane, labels):
    with pytest.raises(ValueError, match="2 runs need as many distinct labels"):
        make_page([make_crane(), make_crane()], labels=labels)


@pytest.mark.parametrize("count", [0, MOST_RUNS + 1])
def test_more_runs_than_line_styles_are_refused(make_crane, count):
    with pytest.raises(ValueError, match=f"from 1 to {MOST_RUNS} runs"):
        make_page([make_crane()] * count)


def test_a_report_is_written_whole_or_not_at_all(make_crane, tmp_path):
    crane = make_crane()
    path = write_report(crane, tmp_path / "new" / "report.html")
    assert path.read_text(encoding="utf-8") == make_page(crane)
    with pytest.raises(ValueError, match="labels"):
        write_report(make_crane(), tmp_path / "none.html", labels=[])
    assert not (tmp_path / "none.html").exists()


TEMPLATES = {package: files(f"robodyn.presentation.{package}") / "template" for package in ("pages", "studio")}
OWN = {
    "report": [TEMPLATES["pages"] / name for name in ("page.html", "main.js")],
    "live": [files("robodyn.exchange.codegen") / "web" / "simulation.mjs", TEMPLATES["pages"] / "live.js"],
    "modes": [TEMPLATES["pages"] / name for name in ("modes.html", "modes.js")],
    "view": [TEMPLATES["pages"] / name for name in ("view.html", "view.js")],
    "studio": [path for path in TEMPLATES["studio"].iterdir() if path.suffix != ".css"],
}
"""What each page has of its own, beside the style sheet and the scripts that all share; the live page is a report."""


def join_texts(paths):
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


SHARED = join_texts(TEMPLATES["pages"] / name for name in (*SCRIPTS[:-1], "numbers.js"))


@pytest.mark.parametrize("page", OWN)
def test_no_two_scripts_of_a_page_declare_the_same_name(page):
    own = [*OWN[page], *(OWN["report"] if page == "live" else [])]
    scripts = SHARED + "\n" + join_texts(path for path in own if path.suffix != ".html").replace("export ", "")
    names = re.findall(r"^(?:const|let|class|(?:async )?function\*?) (\w+)", scripts, re.MULTILINE)
    assert len(names) > 100
    assert [name for name, count in Counter(names).items() if count > 1] == []


def find_ids(text):
    """The ids that markup and scripts give to elements, or look for."""
    return set(re.findall(r"""(?:\bid=|\bid: |\.id = |byId\()"([\w-]+)\"""", text))


def test_the_style_of_a_page_reaches_no_other():
    """What only one page has is styled under its mode, or another page may call its own parts so too."""
    rules = re.sub(r"/\*.*?\*/|\{[^{}]*\}", ";", join_texts([TEMPLATES["pages"] / "page.css"]), flags=re.DOTALL)
    selectors = [selector.strip() for selector in re.split(r"[,;{}]", rules)]
    plain = {name for s in selectors if not s.startswith("[data-mode") for name in re.findall(r"#([\w-]+)", s)}
    assert {"picture", "replay", "workspace"} <= plain
    ids = {page: find_ids(join_texts(paths)) for page, paths in OWN.items()}
    users = {name: [page for page in ids if name in ids[page]] for name in plain - find_ids(SHARED)}
    assert {name: pages for name, pages in users.items() if len(pages) > 1} == {}
