"""Tableaus of integration methods: which numbers define each?

Symbols: a, b, c the Runge-Kutta matrix, weights and nodes; e the weights of the error estimate; gamma the
diagonal of an implicit method; C the transformed Rosenbrock matrix, time_weights the factors of df/dt (Hairer
and Wanner 1996, IV.7).

Between the ends of a step every method gives x by a polynomial in theta = 0..1,

    x(theta) = x0 + w sum_j k_j (P_j0 theta + P_j1 theta^2 + P_j2 theta^3 + P_j3 theta^4)

with w = h, or w = 1 for Rosenbrock methods, whose stages are increments. A row of P beyond the stages belongs
to the derivative at the end of the step, which is computed only when the polynomial is asked for.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robodyn.base import Array

EXPLICIT, SYMPLECTIC, ROSENBROCK, ESDIRK, STABILISED, IMPLICIT_STEP, FUSED_STEP, CONTACT_STEP = range(8)
"""Families of methods, as in engine.h: of the last two the model gives the equations of a step, and the step itself."""

Row = Sequence[float]
Rows = Sequence[Row]


class MethodTable(NamedTuple):
    """One integration method; every method has every field, so that one compiled engine serves all."""

    family: int
    stages: int
    order: int
    error_order: int
    adaptive: int
    reuses_last: int
    needs_end: int
    a: Array
    b: Array
    c: Array
    e: Array
    gamma: float
    C: Array
    time_weights: Array
    P: Array
    stability: float = 0.0


def make_method(
    family: int,
    order: int,
    a: ArrayLike,
    b: Sequence[float] | Array,
    c: ArrayLike,
    P: ArrayLike,
    e: ArrayLike | None = None,
    error_order: int = 0,
    reuses_last: int = 0,
    needs_end: int = 0,
    gamma: float = 0.0,
    C: ArrayLike | None = None,
    time_weights: ArrayLike | None = None,
) -> MethodTable:
    """Fill the fields a method does not use with zeros; error_order is the power of h in the error
    estimate."""
    stages = len(b)
    zeros = np.zeros(stages)
    return MethodTable(
        family, stages, order, error_order, int(e is not None), reuses_last, needs_end,
        _array(a).reshape(stages, stages), _array(b), _array(c),
        zeros if e is None else _array(e), float(gamma),
        np.zeros((stages, stages)) if C is None else _array(C),
        zeros if time_weights is None else _array(time_weights), _array(P),
    )  # fmt: skip


def _array(values: ArrayLike) -> Array:
    return np.ascontiguousarray(values, dtype=np.float64)


def lower(*rows: Sequence[float] | Array) -> Array:
    """Square matrix from the rows of its strictly lower triangle, the first of them empty."""
    matrix = np.zeros((len(rows), len(rows)))
    for i, values in enumerate(rows):
        matrix[i, : len(values)] = values
    return matrix


def hermite(b: Sequence[float] | Array, end: int) -> Array:
    """P of the cubic through x and x_dot at both ends; `end` is the row of the derivative at the end."""
    P = np.zeros((max(len(b), end + 1), 4))
    P[: len(b)] = np.outer(b, [0, 3, -2, 0])
    P[0] += [1, -2, 1, 0]
    P[end] += [0, -1, 1, 0]
    return P


def euler() -> MethodTable:
    """x1 = x0 + h f0."""
    return make_method(EXPLICIT, 1, lower(()), [1], [0], [[1, 0, 0, 0]])


def symplectic_euler() -> MethodTable:
    """v1 = v0 + h a(q0, v0), then q1 = q0 + h q_dot(v1); its second stage holds (x1 - x0) / h."""
    return make_method(SYMPLECTIC, 1, np.zeros((2, 2)), [0, 1], [0, 1], [[0, 0, 0, 0], [1, 0, 0, 0]])


def heun() -> MethodTable:
    """Heun (1900), order 2: the trapezoidal rule with a predicted end."""
    return make_method(EXPLICIT, 2, lower((), (1,)), [1 / 2, 1 / 2], [0, 1], hermite([1 / 2, 1 / 2], 2), needs_end=1)


def heun_euler() -> MethodTable:
    """Heun's method with Euler's as error estimate, 2(1)."""
    return heun()._replace(e=_array([-1 / 2, 1 / 2]), adaptive=1, error_order=2, stability=2.0)


def rk4() -> MethodTable:
    """Kutta (1901), the classical method of order 4."""
    b = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
    return make_method(
        EXPLICIT, 4, lower((), (0.5,), (0, 0.5), (0, 0, 1)), b, [0, 0.5, 0.5, 1], hermite(b, 4), needs_end=1
    )


def dopri5() -> MethodTable:
    """Dormand and Prince (1980), 5(4); polynomial of order 4 by Shampine (1986), as in Hairer, Norsett,
    Wanner (1993), II.6."""
    b = _array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0])
    a = lower(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        b[:6],
    )
    e = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
    last = _array(
        [
            -12715105075 / 11282082432,
            0,
            87487479700 / 32700410799,
            -10690763975 / 1880347072,
            701980252875 / 199316789632,
            -1453857185 / 822651844,
            69997945 / 29380423,
        ]
    )
    begin, end = np.eye(7)[0], np.eye(7)[6]
    third, fourth = begin - b, 2 * b - begin - end
    P = np.stack([b + third, fourth + last - third, -fourth - 2 * last, last], axis=1)
    c = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1]
    return make_method(EXPLICIT, 5, a, b, c, P, e, error_order=5, reuses_last=1)._replace(stability=3.3)


def auto() -> MethodTable:
    """dopri5, and rodas4p while that is cheaper: see `robodyn.description.model.solver` and choice.c."""
    return dopri5()


def rosenbrock(a: Rows, C: Rows, c: Row, time_weights: Row, second: Row, third: Row) -> MethodTable:
    """A stiffly accurate six-stage 4(3) Rosenbrock method with gamma = 1/4 and its polynomial of order 3.

    x(theta) = (1 - theta) x0 + theta (x1 + (1 - theta) (sum_j second_j u_j + theta sum_j third_j u_j))

    The tables begin with a stage of weight 0: the engine keeps the slope at the start of the step there.
    """
    A = lower((), (), *((0, *values) for values in a), (0, *a[3], 1))
    # Stiffly accurate: the last row of A, and the last stage itself, is the step; that stage alone is the error.
    b = _array([*A[6, :6], 1])
    e = [0, 0, 0, 0, 0, 0, 1]
    square, cube = _array([0, *second, 0]), _array([0, *third, 0])
    P = np.stack([b + square, cube - square, -cube, 0 * b], axis=1)
    return make_method(
        ROSENBROCK,
        4,
        A,
        b,
        [0, 0, *c, 1, 1],
        P,
        e,
        error_order=4,
        gamma=0.25,
        C=lower((), (), *((0, *values) for values in C)),
        time_weights=[0, 0.25, *time_weights, 0, 0],
    )


def rodas4() -> MethodTable:
    """RODAS of Hairer and Wanner (1996), VI.4: L-stable, 4(3)."""
    return rosenbrock(
        a=[(1.544,),
           (0.9466785280815826, 0.2557011698983284),
           (3.314825187068521, 2.896124015972201, 0.9986419139977817),
           (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950)],
        C=[(-5.6688,),
           (-2.430093356833875, -0.2063599157091915),
           (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
           (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
           (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
            -6.058818238834054)],
        c=[0.386, 0.21, 0.63],
        time_weights=[-0.1043, 0.1035, -0.0362],
        second=[10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823,
                1.025137723295662],
        third=[-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386,
               -6.594389125716872],
    )  # fmt: skip


def rodas4p() -> MethodTable:
    """RODASP of Steinebach (1995): as RODAS, with less loss of order when a stiff part follows a moving
    equilibrium."""
    return rosenbrock(
        a=[(3.0,),
           (1.831036793486759, 0.4955183967433795),
           (2.304376582692669, -0.05249275245743001, -1.176798761832782),
           (-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401)],
        C=[(-12.0,),
           (-8.791795173947035, -2.207865586973518),
           (10.81793056857153, 6.780270611428266, 19.53485944642410),
           (34.19095006749676, 15.49671153725963, 54.74760875964130, 14.16005392148534),
           (34.62605830930532, 15.30084976114473, 56.99955578662667, 18.40807009793095, -5.714285714285717)],
        c=[0.75, 0.21, 0.63],
        time_weights=[-0.5, -0.023504, -0.0362],
        second=[25.09876703708589, 11.62013104361867, 28.49148307714626, -5.664021568594133, 0.0],
        third=[1.638054557396973, -0.7373619806678748, 8.477918219238990, 15.99253148779520,
               -1.882352941176471],
    )  # fmt: skip


def trbdf2() -> MethodTable:
    """TR-BDF2 of Bank et al. (1985) as ESDIRK 2(3), Hosea and Shampine (1996): L-stable."""
    gamma, weight = 1 - np.sqrt(2) / 2, np.sqrt(2) / 4
    b = _array([weight, weight, gamma])
    a = np.stack([[0, 0, 0], [gamma, gamma, 0], b])
    third_order = _array([(1 - weight) / 3, (3 * weight + 1) / 3, gamma / 3])
    c = [0, 2 * gamma, 1]
    P = hermite(b, 2)
    return make_method(ESDIRK, 2, a, b, c, P, b - third_order, error_order=3, reuses_last=1, gamma=gamma)


def rkc() -> MethodTable:
    """RKC of Sommeijer, Shampine and Verwer (1998), of order 2, with as many stages as make a step stable: the engine
    has its coefficients. Its rows hold x_dot0, (x1 - x0) / h, the fastest motion and x_dot1; the polynomial is cubic.
    """
    b, e = [0, 1, 0, 0], [0.4, -0.8, 0, 0.4]
    return make_method(STABILISED, 2, np.zeros((4, 4)), b, [0, 1, 1, 1], hermite(b, 3), e, 3, reuses_last=1)


def implicit_step() -> MethodTable:
    """A step the model gives, of order 2: the stages hold x_dot0, (x1 - x0) / h and x_dot1, the polynomial is cubic."""
    b = [0, 1, 0]
    return make_method(IMPLICIT_STEP, 2, np.zeros((3, 3)), b, [0, 1, 1], hermite(b, 2), reuses_last=1)


def rosw2() -> MethodTable:
    """ROS2 of Verwer et al. (1999), L-stable, of order 2 whatever matrix it solves with; the model takes the step.

    The stages hold x_dot0 and (x1 - x0) / h, the polynomial is cubic.
    """
    b = [0, 1]
    return make_method(FUSED_STEP, 2, np.zeros((2, 2)), b, [0, 1], hermite(b, 2), needs_end=1)


def rosw1() -> MethodTable:
    """The linearly implicit midpoint rule, A-stable; the model takes the step."""
    return rosw2()


def generalised_alpha() -> MethodTable:
    """Chung and Hulbert (1993), for constraints on the level of positions Arnold and Bruels (2007)."""
    return implicit_step()


def rattle() -> MethodTable:
    """Andersen (1983), symplectic: Hairer, Lubich, Wanner (2006), VII.1.4."""
    return implicit_step()


def stewart_trinkle() -> MethodTable:
    """Stewart and Trinkle (1996), Anitescu and Potra (1997): contacts push by impulses over a step; a straight line."""
    return symplectic_euler()._replace(family=CONTACT_STEP)


METHODS = {
    make.__name__: make
    for make in (
        auto, euler, heun, rk4, symplectic_euler, heun_euler, dopri5, rodas4, rodas4p, trbdf2, rkc,
        generalised_alpha, rattle, rosw1, rosw2, stewart_trinkle,
    )
}  # fmt: skip


@cache
def method_table(method: str) -> MethodTable:
    """The coefficients of a method, made once."""
    return METHODS[method]()


def method_number(method: str) -> int:
    """The place of a method among all."""
    return list(METHODS).index(method)
