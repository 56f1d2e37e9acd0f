"""How are formulas typeset? As MathML, which browsers draw themselves, in a font that the site brings: no script."""

from importlib.resources import files
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def _visit_math(self: Any, node: nodes.math) -> None:
    self.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def _visit_display(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_display, None))
    app.config.html_math_renderer = "mathml"
    # STIX Two Math, which ziamath has with it.
    app.config.html_static_path.append(str(files("ziamath") / "fonts"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
