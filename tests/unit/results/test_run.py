"""A run gives its signals by name, and says in words how it went."""

import pickle

import numpy as np
import pytest

from robodyn.computation.results import Outcome, OutcomeKind, Provenance, SignalInfo, Statistics, identical, load


def test_a_signal_comes_with_its_unit_kind_and_rate(run):
    position = run["ball.position"]
    assert (position.unit, position.kind) == ("m", "continuous")
    np.testing.assert_array_equal(position.rate_values, run["ball.velocity"].values)
    assert run["drive.force_cmd"].kind == "held"


def test_the_position_between_samples_follows_the_parabola(run):
    # The rates belong to 1 - t^2 before and (t - 1) - (t - 1)^2 after the impact: the cubic is exact.
    assert run["ball.position"](0.25) == pytest.approx(1 - 0.25**2, abs=1e-15)
    assert run["ball.position"](1.25) == pytest.approx(0.25 - 0.25**2, abs=1e-15)


def test_a_misspelt_name_is_an_error_that_suggests_the_right_one(run):
    with pytest.raises(KeyError, match=r"ball\.velocity"):
        run["ball.velocty"]


def test_a_name_like_no_other_is_an_error_that_says_where_to_look(run):
    with pytest.raises(KeyError, match=r"run\.names"):
        run["zzz"]


def test_names_iteration_length_and_membership_agree(run):
    assert list(run) == list(run.names)
    assert len(run) == len(run.names) == 4
    assert "ball.position" in run
    assert "ball.charge" not in run


def test_the_final_values_are_the_last_row(run):
    assert run.final == {
        "ball.position": 0.0,
        "ball.velocity": -1.0,
        "drive.force_cmd": 5.0,
        "sensor.reading": 1 / 3,
    }


def test_a_run_of_some_of_its_signals_is_the_same_run(run):
    some = run.select("ball.*")
    assert some.names == ("ball.position", "ball.velocity")
    assert some["ball.position"](0.25) == run["ball.position"](0.25)
    assert run.select("ball.position")["ball.position"].rate_values is None
    with pytest.raises(KeyError, match=r"ball\.position"):
        run.select("ball.positon")


def test_a_run_writes_itself(run, tmp_path):
    assert identical(load(run.save(tmp_path / "a.run")), run)
    assert run.to_csv(tmp_path / "a.csv").read_text().startswith("time [s],ball.position [m]")


def test_a_summary_fits_a_screen(make_run):
    wide = make_run(
        time=np.zeros(1), values=np.zeros((1, 300)), infos=tuple(SignalInfo(f"x{k}", "m") for k in range(300))
    )
    assert len(wide.summary().splitlines()) < 50
    assert "280 more signals" in wide.summary()
    assert "x299" in wide.summary(signals=True)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"time": np.array([0.0, 1.0])}, "shape"),
        ({"infos": tuple(SignalInfo("x", "m") for _ in range(4))}, "twice: x"),
        ({"infos": tuple(SignalInfo(f"x{i}", "m", rate="v") for i in range(4))}, "'v' is not recorded"),
    ],
)
def test_a_run_whose_parts_do_not_fit_is_refused(make_run, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_run(**changes)


def test_the_summary_names_outcome_costs_events_warnings_and_signals(run):
    text = run.summary(statistics=True)
    assert text.startswith("bounce: The ball reached the catcher.\n\nPeak speed")
    for part in ("200 times real time", "impact", "guess"):
        assert part in text
    assert ["steps", "40"] in [line.split() for line in text.splitlines()]
    assert "real time" not in run.summary()
    (row,) = (line.split() for line in text.splitlines() if line.startswith("ball.velocity"))
    assert row == ["ball.velocity", "-2", "1", "-1", "m/s"]


def test_a_run_survives_a_trip_to_another_process(run):
    copy = pickle.loads(pickle.dumps(run))
    assert copy.values.tobytes() == run.values.tobytes()
    assert copy["ball.position"](0.25) == run["ball.position"](0.25)


@pytest.mark.parametrize("kind", OutcomeKind)
def test_an_outcome_is_exactly_one_of_ok_suspect_cut_short_and_failed(kind):
    outcome = Outcome(kind, "A sentence.", 1.0)
    assert outcome.ok + outcome.suspect + outcome.cut_short + outcome.failed == 1
    assert outcome.carried_through == (outcome.ok or outcome.suspect)


def test_a_number_that_is_none_is_a_failure_and_an_interruption_is_not():
    assert Outcome(OutcomeKind.NOT_A_NUMBER, "", 0.0).failed
    assert not Outcome(OutcomeKind.INTERRUPTED, "", 0.0).failed
    assert not Outcome(OutcomeKind.INTERRUPTED, "", 0.0).ok


def test_the_speed_is_simulated_over_computing_time_and_unknown_without_computing():
    assert Statistics(wall_time=0.5, simulated_time=2.0).times_real_time == 4.0
    assert np.isnan(Statistics(simulated_time=2.0).times_real_time)


def test_the_digest_depends_on_the_model_and_not_on_the_order_of_its_keys():
    first = Provenance("a", {"mass": 1.0, "length": 2.0})
    second = Provenance("b", {"length": 2.0, "mass": 1.0})
    heavier = Provenance("a", {"mass": 1.0 + 1e-15, "length": 2.0})
    assert first.digest == second.digest
    assert first.digest != heavier.digest


def test_a_description_that_cannot_be_stored_is_refused_when_it_is_given():
    with pytest.raises(TypeError, match="description.*object"):
        Provenance("a", {"law": object()})
