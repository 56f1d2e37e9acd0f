"""robodyn design: which gains do the state controllers of a scenario have, and which poles do they give it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.targets import load_single

if TYPE_CHECKING:
    import numpy as np

    from robodyn.computation.assembly.state_design import StateDesign


@app.command("design")
def design(
    scenario: Annotated[str, typer.Argument(help="TOML file with state controllers (LQR, LQG, observers).")],
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Gains of state controllers, from the linear model and the weights of the file, and the poles that they give."""
    from robodyn.computation.assembly.state_design import find_designs

    what = load_single(scenario, setting)
    if not what.machine.controllers:
        raise fail(f"{scenario}: has no controllers; describe one in [controllers.NAME]")
    found = find_designs(what)
    if as_json:
        print_json({one.controller.name: _as_json(one) for one in found})
        return
    for one in found:
        _print(one)


def _as_json(one: StateDesign) -> dict[str, Any]:
    plant = one.plant
    told: dict[str, Any] = {
        "period": plant.period,
        "delay": plant.delay,
        "states": [variable.name for variable in plant.states],
        "at": [variable.value for variable in plant.states],
        "commands": {variable.name: variable.value for variable in plant.inputs},
    }
    if one.regulator:
        told |= {"K": one.regulator.K.tolist(), "regulator_poles": _poles(one.regulator.multipliers, plant.period)}
    if one.observer:
        told |= {"L": one.observer.L.tolist(), "observer_poles": _poles(one.observer.multipliers, plant.period)}
    return told


def _poles(multipliers: np.ndarray, period: float) -> list[list[float | None]]:
    """Real and imaginary part [1/s] of what decays from sample to sample; None for what is gone at the next."""
    import numpy as np

    logs = [np.log(complex(mu)) / period if abs(mu) > 1e-12 else None for mu in multipliers]
    return [[None, None] if pole is None else [pole.real, pole.imag] for pole in logs]


def _print(one: StateDesign) -> None:
    plant = one.plant
    timing = f"every {1e3 * plant.period:g} ms, {1e3 * plant.delay:g} ms late"
    output.print(f"{one.controller.name}, {timing}")
    states = [variable.name for variable in plant.states]
    late = sorted({name.rpartition(".")[0] for name in states if ".pade" in name})
    if late:
        output.print(f"  delays by Pade approximations: {', '.join(late)}")
    width = max(len(name) for name in states)
    for variable in plant.inputs:
        output.print(f"  {variable.name} at the operating point: {variable.value:.6g} {variable.unit}")
    if one.regulator:
        _print_gains("feedback", states, one.regulator.K[:, : len(states)].T, width)
        _print_poles(one.regulator.multipliers, plant.period)
    if one.observer:
        _print_gains("observer", states, one.observer.L, width)
        _print_poles(one.observer.multipliers, plant.period)


def _print_gains(what: str, states: list[str], rows: np.ndarray, width: int) -> None:
    output.print(f"  {what}")
    for name, row in zip(states, rows, strict=True):
        output.print(f"    {name:<{width}}" + "".join(f" {value:>12.6g}" for value in row))


def _print_poles(multipliers: np.ndarray, period: float) -> None:
    shown = ["-inf" if x is None else f"{x:.4g}{y:+.4g}j" if y else f"{x:.4g}" for x, y in _poles(multipliers, period)]
    output.print(f"    poles [1/s]: {', '.join(shown)}")
