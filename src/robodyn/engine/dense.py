"""What is x between the ends of a step?"""

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.tableaus import ROSENBROCK
from robodyn.engine.workspace import DENSE, END, POINT, STAGE, START


@compiled
def make_dense(method, x, h):
    """Coefficients of the step's polynomial, x(theta) = sum_k DENSE_k theta^k, from its stages."""
    weight = 1.0 if method.family == ROSENBROCK else h
    for i in range(x.shape[1]):
        x[DENSE, i] = x[START, i]
        for power in range(4):
            value = 0.0
            for j in range(method.P.shape[0]):
                value += method.P[j, power] * x[STAGE + j, i]
            x[DENSE + 1 + power, i] = weight * value


@inlined
def evaluate_dense(x, theta, target):
    """Write x(theta) into a row."""
    for i in range(x.shape[1]):
        value = x[DENSE + 4, i]
        for power in range(3, -1, -1):
            value = value * theta + x[DENSE + power, i]
        x[target, i] = value


@inlined
def copy_row(x, source, target):
    """Copy one row of x."""
    for i in range(x.shape[1]):
        x[target, i] = x[source, i]


@inlined
def set_point(work, run, fraction):
    """Put x at a fraction of the (perhaps truncated) step into POINT; its time, never beyond the left side of a break."""
    if fraction >= 1.0:
        copy_row(work.x, END, POINT)
        return min(run.t_new, run.t_left)
    if fraction <= 0.0:
        copy_row(work.x, START, POINT)
        return run.t
    evaluate_dense(work.x, fraction * run.theta_end, POINT)
    return min(run.t + fraction * (run.t_new - run.t), run.t_left)
