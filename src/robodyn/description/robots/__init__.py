"""Robot files (URDF, SDF, MJCF, xacro) as machines, with a balance sheet of every element and attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from robodyn.base import Flaw, ModelError, Unreadable, refuse, refuse_word
from robodyn.description.model import Machine

from .building import Robot, RobotDraft, build_machine
from .links import MeshFiles, copy_meshes
from .sdf import read_sdf
from .urdf import read_urdf
from .writing import export_robot
from .xml_tree import (
    CONVERTED,
    BalanceSheet,
    XmlElement,
    load_xml,
    make_balance_sheet,
    parse_xml,
)

__all__ = ["BalanceSheet", "Robot", "copy_meshes", "export_robot", "import_robot", "read_robot"]

BASES = ("fixed", "free", "planar")
XACRO = ".xacro"
FORMATS = "a robot file is URDF (<robot>), SDF (<sdf>) or MJCF (<mujoco>)"


def read_robot(path: str | Path, **options: object) -> Machine:
    """Read the machine of a URDF, SDF, MJCF or xacro file; options are those of `import_robot`."""
    return import_robot(path, **options).machine  # type: ignore[arg-type]


def import_robot(
    path: str | Path,
    base: str | None = None,
    search: Sequence[str | Path] = (),
    keep_massless: bool = False,
    lock: Iterable[str] | Mapping[str, float | None] = (),
) -> Robot:
    """Read a robot file, with its balance sheet.

    Args:
        base: joint between the ground and a root link of which the file says nothing: "fixed" (by default of URDF
            with joints that move), "free" (of others) or "planar"; MJCF says it itself.
        search: folders in which packages and meshes are looked for, beside the robot's own.
        keep_massless: keep joints that move nothing that has inertia; no motion can be simulated then.
        lock: joints that are fixed, names or patterns such as "finger*": where the robot starts, or at a position
            [rad or m] given for each.

    Raises:
        ModelError: with every problem of the file, each with its line.
    """
    path = Path(path)
    if base is not None:
        refuse_word("base", base, BASES)
    try:
        root = _load(path)
        draft = _read(root, path, base, search)
        if base is not None and not draft.stands_as_asked:
            draft.flaws.add("base", f"'{base}' has no effect: the file says how the robot stands", "leave it out")
        locked = dict(lock) if isinstance(lock, Mapping) else dict.fromkeys(lock)
        machine, initial = build_machine(draft, keep_massless, locked)
        if machine.name not in root.attributes.values():
            root.mark(CONVERTED, f"the name is written '{machine.name}'", "name", "model")
    except OSError as error:
        refuse("", f"cannot be read: {error.strerror or error}", source=str(path))
    except Unreadable as error:
        refuse("", str(error), source=str(path))
    except ModelError as error:
        raise ModelError(error.flaws, str(path)) from error
    source = f"{path} (expanded by xacro)" if path.suffix.lower() == XACRO else str(path)
    return Robot(machine, make_balance_sheet(root, source), initial)


def _load(path: Path) -> XmlElement:
    if path.suffix.lower() != XACRO:
        return load_xml(path)
    load_xml(path)
    try:
        import xacro
    except ImportError as error:
        raise Unreadable("is a xacro file, which needs xacro: pip install 'robodyn[xacro]'") from error
    try:
        return parse_xml(xacro.process_file(str(path)).toprettyxml(indent="  "))
    except Unreadable:
        raise
    except Exception as error:  # xacro raises whatever its expressions do
        raise Unreadable(f"xacro cannot expand it: {error}") from error


def _read(root: XmlElement, path: Path, base: str | None, search: Sequence[str | Path]) -> RobotDraft:
    meshes = MeshFiles(path, search)
    if root.tag == "robot":
        return read_urdf(root, meshes, base)
    if root.tag in ("sdf", "gazebo"):
        return read_sdf(root, meshes, base)
    if root.tag == "mujoco":
        from .mjcf import read_mjcf

        return read_mjcf(root, path, meshes)
    raise Unreadable(f"has the root element <{root.tag[:80]}>: {FORMATS}")
