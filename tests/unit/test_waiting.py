"""Is it said what is being done where it takes long, in one line, and nothing otherwise?"""

import io
import os
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from robodyn.base import waiting
from robodyn.base.waiting import QUIET, WaitingLine, quietly, report_progress


@pytest.fixture
def stream(monkeypatch, capsys):
    """Standard error, not a terminal; `getvalue` gives all that was written."""
    monkeypatch.delenv(QUIET, raising=False)
    written = []

    def getvalue():
        written.append(capsys.readouterr().err)
        return "".join(written)

    return SimpleNamespace(getvalue=getvalue)


@pytest.fixture
def terminal(stream, monkeypatch):
    """Standard error whose lines can be written over."""
    monkeypatch.setattr(waiting, "_is_rewritable", lambda stream: True)
    return stream


@pytest.fixture
def slow(monkeypatch):
    """Everything counts as slow at once."""
    monkeypatch.setattr(waiting, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(waiting, "SECONDS_BETWEEN_UPDATES", 0.0)


def wait_until_it_is_shown(message):
    """Work until its line stands there."""
    until = time.monotonic() + 10
    while waiting._line.owner is not message and time.monotonic() < until:
        time.sleep(0.001)


def test_a_notebook_reports_on_standard_output(slow, monkeypatch, capsys):
    monkeypatch.delenv(QUIET, raising=False)
    monkeypatch.setattr(waiting, "_is_notebook", lambda stream: True)
    with WaitingLine("working") as line:
        line.update("half")
    printed = capsys.readouterr()
    assert "robodyn: working, half ..." in printed.out
    assert printed.err == ""


def test_fast_work_tells_nothing(stream):
    with WaitingLine("working") as message:
        message.update("half of it")
    assert stream.getvalue() == ""


def test_one_thread_watches_all_work(stream):
    with WaitingLine("first"):
        count = threading.active_count()
    for _ in range(20):
        with WaitingLine("working"):
            assert threading.active_count() == count


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_watches_its_own_work(stream, slow):
    with WaitingLine("parent") as message:
        wait_until_it_is_shown(message)
        child = os.fork()
        if child == 0:
            waiting._work.lines.clear()
            with WaitingLine("child") as own:
                wait_until_it_is_shown(own)
                os._exit(0 if waiting._line.owner is own else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_slow_work_is_one_line_with_its_duration(stream, slow):
    with WaitingLine("working") as message:
        wait_until_it_is_shown(message)
        assert stream.getvalue() == "robodyn: working ..."
        message.update("half of it")
    assert stream.getvalue() == "robodyn: working ... 0.0 s\n"


def test_the_line_is_closed_where_work_fails(stream, slow):
    @report_progress("working")
    def fail():
        until = time.monotonic() + 10
        while waiting._line.owner is None and time.monotonic() < until:
            time.sleep(0.001)
        raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        fail()
    assert stream.getvalue().endswith(" s\n")


def test_a_terminal_shows_how_far_it_is_and_then_the_duration(terminal, slow):
    with WaitingLine("working", watched=False) as message:
        message.update("1 of 10 runs")
        message.update("2 of 10 runs")
    first, second, last = terminal.getvalue().split("\r")
    assert first == "robodyn: working, 1 of 10 runs ..."
    assert second == "robodyn: working, 2 of 10 runs ..."
    assert last.rstrip(" \n") == "robodyn: working: 0.0 s"
    assert len(last.rstrip("\n")) == len(second), "covers all of the line before"


def test_a_line_is_cut_where_a_narrow_terminal_would_break_it(terminal, slow, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    with WaitingLine("working on a long name", watched=False) as message:
        message.update("1 of 10 runs")
    assert all(len(part.strip("\n")) < 20 for part in terminal.getvalue().split("\r"))


def test_a_simulation_tells_its_time(stream, slow):
    with WaitingLine("simulating", watched=False) as message:
        message.follow(10.0, begin=5.0)(7.5, 1e-3, 100)
    assert stream.getvalue().startswith("robodyn: simulating, 2.5 of 10 s, 0 s left ...")


def test_work_within_work_is_told_as_part_of_it(terminal, slow):
    with WaitingLine("outer", watched=False) as outer:
        outer.update("first part")
        with WaitingLine("inner", watched=False) as inner:
            inner.update("half")
    said = [line.rstrip(" \n") for line in terminal.getvalue().split("\r")]
    assert said[:3] == [f"robodyn: outer, {text} ..." for text in ("first part", "inner, half", "first part")]
    assert said[3:] == ["robodyn: outer: 0.0 s"]
    with WaitingLine("next") as message:
        wait_until_it_is_shown(message)
    assert "next" in terminal.getvalue()


def test_work_without_a_name_says_what_is_within_it_and_leaves_nothing(terminal, slow):
    with WaitingLine("", transient=True) as outer:
        wait_until_it_is_shown(outer)
        with WaitingLine("bending", watched=False) as inner:
            inner.update("1 of 4", 0.25)
    said = terminal.getvalue().split("\r")
    assert said[0] == "robodyn: working ..."
    assert said[1].startswith("robodyn: bending, 1 of 4 ━")
    assert " 25 %, 0 s left" in said[1]
    assert said[-1] == ""
    assert said[-2].strip() == ""


def test_a_log_gets_a_line_a_minute(stream, slow, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: now[0])
    with WaitingLine("sweeping", watched=False) as line:
        for now[0] in (30.0, 60.0, 80.0, 100.0):
            line.update(f"{now[0]:g} of 120 runs", now[0] / 120)
    assert stream.getvalue().splitlines() == [
        "robodyn: sweeping, 30 of 120 runs, 01:30 min left ...",
        "robodyn: sweeping, 100 of 120 runs, 20 s left ... 100.0 s",
    ]


def test_what_is_printed_has_a_line_of_its_own(terminal, slow):
    with WaitingLine("working", watched=False) as line:
        line.update("half")
        waiting.clear_line()
        sys.stderr.write("message\n")
        line.update("all")
    shown, covered, message, *_ = terminal.getvalue().split("\r")
    assert (shown, covered.strip()) == ("robodyn: working, half ...", "")
    assert message == "message\nrobodyn: working, all ..."


@pytest.mark.parametrize("way", ["variable", "block", "argument"])
def test_it_can_be_switched_off(stream, slow, monkeypatch, way):
    if way == "variable":
        monkeypatch.setenv(QUIET, "1")
    outer = quietly() if way == "block" else WaitingLine("outer", quiet=True)
    with outer, WaitingLine("working", quiet=way == "argument") as message:
        assert message not in waiting._watcher.lines
        message.update("half")
    assert stream.getvalue() == ""


@pytest.mark.parametrize("missing", [None, "closed"])
def test_without_a_place_to_tell_the_work_goes_on(stream, slow, monkeypatch, missing):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", missing and closed)
    with WaitingLine("working", watched=False) as message:
        message.update("half")
        message.update("all")


def test_lines_of_several_threads_do_not_mix(stream, slow):
    opened, ended = threading.Event(), threading.Event()

    def work():
        with WaitingLine("second") as message:
            wait_until_it_is_shown(message)
            opened.set()
            ended.wait(10)

    with WaitingLine("first") as message:
        wait_until_it_is_shown(message)
        thread = threading.Thread(target=work)
        thread.start()
        opened.wait(10)
    ended.set()
    thread.join()
    assert stream.getvalue().splitlines() == ["robodyn: first ...", "robodyn: second ... 0.0 s"]


def test_a_decorated_function_tells_the_name_of_what_it_works_on(stream, slow):
    @report_progress("bending")
    def bend(what, progress=None):
        until = time.monotonic() + 10
        while progress is None and waiting._line.owner is None and time.monotonic() < until:
            time.sleep(0.001)

    arm = SimpleNamespace(scenario=SimpleNamespace(name="arm"))
    bend(arm, progress=print)
    assert stream.getvalue() == ""
    bend(arm)
    bend("a rod")
    assert stream.getvalue() == "robodyn: bending arm ... 0.0 s\nrobodyn: bending ... 0.0 s\n"
