"""A command of the command line in a process of its own, with the packages that this one has loaded already."""

import os
import sys
import tempfile
import traceback

from robodyn.cli import main


def run_robodyn(arguments, folder, **environment):
    """What `robodyn ARGUMENTS` prints in a folder, on both streams."""
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if not child:
            _be_command(arguments, folder, environment, printed.fileno())
        os.waitpid(child, 0)
        printed.seek(0)
        return printed.read().decode()


def _be_command(arguments, folder, environment, printed):
    try:
        for stream, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(printed, stream)
            setattr(sys, name, os.fdopen(stream, "w", buffering=1, encoding="utf-8"))
        os.chdir(folder)
        os.environ.update(environment)
        sys.argv = ["robodyn", *arguments]
        main()
    except SystemExit:
        pass
    except BaseException:  # noqa: BLE001  whatever it is, it is printed, as Python does
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(0)
