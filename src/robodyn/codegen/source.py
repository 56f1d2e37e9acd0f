"""Generated C: what are the sizes, tables and functions of a model, for the engine that moves it?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from robodyn.assembly.functions import INPUTS
from robodyn.codegen.model import Model
from robodyn.engine.solver import DEFAULT_FIXED_STEP, method_table
from robodyn.engine.tableaus import Method
from robodyn.native.c_code import PREAMBLE, emit_array, emit_program, emit_sweep, emit_tables, literal
from robodyn.signals import number_units
from robodyn.simulation.compiled import DERIVATIVES
from robodyn.simulation.problem import STEP
from robodyn.simulation.run_functions import count_work

ENGINE_KERNELS = (
    *("rhs", "jacobian", "time_derivative", "position_rate", "guards", "guard_rates", "limits", "delayed", "drives"),
    "conditions",
    "enclosures",
    "drifts",
    *("step_guess", "step_residual", "step_jacobian", "step_end", "fused_step", STEP),
)
START_KERNELS = ("rest", "rest_jacobian", "rest_conditions", "closing", "closing_gradients", "ranged")
SLOPES = "slopes"
FUNCTION_FILES = ("functions1.c", "functions2.c")
PARAMETERS = INPUTS.index("p")
VECTOR = "const double *t, const double *x, const double *d, const double *m, const double *p"
MOST_STEPS = 2**62


def write_header(model: Model, token: str) -> str:
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


def write_tables(model: Model) -> str:
    """The text of model.c: its numbers, and which function is which."""
    single = {"prelude": model.prelude, "breaks": model.breaks, "past": model.past}
    parts = ['#include "model.h"\n', PREAMBLE, emit_tables(single.values())]
    parts += [emit_program(name, program) for name, program in single.items()]
    parts += [emit_array(name, values, "") for name, values in _tables(model).items()]
    parts += [_integers(name, "int32_t", values, "") for name, values in _places(model).items()]
    parts += _write_names(model)
    parts += _write_structures(model)
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


def _sizes(model: Model) -> dict[str, int]:
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


def _tables(model: Model) -> dict[str, Iterable[float]]:
    return {
        "STATE_START": model.start.x,
        "MEMORY_START": model.start.m,
        "PARAMETER_START": [number.value for number in model.system.parameters],
        "DATA": model.system.data,
        "BREAK_START": model.break_start,
        **model.search.tables,
    }


def _places(model: Model) -> dict[str, Sequence[int]]:
    return {
        "INPUT_PLACE": model.input_places,
        "OUTPUT_STATE": model.output_states,
        "PARAMETER_FIXED": [int(number.name in model.at_start) for number in model.system.parameters],
        "PARAMETER_INPUT": [int(number.name in model.numbers) for number in model.system.parameters],
        **model.search.places,
    }


def _write_names(model: Model) -> list[str]:
    names = {"STATE_NAME": [state.name for state in model.system.states], "GUARD_NAME": [g.name for g in model.guards]}
    return [
        _pointers(key, "char *const", [json.dumps(name) for name in entries], "")
        for key, entries in {**names, **model.search.names}.items()
    ]


def _write_structures(model: Model) -> list[str]:
    """The engine's constant structures, with the tables that they point to."""
    symbols = _symbols(model)
    return [
        *_write_model(model, symbols),
        *_write_methods(model),
        _structure("Solver", "SOLVER", _solver_fields(model)),
        *(f"const Kernel KERNEL_{name.upper()} = {symbols.get(name, '0')};\n" for name in START_KERNELS),
    ]


def _write_model(model: Model, symbols: Mapping[str, str]) -> list[str]:
    system, ticks, guards = model.system, model.kernels.ticks, model.guards
    base = system.discrete.base_period
    integers = {
        "limited": list(system.limited),
        "condition_kind": list(model.conditions.kinds),
        "entries": list(model.conditions.entries),
        "task_period": [tick.period for tick in ticks],
        "task_offset": [tick.offset for tick in ticks],
        "guard_direction": [guard.direction for guard in guards],
        "guard_terminal": [int(guard.terminal) for guard in guards],
        "guard_side": [system.side_place(guard) for guard in guards],
        "guard_problems": [system.problem_set(guard.problems) for guard in guards],
        "problem_rows": [problem.rows for problem in system.discrete.problems],
        "problem_joints": [problem.joints for problem in system.discrete.problems],
        "problem_place": [system.mode_place(problem) for problem in system.discrete.problems],
        "unit": number_units(model.outputs),
    }
    kernels = {
        "problem": [symbols[problem.name] for problem in system.discrete.problems],
        "task": [symbols[str(tick.function)] for tick in ticks],
        "guard_action": [symbols.get(guard.action or "", "0") for guard in guards],
    }
    fields: dict[str, int | str] = {
        "n_q": system.n_q,
        "n_x": len(system.states),
        "n_m": len(system.memory),
        "n_d": len(system.delays),
        "n_y": len(model.outputs),
        "n_guards": len(guards),
        "n_limited": len(system.limited),
        "n_tasks": len(ticks),
        "n_breaks": model.breaks.out_sizes[0],
        "n_kept": model.kernels.n_kept,
        "n_unknowns": model.kernels.n_unknowns,
        "n_problems": len(system.discrete.problems),
        "start_problems": system.problem_set(system.discrete.start_problems),
        "n_drives": _count_entries(model, "drives"),
        "n_conditions": model.conditions.n_conditions,
        "n_entries": len(model.conditions.entries),
        "n_quadratures": system.n_quadratures,
        "autonomous": int(not system.depends_on_time),
        **{f"{name}_work": work for name, work in _count_work(model).items()},
        "delay_depth": system.delay_depth,
        "portable": int(model.plain),
        "base_numerator": base.numerator if base else 0,
        "base_denominator": base.denominator if base else 1,
        "base_period": literal(float(base or 0)),
        **{name: symbols.get(name, "0") for name in ENGINE_KERNELS},
        "outputs": symbols["outputs"],
        "start_action": symbols.get(system.discrete.start_action or "", "0"),
        "projection": symbols.get("projection", "0"),
        **{name: name for name in (*integers, *kernels, "scale")},
    }
    return [
        *(_integers(name, "int64_t", values) for name, values in integers.items()),
        *(_pointers(name, "Kernel", entries) for name, entries in kernels.items()),
        emit_array("scale", [state.nominal for state in system.states]),
        _structure("Model", "MODEL", fields),
    ]


def _count_entries(model: Model, name: str) -> int:
    """How many numbers a function gives, 0 where it is not there."""
    return model.programs[name].out_sizes[0] if name in model.programs else 0


def _count_work(model: Model) -> dict[str, int]:
    """Operations by which the methods of a pair are compared."""
    functions = model.kernels.functions
    derivatives = [functions[name] for name in DERIVATIVES if name in functions]
    return {**model.kernels.work, "jacobian": count_work(*derivatives), "bounds": model.conditions.work}


def _write_methods(model: Model) -> list[str]:
    """The solver's method; of a pair the explicit one, after the stiff one that it refers to."""
    pair = model.solver.pair
    before = _write_method(method_table(pair[1]), "STIFF", "static ") if pair else []
    return [*before, *_write_method(method_table(model.solver.method), "METHOD", "", "&STIFF" if pair else "0")]


def _write_method(table: Method, name: str, linkage: str, stiff: str = "0") -> list[str]:
    prefix = name.lower()
    arrays = {f"{prefix}_{key}": getattr(table, key) for key in ("a", "b", "c", "e", "C", "time_weights", "P")}
    numbers = ("family", "stages", "order", "error_order", "adaptive", "reuses_last", "needs_end")
    fields: dict[str, int | str] = {key: getattr(table, key) for key in numbers}
    fields |= {"n_dense": len(table.P), "stiff": stiff}
    fields |= {key: literal(float(getattr(table, key))) for key in ("gamma", "stability")}
    fields |= {key.removeprefix(f"{prefix}_"): key for key in arrays}
    tables = [emit_array(key, values.ravel()) for key, values in arrays.items()]
    return [*tables, linkage + _structure("Method", name, fields)]


def _solver_fields(model: Model) -> dict[str, str]:
    solver = model.solver
    numbers = {
        "step": solver.step or (0.0 if solver.adaptive else DEFAULT_FIXED_STEP),
        "rtol": solver.rtol,
        "atol": solver.atol,
        "max_step": float(solver.max_step),
        "min_step": solver.min_step or 0.0,
        "spectral_radius": float(solver.spectral_radius),
    }
    fields = {name: literal(float(value)) for name, value in numbers.items()}
    return fields | {"max_steps": f"INT64_C({solver.max_steps or MOST_STEPS})"}


def _structure(kind: str, name: str, fields: Mapping[str, int | str]) -> str:
    entries = "".join(f"  .{field} = {value},\n" for field, value in fields.items())
    return f"const {kind} {name} = {{\n{entries}}};\n"


def _integers(name: str, kind: str, values: Iterable[int], linkage: str = "static ") -> str:
    entries = [f"INT64_C({value})" if kind == "int64_t" else str(int(value)) for value in values] or ["0"]
    return f"{linkage}const {kind} {name}[{len(entries)}] = {{{', '.join(entries)}}};\n"


def _pointers(name: str, kind: str, entries: Sequence[str], linkage: str = "static ") -> str:
    return f"{linkage}const {kind} {name}[{max(len(entries), 1)}] = {{{', '.join(entries or ['0'])}}};\n"
