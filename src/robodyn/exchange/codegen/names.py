"""Generated C: under which names and units does a user find the numbers of a model, and what does its run keep?"""

from __future__ import annotations

import json
from collections.abc import Sequence

from robodyn.computation.assembly.declarations import Ending
from robodyn.computation.engine.integrate import LARGEST_RECORD
from robodyn.computation.native.c_code import emit_array, literal
from robodyn.computation.simulation.extent import engine_recording
from robodyn.exchange.codegen.model import Model


def shown_parameters(model: Model) -> list[int]:
    """Places of the parameters that a user may change."""
    return [k for k, number in enumerate(model.system.parameters) if number.name not in model.fixed]


def write_names(model: Model) -> str:
    """The text of names.c."""
    scenario = model.system.scenario
    fails = [guard.ending not in (None, Ending.STOPPED) for guard in model.guards]
    return "".join(
        [
            '#include "names.h"\n\n#include <math.h>\n\n',
            *_write_names(model),
            _integers("PARAMETER_PLACE", shown_parameters(model)),
            _integers("EVENT_FAILS", [int(failed) for failed in fails]),
            f"const char SCENARIO[] = {json.dumps(scenario.name)};\n",
            f"const double DURATION = {literal(float(scenario.duration))};\n",
            *_write_recording(model),
        ]
    )


def _write_names(model: Model) -> list[str]:
    """One list a kind, in the order of simulation.h."""
    system = model.system
    numbers = [system.parameters[k] for k in shown_parameters(model)]
    units = {info.name: info.unit for info in system.memory}
    kinds = {
        "parameter": [(number.name, number.unit) for number in numbers],
        "state": [(state.name, state.unit) for state in system.states],
        "input": [(name, units[name]) for name in model.inputs],
        "output": [(info.name, info.unit) for info in model.outputs],
        "event": [(guard.name, "") for guard in model.guards],
    }
    lists = [
        _strings(f"{kind}_{field}", [entry[k] for entry in entries])
        for kind, entries in kinds.items()
        for k, field in enumerate(("names", "units"))
    ]
    rows = [f"  {{{len(entries)}, {kind}_names, {kind}_units}},\n" for kind, entries in kinds.items()]
    return [*lists, f"\nconst Names NAMES[] = {{\n{''.join(rows)}}};\n"]


def _write_recording(model: Model) -> list[str]:
    """What a run keeps by itself; times of samples at a rate are not written down but computed."""
    scenario = model.system.scenario
    asked, found = scenario.recording, engine_recording(scenario.recording, model.solver, 0.0, scenario.duration)
    rate = asked.rate if asked.rate is not None and asked.times is None else 0.0
    times: Sequence[float] = [] if found.times is None else found.times.tolist()
    kind = "RECORD_STEPS" if found.times is None else "RECORD_TIMES"
    most = LARGEST_RECORD // (8 * (len(model.outputs) + 2))
    fields = (kind, found.refine, int(found.keep_end), 0, len(times), most, "record_times")
    return [
        emit_array("record_times", [] if rate else times),
        f"const Recording RECORDING = {{{', '.join(map(str, fields))}}};\n",
        f"const double RECORD_RATE = {literal(float(rate))};\n",
    ]


def _strings(name: str, texts: Sequence[str]) -> str:
    entries = ", ".join(json.dumps(text) for text in texts) or "0"
    return f"static const char *const {name}[] = {{{entries}}};\n"


def _integers(name: str, values: Sequence[int]) -> str:
    return f"const int32_t {name}[] = {{{', '.join(map(str, values)) or '0'}}};\n"
