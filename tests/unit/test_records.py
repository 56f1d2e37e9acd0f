"""Are records what `dataclasses` would have made of the same class?"""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field
from functools import cached_property, partial

import pytest

from robodyn.base import frozen


def declare(decorate):
    """The same classes, made by either."""

    @decorate()
    class Part:
        """A part."""

        name: str
        sizes: tuple = (1.0, 2.0)
        notes: dict = field(default_factory=dict, compare=False, repr=False)
        made: tuple = field(default_factory=tuple, init=False)

        def __post_init__(self):
            object.__setattr__(self, "name", self.name.strip())

        @cached_property
        def first(self):
            return self.sizes[0]

    @decorate(kw_only=True)
    class Named(Part):
        """With a colour."""

        colour: str
        shade: float = 0.5

    @decorate(eq=False)
    class Alone:
        """One of its kind."""

        value: int = 3

    @decorate()
    class Empty:
        """Nothing."""

    @decorate()
    class Own:
        """With methods of its own."""

        value: int

        def __eq__(self, other):
            return abs(self.value - other.value) < 2

        def __repr__(self):
            return "own"

    return Part, Named, Alone, Empty, Own


RECORDS, STANDARD = declare(frozen), declare(partial(dataclasses.dataclass, frozen=True))
CALLS = [
    lambda part, named, alone, empty, own: part("a"),
    lambda part, named, alone, empty, own: part(" a ", (3.0,), {"x": 1}),
    lambda part, named, alone, empty, own: named("a", colour="red"),
    lambda part, named, alone, empty, own: named(name="b", colour="red", shade=1.0),
    lambda part, named, alone, empty, own: alone(),
    lambda part, named, alone, empty, own: empty(),
    lambda part, named, alone, empty, own: own(4),
]


@pytest.mark.parametrize("make", CALLS)
def test_objects_have_the_same_fields_text_and_order(make):
    one, other = make(*RECORDS), make(*STANDARD)
    assert dataclasses.asdict(one) == dataclasses.asdict(other)
    assert repr(one).replace("<locals>.", "") == repr(other).replace("<locals>.", "")
    assert type(one).__match_args__ == type(other).__match_args__
    names = [list(inspect.signature(type(each)).parameters) for each in (one, other)]
    assert names[0] == names[1]


@pytest.mark.parametrize("make", CALLS)
def test_equal_ones_are_equal_and_have_one_hash(make):
    for classes in (RECORDS, STANDARD):
        one, other = make(*classes), make(*classes)
        alone = isinstance(one, classes[2])
        assert (one == other) is not alone
        assert alone or hash(one) == hash(other)
        assert isinstance(one, classes[4]) or one != "something else"


def test_what_is_not_compared_is_not():
    part, named, *_ = RECORDS
    assert part("a", notes={"x": 1}) == part("a")
    assert part("a") != part("b")
    assert part("a") != named("a", colour="red")
    assert named("a", colour="red") != named("a", colour="blue")


@pytest.mark.parametrize("make", CALLS[:-2])
def test_nothing_can_be_changed(make):
    record = make(*RECORDS)
    for name in ("name", "value", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, name, 1)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(record, name)


def test_replaced_copied_and_derived_ones():
    part, named, *_ = RECORDS
    one = named("a", colour="red")
    assert dataclasses.replace(one, shade=0.1) == named("a", colour="red", shade=0.1)
    assert copy.deepcopy(one) == one
    assert part("a").first == 1.0
    assert dataclasses.is_dataclass(part)

    @dataclasses.dataclass(frozen=True)
    class More(part):
        """Made by the standard library."""

        last: int = 0

    assert More("a", last=2) == More("a", last=2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        More("a").last = 3


@pytest.mark.parametrize("arguments", [(), ("a", 1, {}, 3, 4)])
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(TypeError, match=r"__init__\(\)"):
        RECORDS[0](*arguments)


def test_records_are_pickled_by_their_fields():
    from robodyn.base.signals import SignalInfo

    info = SignalInfo("a", "m", "held")
    assert pickle.loads(pickle.dumps(info)) == info
