"""Law: what is one? A plain function of numbers or symbols, and what is known of its arguments.

A law takes signals, states and parameters by name and returns one value (the force it exerts) or a dictionary
of outputs. `<state>_dot` in the dictionary is the rate of a continuous state, `<memory>_next` the new value of a
sampled one. Every force acts ON the joint or coordinate, so right-hand sides are sums.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from robodyn.base import frozen

Function = TypeVar("Function", bound=Callable[..., Any])
SIGNS = ("positive", "non-negative")
BOUNDS = ("below one", "below two", "below 2^31 - 1", "within 90 deg", "below Nyquist")
RULES = (*SIGNS, *BOUNDS, "whole", "increasing", "non-decreasing")
RELATIONS = ("above", "as many as")


@frozen
class LawInfo:
    """Declarations of the `law` decorator beyond a function's signature.

    Attributes:
        units: unit of each argument and output; {x} stands for the coordinate's unit (rad or m), {F} for its force's
            (N m or N), {u} for the block's own unit.
        states: continuous states the law integrates, each with its nominal magnitude (scales the tolerance).
        memory: discrete states of a sampled law, each with its start value.
        limits: state -> (lower, upper): numbers or names of parameters; the state cannot leave them.
        checks: parameter -> "positive", "non-negative", "below one", "below two", "below 2^31 - 1", "within 90 deg"
            (of an angle [rad]), "below Nyquist" (a frequency [Hz] below half the sample rate 1 / period), "whole",
            "increasing" or "non-decreasing", or a comparison with another parameter: "above lower",
            "as many as times"; several rules are separated by ", ".
        at_least: parameter -> another one that it should not be below; a run warns where it is.
        folded: parameters that are always constants of the code (tables, counts), never tunable.
        breaks: times at which the output jumps or kinks, from the parameters' values.
        sticks: whether the law can hold its joint or coordinate at rest. Such a law takes the `direction` of sliding
            (-1 or 1; 0 leaves dry friction out), returns the force of sliding and the `holding_limit`: the largest
            force that holds at rest against that direction. Whether it holds or slides, and the force that holds, are
            found by the machine.
        ideal: parameter or signal -> value with which the law is linear and adds no error of its own (a limit inf, a
            resolution 0, an excess 0).
        disturbance: whether all of its force is a disturbance (friction, gear loss): without it nothing would be lost.
        given_at_rest: whether a search for rest leaves its states as they are given, though they change: temperatures
            of a robot that has just begun to stand still.
        located: output -> argument that holds its sign, -1 or 1: its zero crossings are located, a step ends there and
            the argument changes between two steps. A law that switches by the argument instead of by the output is
            smooth within each step. Where the argument is 0, the output began at 0 at rest: the law looks at it itself.
        positive: output -> remedy: the law holds only while it is above zero. A run that comes to zero ends there.
        passive: whether its force never gives more energy than it has stored; stored: that energy [J], a function of
            arguments of the law, 0 where there is none. Runs watch whether it is so.
        gives: with which numbers the law gives energy all the same, and the remedy.
    """

    units: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, float] = field(default_factory=dict)
    memory: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, tuple[str | float, str | float]] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    folded: frozenset[str] = frozenset()
    breaks: Callable[[Mapping[str, Any]], Sequence[float]] | None = None
    sticks: bool = False
    ideal: Mapping[str, float] = field(default_factory=dict)
    disturbance: bool = False
    located: Mapping[str, str] = field(default_factory=dict)
    positive: Mapping[str, str] = field(default_factory=dict)
    passive: bool = False
    stored: Callable[..., Any] | None = None
    gives: str = ""
    at_least: Mapping[str, str] = field(default_factory=dict)
    given_at_rest: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "folded", frozenset(self.folded))
        object.__setattr__(self, "passive", self.passive or self.stored is not None)


SAID = frozenset(LawInfo.__dataclass_fields__) - {"units"}
"""Fields in which a law describes itself, units apart."""


def law(function: Callable[..., Any] | None = None, /, *, units: Mapping[str, str] | None = None, **words: Any) -> Any:
    """Attach units, states and checks to a law; the function itself stays a plain function.

    Used as `@law(velocity="rad/s")`, or as `@law` where there is nothing to say.

    Args:
        units: unit of arguments and outputs, for those shared by several laws.
        words: the rest of the units; and attributes of `LawInfo` under their names.
    """
    said = {name: words.pop(name) for name in SAID & words.keys()}
    info = LawInfo({**(units or {}), **words}, **said)

    def attach(function: Function) -> Function:
        _check_info(function, info)
        function.law_info = info  # type: ignore[attr-defined]
        return function

    if function is not None and not callable(function):
        raise TypeError(f"law: units are given by name, such as @law(velocity='rad/s'), not {function!r}")
    return attach if function is None else attach(function)


def _check_info(function: Callable[..., Any], info: LawInfo) -> None:
    """Check that declarations are of arguments that exist, in words that have a meaning."""
    names = {argument.name for argument in arguments_of(function)}
    arguments = [argument.name for argument in arguments_of(info.stored)] if info.stored else []
    parameters = {*info.checks, *info.folded, *info.ideal, *info.at_least, *info.at_least.values()}
    said = {*info.states, *info.memory, *parameters, *info.located.values(), *arguments} - names
    if said:
        raise TypeError(f"law '{function.__name__}' has no argument '{min(said)}'")
    if info.sticks and "direction" not in names:
        raise TypeError(f"law '{function.__name__}' sticks: it must have an argument 'direction'")
    for key in info.limits:
        if key not in info.states:
            raise TypeError(f"law '{function.__name__}' limits '{key}', which is none of its states")
    for key, rule in ((key, rule) for key, rules in info.checks.items() for rule in rules.split(", ")):
        relation, _, other = rule.rpartition(" ")
        if rule not in RULES and not (relation in RELATIONS and other in names):
            raise TypeError(f"law '{function.__name__}' checks '{key}' by the unknown rule '{rule}'")


@runtime_checkable
class Law(Protocol):
    """A function that says more of itself than its signature."""

    law_info: LawInfo


PLAIN = LawInfo()


def info_of(function: Callable[..., Any]) -> LawInfo:
    """The metadata of a law; empty for a plain function without the decorator."""
    # Not by isinstance: asking for a protocol takes as long as building a block.
    try:
        return cast(Law, function).law_info
    except AttributeError:
        return PLAIN


@frozen
class Argument:
    """One argument of a law's signature."""

    name: str
    default: Any = None
    has_default: bool = False
    keyword_only: bool = False


def arguments_of(function: Callable[..., Any]) -> tuple[Argument, ...]:
    """The named arguments of a law, in order; `*args` and `**kwargs` cannot be matched and are refused."""
    # Asked for dozens of times while a scenario is checked and traced; an object that is called may have no hash.
    return _recall_arguments(function) if inspect.isfunction(function) else _read_arguments(function)


def _read_arguments(function: Callable[..., Any]) -> tuple[Argument, ...]:
    arguments = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"law '{function.__name__}' takes *{parameter.name}: its arguments must be named")
        has_default = parameter.default is not parameter.empty
        default = parameter.default if has_default else None
        keyword_only = parameter.kind is parameter.KEYWORD_ONLY
        arguments.append(Argument(parameter.name, default, has_default, keyword_only))
    return tuple(arguments)


_recall_arguments = lru_cache(maxsize=1024)(_read_arguments)
