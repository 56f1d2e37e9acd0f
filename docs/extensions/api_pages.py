"""API reference: what is every public name? One page a package, made from signatures and docstrings at each build.

Docstrings are Markdown. A name that several packages offer is described once, where one would import it from.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import robodyn

FOLDER = Path(__file__).parents[1] / "api"
HEADINGS = ("Args", "Attributes", "Returns", "Raises", "Yields")
ENTRY = re.compile(r"^(\S[^:]*): (.*)$")
BARE = re.compile(r"(`[^`]*`|\[[^\]]*\]\([^)]*\))|([*_<|$\\])")
OBJECT = re.compile(r"<(?:function |class ')?([\w.<>]+?)(?: at 0x\w+|')>")
HEAD = """# API reference

Every public name, from its docstring. Most programs need only `import robodyn as rd`.

```{toctree}
:maxdepth: 1

%s
```
"""


def public_names() -> dict[str, tuple[str, ...]]:
    """Names to describe by package, `robodyn` first; each object once."""
    floors = [importlib.import_module(f"robodyn.{name}") for _, name, _ in pkgutil.iter_modules(robodyn.__path__)]
    rooms = [f"{floor.__name__}.{name}" for floor in floors for _, name, _ in pkgutil.iter_modules(floor.__path__)]
    packages = [name for name in rooms if hasattr(importlib.import_module(name), "__path__")]
    packages = ["robodyn.analysis", "robodyn.cli", *(name for name in packages if not name.startswith("robodyn.cli"))]
    seen: set[tuple[str, str]] = set()
    found = {}
    for package in ("robodyn", *packages):
        new = {_identity(package, name): name for name in getattr(importlib.import_module(package), "__all__", ())}
        found[package] = tuple(name for key, name in new.items() if key not in seen)
        seen |= set(new)
    return {package: names for package, names in found.items() if names}


def _identity(package: str, name: str) -> tuple[str, str]:
    described = getattr(importlib.import_module(package), name)
    return getattr(described, "__module__", None) or repr(described), name


def members_of(cls: type) -> Iterator[tuple[str, Any, str]]:
    """Public methods and properties that a class defines itself, with their docstrings (of what they override)."""
    for name, member in vars(cls).items():
        called = getattr(member, "__func__", None) or getattr(member, "fget", None) or getattr(member, "func", member)
        if not name.startswith("_") and inspect.isroutine(called):
            yield name, member, _doc_of(cls, name)


def _doc_of(cls: type, name: str) -> str:
    docs = (inspect.getdoc(vars(base)[name]) for base in cls.__mro__ if name in vars(base))
    return next(filter(None, docs), "") or ""


def make_page(package: str, names: tuple[str, ...]) -> str:
    """A package's docstring and all of its names."""
    module = importlib.import_module(package)
    parts = [_directive(f"{package}.{name}", getattr(module, name)) for name in sorted(names, key=str.lower)]
    return f"# {package}\n\n{_markdown(inspect.getdoc(module) or '')}\n\n" + "\n".join(parts)


def _directive(name: str, described: Any) -> str:
    if inspect.isclass(described):
        overrides = ("check",)
        inner = [_member(name, *member) for member in members_of(described) if member[0] not in overrides]
        return _fence("class", name + _signature(described), _markdown(_own_doc(described)), inner)
    if inspect.isroutine(described) or hasattr(described, "__wrapped__"):
        return _fence("function", name + _signature(described), _markdown(inspect.getdoc(described) or ""))
    if inspect.ismodule(described):
        return _fence("data", name, _markdown(inspect.getdoc(described) or "").partition("\n")[0])
    return _fence("data", name, f"`{type(described).__name__}`" + _value(described))


def _own_doc(cls: type) -> str:
    return inspect.cleandoc(cls.__doc__ or "")


def _value(described: Any) -> str:
    shown = repr(described)
    return f": `{shown}`" if len(shown) < 90 and "<" not in shown else ""


def _member(owner: str, name: str, member: Any, doc: str) -> str:
    if isinstance(member, (classmethod, staticmethod)):
        kind, signature = type(member).__name__, _signature(member.__func__)
    elif inspect.isroutine(member):
        kind, signature = "method", _signature(member)
    else:
        kind, signature = "property", ""
    return _fence(kind, f"{owner}.{name}{signature}", _markdown(doc), marks="````")


def _signature(called: Any) -> str:
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return ""
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    shown = str(signature.replace(parameters=parameters)).removesuffix(" -> None").replace("'", "")
    return OBJECT.sub(lambda found: found[1].rpartition(".")[2], shown)


def _fence(kind: str, head: str, text: str, inner: list[str] = [], marks: str = "`````") -> str:  # noqa: B006
    body = "\n".join([text, *inner])
    return f"{marks}{{py:{kind}}} {head}\n\n{body}\n{marks}\n"


def _markdown(doc: str) -> str:
    """A docstring as Markdown: sections become lists, other signs than code and links stand for themselves."""
    lines, section = [], False
    for line in doc.splitlines():
        word = line.strip().removesuffix(":")
        if word in HEADINGS and line.strip().endswith(":"):
            section = True
            lines += ["", f"**{word}**", ""]
        elif section and line.startswith("    "):
            lines.append(_entry(line[4:]))
        elif line.startswith("    "):
            lines.append(line)
        else:
            lines.append(_plain(line))
    return "\n".join(lines)


def _entry(line: str) -> str:
    found = ENTRY.match(line)
    if found:
        return f"- `{found[1]}`: {_plain(found[2])}"
    return _plain(line) if not line.startswith(" ") else f"  {_plain(line.strip())}"


def _plain(text: str) -> str:
    linked = re.sub(r"\]\(#", "](../toml.md#", text)
    linked = re.sub(r"\]\((\w[\w-]*\.md)", r"](../\1", linked)
    return BARE.sub(lambda found: found[1] or f"\\{found[2]}", linked)


def write_pages(folder: Path = FOLDER) -> None:
    """All pages, each only if it has changed, so that a second build is quick."""
    folder.mkdir(exist_ok=True)
    names = public_names()
    pages = {f"{package}.md": make_page(package, names[package]) for package in names}
    pages["index.md"] = HEAD % "\n".join(names)
    for name, text in pages.items():
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text:
            (folder / name).write_text(text, encoding="utf-8")


def check_inventory(app: Any, error: Exception | None) -> None:
    """Fail where a name did not reach the built site."""
    if error is None and app.builder.format == "html":
        there = app.env.domains["py"].objects
        missing = [f"{p}.{n}" for p, names in public_names().items() for n in names if f"{p}.{n}" not in there]
        if missing:
            raise RuntimeError(f"not in the API reference: {', '.join(missing)}")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", lambda _: write_pages())
    app.connect("build-finished", check_inventory)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
