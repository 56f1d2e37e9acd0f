"""A command of the command line in a process of its own, with the packages that this one has loaded already."""

import os
import sys
import tempfile
import traceback

from robodyn.cli import main


def run_robodyn(arguments, folder, **environment):
    """Exit code of `robodyn ARGUMENTS` in a folder, and what it prints on both streams."""
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if not child:
            _be_command(arguments, folder, environment, printed.fileno())
        _, status = os.waitpid(child, 0)
        printed.seek(0)
        return os.waitstatus_to_exitcode(status), printed.read().decode()


def _be_command(arguments, folder, environment, printed):
    code = 0
    try:
        for stream, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(printed, stream)
            setattr(sys, name, os.fdopen(stream, "w", buffering=1, encoding="utf-8"))
        os.chdir(folder)
        os.environ.update(environment)
        sys.argv = ["robodyn", *arguments]
        main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:  # noqa: BLE001  whatever it is, it is printed, as Python does
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        os._exit(code)
