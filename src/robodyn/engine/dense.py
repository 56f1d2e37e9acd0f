"""What is x between the ends of a step?"""

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import floats, row, state
from robodyn.engine.tableaus import ROSENBROCK
from robodyn.engine.workspace import DENSE, END, POINT, STAGE, START


@inlined
def copy_row(run, source, target):
    """Copy one row of states."""
    values, copies = state(run, source), state(run, target)
    for i in range(run.n_x):
        copies[i] = values[i]


@compiled
def make_dense(run):
    """Coefficients of the step's polynomial, x(theta) = sum_k DENSE_k theta^k, from its stages."""
    weight = 1.0 if run.family == ROSENBROCK else run.h_tried
    copy_row(run, START, DENSE)
    for power in range(4):
        coefficients = state(run, DENSE + 1 + power)
        for i in range(run.n_x):
            coefficients[i] = 0.0
        for j in range(run.n_dense):
            factor = weight * floats(run.P)[4 * j + power]
            stage = state(run, STAGE + j)
            if factor != 0.0:
                for i in range(run.n_x):
                    coefficients[i] += factor * stage[i]


@compiled
def evaluate_dense(run, theta, target):
    """Write x(theta) into a row."""
    n, coefficients, x = run.n_x, state(run, DENSE), state(run, target)
    for i in range(n):
        value = coefficients[4 * n + i]
        for power in range(3, -1, -1):
            value = value * theta + coefficients[power * n + i]
        x[i] = value


@compiled
def set_point(run, fraction):
    """Put x at a fraction of the (perhaps truncated) step into POINT; its time, never beyond the left side of
    a break."""
    if fraction >= 1.0:
        copy_row(run, END, POINT)
        return min(run.t_new, run.t_left)
    if fraction <= 0.0:
        copy_row(run, START, POINT)
        return run.t
    evaluate_dense(run, fraction * run.theta_end, POINT)
    return min(run.t + fraction * (run.t_new - run.t), run.t_left)


@inlined
def combine(run, weights, count, factor, base, target):
    """target = base + factor sum_j weights_j STAGE_j over the first stages; a base below 0 is zero."""
    result, origin, stages = state(run, target), state(run, max(base, 0)), state(run, STAGE)
    n = run.n_x
    for i in range(n):
        total = 0.0
        for j in range(count):
            total += weights[j] * stages[j * n + i]
        result[i] = (origin[i] if base >= 0 else 0.0) + factor * total


@inlined
def weights_of(run, matrix, i):
    """Row i of one of the method's square tables."""
    return row(matrix, run.stages, i)
