"""What holds for every scenario of a catalogue: it runs, is data, can be changed, copied and drawn."""

import copy
import dataclasses
import json
import math
import pickle

import numpy as np
from typer.testing import CliRunner

from robodyn import simulate
from robodyn.cli import app
from robodyn.computation.assembly import assemble
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.description.model import ScenarioSequence, describe, digest
from robodyn.presentation.pages.machine import read_machine


def changed_value(value):
    """Another value of the same size."""
    return 3.0 if math.isinf(value) else 0.99 * value if value else 0.01


def assert_runs(scenario, energy_error=1e-5, longest=60.0, system=None):
    """To its end, or for so long, and its energy balances; system: the scenario, where it is assembled already."""
    if scenario.duration > longest:
        scenario, system = dataclasses.replace(scenario, duration=longest), None
    run = simulate(system or scenario)
    assert run.outcome.ok
    assert run.statistics.energy_error < energy_error


def assert_usable_and_runs(name, scenario, monkeypatch, energy_error=1e-5, longest=60.0):
    """`robodyn check` takes it, tracing it once, and the system that was checked runs."""
    assembled = []

    def note(what, **named):
        assembled.append(assemble(what, **named))
        return assembled[-1]

    monkeypatch.setattr("robodyn.computation.assembly.assemble", note)
    done = CliRunner().invoke(app, ["check", name, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["ok"]
    phases = scenario.phases if isinstance(scenario, ScenarioSequence) else (scenario,)
    assert len(assembled) == len(phases)
    assert_runs(scenario, energy_error, longest, assembled[0] if len(phases) == 1 else None)


def assert_is_data(make):
    """Written as JSON, made alike every time, equal after copying and in other processes."""
    first, second = make(), make()
    assert json.loads(json.dumps(describe(first))) == describe(first)
    assert digest(first) == digest(second)
    assert copy.deepcopy(first) == first
    assert pickle.loads(pickle.dumps(first)) == first


def assert_numbers_change_alone(original):
    """Changing one number changes that number alone."""
    numbers = original.numbers()
    # A thin rod's moments, a quaternion's and a monotonic table's entries cannot be changed one at a time.
    groups = (".inertia.", ".orientation.", ".speeds.", ".openings.", ".times.")
    first = original.phases[0] if isinstance(original, ScenarioSequence) else original
    if first.machine.mechanism and first.machine.mechanism.flexible_bodies:
        # What a flexible body carries stands at one of its nodes.
        groups += (".origin.",)
    free = [number for number in numbers.values() if not any(group in number.name for group in groups)]
    own = digest(original)
    for number in free[:: 1 + len(free) // 25]:
        name = number.name
        changed = original.with_numbers({name: changed_value(number.value)})
        different = {key for key, value in changed.numbers().items() if value != numbers[key]}
        assert different == {name}
        assert digest(changed) != own


def recorded(scenario, names):
    """A run of the scenario's description with any values."""
    time = np.linspace(0.0, 1.0, 5)
    values = np.sin(time[:, None] + np.arange(len(names)))
    infos = tuple(SignalInfo(name, "rad") for name in names)
    return Run(time, values, infos, Outcome(OutcomeKind.FINISHED, "", 1.0), Provenance("any", describe(scenario)))


def assert_is_drawn(scenario):
    first = getattr(scenario, "phases", (scenario,))[0]
    mechanism = first.machine.mechanism
    positions = [name for freedom in mechanism.freedoms for name in freedom.positions]
    machine, note = read_machine(recorded(first, positions))
    assert note == ""
    # A joint of several motions is drawn as a chain of them.
    drawn = [f"{joint['name']}." for joint in machine["joints"]]
    assert [joint.name for joint in mechanism.joints if not any(d.startswith(f"{joint.name}.") for d in drawn)] == []
