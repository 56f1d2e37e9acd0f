"""Where do the pages of the studies stand on the site? A mkdocs hook lists those that `make docs` has written."""

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """The navigation with a page for each study; without any where none are written."""
    pages = sorted(Path(config.docs_dir, "studies").glob("*.md"), key=lambda page: (page.stem != "index", page.stem))
    if pages:
        config.nav.append({"Published studies": [f"studies/{page.name}" for page in pages]})
    return config
