"""JSON Schemas of what commands print with `--json`: which keys are there, and what do they mean?

Written in short: a dictionary is an object with just these keys (`key?` may be missing, `*` stands for names of the
model), a list is an array of its one entry, a text is "type: meaning". Numbers are in SI, null where not finite.
"""

from __future__ import annotations

from typing import Any

TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "text or null": {"type": ["string", "null"]},
    "number": {"type": ["number", "null"]},
    "count": {"type": "integer"},
    "flag": {"type": "boolean"},
    "flag or null": {"type": ["boolean", "null"]},
    "object": {"type": "object"},
    "anything": {},
}

NUMBERS, TEXTS = {"*": "number"}, ["text"]
FILES = {"files": ["text: a file that was written"], "notes": ["text: what is to be said of them"]}
EVENT = {"name": "text", "time": "number: [s]", "terminal": "flag: whether it ended the run"}
CHECK = {
    "name": "text", "subject": "text: the signal, joint or contact that is worst", "value": "number", "unit": "text",
    "limit": "number: what the value may be", "ok": "flag", "time": "number: when it was worst [s]", "remedy": "text",
}  # fmt: skip
CHECKED = {"certificate": [CHECK], "unchecked": ["text: what no check says anything about"]}
OUTCOME = {"kind?": "text: finished, stopped, suspect ...", "ok": "flag", "sentence": "text"}
STATISTICS = "object: steps, evaluations, events, wall_time [s], times_real_time ..."
ROOTS = [["number: real and imaginary part [rad/s]"]]
LOOP = {
    "name": "text: the signal at which the loop is cut", "signals": TEXTS, "stable": "flag",
    "crossover": "number: [Hz]", "bandwidth": "number: [Hz]", "radius": "number: of the closed loop's multipliers",
    "gain_from": "number: stable from this factor of its gain ...", "gain_to": "number: ... up to this one",
    "phase": "number: margin [rad]", "delay": "number: margin [s]",
}  # fmt: skip
CURVE = {"frequency": ["number: [Hz]"], "magnitude_db": ["number"], "phase_deg": ["number"]}
INTERVAL = {"name": "text", "unit": "text", "value": "number", "deviation": "number: standard deviation"} | {
    "lower": "number: of the 95 % interval", "upper": "number: of the 95 % interval", "given": "number: before",
}  # fmt: skip
DOUBT = "text: why the intervals are no 95 % ones, or empty"
ERROR = {
    "name": "text", "unit": "text", "rows": "count", "rms": "number", "percent": "number: of the signal's spread",
    "bias": "number", "largest": "number", "at_time": "number: of the largest [s]", "recording?": "text",
}  # fmt: skip
CONTEST = [
    {"law": "text", "tried": "text: with which numbers, or why not", "parameters": "count", "bic": "number"}
    | {"aic": "number", "fitted": "number", "held_out": "number"}
]
"""With --contest: a row for each law."""
EFFORT = {"joint": "text", "unit": "text", "rows": "count", "rms": "number", "percent": "number", "held_out": "flag"}

OUTPUTS: dict[str, Any] = {
    "list": [{"name": "text", "title": "text", "package": "text: that brings it", "duration": "number: [s]"}],
    "new": FILES,
    "import": {
        "source": "text", "counts": {"*": "count"}, "written": TEXTS,
        "entries": [
            {"line": "count", "path": "text: the element", "kind": "text: read, converted, choice or not used"}
            | {"value": "text", "column?": "text", "note": "text"}
        ],
    },
    "check": {
        "ok": "flag: true; what is wrong is an error", "name": "text", "states": "count", "memory": "count",
        "signals": "count", "tunable_parameters": "count", "sampled_tasks": "count", "events": "count",
        "delays": "count", "warnings": TEXTS, "notes": TEXTS,
        "found": {"*": {"described": "number", "found": "number"}},
        "phases?": ["object: the same of each phase of a sequence"],
    },
    "dress": {
        "joints": {"*": "object: drive family, size, gains, margins, and each number with its source"},
        "undressed": {"*": "text: why not"}, "notes": TEXTS,
    },
    "move": {
        "duration": "number: [s]", "fast?": "object: of --fast, the least time and what limits it",
        "joints": {"*": {"speed": "number", "acceleration": "number", "effort": "number"}},
    },
    "design": {"*": "object: gains K, poles, states and the commands that hold the operating point, by controller"},
    "schema": "object: a JSON Schema",
    "run": {
        "scenario": "text", "outcome": OUTCOME, "end_time": "number: [s]", "statistics": STATISTICS, **CHECKED,
        "errors?": "object: of --certify, the error bar of each signal",
        "second_solution?": "object: of --certify, how the bars were found",
        "passed_limits": ["object"], "events": [EVENT], "final": NUMBERS, "solver": "object: settings", "file": "text",
        "warnings": TEXTS,
    },
    "sweep": {
        "scenario": "text", "runs": "count", "carried_through": "count", "failures": {"*": "count: runs by outcome"},
        "percentiles": {"*": {"unit": "text", **NUMBERS}}, "simulated": "number: [s]", "elapsed": "number: [s]",
        "robots_seconds_per_second": "number", "folder": "text", "pictures": TEXTS, "yields": ["object"],
    },
    "perturb": {
        "scenario": "text", "outcome": OUTCOME, "statistics": STATISTICS, **CHECKED, "file": "text",
        "comparison?": "anything", "convergence?": "anything",
    },
    "cosim": {
        "name": "text", "outcome": OUTCOME, "end_time": "number: [s]", "statistics": STATISTICS, "coupling": NUMBERS,
        "final": {"*": NUMBERS}, "certificates": {"*": CHECKED}, "warnings": TEXTS, "files": {"*": "text"},
        "errors?": "object: of --certify",
    },
    "show": {
        "signals": [{"name": "text", "unit": "text", "kind": "text: smooth, linear or held", "rate": "text or null"}
                    | {"note": "text"}],
        "events": [EVENT], "outcome": {"kind": "text", "sentence": "text", "time": "number: [s]"},
        "statistics": STATISTICS, "provenance": "object: scenario, parameters, solver, versions, digest",
        "warnings": TEXTS, "end": NUMBERS, "found": "object", **CHECKED, "passed_limits": ["object"],
        "errors": "anything",
    },
    "plot": FILES,
    "report": FILES,
    "view": FILES,
    "compare": {
        "differences": [
            {"name": "text", "unit": "text", "max_abs": "number", "at_time": "number: [s]", "rms": "number"}
            | {"scale": "number: greatest value of the signal"}
        ],
        "only_in_first": TEXTS, "only_in_second": TEXTS,
    },
    "modes": {
        "notes": TEXTS,
        "modes": [
            {"free": "flag: a rigid motion", "of_method": "flag: of the method that keeps constraints"}
            | {"frequency": "number: [Hz]", "damping": "number: ratio"}
            | {"pole": ["number"], "time_constant": "number: [s]", "participation": NUMBERS}
        ],
    },
    "poles": {
        "notes": TEXTS, "inputs": TEXTS, "outputs": TEXTS, "order": "count: of the truncated model",
        **dict.fromkeys(("poles", "zeros", "cancelled", "uncontrollable", "unobservable", "reduced_poles"), ROOTS),
        "hankel_values": ["number"], "error_bound": "number: of the transfer matrix at any frequency",
    },
    "kinematics": {
        "postures": [
            {"motors": NUMBERS, "point": NUMBERS, "joints": NUMBERS, "iterations": "count", "residual": "number"}
            | {"singular": "text: none, input, output, both or constraint", "condition": "number"}
        ],
    },
    "loops": {"notes": TEXTS, "warnings": TEXTS, "loops": [LOOP]},
    "bode": {
        "notes?": TEXTS, "loops?": [LOOP | {"open": CURVE, "closed": CURVE}], "input?": "text", "output?": "text",
        "responses?": [{"name": "text"} | CURVE], "measured?": "object", "model?": "anything",
    },
    "step": {
        "answer": "text: the signal",
        "responses": [
            {"name": "text", "start": "number", "final": "number", "overshoot": "number: [%]", "peak": "number: [s]"}
            | {"rise": "number: [s]", "settled": "number: [s]", "time": ["number"], "values": ["number"]}
        ],
    },
    "sensitivity": {
        "measure": "text", "of": "text", "reason": "text: why slopes are not exact, if they are not", "notes": TEXTS,
        "rows": [
            {"measure": "text", "parameter": "text", "unit": "text", "value": "number", "parameter_value": "number"}
            | {"slope": "number: exact", "change": "number", "lower": "number", "upper": "number"}
            | {"per_percent": "number", "finite_per_percent": "number"}
        ],
    },
    "budget": {
        "scenario": "text", "remainder_share": "number", "interaction_share": "number", "by_differences": "text",
        "files": TEXTS,
        "signals": {"*": {"unit": "text", "rows": [
            {"name": "text", "what": "text: the cause", "largest": "number", "rms": "number", "at_worst": "number"}
            | {"share": "number"}
        ]}},
    },
    "sheet": {
        "scenario": "text", "standard": "text", "uncertain": {"*": "text"}, "seed": "count", "notes": TEXTS,
        "figures": [
            {"symbol": "text: AP, RP, AT ...", "name": "text", "formula": "text", "cycles": "count", "value": "number"}
            | {"unit": "text", "causes": ["anything"], "pose": "text"}
        ],
    },
    "circle": {
        "standard": "text", "hysteresis": "number",
        "tests": [
            {"name": "text", "radius": "number", "centre": ["number"], "fitted": ["number"], "speed": "number"}
            | {"highest": "number", "lowest": "number", "circular": "number", "clockwise": "flag"}
            | {"peaks": [{"reversal": "number: [rad]", "angle": "number: [rad]", "height": "number"}]}
        ],
    },
    "tune": {
        "objective": "text", "unit": "text", "over": "text", "before": "number", "after": "number",
        "gains": [
            {"name": "text", "unit": "text", "before": "number", "after": "number", "lower": "number"}
            | {"upper": "number", "at_bound": "flag", "per_percent": "number"}
        ],
        "limits": [
            {"text": "text", "loop": "text", "unit": "text", "bound": "number", "before": "number", "after": "number"}
            | {"active": "flag", "price": "number: what a per cent of it costs"}
        ],
        "cases": [{"changes": NUMBERS, "before": "number", "after": "number"}], "slopes": "text", "notes": TEXTS,
        "rest": "number", "evaluations": "count",
    },
    "data": {"clocks": ["object: rate, jitter, gaps, and a sheet for each signal"], "offset?": "object"},
    "excite": {
        "axes": ["object"], "frequency?": "number: [Hz]", "criterion": "text", "information": ["number"],
        "deviations": NUMBERS, "hardly_told": TEXTS, "use": NUMBERS, "workspace": NUMBERS,
        "suggestions": [{"number": "text", "deviation": "number: by its value", "joints": TEXTS}
                        | {"then": "number: after these joints have moved"}],
    },
    "identify": ({
        "base_parameters": [INTERVAL | {"told": "flag: whether the data say it"}], "correlation": [["number"]],
        "numbers": NUMBERS, "parameters": NUMBERS, "predictions": [EFFORT], "noise": NUMBERS, "cutoff": "number: [Hz]",
        "rate": "number: [Hz]", "lost": "number", "rank_gap": "number", "without_effect": TEXTS, "doubt": DOUBT,
        "warnings": TEXTS,
    }, CONTEST),
    "fit": ({
        "parameters": [INTERVAL | {"at_bound": "flag", "spread": "number: between searches"}],
        "correlation": [["number"]],
        "signals": [{"name": "text", "unit": "text", "samples": "count", "rms": "number", "noise": "number"}
                    | {"r_squared": "number"}],
        "held_out": [ERROR], "starts": ["object"], "cost": "number", "best_start": "count", "agreeing_starts": "count",
        "jacobian": "text", "doubt": DOUBT, "warnings": TEXTS,
    }, CONTEST),
    "validate": {"signals": [ERROR], "efforts": [EFFORT], "notes": TEXTS},
    "export": FILES,
    "reproduce": [
        {"name": "text", "kind": "text: published result, input or own check", "published": "number"}
        | {"measured": "number"}
        | {"value": "number: ours", "unit": "text", "tolerance": "number", "ok": "flag or null", "source": "text"}
        | {"reason": "text: of the tolerance", "part": "text", "expected": "anything", "deviation": "number"}
        | {"relation": "text", "wide": "text", "fitted": "text", "verdict": "text"}
    ],
    "info": {"*": "anything"},
}  # fmt: skip

PROBLEM = {"place": "text: file, key or option", "what": "text", "remedy": "text"}
FAILURE = {"error": {"kind": "text: bad_input or interrupted", "exit_code": "count"}
           | {"source?": "text: the file", "problems?": [PROBLEM]}}  # fmt: skip


def output_schema(command: str) -> dict[str, Any]:
    """The JSON Schema of what a command prints with `--json`, its errors included."""
    printed = OUTPUTS[command]
    kinds = printed if isinstance(printed, tuple) else (printed,)
    made = {"anyOf": [_expand(kind) for kind in (*kinds, FAILURE)]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"robodyn {command} --json", **made}


def _expand(short: Any) -> dict[str, Any]:
    if isinstance(short, str):
        kind, _, meaning = short.partition(": ")
        return TYPES[kind] | ({"description": meaning} if meaning else {})
    if isinstance(short, list):
        return {"type": "array", "items": _expand(short[0])}
    named = {key: entry for key, entry in short.items() if key != "*"}
    return {
        "type": "object",
        "properties": {key.removesuffix("?"): _expand(entry) for key, entry in named.items()},
        "required": [key for key in named if not key.endswith("?")],
        "additionalProperties": _expand(short["*"]) if "*" in short else False,
    }
