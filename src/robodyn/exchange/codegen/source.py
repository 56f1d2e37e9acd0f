"""Generated C: what are the sizes, tables, functions and names of a model, and the files around them?"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from robodyn.computation.assembly.declarations import Ending
from robodyn.computation.assembly.system import INPUTS
from robodyn.computation.engine.binding import fields_of
from robodyn.computation.engine.integrate import LARGEST_RECORD
from robodyn.computation.engine.problem import engine_settings
from robodyn.computation.engine.tableaus import method_table
from robodyn.computation.native.c_code import PREAMBLE, emit_array, emit_program, emit_sweep, emit_tables, literal
from robodyn.computation.simulation.compiled import DERIVATIVES
from robodyn.computation.simulation.problem import engine_recording, model_fields
from robodyn.computation.simulation.run_functions import count_work

from .model import ExportedModel

START_KERNELS = ("rest", "rest_jacobian", "rest_conditions", "closing", "closing_gradients", "ranged")
SLOPES = "slopes"
FUNCTION_FILES = ("functions1.c", "functions2.c")
PARAMETERS = INPUTS.index("p")
VECTOR = "const double *t, const double *x, const double *d, const double *m, const double *p"


def write_header(model: ExportedModel, token: str) -> str:
    """The text of model.h."""
    lines = ["/* Sizes, method and functions of a model, generated. */", "#ifndef MODEL_H", "#define MODEL_H"]
    lines += ["#include <math.h>", '#include "engine.h"']
    lines += [f"#define {name} {value}" for name, value in _sizes(model).items()]
    lines.append(f"#define MODEL_TOKEN {json.dumps(token)}")
    lines += ["extern const Model MODEL;", "extern const Method METHOD;", "extern const Solver SOLVER;"]
    lines += [f"extern const double {name}[];" for name in _tables(model)]
    lines += [f"extern const int32_t {name}[];" for name in _places(model)]
    lines += [f"extern const char *const {name}[];" for name in ("STATE_NAME", "GUARD_NAME", *model.search.names)]
    lines += [f"extern const Kernel KERNEL_{name.upper()};" for name in START_KERNELS]
    kernels = [symbol for name, symbol in _symbols(model).items() if name != SLOPES]
    lines += [f"void {symbol}({VECTOR}, double *out);" for symbol in kernels]
    lines.append(f"void model_slopes({VECTOR}, const double *seed, double *slopes);")
    lines.append("void model_prelude(const double *p, double *c);")
    lines.append("void model_breaks(const double *p, double *times);")
    lines.append("void model_past(const double *p, double *given);")
    return "\n".join([*lines, "#endif", ""])


def write_tables(model: ExportedModel) -> str:
    """The text of model.c: its numbers, and which function is which."""
    single = {"prelude": model.prelude, "breaks": model.breaks, "past": model.past}
    parts = ['#include "model.h"\n', PREAMBLE, emit_tables(single.values())]
    parts += [emit_program(name, program) for name, program in single.items()]
    parts += [emit_array(name, values, "") for name, values in _tables(model).items()]
    parts += [_integers(name, "int32_t", values, "") for name, values in _places(model).items()]
    names = {"STATE_NAME": [state.name for state in model.system.states], "GUARD_NAME": [g.name for g in model.guards]}
    parts += [
        _pointers(key, "char *const", [json.dumps(name) for name in entries], "")
        for key, entries in {**names, **model.search.names}.items()
    ]
    parts += _write_structures(model)
    parts += [
        "void model_prelude(const double *p, double *c) { prelude(p, c); }\n",
        "void model_breaks(const double *p, double *times) { breaks(p, times); }\n",
        "void model_past(const double *p, double *given) { past(p, given); }\n",
    ]
    return "".join(parts)


def _write_group(model: ExportedModel, names: Sequence[str]) -> str:
    symbols = _symbols(model)
    parts = ['#include "model.h"\n', PREAMBLE, emit_tables([model.programs[name] for name in names])]
    for name in names:
        emit = emit_sweep if name in model.swept else emit_program
        parts.append(emit(f"{symbols[name]}_body", model.programs[name], PARAMETERS))
        seed = ("const double *seed, ", "seed, ") if name == SLOPES else ("", "")
        parts.append(f"void {symbols[name]}({VECTOR}, {seed[0]}double *out) {{\n")
        parts.append(f"  {symbols[name]}_body(t, x, d, m, p, {seed[1]}out);\n}}\n")
    return "".join(parts)


def _symbols(model: ExportedModel) -> dict[str, str]:
    """The C names of the functions."""
    named = {"outputs": "model_outputs", SLOPES: "model_slopes"}
    return {name: named.get(name, f"kernel_{k}") for k, name in enumerate(model.programs)}


def _sizes(model: ExportedModel) -> dict[str, int]:
    """Sizes that the unit around the engine needs when it is compiled."""
    system = model.system
    return {
        "N_Q": system.n_q,
        "N_X": len(system.states),
        "N_M": len(system.memory),
        "N_P": len(system.parameters),
        "N_PRELUDE": model.prelude.out_sizes[0],
        "N_DATA": len(system.data),
        "N_Y": len(model.outputs),
        "N_INPUTS": len(model.inputs),
        "N_D": len(system.delays),
        "N_BREAKS": model.breaks.out_sizes[0],
        "N_GUARDS": len(model.guards),
        "N_LIMITED": len(system.limited),
        "HAS_EXCHANGE": int(model.exchange),
        "N_RATES": len(system.states) if model.exchange else 0,
        "N_INDICATORS": len(model.guards) + 2 * len(system.limited) if model.exchange else 0,
        **model.search.sizes,
    }


def _tables(model: ExportedModel) -> dict[str, Iterable[float]]:
    return {
        "STATE_START": model.start.x,
        "MEMORY_START": model.start.m,
        "PARAMETER_START": model.system.described_values,
        "DATA": model.system.data,
        "BREAK_START": model.break_start,
        **model.search.tables,
    }


def _places(model: ExportedModel) -> dict[str, Sequence[int]]:
    return {
        "INPUT_PLACE": model.input_places,
        "OUTPUT_STATE": model.output_states,
        "PARAMETER_FIXED": [int(number.name in model.at_start) for number in model.system.parameters],
        "PARAMETER_INPUT": [int(number.name in model.numbers) for number in model.system.parameters],
        **model.search.places,
    }


def _write_structures(model: ExportedModel) -> list[str]:
    """The engine's constant structures, with the tables that they point to."""
    symbols, functions = _symbols(model), model.kernels.functions
    system, conditions = model.system, model.conditions
    fields = model_fields(
        system, model.kernels, model.guards, model.outputs, conditions, lambda name: symbols.get(name or "", "0")
    )
    fields |= {
        "n_tasks": len(fields["task"]),
        "n_problems": len(fields["problem"]),
        "n_entries": len(fields["entries"]),
        "n_breaks": model.breaks.out_sizes[0],
        "n_drives": model.programs["drives"].out_sizes[0] if "drives" in model.programs else 0,
        "jacobian_work": count_work(*(functions[name] for name in DERIVATIVES if name in functions)),
        "portable": int(model.plain),
    }
    parts = [_structure("Model", "MODEL", fields)]
    # Of a pair of methods the explicit one, after the stiff one that it refers to.
    solver = model.solver
    methods = [(solver.method, "METHOD", "", "&STIFF" if solver.pair else "0")]
    if solver.pair:
        methods.insert(0, (solver.pair[1], "STIFF", "static ", "0"))
    for method, name, linkage, stiff in methods:
        table = method_table(method)
        values = table._asdict() | {"n_dense": len(table.P), "stiff": stiff}
        parts.append(_structure("Method", name, values, linkage))
    parts.append(_structure("Solver", "SOLVER", engine_settings(solver)))
    return parts + [f"const Kernel KERNEL_{name.upper()} = {symbols.get(name, '0')};\n" for name in START_KERNELS]


def _structure(kind: str, name: str, values: Mapping[str, Any], linkage: str = "") -> str:
    """A constant structure of the engine, declared in its header, with the tables that it points to; what is not given
    is 0."""
    tables, entries = [], []
    for field, type_ in fields_of(kind).items():
        value = values.get(field, 0)
        if isinstance(value, (list, np.ndarray)):
            table = f"{name.lower()}_{field}"
            if type_ == "double*":
                tables.append(emit_array(table, np.ravel(value)))
            elif type_ == "Kernel*":
                tables.append(_pointers(table, "Kernel", list(value)))
            else:
                tables.append(_integers(table, "int64_t", value))
            value = table
        elif type_ == "double":
            value = literal(float(value))
        elif isinstance(value, int):
            value = f"INT64_C({value})"
        entries.append(f"  .{field} = {value},\n")
    return f"{''.join(tables)}{linkage}const {kind} {name} = {{\n{''.join(entries)}}};\n"


def _integers(name: str, kind: str, values: Iterable[int], linkage: str = "static ") -> str:
    entries = [f"INT64_C({value})" if kind == "int64_t" else str(int(value)) for value in values] or ["0"]
    return f"{linkage}const {kind} {name}[{len(entries)}] = {{{', '.join(entries)}}};\n"


def _pointers(name: str, kind: str, entries: Sequence[str], linkage: str = "static ") -> str:
    return f"{linkage}const {kind} {name}[{max(len(entries), 1)}] = {{{', '.join(entries or ['0'])}}};\n"


COUPLED = ("coupling.h", "coupled.h", "coupling.c", "coupled_motion.c", "extrapolation.c", "interface_model.c")
LIBRARY_ONLY = ("engine_digest.c", "lanes.h", "lanes.c", "convoy.c", "march.c", "slices.c", "between.c", "columns.c")
NOT_EXPORTED = (*LIBRARY_ONLY, *COUPLED)
"""Sources that name those of an installed library, carry out several runs at once or couple them: of no use outside."""


def generate_files(model: ExportedModel) -> tuple[dict[str, str], str]:
    """The C of a model by the names of its files; and a token, the same for the same code: a binary and a description
    that do not belong together are found out."""
    # The texts of the files of functions, about equally long, so that they are compiled side by side.
    groups: dict[str, list[str]] = {name: [] for name in FUNCTION_FILES}
    lengths = dict.fromkeys(FUNCTION_FILES, 0)
    for name, program in sorted(model.programs.items(), key=lambda item: -item[1].n_operations):
        shortest = min(lengths, key=lambda file: lengths[file])
        groups[shortest].append(name)
        lengths[shortest] += program.n_operations
    written = {file: _write_group(model, names) for file, names in groups.items()} | {"model.c": write_tables(model)}
    texts = "\0".join([*written.values(), write_header(model, "")])
    token = f"{{{uuid.UUID(bytes=hashlib.sha256(texts.encode()).digest()[:16])}}}"
    return written | {"model.h": write_header(model, token)}, token


def engine_files() -> dict[str, str]:
    """The engine, as it runs here."""
    return _read("robodyn.computation.engine", "")


def unit_files() -> dict[str, str]:
    """An exported model at work: parameters and inputs from outside, start values that are looked for."""
    return _read("robodyn.exchange.codegen", "runtime")


def _read(package: str, folder: str) -> dict[str, str]:
    entries = sorted((files(package) / folder).iterdir(), key=lambda entry: entry.name)
    return {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in entries
        if entry.name.endswith((".c", ".h")) and entry.name not in NOT_EXPORTED
    }


def shown_parameters(model: ExportedModel) -> list[int]:
    """Places of the parameters that a user may change."""
    return [k for k, number in enumerate(model.system.parameters) if number.name not in model.fixed]


def write_names(model: ExportedModel) -> str:
    """The text of names.c."""
    scenario = model.system.scenario
    fails = [guard.ending not in (None, Ending.STOPPED) for guard in model.guards]
    # One list a kind, in the order of simulation.h.
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
    return "".join(
        [
            '#include "names.h"\n\n#include <math.h>\n\n',
            *[*lists, f"\nconst Names NAMES[] = {{\n{''.join(rows)}}};\n"],
            _integers("PARAMETER_PLACE", "int32_t", shown_parameters(model), ""),
            _integers("EVENT_FAILS", "int32_t", [int(failed) for failed in fails], ""),
            f"const char SCENARIO[] = {json.dumps(scenario.name)};\n",
            f"const double DURATION = {literal(float(scenario.duration))};\n",
            *_write_recording(model),
        ]
    )


def _write_recording(model: ExportedModel) -> list[str]:
    """The recording of a run by itself; times of samples at a rate are not written down but computed."""
    scenario = model.system.scenario
    described, recording = (
        scenario.recording,
        engine_recording(scenario.recording, model.solver, 0.0, scenario.duration),
    )
    rate = described.rate if described.rate is not None and described.times is None else 0.0
    times: Sequence[float] = [] if recording.times is None else recording.times.tolist()
    kind = "RECORD_STEPS" if recording.times is None else "RECORD_TIMES"
    most = LARGEST_RECORD // (8 * (len(model.outputs) + 2))
    fields = (kind, recording.refine, int(recording.keep_end), 0, len(times), most, "record_times")
    return [
        emit_array("record_times", [] if rate else times),
        f"const Recording RECORDING = {{{', '.join(map(str, fields))}}};\n",
        f"const double RECORD_RATE = {literal(float(rate))};\n",
    ]


def _strings(name: str, texts: Sequence[str]) -> str:
    entries = ", ".join(json.dumps(text) for text in texts) or "0"
    return f"static const char *const {name}[] = {{{entries}}};\n"
