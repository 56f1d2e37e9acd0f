"""RX90B study: micrometres under friction, by the non-linear equations and by the perturbation method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from robodyn.studies import Picture, PublishedValue, Study


def parts() -> Mapping[str, Callable[[], Iterator[PublishedValue]]]:
    """Heading -> figures, in the order of the study's argument."""
    from robodyn_studies import rx90_agreement as agreement
    from robodyn_studies import rx90_task as task
    from robodyn_studies.rx90_budget import budget_figures
    from robodyn_studies.rx90_flexible import flexible_figures
    from robodyn_studies.rx90_loops import margin_figures
    from robodyn_studies.rx90_rest import stick_figures
    from robodyn_studies.rx90_spread import spread_figures

    return {
        "The task": task.task_figures,
        "Loops": margin_figures,
        "Path deviation": task.deviation_figures,
        "Motor currents": task.current_figures,
        "Perturbation method against non-linear simulation": agreement.perturbation_figures,
        "Convergence": agreement.convergence_figures,
        "Elastic gears": agreement.elastic_figures,
        "Flexible links": flexible_figures,
        "Error budget": budget_figures,
        "At rest": stick_figures,
        "Friction other than measured": spread_figures,
        "Speed": agreement.speed_figures,
    }


def pictures() -> tuple[Picture, ...]:
    """The study's figures redrawn."""
    from robodyn_studies import rx90_pictures

    return rx90_pictures.pictures()


STUDY = Study(
    name="rx90",
    title="RX90B, a welding robot with friction",
    about=(
        "A six-axis industrial robot moves a laser welding head along a straight line. The study simulates the closed "
        "loop of mechanism, drives, LuGre friction at seven places and digital controller twice: by the non-linear "
        "equations, and by a perturbation method that linearises the mechanics along the wanted motion, and finds both "
        "to agree within micrometres. It prints the structure, the sample rates and what its curves show, but hardly "
        "any number of its robot: inertias, gears, motors, friction, gains and the line itself are this project's own "
        "choice, listed on the page of the robot. So sizes of deviations and currents are those of a plausible robot "
        "of this kind. What the study measured is not public and not reproducible; its agreement between the two "
        "simulations, the reversal at 600 mm and what friction does there are. Beyond it: elastic gears and flexible "
        "links in both simulations, margins of the sampled loops, convergence, an error budget, spread under uncertain "
        "friction."
    ),
    source=(
        "R. G. K. M. Aarts, B. J. B. Jonker, R. R. Waiboer, Realistic dynamic simulation of an industrial robot with "
        "joint friction"
    ),
    scenarios=("rx90-weld", "rx90-weld-elastic", "rx90-weld-flexible", "rx90-hold"),
    parts=parts,
    pictures=pictures,
)
