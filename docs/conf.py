"""How is the site built? Sphinx with MyST; formulas are MathML, so that nothing is fetched from elsewhere."""

import os
import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

sys.path.insert(0, str(Path(__file__).with_name("extensions")))

# The tests read all pages, every warning an error, and run nothing: no notebook, example or replay.
READ_ONLY = bool(os.environ.get("ROBODYN_SITE_READ_ONLY"))

project = "robodyn"
release = version_of("robodyn")
copyright = "the authors of robodyn, Apache-2.0"

reader = "myst_parser" if READ_ONLY else "myst_nb"
extensions = [reader, "sphinx_design", "mathml", "api_pages", "gallery_pages", "replays"]
exclude_patterns = ["extensions", "studies/*/**"]
suppress_warnings = ["ref.python"]  # Types of one name that several packages have.

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_cache_path = str(Path(__file__).parents[1] / "build" / "jupyter_cache")
nb_execution_timeout = 300
nb_execution_raise_on_error = True

html_theme = "furo"
html_title = "robodyn"
html_static_path = ["_static"]
html_extra_path = ["llms.txt"]
html_css_files = ["site.css"]
html_show_sourcelink = html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = "friendly", "monokai"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"


def leave_out_empty_lists(app: Any, name: str, source: list[str]) -> None:
    """Lists of pages by a pattern are left out where there are none: studies are written by `robodyn reproduce`."""
    folder, own = Path(app.srcdir, name).parent, Path(app.srcdir, f"{name}.md")

    def keep(found: re.Match[str]) -> str:
        app.env.note_reread()  # There may be some at the next build.
        return found[0] if set(folder.glob(f"{found[1]}.md")) - {own} else ""

    source[0] = re.sub(r"```{toctree}\n(?::[^\n]*\n)*:glob:\n\n(\S+)\n```", keep, source[0])


def setup(app: Any) -> None:
    os.environ["ROBODYN_QUIET"] = "1"  # No word of compiling in what tutorials show.
    app.add_lexer("csv", TextLexer)
    if READ_ONLY:
        from sphinx.directives.code import CodeBlock

        app.add_directive("code-cell", CodeBlock)
    app.connect("source-read", leave_out_empty_lists)
