"""Do linear models with delays respond as their closed forms, and go to python-control and back?"""

import builtins

import numpy as np
import pytest

from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel, Variable
from robodyn.base.errors import ModelError

TAU, K = 0.3, 2.0


def late_lag(gain=1.0):
    """x' = -x + d, w = u, y = gain x: Y / U = gain e^(-s tau) / (s + 1)."""
    return LinearModel(
        [[-1.0]],
        C=[[gain]],
        E=[[1.0]],
        G=[[1.0]],
        delays=(DelayedSignal("late", TAU),),
        inputs=(Variable("u", "V"),),
        outputs=(Variable("y.out", "m"),),
    )


def feedback():
    """x' = u - k x(t - tau), y = x(t - tau)."""
    return LinearModel([[0.0]], B=[[1.0]], E=[[-K]], F=[[1.0]], K=[[1.0]], delays=(DelayedSignal("late", TAU),))


def test_a_delayed_first_order_lag_responds_exactly():
    omega = np.logspace(-2, 3, 60)
    expected = np.exp(-1j * omega * TAU) / (1 + 1j * omega)
    found = late_lag().frequency_response(omega)
    assert found.shape == (60, 1, 1)
    np.testing.assert_allclose(found[:, 0, 0], expected, rtol=1e-12)


def test_delayed_feedback_responds_exactly():
    s = np.array([0.5, 1j, -0.2 + 4j])
    late = np.exp(-s * TAU)
    np.testing.assert_allclose(feedback().transfer(s)[:, 0, 0], late / (s + K * late), rtol=1e-12)


def test_delays_that_feed_one_another_add_up():
    """w2 = d1: two delays in a row are one of their sum."""
    two = LinearModel(
        [[-1.0]],
        C=[[1.0]],
        E=[[0.0, 1.0]],
        G=[[1.0], [0.0]],
        H=[[0.0, 0.0], [1.0, 0.0]],
        delays=(DelayedSignal("a", 0.1), DelayedSignal("b", 0.2)),
    )
    omega = np.linspace(0, 30, 7)
    np.testing.assert_allclose(two.frequency_response(omega), late_lag().frequency_response(omega), rtol=1e-12)


@pytest.mark.parametrize("model", [late_lag(), feedback()], ids=["feed-forward", "feedback"])
def test_pade_of_rising_order_approaches_the_exact_response(model):
    omega = np.linspace(0.1, 10, 30)
    exact = model.frequency_response(omega)
    errors = [np.abs(model.with_pade(order).frequency_response(omega) - exact).max() for order in (0, 1, 2, 4, 6)]
    assert np.all(np.diff(errors) < 0)
    # omega tau is 3 at most: the error of order 6 there is about 3^13 (6!)^2 / (12! 13!) = 3e-7.
    assert errors[-1] < 1e-6


def test_pade_of_order_zero_leaves_the_delay_out():
    finite = feedback().with_pade(0)
    assert pytest.approx(-K) == finite.A
    assert not finite.delays
    assert finite.order == 1


def test_pade_names_its_states_and_says_so():
    finite = feedback().with_pade(2)
    assert [state.name for state in finite.states] == ["x1", "late.pade1", "late.pade2"]
    assert "order 2" in finite.notes[-1]


def test_an_algebraic_loop_through_pade_is_told():
    """d = -w exactly cancels w = -d + x for odd orders: e = -1."""
    loop = LinearModel([[-1.0]], E=[[1.0]], F=[[1.0]], H=[[-1.0]], delays=(DelayedSignal("late", TAU),))
    with pytest.raises(ModelError, match="algebraic loop"):
        loop.with_pade(1)
    assert loop.with_pade(2).order == 3


def test_channels_are_chosen_by_name():
    model = LinearModel(np.diag([-1.0, -2.0]), B=np.eye(2), C=np.eye(2), D=[[0, 1], [2, 3]])
    chosen = model.choose(inputs=["u2"], outputs=["y2", "y1"])
    np.testing.assert_allclose(chosen.transfer(1.0)[:, 0], [3 + 1 / 3, 1.0])
    with pytest.raises(ModelError, match="inputs.u3: is not one of the inputs"):
        model.choose(inputs=["u3"])


def test_a_frequency_at_a_pole_is_told():
    with pytest.raises(ModelError, match="is a pole"):
        LinearModel([[0.0]], B=[[1.0]], C=[[1.0]]).frequency_response([1.0, 0.0])


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ({"A": [[1.0, 2.0]]}, "A: must be 1 by 1, is 1 by 2"),
        ({"A": [[1.0]], "B": [[1.0], [2.0]]}, "B: must be 1 by 1"),
        ({"A": [[np.nan]]}, "A: has entries that are not finite"),
        ({"A": [[1.0]], "E": [[1.0]]}, "E: must be 1 by 0"),
        ({"A": [[1.0]], "states": (Variable("a"), Variable("b"))}, "2 names for 1"),
        ({"A": [[1.0]], "states": ("a",)}, "must be a Variable"),
        ({"A": [[1.0]], "delays": (DelayedSignal("d", -1.0),)}, "must be positive, is -1 s"),
    ],
)
def test_matrices_and_names_that_do_not_fit_are_refused(parts, complaint):
    with pytest.raises(ModelError, match=complaint.replace("[", r"\[")):
        LinearModel(**parts)


def test_matrices_cannot_be_changed_and_the_callers_stay_its_own():
    own = np.eye(2)
    model = LinearModel(own)
    own[0, 0] = 7.0
    assert model.A[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        model.A[0, 0] = 2.0


def test_python_control_gets_the_pade_model_and_gives_it_back():
    pytest.importorskip("control")
    model, s = late_lag(3.0), 0.7j
    there = model.to_control(pade=3)
    assert there.nstates == 4
    assert there.output_labels == ["y_out"]
    np.testing.assert_allclose(there(s), model.with_pade(3).transfer(s)[0, 0], rtol=1e-12)
    back = LinearModel.from_control(there)
    np.testing.assert_allclose(back.transfer(s), model.with_pade(3).transfer(s), rtol=1e-12)
    assert [state.name for state in back.states] == ["x1", "late_pade1", "late_pade2", "late_pade3"]


def test_a_transfer_function_of_python_control_is_taken_too():
    control = pytest.importorskip("control")
    model = LinearModel.from_control(control.tf([2.0], [1.0, 3.0, 5.0]))
    np.testing.assert_allclose(model.transfer(1j)[0, 0], 2 / (4 + 3j), rtol=1e-12)


def test_what_python_control_cannot_hold_is_told():
    control = pytest.importorskip("control")
    with pytest.raises(ModelError, match="1 delays"):
        late_lag().to_control()
    with pytest.raises(ModelError, match="sampled every"):
        LinearModel.from_control(control.ss(-1.0, 1.0, 1.0, 0.0, 0.1))


def test_a_missing_python_control_is_told_with_the_remedy(monkeypatch):
    found = builtins.__import__

    def without(name, *arguments, **options):
        if name == "control":
            raise ImportError(name)
        return found(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModelError, match=r"robodyn\[control\]"):
        late_lag().to_control(pade=1)
