"""What is the C of a model: its sizes, tables and functions, for the runtime that moves it?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import numpy as np

from robodyn.assembly.system import INPUTS
from robodyn.engine.solver import DEFAULT_FIXED_STEP
from robodyn.engine.tableaus import IMPLICIT_STEP
from robodyn.fmi.model import Model
from robodyn.native.c_code import PREAMBLE, emit_array, emit_program, emit_sweep, emit_tables, literal

KERNELS = (
    *("rhs", "jacobian", "time_derivative", "position_rate", "guards", "guard_rates", "limits", "delayed"),
    *("step_guess", "step_residual", "step_jacobian", "step_end", "fused_step"),
    *("rest", "rest_jacobian", "closing", "closing_gradients", "ranged"),
)
SLOPES = "slopes"
TO_COEFFICIENTS = np.linalg.inv(np.vander(np.arange(5) / 4, increasing=True))
FUNCTION_FILES = ("functions1.c", "functions2.c")
PARAMETERS = INPUTS.index("p")
VECTOR = "const double *t, const double *x, const double *d, const double *m, const double *p"


def write_header(model: Model, token: str) -> str:
    """The text of model.h."""
    lines = ["/* Sizes, method and functions of a model, generated. */", "#ifndef MODEL_H", "#define MODEL_H"]
    lines += ["#include <math.h>", "#include <stdint.h>"]
    lines += [f"#define {name} {value}" for name, value in _sizes(model).items()]
    lines += [f"#define {name} {literal(value)}" for name, value in _numbers(model).items()]
    lines.append(f"#define MODEL_TOKEN {json.dumps(token)}")
    lines.append("typedef void (*Kernel)(const double *t, const double *x, const double *d, const double *m,")
    lines.append("                       const double *p, double *out);")
    lines += [f"extern const double {name}[];" for name in _tables(model)]
    lines += [f"extern const int32_t {name}[];" for name in _places(model)]
    lines += [f"extern const int64_t {name}[];" for name in ("TASK_PERIOD", "TASK_OFFSET")]
    lines += [f"extern const char *const {name}[];" for name in ("STATE_NAME", "GUARD_NAME", *model.search.names)]
    lines += [f"extern const Kernel {name}[];" for name in ("TASK_KERNEL", "GUARD_ACTION")]
    single = [f"KERNEL_{name.upper()}" for name in KERNELS]
    lines += [f"extern const Kernel {name};" for name in (*single, "START_ACTION", "PROJECTION")]
    kernels = [symbol for name, symbol in _symbols(model).items() if name != SLOPES]
    lines += [f"void {symbol}({VECTOR}, double *out);" for symbol in kernels]
    lines.append(f"void model_slopes({VECTOR}, const double *seed, double *slopes);")
    lines.append("void model_prelude(const double *p, double *c);")
    lines.append("void model_breaks(const double *p, double *times);")
    lines.append("void model_past(const double *p, double *given);")
    return "\n".join([*lines, "#endif", ""])


def write_tables(model: Model) -> str:
    """The text of model.c: its numbers, and which function is which."""
    single = {"prelude": model.prelude, "breaks": model.breaks, "past": model.past}
    parts = ['#include "model.h"\n', PREAMBLE, emit_tables(single.values())]
    parts += [emit_program(name, program) for name, program in single.items()]
    parts += [emit_array(name, values, "") for name, values in _tables(model).items()]
    parts += [_integers(name, "int32_t", values) for name, values in _places(model).items()]
    parts += _write_clocks(model)
    parts += _write_kernels(model)
    parts += [
        "void model_prelude(const double *p, double *c) { prelude(p, c); }\n",
        "void model_breaks(const double *p, double *times) { breaks(p, times); }\n",
        "void model_past(const double *p, double *given) { past(p, given); }\n",
    ]
    return "".join(parts)


def write_functions(model: Model) -> dict[str, str]:
    """The texts of the files of functions, about equally long, so that they are compiled side by side."""
    groups: dict[str, list[str]] = {name: [] for name in FUNCTION_FILES}
    lengths = dict.fromkeys(FUNCTION_FILES, 0)
    for name, program in sorted(model.programs.items(), key=lambda item: -item[1].n_operations):
        shortest = min(lengths, key=lambda file: lengths[file])
        groups[shortest].append(name)
        lengths[shortest] += program.n_operations
    return {file: _write_group(model, names) for file, names in groups.items()}


def _write_group(model: Model, names: Sequence[str]) -> str:
    symbols = _symbols(model)
    parts = ['#include "model.h"\n', PREAMBLE, emit_tables([model.programs[name] for name in names])]
    for name in names:
        emit = emit_sweep if name in model.swept else emit_program
        parts.append(emit(f"{symbols[name]}_body", model.programs[name], PARAMETERS))
        seed = ("const double *seed, ", "seed, ") if name == SLOPES else ("", "")
        parts.append(f"void {symbols[name]}({VECTOR}, {seed[0]}double *out) {{\n")
        parts.append(f"  {symbols[name]}_body(t, x, d, m, p, {seed[1]}out);\n}}\n")
    return "".join(parts)


def _symbols(model: Model) -> dict[str, str]:
    """The C names of the functions."""
    named = {"outputs": "model_outputs", SLOPES: "model_slopes"}
    return {name: named.get(name, f"kernel_{k}") for k, name in enumerate(model.programs)}


def _sizes(model: Model) -> dict[str, int | str]:
    system, solver, method = model.system, model.solver, model.solver.table
    n_x = len(system.states)
    return {
        "N_Q": system.n_q,
        "N_X": n_x,
        "N_M": len(system.memory),
        "N_P": len(system.parameters),
        "N_PRELUDE": model.prelude.out_sizes[0],
        "N_DATA": len(system.data),
        "N_Y": len(model.outputs),
        "N_INPUTS": len(model.inputs),
        "N_GUARDS": len(model.guards),
        "N_LIMITED": len(system.limited),
        "N_TASKS": len(model.called.ticks),
        "N_D": len(system.delays),
        "DELAY_DEPTH": system.delay_depth,
        "MOST_LEVELS": max(method.order, system.delay_depth),
        "N_BREAKS": model.breaks.out_sizes[0],
        "N_UNKNOWNS": model.called.n_unknowns,
        "N_KEPT": model.called.n_kept,
        "N_QUADRATURES": system.n_quadratures,
        "N_CORE": model.called.n_unknowns if method.family == IMPLICIT_STEP else n_x if method.gamma > 0 else 0,
        "AUTONOMOUS": int(not system.depends_on_time and not system.delays),
        "FAMILY": method.family,
        "STAGES": method.stages,
        "ERROR_ORDER": max(method.error_order, 1),
        "ADAPTIVE": method.adaptive,
        "REUSES_LAST": method.reuses_last,
        "NEEDS_END": method.needs_end,
        "N_DENSE": len(method.P),
        "MOST_STEPS": f"INT64_C({solver.max_steps or 2**62})",
        **model.search.sizes,
    }


def _numbers(model: Model) -> dict[str, float]:
    solver, base = model.solver, model.system.base_period
    return {
        "GAMMA": float(model.solver.table.gamma),
        "FIXED_STEP": solver.step or DEFAULT_FIXED_STEP,
        "FIRST_STEP": solver.step or 0.0,
        "RTOL": solver.rtol,
        "ATOL": solver.atol,
        "MAX_STEP": solver.max_step,
        "MIN_STEP": solver.min_step or 0.0,
        "SPECTRAL_RADIUS": solver.spectral_radius,
        "BASE_PERIOD": float(base or 1),
        "BASE_NUMERATOR": float(base.numerator if base else 1),
        "BASE_DENOMINATOR": float(base.denominator if base else 1),
    }


def _tables(model: Model) -> dict[str, Iterable[float]]:
    system, method = model.system, model.solver.table
    return {
        "METHOD_A": method.a.ravel(),
        "METHOD_B": method.b,
        "METHOD_C": method.c,
        "METHOD_E": method.e,
        "METHOD_CC": method.C.ravel(),
        "METHOD_TIME_WEIGHTS": method.time_weights,
        "METHOD_P": method.P.ravel(),
        "STATE_SCALE": [state.nominal for state in system.states],
        "STATE_START": model.start.x,
        "MEMORY_START": model.start.m,
        "PARAMETER_START": [number.value for number in system.parameters],
        "DATA": system.data,
        "TO_COEFFICIENTS": TO_COEFFICIENTS.ravel(),
        **model.search.tables,
    }


def _places(model: Model) -> dict[str, Sequence[int]]:
    return {
        "LIMITED": list(model.system.limited),
        "INPUT_PLACE": model.input_places,
        "OUTPUT_STATE": model.output_states,
        "PARAMETER_FIXED": [int(number.name in model.at_start) for number in model.system.parameters],
        "GUARD_DIRECTION": [guard.direction for guard in model.guards],
        "GUARD_TERMINAL": [int(guard.terminal) for guard in model.guards],
        **model.search.places,
    }


def _integers(name: str, kind: str, values: Iterable[int]) -> str:
    entries = [f"INT64_C({value})" if kind == "int64_t" else str(int(value)) for value in values] or ["0"]
    return f"const {kind} {name}[{len(entries)}] = {{{', '.join(entries)}}};\n"


def _write_clocks(model: Model) -> list[str]:
    ticks, symbols = model.called.ticks, _symbols(model)
    return [
        _integers("TASK_PERIOD", "int64_t", [tick.period for tick in ticks]),
        _integers("TASK_OFFSET", "int64_t", [tick.offset for tick in ticks]),
        _pointers("TASK_KERNEL", "Kernel", [symbols[str(tick.function)] for tick in ticks]),
        _pointers("GUARD_ACTION", "Kernel", [_symbol(symbols, guard.action) for guard in model.guards]),
        _pointers("STATE_NAME", "char *", [json.dumps(state.name) for state in model.system.states]),
        _pointers("GUARD_NAME", "char *", [json.dumps(guard.name) for guard in model.guards]),
        *(_pointers(key, "char *", [json.dumps(name) for name in names]) for key, names in model.search.names.items()),
    ]


def _write_kernels(model: Model) -> list[str]:
    symbols = _symbols(model)
    named = {f"KERNEL_{name.upper()}": name for name in KERNELS}
    named |= {"PROJECTION": "action:projection", "START_ACTION": model.system.start_action or ""}
    return [f"const Kernel {name} = {_symbol(symbols, function)};\n" for name, function in named.items()]


def _pointers(name: str, kind: str, entries: list[str]) -> str:
    kind = "char *const" if kind == "char *" else kind
    return f"const {kind} {name}[{max(len(entries), 1)}] = {{{', '.join(entries or ['0'])}}};\n"


def _symbol(symbols: dict[str, str], function: str | None) -> str:
    return symbols.get(function or "", "0")
