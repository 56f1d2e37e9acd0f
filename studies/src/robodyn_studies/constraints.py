"""Constraints study: closed chains by Baumgarte's method; pendulum, delta robot, elevator cable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from robodyn.presentation.studies import Headline, Picture, PublishedValue, Study


def parts() -> Mapping[str, Callable[[], Iterator[PublishedValue]]]:
    """Heading -> figures, in the order of the study's argument."""
    from robodyn_studies import constraints_cable as cable
    from robodyn_studies import constraints_delta as delta
    from robodyn_studies import constraints_linear as linear
    from robodyn_studies import constraints_pendulum as pendulum
    from robodyn_studies.constraints_appendix import appendix_figures
    from robodyn_studies.constraints_control import control_figures
    from robodyn_studies.constraints_linkages import reference_figures
    from robodyn_studies.constraints_methods import chart_figures, constraint_method_figures, hamiltonian_figures
    from robodyn_studies.constraints_pick import pick_figures, stack_figures
    from robodyn_studies.constraints_speed import speed_figures
    from robodyn_studies.constraints_wall import wall_figures

    return {
        "Drift of a pendulum in Cartesian coordinates": pendulum.drift_figures,
        "What the method adds to the pendulum": pendulum.structure_figures,
        "Consistent starts": pendulum.initialisation_figures,
        "A rod that breaks": pendulum.breaking_figures,
        "Published motions of closed chains": reference_figures,
        "Ways to keep constraints": constraint_method_figures,
        "Coordinates that change on the way, the study's baseline": chart_figures,
        "What the baseline costs, at the study's tolerance and others": speed_figures,
        "The delta robot at rest": delta.statics_figures,
        "The appendix's arm, typed and generated": appendix_figures,
        "Forward and inverse kinematics": delta.kinematics_figures,
        "The delta robot in motion": delta.motion_figures,
        "Positions and momenta": hamiltonian_figures,
        "Poles of the delta robot": linear.pole_figures,
        "What the method adds to the delta robot": linear.structure_figures,
        "The least gain that stabilises": linear.gain_figures,
        "The delta robot under control": control_figures,
        "Pick and place: motors, cycle time, rods": pick_figures,
        "Two delta robots with one load": delta.pair_figures,
        "A block set on another": stack_figures,
        "The travelling cable at rest": cable.rest_figures,
        "Its modes and the compensator": cable.mode_figures,
        "Its sway in a building that keeps swaying": cable.steady_figures,
        "More than 200 links": cable.links_figures,
        "Its sway in an earthquake, calmed by the car": cable.control_figures,
        "Its strikes at the wall": wall_figures,
    }


def pictures() -> tuple[Picture, ...]:
    """The study's figures redrawn."""
    from robodyn_studies import constraints_pictures

    return constraints_pictures.pictures()


STUDY = Study(
    name="constraints",
    title="Closed chains by Baumgarte's method",
    about=(
        "The study replaces a constraint h = 0 by h'' + a1 h' + a0 h = 0 before a model is compiled, and shows on "
        "a pendulum, a delta robot and the travelling cable of an elevator what that brings: one set of equations "
        "everywhere, starts that need not be consistent, constraints that break, linear models, controllers made "
        "from the model.\n\n"
        "**From what.** It prints hardly any numbers of its systems. The pendulum (1 kg, 1 m, pole 5/s) and the "
        "cable are this project's own choice. So are the delta robot's parameters: they are fitted to the poles "
        "and to the angle of the crossing that the study prints for its laboratory robot, which are inputs here. "
        "What is left as published results are its counts (pairs that cancel, orders, iterations), its "
        "statements, its appendix and published motions of other mechanisms.\n\n"
        "**What comes out.** The drift is of the order of the solver's tolerance and vanishes at rest; the added "
        "modes cancel at the method's poles and truncation removes them; a rod breaks and the equations stay; the "
        "typed appendix is the generated arm, but for four misprints. Its baseline, a choice of states that "
        "changes on the way, is here too: a pendulum in x and z passes full turns, and the delta robot its "
        "singular positions.\n\n"
        "**What differs and why.** Twelve uncontrollable poles come out, six unobservable ones: an error that "
        "decays is seen in the motors' angles. At the study's tolerance of 1e-4 Baumgarte's method is "
        "{pendulum_speed} and {delta_speed} times as fast as the baseline, for 5 and 10, though both are compiled "
        "here; at 1e-8 by less. The cable needs short "
        "links where it bends: 100 links alike, longer than the bend is wide, have modes 2 % off, and a compensator "
        "designed on them is one for another cable. More than 200 links compile. On a mesh that resolves the bend one "
        "compensator damps meshes and lengths alike. That it lowers the sway by 75 % is its design, an input here; in "
        "a building that keeps swaying by 5 mm the simulated cable sways less by {cable_attenuation_steady} %, by "
        "20 mm, with the car at its limits, by {cable_attenuation_beyond_limits} %; over an earthquake the figure "
        "depends on the span, which is not printed. What the control is for is shown with a wall that the cable may "
        "strike. Pick and place and stacking, which its library has, are tasks of our own: motors, cycle time, forces "
        "in the rods, a block that is felt, let go and left."
    ),
    source="S. A. Bortoff, Using Baumgarte's Method for Index Reduction in Modelica, Modelica Conference 2019",
    scenarios=(
        *("cartesian-pendulum", "breaking-pendulum", "andrews", "four-bar", "four-bars-10"),
        *(f"delta-{name}" for name in ("fall", "hold", "rods", "pair", "pid", "stand", "linearised", "tracking")),
        *("delta-rods-pick", "delta-stack", "cable-hang", "cable-sway", "cable-controlled", "cable-steady"),
    ),
    parts=parts,
    pictures=pictures,
    headline=Headline(
        "Replacing the constraint makes the pendulum simulate about 5 times faster, the delta robot 10 times.",
        "at the study's tolerance of 1e-4 {pendulum_speed} and {delta_speed} times. The modes that the method adds to "
        "the delta robot cancel ({delta_cancelled_pairs} pairs of a pole and a zero), and truncation leaves a model of "
        "order {delta_reduced_order}; {reproduced} of {published} published results come out.",
        "speed",
    ),
)
