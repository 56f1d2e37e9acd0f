"""Superword parallelism: which operations of a program are alike and independent, and computed by one instruction?

Seven joints rub by the same law, and six angles need their sines: each operation stands in the code seven or six times.
Straight code that is longer than the 32 KB which a processor holds next to its decoders takes as long as fetching it
does, whatever it computes. Like operations are therefore bundled into vectors (Larsen and Amarasinghe, PLDI 2000):

    bundle      nodes with the same operation, none of which needs another: the lanes of one vector
    tree        a bundle, then the bundles of its operands, and so on, as far as these are alike
    saved       instructions less by a tree, what brings numbers into lanes and takes them out again included

Each lane is rounded by itself: the bits are those of the operations one by one.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from zlib import crc32

from .instructions import Writer, literal
from .lanes import AT_ONCE, LaneWriter
from .program import COMMUTATIVE, Node, Program, operands

TRUTHS = frozenset(["lt", "le", "eq", "ne", "and", "or", "not"])
ROOTS = AT_ONCE | {"add", "sub", "mul", "div", "inv", "sq", "twice", "select", "if_else_zero"}
ROOTS |= {"power_of_two", "exponent", "mantissa"}
"""Operations that a tree may begin with: truths and signs are bundled only for others."""
BUNDLED = ROOTS | TRUTHS | {"neg"}
EITHER_WAY = COMMUTATIVE | {"muladd"}
"""Operations whose first two operands may change places."""
DEPTH = 3
"""Operations down to which nodes are compared before they are tried; own choice."""
Bundle = tuple[int, ...]


class Bundles:
    """Bundles of the operations of a program.

    Attributes:
        of: the bundle of each node that is in one.
    """

    def __init__(self, program: Program, order: Sequence[int], most: int) -> None:
        """order: all operations, each after those it reads; most: lanes."""
        self.of: dict[int, Bundle] = {}
        self._trees: dict[Bundle, tuple[Bundle, ...]] = {}
        self._nodes, self._most = program.nodes, most
        self._outputs = {number for output in program.outputs for number in output}
        self._places = {number: place for place, number in enumerate(order)}
        self._shapes = self._find_shapes()
        # Which nodes each one needs, directly or not, as bits of a number; and which read it.
        self._needs: dict[int, int] = {}
        self._readers: dict[int, list[int]] = {number: [] for number in order}
        for number in order:
            needs = 0
            for operand in self._operations(number):
                needs |= self._needs[operand] | 1 << self._places[operand]
                self._readers[operand].append(number)
            self._needs[number] = needs
        self._find()

    def _operations(self, number: int) -> list[int]:
        """The operations whose results a node reads."""
        return [operand for operand in operands(self._nodes[number]) if operand in self._places]

    def _find_shapes(self) -> dict[int, int]:
        """A number for each node that is the same for all that look alike DEPTH operations down: whatever leaves are,
        other than constants, they look alike."""
        codes = {op: crc32(op.encode()) for op in {node[0] for node in self._nodes}}
        shapes: dict[int, int] = {}
        for _ in range(DEPTH + 1):
            before, shapes = shapes, {}
            for number in self._places:
                op, read = self._nodes[number][0], []
                for operand in operands(self._nodes[number]):
                    leaf = self._nodes[operand]
                    read.append(hash(leaf[1]) if leaf[0] == "const" else before.get(operand, 0))
                if op in EITHER_WAY:
                    read[:2] = sorted(read[:2])
                shapes[number] = hash((codes[op], *read))
        return shapes

    def _find(self) -> None:
        """Try nodes of one shape together, the largest groups first, of each the last nodes first."""
        groups = defaultdict(list)
        for number in self._places:
            if self._nodes[number][0] in ROOTS:
                groups[self._shapes[number]].append(number)
        alike = [group for group in groups.values() if len(group) > 1]
        for group in sorted(alike, key=lambda group: (-min(len(group), self._most), -self._places[group[-1]])):
            free = [number for number in group if number not in self.of]
            while len(free) > 1:
                lanes = self._choose_lanes(free)
                tree = self._grow(lanes) if len(lanes) > 1 else {}
                if tree and self._saved(tree) > 0:
                    self.of |= {number: bundle for bundle in tree for number in bundle}
                    self._trees |= dict.fromkeys(tree, tuple(tree))
                free = [number for number in free if number not in lanes and number not in self.of]

    def _choose_lanes(self, free: Sequence[int]) -> Bundle:
        """The last node, and others that need none of those before them."""
        lanes: list[int] = []
        for number in reversed(free):
            if len(lanes) < self._most and self._are_independent([*lanes, number]):
                lanes.append(number)
        return tuple(reversed(lanes))

    def _are_independent(self, lanes: Iterable[int]) -> bool:
        lanes_mask, needs = 0, 0
        for number in lanes:
            lanes_mask |= 1 << self._places[number]
            needs |= self._needs[number]
        return not lanes_mask & needs

    def operands_of(self, bundle: Bundle) -> Iterator[Bundle]:
        """What the lanes of a bundle read, operand by operand; where either order will do, alike ones together."""
        read = []
        for number in bundle:
            node = self._nodes[number]
            order = list(operands(node))
            if node[0] in EITHER_WAY and self._shapes.get(order[0], 0) > self._shapes.get(order[1], 0):
                order[:2] = order[1], order[0]
            read.append(order)
        return zip(*read, strict=True)

    def _grow(self, root: Bundle) -> dict[Bundle, list[Bundle]]:
        """The tree of a bundle: all bundles in it, with what each reads."""
        tree, taken, todo = dict[Bundle, list[Bundle]](), set(root), [root]
        while todo:
            bundle = todo.pop()
            tree[bundle] = list(self.operands_of(bundle))
            for lanes in tree[bundle]:
                distinct = len(set(lanes)) == len(lanes) and taken.isdisjoint(lanes)
                if distinct and self._can_bundle(lanes):
                    taken.update(lanes)
                    todo.append(lanes)
        return tree

    def _can_bundle(self, lanes: Bundle) -> bool:
        op = self._nodes[lanes[0]][0]
        free = all(number in self._places and number not in self.of for number in lanes)
        alike = op in BUNDLED and all(self._nodes[number][0] == op for number in lanes)
        return free and alike and self._are_independent(lanes)

    def _saved(self, tree: dict[Bundle, list[Bundle]]) -> int:
        """Instructions less with a tree than without it."""
        saved, inside, brought = 0, {number for bundle in tree for number in bundle}, set()
        for bundle, read in tree.items():
            # A sign is part of the instruction that reads it.
            saved += 0 if self._nodes[bundle[0]][0] == "neg" else len(bundle) - 1
            brought |= {lanes for lanes in read if lanes not in tree and self.of.get(lanes[0]) != lanes}
            saved -= sum(self._leaves(number, inside) for number in bundle)
        return saved - sum(self._cost_of_bringing(lanes) for lanes in brought)

    def _leaves(self, number: int, inside: Collection[int]) -> bool:
        """Whether someone wants a lane by itself."""
        readers = self._readers[number]
        return number in self._outputs or any(r not in inside and r not in self.of for r in readers)

    def _cost_of_bringing(self, lanes: Bundle) -> int:
        """Instructions that make a vector of what is not a bundle."""
        nodes = [self._nodes[number] for number in lanes]
        if all(node[0] == "const" for node in nodes) or _side_by_side(nodes):
            return 0
        if any(node[0] in TRUTHS for node in nodes):
            return 3 * len(lanes)
        return 1 if len(set(lanes)) == 1 else len(lanes)

    def order(self) -> list[Bundle]:
        """Bundles and single nodes, each after all it reads; of trees that wait for one another, the smallest is
        dissolved."""
        while True:
            units = list(dict.fromkeys(self.of.get(number, (number,)) for number in self._places))
            done, stuck = self._sort(units)
            if not stuck:
                return done
            for bundle in min((self._trees[bundle] for bundle in stuck), key=len):
                for number in bundle:
                    del self.of[number]

    def _sort(self, units: Sequence[Bundle]) -> tuple[list[Bundle], list[Bundle]]:
        """Units in an order close to the nodes' own, and the bundles for which there is none."""
        unit_of = {number: unit for unit in units for number in unit}
        reads = {unit: {unit_of[i] for number in unit for i in self._operations(number)} for unit in units}
        readers: dict[Bundle, list[Bundle]] = {unit: [] for unit in units}
        for unit, read in reads.items():
            for other in read:
                readers[other].append(unit)
        waits = {unit: len(read) for unit, read in reads.items()}
        ready = [(self._places[unit[0]], unit) for unit in units if not waits[unit]]
        heapify(ready)
        done: list[Bundle] = []
        while ready:
            unit = heappop(ready)[1]
            done.append(unit)
            for reader in readers[unit]:
                waits[reader] -= 1
                if not waits[reader]:
                    heappush(ready, (self._places[reader[0]], reader))
        return done, [unit for unit in units if waits[unit] and len(unit) > 1]


def _side_by_side(nodes: Sequence[Node]) -> bool:
    """Whether nodes are entries of one input in a row."""
    first = nodes[0]
    return first[0] == "input" and list(nodes) == [("input", first[1], first[2] + k) for k in range(len(nodes))]


class BundleWriter(Writer):
    """The lines of one function, of a whole program, whose like operations are computed at once.

    Attributes:
        most: lanes of a vector at the most.
    """

    def __init__(self, most: int, program: Program, slots: dict[int, int], row_input: int) -> None:
        super().__init__(program, slots, row_input)
        self._program, self.most = program, most
        # Writers of vectors by their length; where each bundled node is; vectors that were made of single nodes.
        self._writers: dict[int, LaneWriter] = {}
        self._lanes: dict[int, tuple[LaneWriter, int, int]] = {}
        self._vectors: dict[Bundle, int] = {}

    def compute(self, chunk: Iterable[int]) -> None:
        """Lines for all operations of the program."""
        bundles = Bundles(self._program, list(chunk), self.most)
        for unit in bundles.order():
            if len(unit) > 1:
                self._write_bundle(unit, bundles)
            else:
                super().compute(unit)

    def _write_bundle(self, bundle: Bundle, bundles: Bundles) -> None:
        """One operation on vectors, which goes by the number of its first lane."""
        writer = self._writers.get(len(bundle))
        if writer is None:
            writer = self._writers[len(bundle)] = LaneWriter(len(bundle), self._program, {})
            writer.lines = self.lines
        read = [
            lanes[0] if bundles.of.get(lanes[0]) == lanes else self._bring(lanes, writer)
            for lanes in bundles.operands_of(bundle)
        ]
        writer.write(bundle[0], (self._nodes[bundle[0]][0], *read))
        self._lanes |= {number: (writer, bundle[0], lane) for lane, number in enumerate(bundle)}

    def _bring(self, lanes: Bundle, writer: LaneWriter) -> int:
        """The number by which a writer knows the vector of some nodes that are no bundle."""
        if lanes in self._vectors:
            return self._vectors[lanes]
        nodes = [self._nodes[number] for number in lanes]
        place = self._vectors[lanes] = -1 - len(self._vectors)
        name = f"%l{-place}"
        if all(node[0] == "const" for node in nodes):
            name = f"<{', '.join(f'double {literal(node[1])}' for node in nodes)}>"
        elif _side_by_side(nodes):
            self.lines.append(f"  {name}.p = getelementptr double, ptr %i{nodes[0][1]}, i64 {nodes[0][2]}")
            self.lines.append(f"  {name} = load {writer.real}, ptr {name}.p, align 8")
        else:
            writer.insert(name, "double", [self.value(number) for number in lanes])
        writer.values[place] = name
        return place

    def _fetch(self, number: int) -> str:
        if number not in self._lanes:
            return super()._fetch(number)
        writer, first, lane = self._lanes[number]
        self.lines.append(f"  %x{number} = extractelement {writer.real} {writer.value(first)}, i64 {lane}")
        return f"%x{number}"

    def truth(self, number: int) -> str:
        if number in self._lanes and number not in self.truths:
            writer, first, lane = self._lanes[number]
            self.truths[number] = f"%y{number}"
            self.lines.append(f"  %y{number} = extractelement {writer.bit} {writer.truth(first)}, i64 {lane}")
        return super().truth(number)
