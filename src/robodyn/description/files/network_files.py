"""Network files: which arrays of an ONNX file are arguments, outputs and memory of a law, and what does not fit?"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, FlawList, refuse
from robodyn.base.untrusted import MEGABYTE, read_bytes
from robodyn.description.laws.trained_network import OPERATIONS, Feature, NetworkOperation, TrainedNetwork
from robodyn.description.model import Description
from robodyn.description.model.fields import EMPTY, array, quantity, text, text_map, texts

FEATURE = re.compile(r"\s*([A-Za-z]\w*)(?:@(\d{1,3}))?\s*")
STANDARD, OLDEST = ("", "ai.onnx"), 11
"""Domains of operations that mean what ONNX says, and the version since which they do."""
MOST_BYTES = 64 * MEGABYTE
"""Of a file."""
MOST_WEIGHTS = 50_000
"""Each is a multiplication in straight-line code, some 20 us of compiling."""


class NetworkFile(Description):
    """Read a trained network from an ONNX file as a law."""

    NOUN = "network"

    file: str = text(doc="an ONNX file beside this one, with its weights inside")
    features: tuple[str, ...] = texts(
        "feature",
        default=(),
        doc="entries of the network's only input, in order: an argument, or what it was some samples ago: "
        '`["error", "error@1", "velocity"]`',
        absent="its inputs, by their names",
    )
    scales: tuple[float, ...] = array(default=(), doc="factors of the features", absent="1")
    outputs: tuple[str, ...] = texts("output", default=(), doc='names of its outputs: `["torque"]`', absent="its own")
    output_scale: float = quantity("", named=False, default=1.0, doc="factor of its outputs")
    recurrent: Mapping[str, str] = text_map(
        default=EMPTY, doc="input = the output that it is at the next sample, 0 at first: the state of an LSTM or GRU"
    )

    def check(self, flaws: FlawList) -> None:
        for k, feature in enumerate(self.features):
            if FEATURE.fullmatch(feature) is None:
                flaws.add(
                    f"features.{k}", f"must be an argument, or one with its age in samples: `a@2`, is {feature!r}"
                )
        if self.scales and len(self.scales) != len(self.features):
            flaws.add("scales", f"must be as many as features, {len(self.features)}, are {len(self.scales)}")

    def load(self, folder: Path) -> TrainedNetwork:
        """The law, of a file in a folder.

        Raises:
            ModelError: with what the file or the keys have that a law cannot be made of.
            ImportError: where the package `onnx` is not installed.
        """
        path = folder / self.file
        content = read_bytes(path, MOST_BYTES)
        flaws = FlawList()
        graph = read_graph(content, flaws)
        flaws.raise_if_any(str(path))
        features = []
        for feature, scale in zip(self.features, self.scales or (1.0,) * len(self.features), strict=True):
            parts = FEATURE.fullmatch(feature)
            assert parts is not None
            features.append(Feature(parts[1], int(parts[2] or 0), scale))
        states = tuple(self.recurrent.items())
        names = self.outputs or tuple(name for name in graph["outputs"] if name not in self.recurrent.values())
        digest = hashlib.sha256(content).hexdigest()[:16]
        law = TrainedNetwork(
            digest, **graph, features=tuple(features), names=names, scale=self.output_scale, recurrent=states,
            source=path.name,
        )  # fmt: skip
        self.check_law(law, flaws)
        flaws.raise_if_any(str(path))
        return law

    def check_law(self, law: TrainedNetwork, flaws: FlawList) -> None:
        """The keys fit the network, and it can be evaluated."""
        for name, output in law.recurrent:
            flaws.add_unknown([name], law.inputs, "is not an input of the network", "recurrent")
            flaws.add_unknown([output], law.outputs, "is not an output of the network", f"recurrent.{name}")
        if flaws.found:
            return
        if self.features and len(law.signals) != 1:
            what = f"make the only input, the network has {len(law.signals)}: {', '.join(law.signals)}"
            flaws.add("features", what, "leave them out")
        elif self.features and (size := int(np.prod(law.inputs[law.signals[0]]))) != len(self.features):
            flaws.add("features", f"must be {size}, as '{law.signals[0]}' has entries, are {len(self.features)}")
        if len(law.names) != len(law.results):
            flaws.add("outputs", f"must name {len(law.results)} outputs ({', '.join(law.results)})")
        for key, names in (("features", law.arguments), ("outputs", law.names)):
            for name in names:
                if not name.isidentifier():
                    flaws.add(key, f"are missing: '{name}' of the network is not the name of a signal")
        # What is remembered of `error` one sample ago is named `error_1`, an entry of the state `h` `h_1`.
        for name in law.arguments.keys() & law.law_info.memory.keys():
            flaws.add("features", f"'{name}' is remembered under this name too", "give the argument another one")
        if flaws.found:
            return
        sizes = {name: int(np.prod(law.inputs[name])) for name in law.signals}
        zeros = dict.fromkeys(law.__signature__.parameters, 0.0)
        vectors = {} if self.features else {name: np.zeros(size) for name, size in sizes.items() if size > 1}
        try:
            law(**{**zeros, **vectors})
        except (ValueError, IndexError, KeyError, TypeError) as error:
            flaws.add("file", f"cannot be evaluated: {type(error).__name__}: {error}")


def read_network(path: str | Path, **words: Any) -> TrainedNetwork:
    """A trained network of an ONNX file as a law.

    Args:
        words: `features`, `scales`, `outputs`, `output_scale` and `recurrent`, as the keys of a file.

    Raises:
        ModelError: with every flaw; ImportError: where the package `onnx` is not installed.
    """
    return NetworkFile(str(path), **words).made().load(Path())


def read_graph(content: bytes, flaws: FlawList) -> dict[str, Any]:
    """Operations, weights, inputs and outputs of an ONNX file."""
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError as error:
        raise ImportError("a network as a law needs onnx: pip install 'robodyn[networks]'", name="onnx") from error
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:  # noqa: BLE001 (whatever the reader raises of a broken file)
        refuse("file", f"is not an ONNX file: {error}")
    graph = model.graph
    for versions in model.opset_import:
        if versions.domain in STANDARD and versions.version < OLDEST:
            what = f"has operations of version {versions.version}"
            flaws.add("file", what, f"export it with opset {OLDEST} or newer")
    if not graph.output:
        flaws.add("file", "is not an ONNX file with outputs")

    # Weights in double precision; whole numbers, which are sizes and places, stay.
    def numbers(tensor: Any) -> Array:
        values = numpy_helper.to_array(tensor)
        return values.astype(np.float64) if np.issubdtype(values.dtype, np.floating) else values

    weights: dict[str, Array] = {}
    for tensor in graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            flaws.add("file", f"keeps the weights '{tensor.name}' in another file", "save the model with them inside")
        else:
            weights[tensor.name] = numbers(tensor)
    count = sum(values.size for values in weights.values())
    if count > MOST_WEIGHTS:
        flaws.add("file", f"has {count} weights, at most {MOST_WEIGHTS} are compiled", "train a smaller one")
    operations = []
    for node in graph.node:
        attributes = {entry.name: onnx.helper.get_attribute_value(entry) for entry in node.attribute}
        attributes = {key: numbers(a) if isinstance(a, onnx.TensorProto) else a for key, a in attributes.items()}
        operations.append(NetworkOperation(node.op_type, tuple(node.input), tuple(node.output), attributes))
    foreign = {node.op_type for node in graph.node if node.domain not in STANDARD}
    if unknown := sorted(foreign | ({one.kind for one in operations} - OPERATIONS.keys())):
        flaws.add("file", f"uses {', '.join(unknown)}; a law knows {', '.join(OPERATIONS)}")
    inputs = {entry.name: entry.type.tensor_type.shape.dim for entry in graph.input if entry.name not in weights}
    shapes = {name: tuple(size.dim_value or 1 for size in lengths) for name, lengths in inputs.items()}
    outputs = tuple(entry.name for entry in graph.output)
    return {"operations": tuple(operations), "weights": weights, "inputs": shapes, "outputs": outputs}
