"""The co-simulation study: a flexible space arm, its payload and a wall, coupled by signals and by reduced models."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping

from robodyn.studies.figure import Figure
from robodyn.studies.study import Picture, Study


def _parts() -> Mapping[str, Callable[[], Iterator[Figure]]]:
    """Heading -> figures, from the parts to the whole."""
    from robodyn.studies import cosimulation_figures as case
    from robodyn.studies import cosimulation_parts as parts

    return {
        "Linear benchmark": parts.oscillator_figures,
        "Beams": parts.beam_figures,
        "The arm": parts.arm_figures,
        "The manoeuvre in one": case.manoeuvre_figures,
        "Reduced interface models, flexible arm": case.model_figures,
        "Signals": case.signal_figures,
        "Reduced interface models, rigid arm": case.rigid_figures,
        "Exported units": case.exchange_figures,
    }


def figures() -> Iterator[Figure]:
    """All figures of the study, part by part."""
    for part, compute in _parts().items():
        for figure in compute():
            yield dataclasses.replace(figure, part=part)


def pictures() -> tuple[Picture, ...]:
    """The study's figure redrawn, and what goes beyond it."""
    from robodyn.studies import cosimulation_drawings

    return cosimulation_drawings.pictures()


def pages() -> tuple[Picture, ...]:
    """The case replayed, and swinging modes."""
    from robodyn.studies import cosimulation_pages

    return cosimulation_pages.pages()


STUDY = Study(
    name="cosimulation",
    title="A flexible space arm, its payload and a wall, co-simulated",
    about=(
        "A seven-joint space arm whose second shoulder joint is locked moves a payload to the right, turns it by "
        "90 degrees while its corner A reaches a wall, and holds it there. Arm and payload are two subsystems "
        "with their own solvers that meet at communication points, cut at the effector's centre of mass in all "
        "six directions. The study finds that the reduced interface model of the rigid arm fails by its "
        "singularity, and that of the flexible arm does not. It prints no numbers of its arm or of its manoeuvre: "
        "masses and geometry are published ones of the space station's arm; stiffnesses, gains, payload, wall, "
        "distances and times, and the latch through which signals act, are this project's own choice. The wrist "
        "turns at up to two and a half times the published top speed of the joints, so that the manoeuvre is "
        "short.\n\n"
        "What we find: six joints are left for six directions, and the rigid arm is singular where its wrist "
        "crosses the line of the shoulder's roll axis, at 27.15 s, shortly before the touch. There its interface "
        "has no inertia. Where a communication point lies close to that instant, the master ends the run and says "
        "so; other macro steps pass it by with a warning. Unlike the study's, our run would get over it without "
        "that limit: the manoeuvre is in one plane, what the arm lacks is a motion out of it, and an inertia that "
        "is very large in one direction only keeps that direction still for a macro step. The flexible arm gives "
        "way in all six directions: its condition number is seven orders of magnitude smaller, and nothing "
        "happens. Signals act through a stiff latch: held ones lag behind and brake the payload in proportion to "
        "the latch's stiffness and the macro step; extrapolated ones are better until the latch's vibration "
        "grows. Part of their error is the latch itself, which the monolithic run does not have."
    ),
    source=("X. Dai, A. Raoofian, J. Kövecses, M. Teichmann, Model-based co-simulation of flexible robotic systems"),
    scenarios=("space-case-flexible", "space-case-rigid", "space-arm-flexible", "oscillator"),
    figures=figures,
    pictures=pictures,
    pages=pages,
)
