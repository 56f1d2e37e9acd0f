"""Plot errors of commands: how do they become messages?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from robodyn.cli.application import fail


@contextmanager
def drawing(option: str = "") -> Iterator[None]:
    """Errors of drawing as messages.

    Args:
        option: what on the command line asked for the picture.
    """
    message = f"{option}: " if option else ""
    try:
        yield
    except ImportError as error:
        raise fail(f"pictures need {error.name}: pip install 'robodyn[plot]'") from error
    except OSError as error:
        raise fail(f"{option or error.filename or 'the picture'}: cannot write: {error.strerror}") from error
    except (KeyError, ValueError) as error:
        raise fail(f"{message}{error.args[0]}") from error
