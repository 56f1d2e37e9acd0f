"""Co-simulation study: a flexible space arm, its payload and a wall, coupled by signals and by reduced models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from robodyn.studies import Picture, PublishedValue, Study


def parts() -> Mapping[str, Callable[[], Iterator[PublishedValue]]]:
    """Heading -> figures, from the parts to the whole."""
    from robodyn_studies import cosimulation_figures as case
    from robodyn_studies import cosimulation_parts as simple

    return {
        "Linear benchmark": simple.oscillator_figures,
        "Beams": simple.beam_figures,
        "The arm": simple.arm_figures,
        "The manoeuvre in one": case.manoeuvre_figures,
        "Reduced interface models, flexible arm": case.model_figures,
        "Signals": case.signal_figures,
        "Reduced interface models, rigid arm": case.rigid_figures,
        "Reduced interface models, a shoulder that rolls": case.rolling_figures,
        "Exported units": case.exchange_figures,
    }


def pictures() -> tuple[Picture, ...]:
    """The study's figure redrawn, and what goes beyond it."""
    from robodyn_studies import cosimulation_drawings

    return cosimulation_drawings.pictures()


def pages() -> tuple[Picture, ...]:
    """The case replayed, and swinging modes."""
    from robodyn_studies import cosimulation_pages

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
        "crosses the line of the shoulder's roll axis, at 27.16 s, shortly before the touch: roll of the shoulder, "
        "yaw and roll of the wrist are then rotates about three lines that meet in the wrist, and none moves it to the "
        "side. There the arm's effective mass has no bound (1e10 kg at a recorded instant); that of the flexible arm, "
        "whose booms give way, is 840 kg all the time. A communication point close to that instant ends the run, by a "
        "limit of the co-simulation on the condition number. Without that limit it goes on and stays exact, since an "
        "unbounded mass is no error in itself: the true arm does not give way there either. It fails where something "
        "asks the arm to move so. In a variant of the manoeuvre the shoulder rolls as well, and two ways of joining "
        "the sides at an exchange are compared. Halfway, the rigid arm is thrown by some 0.2 m if a communication "
        "point lies where it is singular, and not if the macro step is 0.1 % shorter; the flexible arm does not "
        "notice. By inertia, as ours does unless told otherwise, the arm is asked only for what it can do, and "
        "the rigid model holds too. How the study joined its sides is not printed.\n\n"
        "A coupling is called stable at a macro step if no disturbance grows in it: the Jacobian of a macro step comes "
        "by differences of the units themselves, and runs on both sides of the limit show the same. Models in both "
        "directions are stable to 115 ms; beyond, the payload jumps at the wall. Signals act through a stiff latch and "
        "are compared with the monolithic run that has it, since the latch alone is worth 1.7 mm. Held signals lag "
        "behind and brake the payload in proportion to the latch's stiffness and the macro step. Extrapolated ones are "
        "accurate to 1 mm as long as they are stable, to 2 and 5 ms, for a force one way and a motion the other; for "
        "motions both ways to 9 ms in a line and, until they become unstable, to 19 ms in a parabola."
    ),
    source=("X. Dai, A. Raoofian, J. Kövecses, M. Teichmann, Model-based co-simulation of flexible robotic systems"),
    scenarios=("space-case-flexible", "space-case-rigid", "space-arm-flexible", "oscillator"),
    parts=parts,
    pictures=pictures,
    pages=pages,
)
