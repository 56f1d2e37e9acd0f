"""Networks as laws: a trained network, a drive's torque from what it was told and did, computed in double precision.

A file of the Open Neural Network Exchange (ONNX) is a list of nodes, each of which makes arrays of arrays. They are
evaluated with plain NumPy, entry by entry where entries are symbols, so that a network is differentiated, compiled and
exported as any other law is. It is called at samples where it remembers something: what it was given before, or the
state of a recurrent network.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.errors import FlawList, ModelError
from robodyn.base.records import dataclass
from robodyn.description.laws.definition import LawInfo

FEATURE = re.compile(r"(?P<value>[A-Za-z]\w*)(\s*-\s*(?P<less>[A-Za-z]\w*))?(@(?P<age>\d+))?")
"""An entry of a network's input: an argument, or the difference of two, now or some samples ago: `target-position@2`."""
OLDEST = 1000
"""Samples that a feature may lie back."""
MOST_COMPILED = 50_000
"""Weights that are compiled: each is a multiplication in straight-line code, some 20 us of compiling."""
Arrays = Sequence[Any]
Attributes = Mapping[str, Any]


@dataclass(frozen=True)
class Feature:
    """One entry of a network's input.

    Attributes:
        value, less: arguments, the second one subtracted from the first; "" for none.
        age: samples that it lies back.
    """

    value: str
    less: str = ""
    age: int = 0

    @property
    def name(self) -> str:
        """Of what it is now; that of `k` samples ago is remembered as `name_k`."""
        return f"{self.value}_minus_{self.less}" if self.less else self.value


@dataclass(frozen=True)
class Network:
    """A law: the outputs of a network, by its inputs or by features of which its only input is made.

    Attributes:
        content: of the ONNX file.
        features: entries of the input, in order; without any, the network's inputs are the arguments, by their names.
        scales: factors of the features, as many as these or none.
        outputs: names of the outputs, in order; without any, the network's own.
        output_scale: factor of all outputs.
        recurrent: inputs, each with the output that it is at the next sample, 0 at first.
        source: where the network is from, for people.
    """

    content: bytes
    features: tuple[Feature, ...] = ()
    scales: tuple[float, ...] = ()
    outputs: tuple[str, ...] = ()
    output_scale: float = 1.0
    recurrent: tuple[tuple[str, str], ...] = ()
    source: str = ""

    __name__ = "network"

    @cached_property
    def graph(self) -> Graph:
        """The nodes.

        Raises:
            ModelError: for what is no network that a law can be.
            ImportError: where the package `onnx` is not installed.
        """
        return read_graph(self.content)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Inputs of the network that are no state of it."""
        return tuple(name for name in self.graph.inputs if name not in dict(self.recurrent))

    @cached_property
    def results(self) -> tuple[str, ...]:
        """Outputs of the network that are no state of it."""
        return tuple(name for name in self.graph.outputs if name not in dict(self.recurrent).values())

    @cached_property
    def ages(self) -> dict[Feature, int]:
        """What the features are made of, with the samples for which it is remembered."""
        ages: dict[Feature, int] = {}
        for feature in self.features:
            now = Feature(feature.value, feature.less)
            ages[now] = max(feature.age, ages.get(now, 0))
        return ages

    @cached_property
    def law_info(self) -> LawInfo:
        remembered = [f"{now.name}_{age}" for now, oldest in self.ages.items() for age in range(1, oldest + 1)]
        states = [f"{name}_{k}" for name, _ in self.recurrent for k in range(self.graph.size_of(name))]
        return LawInfo(memory=dict.fromkeys((*remembered, *states), 0.0))

    @cached_property
    def __signature__(self) -> inspect.Signature:
        given = [name for now in self.ages for name in (now.value, now.less) if name] or list(self.inputs)
        names = dict.fromkeys((*given, *self.law_info.memory))
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def check(self, flaws: FlawList) -> None:
        """The network fits its features and names, and can be evaluated."""
        graph = self.graph
        for name, output in self.recurrent:
            flaws.add_unknown([name], graph.inputs, "is no input of the network", "recurrent")
            flaws.add_unknown([output], graph.outputs, "is no output of the network", f"recurrent.{name}")
        if flaws.found:
            return
        if self.features:
            own = f"it has {', '.join(self.inputs)}"
            if len(self.inputs) != 1:
                flaws.add("features", f"make the only input, the network has {len(self.inputs)}: {own}", "leave it out")
            elif graph.size_of(self.inputs[0], len(self.features)) != len(self.features):
                size = graph.size_of(self.inputs[0])
                flaws.add("features", f"must be {size}, as '{self.inputs[0]}' has entries, are {len(self.features)}")
        for name in () if self.features else self.inputs:
            if not name.isidentifier():
                flaws.add("features", f"are missing: '{name}', an input of the network, is no name of an argument")
        if self.scales and len(self.scales) != len(self.features):
            flaws.add("scales", f"must be as many as features, {len(self.features)}, are {len(self.scales)}")
        if self.outputs and len(self.outputs) != len(self.results):
            flaws.add("outputs", f"must name {len(self.results)} outputs ({', '.join(self.results)})")
        for name in () if self.outputs else self.results:
            if not name.isidentifier():
                flaws.add("outputs", f"are missing: '{name}', an output of the network, is no name of a signal")
        if flaws.found:
            return
        sizes = {name: graph.size_of(name, len(self.features) or 1) for name in self.inputs}
        zeros = dict.fromkeys(self.__signature__.parameters, 0.0)
        given = {name: 0.0 if size == 1 else np.zeros(size) for name, size in sizes.items()}
        try:
            self(**{**zeros, **({} if self.features else given)})
        except (ValueError, IndexError, KeyError, TypeError, ModelError) as error:
            flaws.add("file", f"cannot be evaluated: {type(error).__name__}: {error}")

    def __call__(self, **values: Any) -> Mapping[str, Any]:
        now = {one: values[one.value] - values[one.less] if one.less else values[one.value] for one in self.ages}
        feeds = {name: [values[f"{name}_{k}"] for k in range(self.graph.size_of(name))] for name, _ in self.recurrent}
        if self.features:
            scales = self.scales or (1.0,) * len(self.features)
            entries = [
                scale * (values[f"{one.name}_{one.age}"] if one.age else now[Feature(one.value, one.less)])
                for one, scale in zip(self.features, scales, strict=True)
            ]
            feeds[self.inputs[0]] = entries
        else:
            feeds |= {name: _entries(values[name]) for name in self.inputs}
        found = self.graph.evaluate(feeds)
        results: dict[str, Any] = {}
        for name, output in zip(self.outputs or self.results, self.results, strict=True):
            entries = [self.output_scale * entry for entry in found[output].ravel().tolist()]
            results[name] = entries[0] if len(entries) == 1 else sym.stack(entries)
        # What is remembered moves on by a sample.
        for one, oldest in self.ages.items():
            for age in range(1, oldest + 1):
                results[f"{one.name}_{age}_next"] = now[one] if age == 1 else values[f"{one.name}_{age - 1}"]
        for name, output in self.recurrent:
            for k, entry in enumerate(found[output].ravel().tolist()):
                results[f"{name}_{k}_next"] = entry
        return results


def _entries(value: Any) -> list[Any]:
    """A number or symbol, or a column of them, one by one."""
    if sym.is_expression(value):
        return [value[k] for k in range(sym.length(value))]
    return list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]


# --------------------------------------------------------------------------------------------------
# Graphs: what are the nodes of a file, and what do they make of their inputs?


@dataclass(frozen=True)
class Node:
    """A node of a network.

    Attributes:
        kind: name of the operation in ONNX.
        inputs, outputs: names of arrays, "" for one that is left out.
    """

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Attributes


@dataclass(frozen=True)
class Graph:
    """A network's nodes in the order of their evaluation.

    Attributes:
        constants: arrays of weights by name.
        inputs: name -> shape, with 0 for what the file leaves open; outputs: names.
    """

    nodes: tuple[Node, ...]
    constants: Mapping[str, np.ndarray]
    inputs: Mapping[str, tuple[int, ...]]
    outputs: tuple[str, ...]

    def size_of(self, name: str, open_size: int = 1) -> int:
        """Entries of an input: what the file leaves open is 1, a batch of one, but for the last length."""
        *lengths, last = self.inputs[name] or (1,)
        return int(np.prod([length or 1 for length in lengths], dtype=int)) * (last or open_size)

    def evaluate(self, feeds: Mapping[str, Sequence[Any]]) -> dict[str, np.ndarray]:
        """The outputs by name, of the inputs' entries, row by row.

        Raises:
            ModelError: for more weights than can be compiled, where entries are symbols.
        """
        entries = [entry for row in feeds.values() for entry in row]
        symbolic = any(sym.is_expression(entry) for entry in entries)
        plain = not symbolic and not any(np.ndim(entry) for entry in entries)
        weights = sum(array.size for array in self.constants.values())
        if symbolic and weights > MOST_COMPILED:
            flaws = FlawList()
            flaws.add("file", f"has {weights} weights, at most {MOST_COMPILED} are compiled", "say native = false")
            flaws.raise_if_any("a network")
        arrays: dict[str, np.ndarray] = {"": np.zeros(0), **self.constants}
        for name, row in feeds.items():
            array = np.empty(len(row), dtype=float if plain else object)
            for k, entry in enumerate(row):
                array[k] = entry
            arrays[name] = array.reshape([length or 1 for length in self.inputs[name][:-1]] + [-1])
        for node in self.nodes:
            given = [arrays[name] if name else None for name in node.inputs]
            made = OPERATIONS[node.kind](given, node.attributes)
            for name, array in zip(node.outputs, made if isinstance(made, list) else [made], strict=False):
                # Functions of entries give arrays of objects, which are slow where all are numbers.
                arrays[name] = np.asarray(array, dtype=float) if plain and np.asarray(array).dtype == object else array
        return {name: arrays[name] for name in self.outputs}


def read_graph(content: bytes) -> Graph:
    """The graph of an ONNX file.

    Raises:
        ModelError: with what a law cannot be made of.
        ImportError: where the package `onnx` is not installed.
    """
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError as error:
        raise ImportError("a network as a law needs onnx: pip install 'robodyn[networks]'", name="onnx") from error
    flaws = FlawList()
    try:
        graph = onnx.load_model_from_string(content).graph
    except Exception as error:  # noqa: BLE001 (whatever the reader raises of a broken file)
        flaws.add("file", f"is no ONNX file: {error}")
        flaws.raise_if_any("a network")
    if not graph.output:
        flaws.add("file", "is no ONNX file with outputs")
    constants = {}
    for tensor in graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            flaws.add("file", f"keeps the weights '{tensor.name}' in another file", "save the model with them inside")
        else:
            constants[tensor.name] = _as_numbers(numpy_helper.to_array(tensor))
    nodes = []
    for node in graph.node:
        attributes = {entry.name: onnx.helper.get_attribute_value(entry) for entry in node.attribute}
        if isinstance(attributes.get("value"), onnx.TensorProto):
            attributes["value"] = _as_numbers(numpy_helper.to_array(attributes["value"]))
        nodes.append(Node(node.op_type, tuple(node.input), tuple(node.output), attributes))
        unusual = [name for name in UNUSUAL.get(node.op_type, ()) if attributes.get(name)]
        if attributes.get("direction", b"forward") != b"forward" or unusual:
            flaws.add("file", f"{node.op_type} '{node.name}' has {', '.join(unusual or ['a direction'])}, unknown to a law")
    unknown = sorted({node.kind for node in nodes} - OPERATIONS.keys())
    if unknown:
        flaws.add("file", f"uses {', '.join(unknown)}; a law knows {', '.join(sorted(OPERATIONS))}")
    flaws.raise_if_any("a network")
    inputs = {
        entry.name: tuple(size.dim_value for size in entry.type.tensor_type.shape.dim)
        for entry in graph.input
        if entry.name not in constants
    }
    return Graph(tuple(nodes), constants, inputs, tuple(entry.name for entry in graph.output))


def _as_numbers(array: np.ndarray) -> np.ndarray:
    """Weights in double precision; whole numbers, which are sizes and places, stay."""
    return array.astype(np.float64) if np.issubdtype(array.dtype, np.floating) else array


UNUSUAL = {name: ("activations", "clip", "layout", "input_forget") for name in ("LSTM", "GRU")}


def _map(function: Callable[[Any], Any], array: np.ndarray) -> np.ndarray:
    """A function of every entry."""
    return np.asarray(np.frompyfunc(function, 1, 1)(array))


def _each(function: Callable[[Any], Any]) -> Callable[[Arrays, Attributes], Any]:
    return lambda given, attributes: _map(function, given[0])


def _sigmoid(x: Any) -> Any:
    return 0.5 + 0.5 * sym.tanh(0.5 * x)


def _elu(given: Arrays, attributes: Attributes, alpha: float = 1.0, gamma: float = 1.0) -> Any:
    alpha, gamma = attributes.get("alpha", alpha), attributes.get("gamma", gamma)
    # The exponential of what is not used must not overflow.
    return _map(lambda x: gamma * sym.where(x > 0, x, alpha * sym.expm1(sym.minimum(x, 0.0))), given[0])


def _leaky_relu(given: Arrays, attributes: Attributes) -> Any:
    slope = attributes.get("alpha", 0.01)
    return _map(lambda x: sym.where(x > 0, x, slope * x), given[0])


def _clip(given: Arrays, attributes: Attributes) -> Any:
    bounds = [*given[1:], None, None]
    low = attributes.get("min", -np.inf) if bounds[0] is None else float(bounds[0])
    high = attributes.get("max", np.inf) if bounds[1] is None else float(bounds[1])
    return _map(lambda x: sym.clip(x, low, high), given[0])


def _gemm(given: Arrays, attributes: Attributes) -> Any:
    a = given[0].T if attributes.get("transA") else given[0]
    b = given[1].T if attributes.get("transB") else given[1]
    product = attributes.get("alpha", 1.0) * _product(a, b)
    return product if len(given) < 3 or given[2] is None else product + attributes.get("beta", 1.0) * given[2]


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A matrix product; of symbols with plain floats, which NumPy's own scalars do not multiply well."""
    if a.dtype == object or b.dtype == object:
        a, b = a.astype(object), b.astype(object)
    return np.asarray(a @ b)


def _axes(given: Arrays, attributes: Attributes) -> tuple[int, ...] | None:
    """Axes of a node, an attribute or, since version 13, an input."""
    axes = attributes.get("axes", given[1] if len(given) > 1 else None)
    return None if axes is None else tuple(int(axis) for axis in axes)


def _unsqueeze(given: Arrays, attributes: Attributes) -> Any:
    return np.expand_dims(given[0], _axes(given, attributes) or ())


def _reshape(given: Arrays, attributes: Attributes) -> Any:
    sizes = [given[0].shape[k] if size == 0 else int(size) for k, size in enumerate(given[1])]
    return given[0].reshape(sizes)


def _flatten(given: Arrays, attributes: Attributes) -> Any:
    axis = attributes.get("axis", 1)
    return given[0].reshape(int(np.prod(given[0].shape[:axis], dtype=int)), -1)


def _slice(given: Arrays, attributes: Attributes) -> Any:
    if len(given) > 1:
        starts, ends = given[1], given[2]
        axes = given[3] if len(given) > 3 and given[3] is not None else range(len(starts))
        steps = given[4] if len(given) > 4 and given[4] is not None else [1] * len(starts)
    else:
        starts, ends = attributes["starts"], attributes["ends"]
        axes, steps = attributes.get("axes", range(len(starts))), [1] * len(starts)
    places = [slice(None)] * given[0].ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        places[int(axis)] = slice(int(start), None if step < 0 and end < -(2**31) else int(end), int(step))
    return given[0][tuple(places)]


def _split(given: Arrays, attributes: Attributes) -> list[Any]:
    axis = attributes.get("axis", 0)
    sizes = attributes.get("split", given[1] if len(given) > 1 else None)
    if sizes is None:
        return list(np.split(given[0], attributes["num_outputs"], axis))
    return list(np.split(given[0], np.cumsum(sizes)[:-1].astype(int), axis))


def _concat(given: Arrays, attributes: Attributes) -> Any:
    return np.concatenate(given, attributes["axis"])


def _gather(given: Arrays, attributes: Attributes) -> Any:
    return np.take(given[0], given[1].astype(int), attributes.get("axis", 0))


def _constant(given: Arrays, attributes: Attributes) -> Any:
    kinds = ("value", "value_float", "value_floats", "value_int", "value_ints")
    return np.asarray(next(attributes[kind] for kind in kinds if kind in attributes))


def _lstm(given: Arrays, attributes: Attributes) -> list[Any]:
    """Input, output, forgetting and cell gate, in this order:

    i, o, f = sigmoid(W x + R h + b),  c = f c + i tanh(...),  h = o tanh(c)
    """
    x, W, R, bias, h, c = _recurrent(given, 4, 6)
    steps = []
    for row in x:
        gates = _product(row, W.T) + _product(h, R.T) + bias
        i, o, f, g = np.split(gates, 4, axis=1)
        c = _map(_sigmoid, f) * c + _map(_sigmoid, i) * _map(sym.tanh, g)
        h = _map(_sigmoid, o) * _map(sym.tanh, c)
        steps.append(h)
    return [np.stack(steps)[:, None], h[None], c[None]]


def _gru(given: Arrays, attributes: Attributes) -> list[Any]:
    """Update, reset and hidden gate: h = (1 - z) n + z h, the reset before or after the product with R."""
    x, W, R, _, h, _ = _recurrent(given, 3, 5)
    size = h.shape[1]
    bias = given[3][0] if len(given) > 3 and given[3] is not None else np.zeros(6 * size)
    of_x, of_h = np.split(bias, 2)
    (Rz, Rr, Rn), (bz, br, bn) = np.split(R, 3), np.split(of_h, 3)
    steps = []
    for row in x:
        xz, xr, xn = np.split(_product(row, W.T) + of_x, 3, axis=1)
        z = _map(_sigmoid, xz + _product(h, Rz.T) + bz)
        r = _map(_sigmoid, xr + _product(h, Rr.T) + br)
        inner = r * (_product(h, Rn.T) + bn) if attributes.get("linear_before_reset") else _product(r * h, Rn.T) + bn
        n = _map(sym.tanh, xn + inner)
        h = (1 - z) * n + z * h
        steps.append(h)
    return [np.stack(steps)[:, None], h[None]]


def _recurrent(given: Arrays, gates: int, first: int) -> tuple[np.ndarray, ...]:
    """Inputs of a recurrent node of one direction: x by steps, weights, sum of biases, and its states at first."""
    size = given[2].shape[2]
    optional = [*given[3:], *[None] * 5]
    bias = np.zeros(gates * size) if optional[0] is None else np.add(*np.split(optional[0][0], 2))
    zero = np.zeros((given[0].shape[1], size))
    states = [zero if array is None else array[0] for array in optional[2:4]]
    if len(given) > first + 2 and given[first + 1] is not None:
        raise ValueError("has peepholes, which a law does not know")
    return given[0], given[1][0], given[2][0], bias, *states


OPERATIONS: Mapping[str, Callable[[Arrays, Attributes], Any]] = {
    "Abs": _each(sym.absolute),
    "Add": lambda given, attributes: given[0] + given[1],
    "Cast": lambda given, attributes: given[0],
    "Clip": _clip,
    "Concat": _concat,
    "Constant": _constant,
    "Cos": _each(sym.cos),
    "Div": lambda given, attributes: given[0] / given[1],
    "Dropout": lambda given, attributes: given[0],
    "Elu": _elu,
    "Exp": _each(sym.exp),
    "Flatten": _flatten,
    "GRU": _gru,
    "Gather": _gather,
    "Gemm": _gemm,
    "Identity": lambda given, attributes: given[0],
    "LSTM": _lstm,
    "LeakyRelu": _leaky_relu,
    "MatMul": lambda given, attributes: _product(given[0], given[1]),
    "Mul": lambda given, attributes: given[0] * given[1],
    "Neg": lambda given, attributes: -given[0],
    "Relu": _each(lambda x: sym.maximum(x, 0.0)),
    "Reshape": _reshape,
    "Selu": lambda given, attributes: _elu(given, attributes, 1.6732632423543772, 1.0507009873554805),
    "Sigmoid": _each(_sigmoid),
    "Sin": _each(sym.sin),
    "Slice": _slice,
    "Softplus": _each(lambda x: sym.maximum(x, 0.0) + sym.log1p(sym.exp(-sym.absolute(x)))),
    "Softsign": _each(lambda x: x / (1 + sym.absolute(x))),
    "Split": _split,
    "Sqrt": _each(sym.sqrt),
    "Squeeze": lambda given, attributes: np.squeeze(given[0], _axes(given, attributes)),
    "Sub": lambda given, attributes: given[0] - given[1],
    "Tanh": _each(sym.tanh),
    "Transpose": lambda given, attributes: np.transpose(given[0], attributes.get("perm")),
    "Unsqueeze": _unsqueeze,
}
"""Operations of ONNX: what its node makes of arrays and attributes; several arrays as a list."""
