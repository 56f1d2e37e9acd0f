"""What the documentation shows is true: its code runs, its files are read, its commands print what it says.

The word behind a fence's language marks what is tested: `python run` is executed, `toml file=NAME` is written
and checked, `toml broken=NAME` written and refused, `toml append=NAME` added to such a file, `toml cosim=NAME` written
and read as a co-simulation, `toml mapping=NAME` as a mapping, `toml text=NAME` only as TOML; `python file=NAME`, `csv
file=NAME` and `xml file=NAME` are written. Every command of a `console` fence is run, and with `console run` its output
compared line by line ("..." stands for any lines, numbers are compared to 4 digits). Commands within sentences are run
too, unless they name only a form (`robodyn show RUN`); those are read by the real command line, and so are the long
ones of `SHORTER`, which are run in a shorter form. The blocks of a page share a folder.
"""

import importlib
import importlib.util
import json
import math
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase

import jsonschema
import pytest
import typer.testing
from support.doc_pages import DIRECTIVE, FORM, INLINE, ROOT, lay_out, read_commands, read_steps, shorten
from typer.testing import CliRunner

from robodyn import ModelError, Solver, assemble, read_scenario
from robodyn.base.units import COHERENT, OTHERS, PREFIXED
from robodyn.cli import app
from robodyn.cli.application import command_names, load_command
from robodyn.cli.command import output_schema
from robodyn.computation.cosimulation import read_cosimulation
from robodyn.computation.results import Outcome, OutcomeKind
from robodyn.description.catalog import find_scenario, list_scenarios
from robodyn.description.files import make_schema
from robodyn.description.files.samples import read_mapping
from robodyn.exchange.fmi import read_fmu

DOCS = ROOT / "docs"
LIBRARY = ROOT / "src" / "robodyn"
FLOORS = sorted(found.parent.name for found in LIBRARY.glob("*/__init__.py"))
# The rooms of the floors; analysis and the commands have their own files beside their rooms.
ROOMS = {found.parent.name: found.parent for found in LIBRARY.glob("*/*/__init__.py") if "analysis" not in found.parts}
ROOMS |= {name: LIBRARY / name for name in ("analysis", "cli")}
ROOMS["commissioning"] = LIBRARY / "analysis" / "commissioning"
GUIDE = LIBRARY / "cli" / "guide.md"
SITE = [*sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("how-to/*.md"))]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "studies" / "README.md", GUIDE, *SITE]
# All that speaks of the code: pages, and docstrings and comments of the library and of the studies.
TEXTS = [
    *PAGES,
    ROOT / "CHANGELOG.md",
    DOCS / "llms.txt",
    *sorted(DOCS.glob("tutorials/*.md")),
    *sorted(LIBRARY.glob("**/*.py")),
    *sorted(ROOT.glob("studies/src/**/*.py")),
]
ANY_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
TOCTREE = re.compile(r"^```{toctree}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITTEN_BY_THE_BUILD = ("api", "gallery", "studies", "jupyter_execute")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CITED = re.compile(r"`((?:src|tests|examples|docs|benchmarks|studies|\.ci)/[\w/.\-]+)`")
# Files of the library without `src/robodyn`, as `laws/friction.py`; whole names, as `robodyn.base.symbolic.tables`.
CITED_BY_PACKAGE = re.compile(r"`((?:" + "|".join({*FLOORS, *ROOMS} - {"studies"}) + r")/[\w/.\-]+)`")
NAMED = re.compile(r"`(robodyn(?:_studies)?(?:\.\w+)+)(?:\([^`\n]*\))?`")
# The same without `robodyn.`, as `reporting.plot_modes`, of packages that no signal and no value is called after.
NAMED_BY_PACKAGE = re.compile(r"`((?:analysis|fmi|reporting|pages|results|symbolic)(?:\.\w+)+)(?:\(.*?\))?`")
ENTRY_POINTS = ("robodyn.scenarios", "robodyn.studies")
# Shown numbers have 6 digits; the last of them may differ between processors.
SHOWN_TOLERANCE = 1e-4


def run_step(step, folder, names):
    """Do what a step's mark says; an unknown mark is an error of the page."""
    action, _, file = step.mark.partition("=")
    if step.mark == "run" and step.language == "python":
        exec(compile(step.text, step.place, "exec"), names)
    elif step.language == "console" and step.mark in ("", "run", "inline"):
        run_commands(step)
    elif action in ("file", "append", "broken", "cosim", "mapping", "text") and file:
        with open(folder / file, "a" if action == "append" else "w", encoding="utf-8") as target:
            target.write(step.text)
        if action == "cosim":
            read_cosimulation(folder / file, {"fmu": read_fmu})
        elif action == "mapping":
            read_mapping(folder / file)
        elif step.language == "toml" and action != "text":
            check_file(folder / file, action == "broken")
        elif step.language == "toml":
            tomllib.loads(step.text)
    else:
        shown = NOT_RUN.get(step.place.partition(":")[0], ())
        assert any(words in step.text for words in shown), f"{step.place}: is not run: mark it"


# Fences that are shown and not run, by their words: C and JavaScript beside what is exported, which tests of exports
# compile; clusters of other programs; a widget that needs a notebook.
NOT_RUN = {
    "exports.md": ("simulation_new(", 'from "./simulation.mjs"'),
    "sweeps.md": ("SLURMCluster", "KubeCluster"),
    "results.md": ("explore(",),
}


def check_file(path, broken):
    """Read and assemble a scenario; a file shown as broken must be refused."""
    if broken:
        with pytest.raises(ModelError):
            assemble(read_scenario(path))
    else:
        assemble(read_scenario(path))


REPRODUCED = set()
"""Parts of studies that a page has asked for already: several pages name the same."""


def run_commands(step):
    """Run each command, in its shorter form where it has one; what is shown below it must be printed."""
    for command, shown in read_commands(step):
        if not command.startswith("robodyn "):
            check_other_command(step.place, command)
            continue
        place = f"{step.place}: $ {command}"
        complete = read_by_the_command_line(place, command)
        assert complete or step.mark == "inline", f"{place}: cannot be run as it stands"
        words = shorten(os.path.expandvars(command)) if complete else None
        if words is None:
            continue
        compared = step.mark == "run"
        if tuple(words) in REPRODUCED:
            continue
        done = run_command(place, words, failure_is_shown=compared and shown.replace("...", "").strip())
        if words[1] == "reproduce":
            REPRODUCED.add(tuple(words))
        if compared:
            compare_output(place, shown.splitlines(), done.output.splitlines())
        if "--json" in words:
            check_json(place, words[1], done.output)


def run_command(place, words, failure_is_shown=False):
    done = CliRunner().invoke(app, words[1:], env={"COLUMNS": "100", "ROBODYN_QUIET": "1"})
    assert done.exception is None or isinstance(done.exception, SystemExit), f"{place}\n{done.exception!r}"
    # 3 is a run that is kept, but suspect.
    assert done.exit_code in (0, 3) or failure_is_shown, f"{place}\n{done.output}"
    return done


def read_by_the_command_line(place, command):
    """Whether a command is complete; it, its options and their values must be known, the numbers it names be there."""
    words = shlex.split(command.partition(" > ")[0])[1:]
    if words[0].startswith("-") or words[0] == "COMMAND":
        assert words[-1] in ("--help", "--install-completion"), place
        return False
    assert words[0] in command_names(), place
    subcommand = typer.testing._get_command(app).get_command(None, words[0])
    usage_error, problem = typer.BadParameter.__base__, None
    try:
        context = subcommand.make_context(words[0], words[1:])
    except typer.Exit:
        return False
    except usage_error as error:
        problem = error
    if problem is None:
        check_named_numbers(place, context.params)
        return not FORM.search(command)
    # `robodyn budget` and `robodyn run --set` are names, of a command and of an option of it.
    first = next(parameter for parameter in subcommand.params if parameter.param_type_name == "argument")
    unfinished = getattr(problem, "param", None) is first or len(words) == 1
    unfinished |= words[-1].startswith("--") and "requires an argument" in problem.format_message()
    assert unfinished, f"{place}\n{problem.format_message()}"
    return False


def check_named_numbers(place, given):
    """Numbers that options name, also by patterns, are numbers of the scenario, where it is one of the catalogue."""
    scenario = given.get("scenario")
    if scenario not in list_scenarios() or FORM.search(str(given)):
        return
    known = find_scenario(scenario).numbers()
    texts = [given.get(option) or "" for option in ("free", "parameters") if given.get(option) != "gains"]
    for option in ("vary", "values", "random", "setting", "bounds"):
        texts += [text.partition("=")[0] for text in given.get(option) or []]
    patterns = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    missing = [
        one for one in patterns if not one.startswith("initial.") and not any(fnmatchcase(n, one) for n in known)
    ]
    assert not missing, f"{place}: no numbers of {scenario}: {missing}"


def check_other_command(place, command):
    """Installations name folders and extras that are there; make, its targets; nothing else is shown."""
    program, *words = shlex.split(command)
    if "=" in program:
        return
    assert program in ("pip", "make", "cd", "git", ".venv/bin/python"), f"{place}: $ {command}"
    for word in words:
        assert not word.startswith("./") or (ROOT / word).is_dir(), f"{place}: $ {command}"


def check_json(place, command, printed):
    """What is printed as JSON, among messages on the other stream, is what `robodyn schema COMMAND` promises."""
    begin = re.search(r"^[\[{]", printed, re.MULTILINE)
    value, _ = json.JSONDecoder().raw_decode(printed[begin.start() :])
    load_command(command)
    *kinds, _ = output_schema(command)["anyOf"]
    schema = jsonschema.Draft202012Validator({"anyOf": kinds} if len(kinds) > 1 else kinds[0])
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


def name_page(page):
    return page.stem if page.stem != "README" or page.parent == ROOT else f"{page.parent.name}-README"


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_what_a_page_shows_happens(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UR5", "ur5.urdf")
    lay_out(page, tmp_path, lambda words: run_command(page.name, words))
    names = {"__name__": f"page_{page.stem}"}
    shown = {step.text for step in read_steps(page) if step.mark != "inline"}
    for step in read_steps(page):
        # A sentence that repeats a command of a fence does not run it twice.
        if step.mark != "inline" or not any(step.text in text for text in shown):
            run_step(step, tmp_path, names)


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_commands_stand_in_fences_or_sentences(page):
    """An indented line would be shown as a command and read by no test."""
    assert not re.findall(
        r"^ {4,}(?:\$ )?robodyn .*", DIRECTIVE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )


def test_commands_of_all_other_texts_are_read_by_the_command_line():
    """Docstrings, messages, the list of changes, tutorials: each command and option that they name is there."""
    count = 0
    for text in set(TEXTS) - set(PAGES):
        for found in INLINE.findall(text.read_text(encoding="utf-8")):
            if "{" not in found:
                count += 1
                read_by_the_command_line(text.name, " ".join(found.split()))
    assert count > 40


def test_options_that_pages_name_are_options():
    others = {"--help", "--version", "--install-completion", "--no-deps", "--hex", "--events", "--count"}
    for program in (ROOT / "benchmarks" / "__main__.py", *sorted(ROOT.glob("tests/soak/*.py"))):
        others |= set(re.findall(r'"(--[a-z]+)"', program.read_text(encoding="utf-8")))
    group = typer.testing._get_command(app)
    parameters = [one for command in command_names() for one in group.get_command(None, command).params]
    known = others | {option for one in parameters for option in (*one.opts, *one.secondary_opts)}
    found = {
        (page.name, option)
        for page in [*PAGES, ROOT / "CHANGELOG.md"]
        for code in ANY_CODE.findall(page.read_text(encoding="utf-8"))
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", code)
    }
    assert len(found) > 100
    assert not [(page, option) for page, option in sorted(found) if option not in known]


def test_what_is_installed_and_made_is_there():
    """Extras of pyproject.toml, targets of the Makefile, benchmarks by name; nothing that no index has."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    texts = {page.name: page.read_text(encoding="utf-8") for page in [*PAGES, *sorted(DOCS.glob("tutorials/*.md"))]}
    for name, text in texts.items():
        named = [extra for words in re.findall(r"(?:robodyn|\.)\[([a-z,]+)\]'", text) for extra in words.split(",")]
        assert not set(named) - set(extras), name
        commands = re.findall(r"`make ([a-z-]+)`|^(?: {4}|\$ )make ([a-z-]+)", text, re.MULTILINE)
        assert not {one or other for one, other in commands} - set(targets), name
        for only in re.findall(r"-m benchmarks --only ([a-z_ ]+)", text):
            assert all((ROOT / "benchmarks" / f"{one}.py").is_file() for one in only.split()), name
        # An extra may be added by name to what is installed; the package itself comes from a copy of the sources.
        assert not re.search(r"pip install '?robodyn(?!\[)|uvx|pipx", text), name


def test_lines_of_code_are_counted():
    """`6,800<!-- lines src/robodyn/computation/engine/*.[ch] -->`: to 10 %, of short files 15 %."""
    count = 0
    for page in PAGES:
        for shown, pattern in re.findall(r"([\d,]+)<!-- lines (\S+) -->", page.read_text(encoding="utf-8")):
            lines = sum(path.read_text(encoding="utf-8").count("\n") for path in ROOT.glob(pattern))
            assert lines == pytest.approx(int(shown.replace(",", "")), rel=0.1 if lines > 1000 else 0.15), page.name
            count += 1
    assert count >= 3


@pytest.mark.parametrize("page", PAGES, ids=name_page)
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


@pytest.mark.parametrize(
    "name", ["robodyn.description.laws.frictions", "robodyn.law.friction", "robodyn.computation.results.identicals"]
)
def test_names_that_are_not_there_are_noticed(name):
    assert not is_there(name)


def test_cited_files_exist():
    texts = {page: page.read_text(encoding="utf-8") for page in TEXTS}
    cited = [(page.name, ROOT / path) for page, text in texts.items() for path in CITED.findall(text)]
    for page, text in texts.items():
        for path in CITED_BY_PACKAGE.findall(text):
            package, _, rest = path.partition("/")
            cited.append((page.name, ROOMS.get(package, LIBRARY / package) / rest))
    assert len(cited) > 50
    assert not [(name, str(path)) for name, path in cited if not path.exists()]


def test_named_modules_and_functions_exist():
    texts = {page: page.read_text(encoding="utf-8") for page in TEXTS}
    named = [(page.name, name) for page, text in texts.items() for name in NAMED.findall(text)]
    for page, text in texts.items():
        for name in NAMED_BY_PACKAGE.findall(text):
            package, _, rest = name.partition(".")
            place = ".".join(ROOMS.get(package, LIBRARY / "base" / package).relative_to(LIBRARY).parts)
            named.append((page.name, f"robodyn.{place}.{rest}"))
    assert len(named) > 20
    assert not [(text, name) for text, name in named if name not in ENTRY_POINTS and not is_there(name)]


def test_the_architecture_lists_every_package_once():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    table = page[page.index("| floor | package | holds |") : page.index("Small modules")]
    rows = re.findall(r"^\|(?: `(\w+)`)? \| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(room for _, room in rows) == sorted(ROOMS)
    assert sorted(floor for floor, _ in rows if floor) == FLOORS


def test_the_architecture_names_every_module_beside_the_packages():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    beside = page[page.index("Small modules") :].split("\n\n")[0]
    modules = sorted(path.stem for path in LIBRARY.glob("base/[a-z]*.py"))
    assert sorted(set(re.findall(r"`(\w+)`", beside)) - {"base"}) == modules


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


def test_the_site_is_read_without_a_warning(tmp_path):
    """As `make docs` does, but for what it runs: links, tables of contents, directives, formulas, the API reference."""
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    built = shutil.ignore_patterns(*WRITTEN_BY_THE_BUILD, "__pycache__")
    shutil.copytree(DOCS, tmp_path / "docs", ignore=built)
    os.symlink(ROOT / "examples", tmp_path / "examples")
    command = [sys.executable, "-m", "sphinx", "-q", "--fail-on-warning", "--keep-going", "-b", "dummy"]
    done = subprocess.run(
        [*command, str(tmp_path / "docs"), str(tmp_path / "site")],
        env={**os.environ, "ROBODYN_SITE_READ_ONLY": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "docs/api/robodyn.md").stat().st_size > 10_000


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
