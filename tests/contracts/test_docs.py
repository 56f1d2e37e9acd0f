"""What the documentation shows is true: its code runs, its files are read, its commands print what it says.

The words behind a fence's language mark what is tested: `python run` is executed, `toml file=NAME` is written
and checked, `toml broken=NAME` written and refused, `toml append=NAME` added to such a file, `toml cosim=NAME` written
and read as a co-simulation, `python file=NAME` and `csv file=NAME` written, `console run` executed and compared line by
line ("..." stands for any lines, numbers are compared to 4 digits). The blocks of a page share a folder.
"""

import importlib
import importlib.util
import json
import math
import re
import runpy
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from robodyn import ModelError, Solver, assemble, read_scenario
from robodyn.cli import app
from robodyn.cli.outputs import output_schema
from robodyn.cosimulation import read_cosimulation
from robodyn.files import make_schema
from robodyn.files.samples import read_mapping
from robodyn.fmi import read_fmu
from robodyn.results import Outcome, OutcomeKind
from robodyn.units import COHERENT, OTHERS, PREFIXED

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LIBRARY = ROOT / "src" / "robodyn"
PACKAGES = sorted(found.parent.name for found in LIBRARY.glob("*/__init__.py"))
GUIDE = LIBRARY / "cli" / "guide.md"
SITE = [*sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("how-to/*.md"))]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", GUIDE, *SITE]
# All that speaks of the code: pages, and docstrings and comments of the library and of the studies.
TEXTS = [
    *PAGES,
    ROOT / "CHANGELOG.md",
    ROOT / "studies" / "README.md",
    *sorted(LIBRARY.glob("**/*.py")),
    *sorted(ROOT.glob("studies/src/**/*.py")),
]
FENCE = re.compile(r"^```(\w+)[ ]+(\S+)[ ]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
TOCTREE = re.compile(r"^```{toctree}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITTEN_BY_THE_BUILD = ("api", "gallery", "studies", "jupyter_execute")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CITED = re.compile(r"`((?:src|tests|examples|docs|benchmarks|studies|\.ci)/[\w/.\-]+)`")
# Files of the library without `src/robodyn`, as `laws/friction.py`; whole names, as `robodyn.symbolic.tables`.
CITED_BY_PACKAGE = re.compile(r"`((?:" + "|".join({*PACKAGES} - {"studies"}) + r")/[\w/.\-]+)`")
NAMED = re.compile(r"`(robodyn(?:_studies)?(?:\.\w+)+)(?:\([^`\n]*\))?`")
# The same without `robodyn.`, as `reporting.plot_modes`, of packages that no signal and no value is called after.
NAMED_BY_PACKAGE = re.compile(r"`((?:analysis|fmi|reporting|pages|results|symbolic)(?:\.\w+)+)(?:\(.*?\))?`")
ENTRY_POINTS = ("robodyn.scenarios", "robodyn.studies")
# Shown numbers have 6 digits; the last of them may differ between processors.
SHOWN_TOLERANCE = 1e-4


@dataclass(frozen=True)
class CodeBlock:
    """A marked block of a page: where it begins, its language, its mark and its text."""

    place: str
    language: str
    mark: str
    text: str


def read_blocks(page):
    text = page.read_text(encoding="utf-8")
    return [
        CodeBlock(f"{page.name}:{text.count(chr(10), 0, found.start()) + 1}", *found.groups())
        for found in FENCE.finditer(text)
    ]


def run_block(block, folder, names):
    """Do what a block's mark says; an unknown mark is an error of the page."""
    action, _, file = block.mark.partition("=")
    if block.mark == "run" and block.language == "python":
        exec(compile(block.text, block.place, "exec"), names)
    elif block.mark == "run" and block.language == "console":
        run_commands(block, folder)
    elif action in ("file", "append", "broken", "cosim", "mapping") and file:
        with open(folder / file, "a" if action == "append" else "w", encoding="utf-8") as target:
            target.write(block.text)
        if action == "cosim":
            read_cosimulation(folder / file, {"fmu": read_fmu})
        elif action == "mapping":
            read_mapping(folder / file)
        elif block.language == "toml":
            check_file(folder / file, action == "broken")
    else:
        pytest.fail(f"{block.place}: unknown mark '{block.language} {block.mark}'")


def check_file(path, broken):
    """Read and assemble a scenario; a file shown as broken must be refused."""
    if broken:
        with pytest.raises(ModelError):
            assemble(read_scenario(path))
    else:
        assemble(read_scenario(path))


def run_commands(block, folder):
    for entry in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = entry.partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "robodyn", f"{block.place}: only robodyn commands are tested, not {program}"
        done = CliRunner().invoke(app, arguments, env={"COLUMNS": "80", "ROBODYN_QUIET": "1"})
        code, printed = done.exit_code, done.output
        compare_output(f"{block.place}: $ {command}", expected.splitlines(), printed.splitlines())
        if "--json" in arguments:
            check_json(f"{block.place}: $ {command}", arguments[0], printed)
        # A message of failure would pass for "..." alone; 3 is a run that is kept, but suspect.
        assert done.exception is None or isinstance(done.exception, SystemExit), f"{block.place}: $ {command}"
        assert code in (0, 3) or expected.replace("...", "").strip(), f"{block.place}: $ {command}\n{printed}"


def check_json(place, command, printed):
    """What is printed as JSON, among messages on the other stream, is what `robodyn schema COMMAND` promises."""
    begin = re.search(r"^[\[{]", printed, re.MULTILINE)
    value, _ = json.JSONDecoder().raw_decode(printed[begin.start() :])
    schema = jsonschema.Draft202012Validator(output_schema(command)["anyOf"][0])
    wrong = [f"{error.json_path}: {error.message}" for error in schema.iter_errors(value)]
    assert not wrong, f"{place}\n" + "\n".join(wrong)


def compare_output(place, expected, printed):
    """Every line shown is printed, in this order; nothing else is printed where no "..." stands."""
    position, gap = 0, False
    printed = [line for line in printed if line.strip() and "compiling" not in line]
    for line in (line for line in expected if line.strip()):
        if line.strip() == "...":
            gap = True
            continue
        reach = len(printed) if gap else position + 1
        matches = [k for k in range(position, min(reach, len(printed))) if same_line(line, printed[k])]
        assert matches, f"{place}\nshown:   {line}\nprinted:\n" + "\n".join(printed[position:reach])
        position, gap = matches[0] + 1, False
    more = [] if gap else printed[position:]
    assert not more, f"{place}: prints more than is shown\n" + "\n".join(more)


def same_line(shown, printed):
    left, right = shown.split(), printed.split()
    return len(left) == len(right) and all(map(same_word, left, right))


def same_word(shown, printed):
    try:
        return math.isclose(float(shown), float(printed), rel_tol=SHOWN_TOLERANCE, abs_tol=1e-12)
    except ValueError:
        return shown == printed


def heading_anchors(page):
    """Anchors as GitHub and MyST make them of plain headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def load_table_maker(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows_happens(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": f"page_{page.stem}"}
    for block in read_blocks(page):
        run_block(block, tmp_path, names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_inside_the_project_lead_somewhere(page):
    prose = ANY_CODE.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(prose):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        found = (page.parent / file).resolve() if file else page
        assert found.exists(), f"{page.name}: {target}"
        assert not anchor or anchor in heading_anchors(found), f"{page.name}: {target}"


def is_there(name):
    """Whether a dotted name is a module, or a name in one."""
    module, _, attribute = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), attribute) or bool(importlib.util.find_spec(name))
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("name", ["robodyn.laws.frictions", "robodyn.law.friction", "robodyn.results.identicals"])
def test_names_that_are_not_there_are_noticed(name):
    assert not is_there(name)


def test_cited_files_exist():
    texts = {page: page.read_text(encoding="utf-8") for page in TEXTS}
    cited = [(page.name, ROOT / path) for page, text in texts.items() for path in CITED.findall(text)]
    cited += [(page.name, LIBRARY / path) for page, text in texts.items() for path in CITED_BY_PACKAGE.findall(text)]
    assert len(cited) > 50
    assert not [(name, str(path)) for name, path in cited if not path.exists()]


def test_named_modules_and_functions_exist():
    texts = {page: page.read_text(encoding="utf-8") for page in TEXTS}
    named = [(page.name, name) for page, text in texts.items() for name in NAMED.findall(text)]
    named += [(page.name, f"robodyn.{name}") for page, text in texts.items() for name in NAMED_BY_PACKAGE.findall(text)]
    assert len(named) > 20
    assert not [(text, name) for text, name in named if name not in ENTRY_POINTS and not is_there(name)]


def test_the_architecture_lists_every_package_once():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    table = page[page.index("| package | holds |") : page.index("Beside them")]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == PACKAGES


def test_the_architecture_names_every_module_beside_the_packages():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    beside = page[page.index("Beside them") :].split("\n\n")[0]
    modules = sorted(path.stem for path in LIBRARY.glob("[a-z]*.py"))
    assert sorted(re.findall(r"`(\w+)`", beside)) == modules


def listed_pages(page=DOCS / "index.md"):
    """All pages that one lists in its tables of contents, and that those list; without those that a build writes."""
    found = {page}
    for toctree in TOCTREE.findall(page.read_text(encoding="utf-8")):
        entries = [line for line in toctree.splitlines() if line and not line.startswith(":")]
        own = [entry for entry in entries if entry.partition("/")[0] not in WRITTEN_BY_THE_BUILD]
        places = {place for entry in own for place in page.parent.glob(f"{entry}.md")} - {page}
        assert len(places) >= len([entry for entry in own if "*" not in entry]), f"{page.name} lists what is not there"
        found |= {listed for place in places for listed in listed_pages(place)}
    return found


def test_the_tables_of_contents_lead_to_every_page():
    written = {page for page in DOCS.glob("**/*.md") if page.relative_to(DOCS).parts[0] not in WRITTEN_BY_THE_BUILD}
    assert listed_pages() == written


def test_the_configuration_of_the_site_names_what_is_there(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    names = runpy.run_path(str(DOCS / "conf.py"))
    own = {path.stem for path in DOCS.glob("extensions/*.py")}
    assert own <= set(names["extensions"])
    assert all((DOCS / "_static" / file).is_file() for file in names["html_css_files"])


def test_every_outcome_has_a_section_of_troubleshooting():
    page = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (\w+)\n\n(.)", page, re.MULTILINE)
    assert sorted(name for name, _ in sections) == sorted(kind.name for kind in OutcomeKind)
    in_table = re.findall(r"`([A-Z_]+)`", page[page.index("| outcome |") : page.index("| all others |")])
    assert {kind for kind in OutcomeKind if not is_failure(kind)} == {OutcomeKind[name] for name in in_table}


def is_failure(kind):
    return Outcome(kind, "", 0.0).failed


def test_the_law_table_is_up_to_date():
    page = (DOCS / "laws.md").read_text(encoding="utf-8")
    assert load_table_maker("make_law_table").write_table(page) == page, "run: python docs/make_law_table.py"


def test_the_tables_of_keys_are_up_to_date_and_on_the_page():
    page, maker = (DOCS / "toml.md").read_text(encoding="utf-8"), load_table_maker("make_key_tables")
    assert maker.write_tables(page) == page, "run: python docs/make_key_tables.py"
    assert not [name for name in maker.TABLES if f"<!-- keys of {name}: begin -->" not in page]


def keys_of(schema):
    """Every key that a schema knows."""
    if isinstance(schema, list):
        return {key for entry in schema for key in keys_of(entry)}
    if not isinstance(schema, dict):
        return set()
    return {*schema.get("properties", {}), *(key for entry in schema.values() for key in keys_of(entry))}


def test_the_file_reference_names_every_key_of_the_schema():
    page, keys = (DOCS / "toml.md").read_text(encoding="utf-8"), keys_of(make_schema())
    assert len(keys) > 100
    assert not [key for key in sorted(keys) if f"`{key}`" not in page]


def test_every_unit_is_listed():
    page = (DOCS / "machines.md").read_text(encoding="utf-8")
    table = page[page.index("## Units") : page.index("## Bodies")]
    words = set(re.findall(r"[A-Za-z%]+", table))
    assert not {*COHERENT, *OTHERS, *PREFIXED} - words


def test_every_method_is_described():
    page = (DOCS / "solvers.md").read_text(encoding="utf-8")
    for name in set(Solver.names()) - {"auto"}:
        row = re.search(rf"^\| `{name}` \| (\d) \|", page, re.MULTILINE)
        assert row, name
        assert int(row[1]) == Solver(name).order
