"""Do several recordings in one fit, each with its own start, tell what one alone does not, in loops as they are?"""

import json
from dataclasses import replace

import numpy as np
import pytest
from support.machines import cart
from support.measured import measure

from robodyn import Solver, simulate
from robodyn.analysis.fitting import fit as fit_module
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.analysis.fitting.law_comparison import LawComparison, comparable_laws, compare_laws
from robodyn.analysis.fitting.residuals import Experiment
from robodyn.analysis.measurement.data_sheet import describe_saturation
from robodyn.base.errors import FlawList, ModelError
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.description.model import Block, ElasticGear, Recording, with_elastic_joints
from robodyn.presentation.reporting import describe

SOLVER = Solver("dopri5", rtol=1e-8, atol=1e-10)


def oscillator(**numbers):
    blocks = (
        Block("spring", "spring", on="rail", parameters={"stiffness": 100.0}),
        Block("drag", "viscous_friction", on="rail", parameters={"viscous": 3.0}),
    )
    scenario = cart(*blocks, duration=2.0, initial={"rail.position": 0.1, "rail.velocity": 0.0}, solver=SOLVER)
    return scenario.with_numbers({name.replace("__", "."): value for name, value in numbers.items()})


def recorded(start, seed, end=2.0, noise=1e-3):
    scenario = replace(oscillator(initial__rail__position=start), duration=end)
    return measure(scenario, noise, seed=seed, times=tuple(np.linspace(0, end, int(50 * end) + 1)))


GUESS = oscillator(spring__stiffness=85.0, drag__viscous=5.0)
FREE = ["spring.stiffness", "drag.viscous"]


def test_every_recording_has_its_own_start_free_or_given():
    data = [recorded(start, seed, end) for seed, (start, end) in enumerate([(0.1, 2.0), (-0.05, 1.0), (0.2, 1.5)])]
    given = [Experiment(d, {"initial.rail.position": x}) for d, x in zip(data, (0.1, -0.05, 0.2), strict=True)]
    free = fit_parameters(GUESS, data, FREE, each=["initial.rail.position"])
    known = fit_parameters(GUESS, given, FREE)
    for fit in (free, known):
        for p, true in zip(fit.parameters, (100.0, 3.0), strict=False):
            # Twice the half width of a 95 % interval: missed once in 10,000 times.
            assert abs(p.value - true) < (p.upper - p.lower)
    starts = {p.name: p.value for p in free.parameters[2:]}
    assert list(starts) == [f"recording {k}:initial.rail.position" for k in (1, 2, 3)]
    # 1 mm of noise, tens of samples that know of each start.
    assert list(starts.values()) == pytest.approx([0.1, -0.05, 0.2], abs=2e-3)
    assert known.parameters[0].deviation < free.parameters[0].deviation
    assert [len(r.run.time) for r in known.recordings] == [101, 51, 76]


def test_one_fit_of_all_is_as_good_as_its_recordings_together():
    """Independent recordings: the information of all is the sum, 1 / s^2 = sum 1 / s_k^2 for a single number."""
    data = [recorded(0.1, seed, end) for seed, end in enumerate([2.0, 1.0, 1.5])]
    guess = GUESS.with_numbers({"drag.viscous": 3.0, "initial.rail.position": 0.1})
    alone = [fit_parameters(guess, one, FREE[:1], noise=1e-3).parameters[0] for one in data]
    both = fit_parameters(guess, data, FREE[:1], noise=1e-3).parameters[0]
    # Slopes are taken at values some percent apart.
    assert both.deviation**-2 == pytest.approx(sum(p.deviation**-2 for p in alone), rel=0.1)


def test_threads_change_nothing_and_a_stopped_fit_goes_on(tmp_path):
    data = [recorded(0.1, 0), recorded(0.2, 1)]
    settings = {"each": ["initial.rail.position"], "starts": 2, "seed": 4}
    one, two = (fit_parameters(GUESS, data, FREE, workers=n, **settings) for n in (1, 2))
    assert one.values == two.values
    state = tmp_path / "fit.json"

    def stop(at):
        if at.start == 2 and at.evaluations > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_parameters(GUESS, data, FREE, state=state, progress=stop, **settings)
    assert len(json.loads(state.read_text())["kept"]) == 1
    again = fit_parameters(GUESS, data, FREE, state=state, workers=2, **settings)
    assert again.values == one.values


def test_what_recordings_cannot_have_is_refused():
    data = recorded(0.1, 0)
    with pytest.raises(ModelError, match=r"recording 2: spring.stiffness: is both given and free"):
        fit_parameters(GUESS, [data, Experiment(data, {"spring.stiffness": 3.0})], FREE)
    with pytest.raises(ModelError, match=r"cart.inertia.xx: cannot differ from recording to recording"):
        fit_parameters(GUESS, data, FREE, each=["cart.inertia.xx"])
    with pytest.raises(ModelError, match=r"recording 1:cart.mass \+1 %, recording 2:cart.mass \+1 % together"):
        fit_parameters(GUESS, [data, data], FREE, each=["initial.rail.position", "cart.mass"])


def servo(**numbers):
    """A slide with dry friction that sticks, in a loop of 500 Hz with a delay of a sample, on an encoder of 20 um."""
    wave = {"sines": (0.02, 0.0, 0.012), "cosines": (0.0, 0.008, 0.0), "frequency": 0.5}
    blocks = (
        Block("wave", "multisine_reference", parameters=wave, unit="m"),
        Block(
            "encoder", "sampled_encoder", inputs={"value": "rail.position"},
            parameters={"resolution": 2e-5}, period=0.002
        ),
        Block(
            "control", "sampled_pid", unit="N", period=0.002, delay=0.002,
            inputs={"target": "wave.value", "position": "encoder.measured", "velocity": "encoder.measured_rate"},
            parameters={"proportional": 4e3, "integral": 2e4, "derivative": 150.0},
        ),
        Block("drive", "torque_source", on="rail", inputs={"command": "control.command"}),
        Block("friction", "stick_friction", on="rail", parameters={"coulomb": 6.0, "static": 8.0, "viscous": 12.0}),
    )  # fmt: skip
    scenario = cart(*blocks, duration=4.0, mass=3.0, tunable=("cart.mass",))
    return scenario.with_numbers(numbers)


def test_a_sampled_loop_with_counts_and_stick_slip_gives_back_mass_and_friction():
    true = {"cart.mass": 3.0, "friction.coulomb": 6.0, "friction.viscous": 12.0}
    run = simulate(servo(), recording=Recording(rate=500.0, signals=("encoder.measured", "control.command")))
    guess = servo(**{"cart.mass": 3.6, "friction.coulomb": 4.5, "friction.viscous": 20.0})
    fit = fit_parameters(guess, run, list(true), held_out=0.25)
    # Counts of 20 um in a motion of 20 mm: parts of a thousand; sticking and slipping instants move by counts.
    assert fit.values == pytest.approx(true, rel=0.02)
    assert fit.recordings[0].held_out[0].percent < 1.0
    assert "held-out samples of" in describe(fit)


def test_saturated_efforts_are_refused_with_their_rows():
    run = simulate(servo(), recording=Recording(rate=500.0, signals=("rail.position", "drive.torque")))
    clipped = np.clip(run.values, -15.0, 15.0)
    free = dict(run.provenance.description) | {"file": "slide.csv"}
    infos = tuple(replace(info, rate=None, kind="continuous") for info in run.infos)
    data = replace(run, values=clipped, infos=infos, provenance=Provenance("measured", free))
    with pytest.raises(ModelError, match=r"slide.csv.*\n.*drive.torque: is saturated at -?15: rows \d+ to \d+"):
        fit_parameters(servo(), data, ["cart.mass"], inputs=["drive.torque"])


def stirred(scenario, seed=0):
    """A log of the loop at 250 Hz with noise of 3 um and 0.2 N."""
    run = simulate(scenario, recording=Recording(rate=250.0, signals=("encoder.measured", "control.command")))
    noise = np.random.default_rng(seed).normal(0, [3e-6, 0.2], run.values.shape)
    return replace(run, values=run.values + noise, infos=tuple(replace(info, rate=None) for info in run.infos))


def test_static_friction_acts_in_steps_between_samples_and_is_found_all_the_same():
    fit = fit_parameters(servo(**{"friction.static": 9.5}), stirred(servo()), ["friction.static", "friction.coulomb"])
    assert "friction.static acts in steps" in fit.jacobian
    # A sample of the loop raises its force by some parts of a newton: 8 N is known to about as much.
    assert fit.values["friction.static"] == pytest.approx(8.0, abs=0.4)
    assert fit.values["friction.coulomb"] == pytest.approx(6.0, rel=0.01)


def test_the_law_that_made_the_data_wins_by_simulation_and_what_cannot_be_told_is_named():
    laws = ("coulomb_friction", "stick_friction", "elastic_gear")
    found = {c.law: c for c in compare_laws(servo(**{"friction.coulomb": 5.0}), stirred(servo()), laws).rows}
    assert list(found)[0] == "stick_friction"
    assert found["stick_friction"].fitted == pytest.approx(1.0, abs=0.01)
    # On held-out samples a slip one sample off the true one, by static friction known to parts of a newton, is more.
    assert found["stick_friction"].held_out < 1.5
    assert found["coulomb_friction"].held_out > 2.0
    assert "rail.armature: there is no rotor" in found["elastic_gear"].tried
    text = describe(LawComparison(tuple(found.values())))
    assert "best: stick_friction" in text
    assert "not evaluated" in text
    with pytest.raises(ModelError, match=r"glue: is not one of the laws to compare"):
        compare_laws(servo(), stirred(servo()), ["glue"])


def test_both_comparisons_of_laws_go_by_one_declaration():
    direct, simulated = set(comparable_laws()), set(comparable_laws(simulated=True))
    assert direct - simulated == {"cogging_torque", "torque_ripple", "uneven_friction"}
    assert simulated - direct >= {"stick_friction", "lugre_friction", "elastic_gear", "backlash_gear"}
    # Friction that warms up has a state, of which a long log tells the course.
    assert "warm_friction" in direct & simulated


def rail(law, numbers, **more):
    wave = {"sines": (0.004, 0.006, -0.002), "cosines": (0.0, 0.002, 0.003), "frequency": 0.4}
    blocks = (
        Block("wave", "multisine_reference", parameters=wave, unit="m"),
        Block("control", "pd_control", "rail", {"target": "wave.value"}, {"proportional": 2e4, "derivative": 300.0}),
        Block("drive", "torque_source", on="rail", inputs={"command": "control.command"}),
        Block("friction", law, on="rail", parameters=numbers),
    )
    return cart(*blocks, duration=5.0, mass=3.0, tunable=("cart.mass",), **more)


COULOMB = {"coulomb": 6.0, "viscous": 12.0, "smoothing_velocity": 1e-4}


def test_bristles_win_where_they_made_the_data_also_after_a_break(tmp_path, monkeypatch):
    """Their damping is not told. The same comparison begins no search anew that was done before Ctrl-C."""
    bristles = {"stiffness": 1e5, "damping": 300.0, "static": 8.0, "stribeck_velocity": 0.005}
    true = rail("lugre_friction", {"coulomb": 6.0, "viscous": 12.0, **bristles})
    laws = ("coulomb_friction", "stribeck_friction", "lugre_friction")
    data, begun, search, state = logged(true), [], fit_module._search, tmp_path / "laws.json"

    def interrupted(residuals, *rest):
        names = [scale.number.name for scale in residuals.scales]
        law = next(law for law in reversed(laws) if any(law in name for name in names))
        begun.append(law)
        if begun.count("lugre_friction") == 1 and law == "lugre_friction":
            raise KeyboardInterrupt
        return search(residuals, *rest)

    monkeypatch.setattr(fit_module, "_search", interrupted)
    first, second = (compare_laws(rail("coulomb_friction", COULOMB), data, laws, state=state).rows for _ in range(2))
    # A search with all signals alike, which is kept, and one with each by its own noise, which begins at its end.
    assert begun[:6] == [law for law in laws[:2] for _ in range(2)] + ["lugre_friction", laws[0]]
    assert begun[6:8] == ["stribeck_friction", "lugre_friction"]
    assert {row.law: row.tried for row in first}["lugre_friction"] == "stopped before it was tried"
    found = second
    assert found[0].law == "lugre_friction"
    assert "left as guessed: rail.lugre_friction.damping" in found[0].tried
    assert all(row.held_out > 3 * found[0].held_out for row in found[1:])


def test_a_gear_that_twists_wins_where_it_made_the_data():
    stiff = rail("coulomb_friction", COULOMB)
    mechanism = stiff.machine.mechanism
    joint = mechanism.joints[0].replaced(armature=1.0)
    stiff = stiff.replaced(machine=stiff.machine.replaced(mechanism=mechanism.replaced(joints=(joint,))))
    soft = with_elastic_joints(stiff.machine, {"rail": ElasticGear("rail_drive", 4e4, 30.0, 0.0)})
    data = logged(stiff.replaced(machine=soft), "rail_drive.position")
    found = compare_laws(stiff, data, ("coulomb_friction", "elastic_gear")).rows
    assert [row.law for row in found] == ["elastic_gear", "coulomb_friction"]
    assert found[1].held_out > 5 * found[0].held_out


def logged(scenario, position="rail.position"):
    """Positions with noise of 1 um, commands of 0.2 N."""
    run = simulate(scenario, recording=Recording(rate=250.0, signals=(position, "control.command")))
    noise = np.random.default_rng(1).normal(0, [1e-6, 0.2], run.values.shape)
    names = ("rail.position", "control.command")
    infos = tuple(replace(info, name=name, rate=None) for info, name in zip(run.infos, names, strict=True))
    return replace(run, values=run.values + noise, infos=infos, knots=None, probes=None)


def test_a_search_that_comes_to_a_stair_goes_on_by_wide_changes():
    """At first small changes of the static level act; where the others are right, slipping waits for a held sample."""
    run = simulate(servo(), recording=Recording(rate=500.0, signals=("rail.position", "drive.torque")))
    infos = [replace(info, rate=None, kind=kind) for info, kind in zip(run.infos, ("continuous", "held"), strict=True)]
    noise = np.random.default_rng(0).normal(0, [3e-6, 0.0], run.values.shape)
    data = replace(run, values=run.values + noise, infos=tuple(infos))
    free = ["friction.static", "friction.coulomb", "friction.viscous", "cart.mass"]
    guess = servo(**{"friction.static": 9.0, "friction.coulomb": 5.5})
    fit = fit_parameters(guess, data, free, inputs=["drive.torque"])
    assert "friction.static acts in steps" in fit.jacobian
    assert fit.values["friction.coulomb"] == pytest.approx(6.0, rel=0.02)


def test_rest_before_and_after_a_step_is_no_saturation():
    """A force that stands at its least value while nothing moves; where the cart moves on, the same rows are told."""
    time = np.arange(200) / 100
    force = np.where((time > 0.3) & (time < 1.5), 5.0 + np.sin(7 * time), 1.0)
    place = np.clip(time - 0.35, 0.0, 1.2) + np.random.default_rng(0).normal(0, 1e-4, 200)
    for moved, refused in ((place, False), (place + time, True)):
        infos = (SignalInfo("rail.position", "m"), SignalInfo("drive.force", "N"))
        outcome = Outcome(OutcomeKind.FINISHED, "", 2.0)
        data = Run(time, np.column_stack([moved, force]), infos, outcome, Provenance("measured"))
        flaws = FlawList()
        describe_saturation("drive.force", data, flaws)
        assert bool(flaws.found) == refused
