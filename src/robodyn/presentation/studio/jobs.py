"""Jobs: what takes longer than a slider's motion runs in a process of its own, tells how far it is, can be stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from robodyn.base.waiting import QUIET

Plain = dict[str, Any]
PATIENCE = 5.0
"""Seconds that a process is given to end."""


class Job:
    """A job under way; `tell` gets its messages: `progress` (with a `share` where that is known), then an end.

    The end is `result`, `flaws`, or `stopped`.
    """

    def __init__(self, spec: Plain, tell: Callable[[Plain], None]) -> None:
        self.tell, self.stopped = tell, False
        command = [sys.executable, "-m", "robodyn.presentation.studio.work"]
        streams: Plain = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        # Ctrl-C in the terminal is the studio's; it ends its jobs itself.
        self.process = subprocess.Popen(
            command, **streams, text=True, encoding="utf-8", env=os.environ | {QUIET: "1"}, start_new_session=True
        )
        self.follower = threading.Thread(target=self._follow, args=(json.dumps(spec),), daemon=True)
        self.follower.start()

    def stop(self) -> None:
        """End it at once; what it has not told is lost."""
        self.stopped = True
        if self.process.poll() is None:
            self.process.kill()

    def _follow(self, spec: str) -> None:
        """Pass on what the process says; its standard input stays open, so that it ends where this process does."""
        assert self.process.stdin
        assert self.process.stdout
        complaints: list[str] = []
        listener = threading.Thread(target=lambda: complaints.extend(self.process.stderr or ()), daemon=True)
        listener.start()
        ended = False
        try:
            self.process.stdin.write(spec + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                message = json.loads(line)
                ended = ended or "progress" not in message
                self.tell(message)
        except OSError:
            pass  # it ended before it listened: said below
        self.process.wait()
        listener.join(PATIENCE)
        if self.stopped and not ended:
            self.tell({"stopped": True})
        elif not ended:
            last = "".join(complaints).strip().splitlines()[-1:] or [f"exit code {self.process.returncode}"]
            self.tell({"flaws": [{"path": "", "what": f"the process ended: {last[0]}", "remedy": ""}]})
