"""No file, however spoiled, ends in a traceback, a hang or a flood of memory: `make soak` tries many more."""

import random
import time

import pytest
from support.guarded import run_all_guarded, run_guarded
from support.hostile import READERS, good_files, try_mutant, try_mutants

MUTANTS = {"scenario": 8}


@pytest.mark.parametrize("kind", READERS)
def test_spoiled_files_are_refused_with_a_message_or_used(kind, tmp_path):
    rng = random.Random(f"{kind} 1")
    seeds = [[rng.getrandbits(32) for _ in range(rng.choice((1, 1, 2)))] for _ in range(MUTANTS.get(kind, 25))]
    found = try_mutants(kind, seeds, tmp_path)
    assert not [(kind, number, *said) for number, said in enumerate(found) if said[0] == "FAILED"]
    assert sum(word == "refused" for word, _ in found) > len(found) / 2


@pytest.mark.parametrize("kind", READERS)
def test_the_good_files_that_are_spoiled_are_good(kind, tmp_path):
    assert good_files(kind)
    assert try_mutant(kind, 0, [], tmp_path)[0] == "done"


def test_the_guard_tells_errors_hangs_floods_and_crashes():
    import ctypes

    def spin():
        while True:
            pass

    def refuse():
        raise KeyError("no such thing")

    assert run_guarded(lambda: None) == ("done", "")
    assert run_guarded(refuse, (KeyError,)) == ("refused", "'no such thing'")
    assert "KeyError in ?: 'no such thing'" in run_guarded(refuse)[1]
    assert run_guarded(spin, seconds=1.0) == ("FAILED", "took more than 1 s")
    assert run_guarded(lambda: time.sleep(60), seconds=0.1) == ("FAILED", "slept for 0.6 s")
    assert "MemoryError" in run_guarded(lambda: bytearray(2**31))[1]
    assert run_guarded(lambda: ctypes.string_at(8))[1] == "died of SIGSEGV"


def test_the_guard_tells_which_of_several_went_wrong():
    import os

    def refuse():
        raise KeyError("no such thing")

    assert run_all_guarded([refuse, lambda: None], (KeyError,)) == [("refused", "'no such thing'"), ("done", "")]
    words = [word for word, _ in run_all_guarded([lambda: None, os.abort, refuse, lambda: None], (KeyError,))]
    assert words == ["done", "FAILED", "refused", "done"]
    assert [word for word, _ in run_all_guarded([refuse, lambda: None])] == ["FAILED", "done"]
