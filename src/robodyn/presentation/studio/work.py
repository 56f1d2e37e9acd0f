"""Process of a job: a specification comes in as a line of JSON, progress and the result go out as lines of JSON.

What a reader sees of a command's result is its display, as everywhere: tables, curves, pictures, sentences, and numbers
that can be taken over.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TextIO

import numpy as np

from robodyn.analysis.budget import Budget
from robodyn.analysis.checked_run import simulate
from robodyn.analysis.key_result import key_results, main_cause, weakest_loop
from robodyn.analysis.linear.loop_table import LoopTable
from robodyn.analysis.sensitivity.parameters import INITIAL
from robodyn.analysis.sensitivity.ranking import SCREENING, choose_measure
from robodyn.analysis.sensitivity.variation import assemble_tunable
from robodyn.base import Flaw, ModelError, quietly, refuse
from robodyn.computation.simulation import compile_system, simulate_many
from robodyn.description.model import Scenario, ScenarioSequence
from robodyn.presentation.pages.contents import describe_causes, describe_certificate, describe_tile, make_finite
from robodyn.presentation.reporting.displays import Display, to_studio
from robodyn.presentation.reporting.figures import embed_figure

from .source import Source

Plain = dict[str, Any]
Tell = Callable[..., None]
LARGEST_CHUNK = 32
"""Runs between two words of progress."""
CAUSE_ROWS = 8000
"""Times at most at which the bars of causes are known."""


def rank_influence(scenario: Scenario, tell: Tell) -> Plain:
    """How much a measure of the motion changes where each number is 1 % larger.

    The measure is the rms of the largest deviation or error; where there is none, the end of a joint. Numbers that are
    0, and those that are folded into the code, such as sample times, have no influence that could be told.
    """
    with quietly():
        kind, signal = choose_measure(scenario)
        numbers = {name: number.value for name, number in scenario.numbers().items() if not name.startswith(INITIAL)}
        system = assemble_tunable(scenario, [name for name, value in numbers.items() if value and np.isfinite(value)])
        inputs = [number.name for number in system.parameters if numbers.get(number.name)]
        compiled = compile_system(system)
        measure = f"{kind}:{signal}"
        effects: dict[str, float] = {}
        for first in range(0, len(inputs), LARGEST_CHUNK):
            names = inputs[first : first + LARGEST_CHUNK]
            tell(f"{first} of {len(inputs)} numbers", first / len(inputs))
            # A run as it is, then one for each number, in which that number alone is larger.
            columns = {name: np.full(len(names) + 1, numbers[name]) for name in names}
            for k, name in enumerate(names):
                columns[name][k + 1] *= 1 + SCREENING
            as_given, *ends = simulate_many(compiled, columns, measures=[measure], threads=1)[measure]
            effects |= {name: abs(float(end - as_given)) for name, end in zip(names, ends, strict=True)}
    return {"of": signal, "kind": kind, "effects": effects}


def show_display(shown: Display) -> Plain:
    """A display as the studio shows it; pictures only where there are no curves that the page draws by itself."""
    message = to_studio(shown)
    images = []
    for picture in shown.pictures if not shown.curves else ():
        try:
            images.append({"title": picture.title, "source": embed_figure(picture.draw())})
        except (ImportError, ValueError) as error:
            message["notes"].append(f"There is no picture: {error}")
    return message | {"images": images}


def find_answers(result: Any) -> Plain:
    """Additions of a result to the answers of the run that is shown: tiles, and bars of causes at some times."""
    if isinstance(result, LoopTable) and result.rows:
        return {"tiles": [describe_tile(weakest_loop(result))]}
    if not isinstance(result, Budget):
        return {}
    time = result.run.time
    time = time if time.size <= CAUSE_ROWS else np.linspace(time[0], time[-1], CAUSE_ROWS)
    causes, parts = describe_causes(result, time)
    for cause in causes:
        unit, values = parts[cause["signal"]]
        cause |= {"unit": unit, "values": values.tolist()}
    return {"tiles": [describe_tile(main_cause(result))], "time": time.tolist(), "causes": causes} if causes else {}


def certify_run(what: Scenario | ScenarioSequence, tell: Tell) -> Plain:
    """The answers of a run with error bars: simulated again by another method, and tighter."""
    duration = what.duration

    def progress(now: float, step: float, steps: int) -> None:
        tell(f"simulating: {now:.3g} of {duration:g} s", now / duration)

    run = simulate(what, certify=True, progress=progress)
    # The first answer and its worth; those between need other analyses.
    first, *_, trust = key_results(run)
    return {"tiles": [describe_tile(first), describe_tile(trust)], "certificate": describe_certificate(run)}


Call = Callable[[str, Plain, Plain, Tell], tuple[Any, Display]]
"""Calls a command by its name for a specification, with options, and returns its result with its display."""
EMPTY: Plain = {"tables": [], "notes": [], "values": None, "images": []}


def carry_out(spec: Plain, call: Call, tell: Tell) -> Plain:
    """The last message of a job: its result, or its flaws."""
    try:
        tell("reading the scenario")
        if spec["kind"] not in ("influence", "certify"):
            result, shown = call(spec["kind"], spec, spec["options"], tell)
            return {"result": show_display(shown) | {"answers": find_answers(result)}}
        what = Source(spec["source"]).read(spec["text"])
        if spec["kind"] == "certify":
            changed = what.with_numbers(spec["values"]) if spec["values"] else what
            return {"result": EMPTY | {"answers": certify_run(changed, tell)}}
        if isinstance(what, ScenarioSequence):
            refuse("", "is a sequence of scenarios: name one of them")
        return {"result": rank_influence(what.with_numbers(spec["values"]), tell)}
    except ModelError as error:
        # Of a whole file that cannot be read, its name is the place.
        return {"flaws": [asdict(Flaw(flaw.path or error.source, flaw.what, flaw.remedy)) for flaw in error.flaws]}
    except (ValueError, KeyError, ArithmeticError, OSError) as error:
        return {"flaws": [asdict(Flaw("", f"{type(error).__name__}: {error}"))]}


def answer_job(call: Call) -> None:
    """Listen, work, answer: the main function of the process."""
    out, sys.stdout = sys.stdout, sys.stderr

    def send(message: Plain, stream: TextIO = out) -> None:
        stream.write(json.dumps(make_finite(message), allow_nan=False) + "\n")
        stream.flush()

    def tell(text: str, share: float | None = None) -> None:
        # The end of one of several steps is nothing to say: readers take the last message for the job's own end.
        if text:
            send({"progress": text, "share": share})

    spec = json.loads(sys.stdin.readline())
    threading.Thread(target=_watch, daemon=True).start()
    # The sliders come first.
    os.nice(10)
    send(carry_out(spec, call, tell))


def _watch() -> None:
    """End where the studio has ended, however that came."""
    sys.stdin.read()
    os._exit(1)
