"""Trained networks as laws: what does a network make of its inputs, in numbers or in symbols?

Its operations are those of the Open Neural Network Exchange (ONNX), evaluated entry by entry where entries are
symbols, so that a network is differentiated, compiled and exported as any other law is. What it remembers, earlier
inputs or the state of a recurrent layer, moves on at samples.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property, partial
from typing import Any

import numpy as np

from robodyn.base import frozen
from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import LawInfo

Arrays = Sequence[Any]
Attributes = Mapping[str, Any]


@frozen
class Feature:
    """One entry of a network's input: an argument, or what it was some samples ago, times a factor."""

    argument: str
    age: int = 0
    scale: float = 1.0


@frozen
class NetworkOperation:
    """A node of a network: its kind in ONNX, and names of arrays, "" for one that is left out."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Attributes


@frozen
class TrainedNetwork:
    """A law: the outputs of a network, by its inputs or by the features of which its only input is made.

    Attributes:
        digest: fingerprint of the file that says the graph.
        operations: in the order of their evaluation; weights: constant arrays by name.
        inputs: name -> shape, 1 for what the file leaves open; outputs: names of arrays.
        features: entries of the input, in order; without any, the network's inputs are the arguments, by their names.
        names: of the outputs, but for those that are inputs of the next sample; their unit is the block's own.
        scale: factor of all outputs.
        recurrent: inputs, each with the output that it is at the next sample, 0 at first.
        source: where the network is from, for people.
    """

    digest: str
    operations: tuple[NetworkOperation, ...] = field(compare=False, repr=False)
    weights: Mapping[str, np.ndarray] = field(compare=False, repr=False)
    inputs: Mapping[str, tuple[int, ...]] = field(compare=False)
    outputs: tuple[str, ...] = field(compare=False)
    features: tuple[Feature, ...] = ()
    names: tuple[str, ...] = ()
    scale: float = 1.0
    recurrent: tuple[tuple[str, str], ...] = ()
    source: str = ""

    __name__ = "network"

    @cached_property
    def signals(self) -> tuple[str, ...]:
        """Inputs that are no state of the network."""
        return tuple(name for name in self.inputs if name not in dict(self.recurrent))

    @cached_property
    def results(self) -> tuple[str, ...]:
        """Outputs that are no state of the network."""
        return tuple(name for name in self.outputs if name not in dict(self.recurrent).values())

    @cached_property
    def arguments(self) -> dict[str, int]:
        """Arguments, with the samples for which each is remembered."""
        oldest = dict.fromkeys((one.argument for one in self.features) if self.features else self.signals, 0)
        for one in self.features:
            oldest[one.argument] = max(oldest[one.argument], one.age)
        return oldest

    @cached_property
    def law_info(self) -> LawInfo:
        earlier = [f"{name}_{age}" for name, oldest in self.arguments.items() for age in range(1, oldest + 1)]
        states = [f"{name}_{k}" for name, _ in self.recurrent for k in range(int(np.prod(self.inputs[name])))]
        return LawInfo(dict.fromkeys(self.names, "{u}"), memory=dict.fromkeys((*earlier, *states), 0.0))

    @cached_property
    def __signature__(self) -> inspect.Signature:
        names = dict.fromkeys((*self.arguments, *self.law_info.memory))
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def __call__(self, *given: Any, **values: Any) -> Mapping[str, Any]:
        values |= zip(self.__signature__.parameters, given, strict=False)
        feeds = {name: [values[f"{name}_{k}"] for k in range(int(np.prod(self.inputs[name])))]
                 for name, _ in self.recurrent}  # fmt: skip
        if self.features:
            now = [values[f"{one.argument}_{one.age}" if one.age else one.argument] for one in self.features]
            feeds[self.signals[0]] = [one.scale * value for one, value in zip(self.features, now, strict=True)]
        else:
            feeds |= {name: _entries(values[name]) for name in self.signals}
        arrays = self.evaluate(feeds)
        found: dict[str, Any] = {}
        for name, output in zip(self.names, self.results, strict=True):
            entries = [self.scale * entry for entry in arrays[output].ravel().tolist()]
            found[name] = entries[0] if len(entries) == 1 else sym.stack(entries)
        # What is remembered moves on by a sample.
        for name, oldest in self.arguments.items():
            for age in range(1, oldest + 1):
                found[f"{name}_{age}_next"] = values[name if age == 1 else f"{name}_{age - 1}"]
        for name, output in self.recurrent:
            found |= {f"{name}_{k}_next": entry for k, entry in enumerate(arrays[output].ravel().tolist())}
        return found

    def evaluate(self, feeds: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """All arrays by name, of the inputs' entries, row by row."""
        arrays: dict[str, Any] = {"": None, **self.weights}
        for name, entries in feeds.items():
            array = np.empty(len(entries), dtype=object)
            array[:] = entries
            if not any(sym.is_expression(entry) or np.ndim(entry) for entry in entries):
                array = array.astype(float)
            arrays[name] = array.reshape(self.inputs[name])
        for one in self.operations:
            made = OPERATIONS[one.kind]([arrays[name] for name in one.inputs], one.attributes)
            arrays |= zip(one.outputs, made if isinstance(made, list) else [made], strict=False)
        return arrays


def _entries(value: Any) -> list[Any]:
    """A number or symbol, or a column of them, one by one."""
    if sym.is_expression(value):
        return [value[k] for k in range(sym.length(value))]
    return list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]


# --------------------------------------------------------------------------------------------------
# Operations of ONNX: what do they make of arrays and attributes?


def _each(function: Callable[..., Any], array: np.ndarray) -> np.ndarray:
    """A function of every entry."""
    return np.asarray(np.frompyfunc(function, 1, 1)(array) if array.dtype == object else function(array))


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A matrix product; of symbols with plain floats, which NumPy's own scalars do not multiply well."""
    if a.dtype == object or b.dtype == object:
        a, b = a.astype(object), b.astype(object)
    return np.asarray(a @ b)


def _sigmoid(x: Any) -> Any:
    return 0.5 + 0.5 * sym.tanh(0.5 * x)


def _elu(x: Any, alpha: float) -> Any:
    # The exponential of what is not used must not overflow.
    return sym.where(x > 0, x, alpha * sym.expm1(sym.minimum(x, 0.0)))


def _gemm(given: Arrays, attributes: Attributes) -> Any:
    a = given[0].T if attributes.get("transA") else given[0]
    b = given[1].T if attributes.get("transB") else given[1]
    product = attributes.get("alpha", 1.0) * _product(a, b)
    return product if len(given) < 3 else product + attributes.get("beta", 1.0) * given[2]


def _axes(given: Arrays, attributes: Attributes) -> tuple[int, ...] | None:
    """Axes of a node, an attribute or, since version 13, an input."""
    axes = attributes.get("axes", given[1] if len(given) > 1 else None)
    return None if axes is None else tuple(int(axis) for axis in axes)


def _reshape(given: Arrays, attributes: Attributes) -> Any:
    sizes = [given[0].shape[k] if size == 0 else int(size) for k, size in enumerate(given[1])]
    return given[0].reshape(sizes)


def _flatten(given: Arrays, attributes: Attributes) -> Any:
    leading = given[0].shape[: attributes.get("axis", 1)]
    return given[0].reshape(int(np.prod(leading)), -1)


def _slice(given: Arrays, attributes: Attributes) -> Any:
    x, starts, ends, *rest = given
    axes = rest[0] if rest and rest[0] is not None else range(len(starts))
    steps = rest[1] if len(rest) > 1 else [1] * len(starts)
    places = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        # An end before the first entry stands for "all" where a slice goes backwards.
        places[int(axis)] = slice(int(start), None if step < 0 and end < -x.shape[axis] else int(end), int(step))
    return x[tuple(places)]


def _lstm(given: Arrays, attributes: Attributes) -> list[Any]:
    """Input, output, forget and cell gates, in this order:

    i, o, f = sigmoid(W x + R h + b),  c = f c + i tanh(...),  h = o tanh(c)
    """
    x, W, R, (of_x, of_h), (h, c) = _recurrent(given, attributes, 4)
    steps = []
    for row in x:
        i, o, f, g = np.split(_product(row, W.T) + _product(h, R.T) + of_x + of_h, 4, axis=1)
        c = _each(_sigmoid, f) * c + _each(_sigmoid, i) * _each(sym.tanh, g)
        h = _each(_sigmoid, o) * _each(sym.tanh, c)
        steps.append(h)
    return [np.stack(steps)[:, None], h[None], c[None]]


def _gru(given: Arrays, attributes: Attributes) -> list[Any]:
    """Update, reset and hidden gates: h = (1 - z) n + z h, the reset before or after the product with R."""
    x, W, R, (of_x, of_h), (h, _) = _recurrent(given, attributes, 3)
    (Rz, Rr, Rn), (bz, br, bn) = np.split(R, 3), np.split(of_h, 3)
    steps = []
    for row in x:
        xz, xr, xn = np.split(_product(row, W.T) + of_x, 3, axis=1)
        z = _each(_sigmoid, xz + _product(h, Rz.T) + bz)
        r = _each(_sigmoid, xr + _product(h, Rr.T) + br)
        after = attributes.get("linear_before_reset", 0)
        inner = r * (_product(h, Rn.T) + bn) if after else _product(r * h, Rn.T) + bn
        n = _each(sym.tanh, xn + inner)
        h = (1 - z) * n + z * h
        steps.append(h)
    return [np.stack(steps)[:, None], h[None]]


RECURRENT: Mapping[str, Sequence[Any]] = {
    "direction": (b"forward",),
    "layout": (0,),
    "clip": (0.0,),
    "input_forget": (0,),
    "activations": ([b"Sigmoid", b"Tanh", b"Tanh"], [b"Sigmoid", b"Tanh"]),
}
"""Attributes of recurrent layers, with all that they may be."""


def _recurrent(given: Arrays, attributes: Attributes, gates: int) -> tuple[Any, ...]:
    """Operands of a recurrent layer of one direction: x by steps, weights, both biases, and its states at first."""
    inputs: list[Any] = [*given, *[None] * (8 - len(given))]
    x, W, R, bias, lengths, hidden, cell, peepholes = inputs
    unusual = [key for key, usual in RECURRENT.items() if attributes.get(key, usual[0]) not in usual]
    unusual += ["sequence_lens"] * (lengths is not None) + ["peepholes"] * (peepholes is not None)
    if unusual:
        raise ValueError(f"{', '.join(unusual)} of a recurrent layer are not supported: use one direction and no clip")
    size = R.shape[2]
    zero = np.zeros((x.shape[1], size))
    biases = np.split(np.zeros(2 * gates * size) if bias is None else bias[0], 2)
    return x, W[0], R[0], biases, [zero if array is None else array[0] for array in (hidden, cell)]


def _entrywise(function: Callable[..., Any], **defaults: float) -> Callable[[Arrays, Attributes], Any]:
    """An operation on each entry, with its attributes."""

    def operation(given: Arrays, attributes: Attributes) -> Any:
        values = {key: attributes.get(key, value) for key, value in defaults.items()}
        return _each(partial(function, **values), given[0])

    return operation


OPERATIONS: Mapping[str, Callable[[Arrays, Attributes], Any]] = {
    "Abs": _entrywise(sym.absolute),
    "Add": lambda given, _: given[0] + given[1],
    "Concat": lambda given, attributes: np.concatenate(given, attributes["axis"]),
    "Constant": lambda _, attributes: np.asarray(next(iter(attributes.values()))),
    "Div": lambda given, _: given[0] / given[1],
    "Elu": _entrywise(_elu, alpha=1.0),
    "Flatten": _flatten,
    "GRU": _gru,
    "Gather": lambda given, attributes: np.take(given[0], given[1], attributes.get("axis", 0)),
    "Gemm": _gemm,
    "Identity": lambda given, _: given[0],
    "LSTM": _lstm,
    "LeakyRelu": _entrywise(lambda x, alpha: sym.where(x > 0, x, alpha * x), alpha=0.01),
    "MatMul": lambda given, _: _product(given[0], given[1]),
    "Mul": lambda given, _: given[0] * given[1],
    "Relu": _entrywise(lambda x: sym.maximum(x, 0.0)),
    "Reshape": _reshape,
    "Sigmoid": _entrywise(_sigmoid),
    "Slice": _slice,
    "Softplus": _entrywise(lambda x: sym.maximum(x, 0.0) + sym.log1p(sym.exp(-sym.absolute(x)))),
    "Softsign": _entrywise(lambda x: x / (1 + sym.absolute(x))),
    "Squeeze": lambda given, attributes: np.squeeze(given[0], _axes(given, attributes)),
    "Sub": lambda given, _: given[0] - given[1],
    "Tanh": _entrywise(sym.tanh),
    "Transpose": lambda given, attributes: np.transpose(given[0], attributes.get("perm")),
    "Unsqueeze": lambda given, attributes: np.expand_dims(given[0], _axes(given, attributes) or ()),
}
"""By their names: those that networks of drives are made of; several results are a list."""
