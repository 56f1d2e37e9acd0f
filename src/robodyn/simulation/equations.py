"""What are a system's equations, for people to read?

state' = expression, in the names of signals and parameters; what occurs more than once gets a name of its own
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from robodyn.assembly import System
from robodyn.assembly.system import INPUTS
from robodyn.native import Program, read_program
from robodyn.native.program import Node, operands

# Beyond this many operations nobody reads equations.
READABLE = 3000
SIGNS = {"add": ("+", 1), "sub": ("-", 1), "mul": ("*", 2), "div": ("/", 2), "pow": ("^", 4)}
COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "and": "and", "or": "or"}
FUNCTIONS = {"fabs": "abs", "fmin": "min", "fmax": "max", "fmod": "mod"}
ATOM = 9


def equations_of(system: System) -> tuple[str, ...]:
    """One line a shared expression and a state's rate; a single sentence where there are too many to read."""
    program = read_program(system.function("rhs"))
    if program.n_operations > READABLE:
        return (f"{program.n_operations} operations in {len(system.states)} rates: too many to read",)
    return tuple(_lines(program, system))


def _lines(program: Program, system: System) -> Iterator[str]:
    names = _input_names(system)
    uses = Counter(operand for node in program.nodes for operand in operands(node))
    uses.update(program.outputs[0])
    texts: dict[int, tuple[str, int]] = {}
    count = 0
    for number, node in enumerate(program.nodes):
        text = _text(node, texts, names)
        if uses[number] > 1 and node[0] not in ("const", "input", "neg"):
            count += 1
            yield f"w{count} = {text[0]}"
            text = (f"w{count}", ATOM)
        texts[number] = text
    for state, number in zip(system.states, program.outputs[0], strict=True):
        yield f"{state.name}' = {texts[number][0]}"


def _input_names(system: System) -> dict[tuple[int, int], str]:
    """Names of the entries of t, x, d, m and p."""
    columns = {
        "t": ["time"],
        "x": [state.name for state in system.states],
        "d": [delay.name for delay in system.delays],
        "m": [memory.name for memory in system.memory],
        "p": [number.name for number in system.parameters],
    }
    return {(i, k): name for i, key in enumerate(INPUTS) for k, name in enumerate(columns[key])}


def _text(node: Node, texts: dict[int, tuple[str, int]], names: dict[tuple[int, int], str]) -> tuple[str, int]:
    """A node as text, with how strongly it holds together."""
    op = node[0]
    if op == "const":
        return (f"{node[1]:.10g}", ATOM if node[1] >= 0 else 0)
    if op == "input":
        return (names[node[1], node[2]], ATOM)
    parts = [texts[number] for number in operands(node)]
    if op in SIGNS:
        return _infix(op, parts)
    plain = [part[0] for part in parts]
    if op in COMPARISONS:
        return (f"({plain[0]} {COMPARISONS[op]} {plain[1]})", ATOM)
    fixed = {
        "neg": lambda: (f"-{_wrapped(parts[0], 3)}", 0),
        "inv": lambda: (f"1 / {_wrapped(parts[0], 3)}", 2),
        "sq": lambda: (f"{_wrapped(parts[0], 5)}^2", 4),
        "twice": lambda: (f"2 * {_wrapped(parts[0], 2)}", 2),
        "select": lambda: (f"({plain[1]} if {plain[0]} else {plain[2]})", ATOM),
        "if_else_zero": lambda: (f"({plain[1]} if {plain[0]} else 0)", ATOM),
        "muladd": lambda: (f"{_wrapped(parts[0], 2)} * {_wrapped(parts[1], 2)} + {_wrapped(parts[2], 1)}", 1),
        "locate": lambda: (f"segment({plain[0]})", ATOM),
        "gather": lambda: (f"table{node[1] % 1000}[{plain[0]}]", ATOM),
    }
    if op in fixed:
        return fixed[op]()
    return (f"{FUNCTIONS.get(op, op)}({', '.join(plain)})", ATOM)


def _infix(op: str, parts: list[tuple[str, int]]) -> tuple[str, int]:
    sign, strength = SIGNS[op]
    # What stands right of - / ^ must hold together more strongly than what stands left.
    right = strength if op in ("add", "mul") else strength + 1
    return (f"{_wrapped(parts[0], strength)} {sign} {_wrapped(parts[1], right)}", strength)


def _wrapped(part: tuple[str, int], strength: int) -> str:
    return part[0] if part[1] >= strength else f"({part[0]})"
