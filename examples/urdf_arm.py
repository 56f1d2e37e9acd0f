"""What does a robot file say of its dynamics? A URDF is read, and its mass matrix and weights are numbers to use.

For two uniform rods of length l in a vertical plane, M22 = m l^2 / 3, M12 = M22 + m l^2 / 2 cos(q2), and the second
joint carries m g l / 2 cos(q1 + q2).
"""

import tempfile
from pathlib import Path

import numpy as np

import robodyn as rd
from robodyn.presentation.reporting import plot_signals

LENGTH, MASS = 0.6, 3.0
LINK = """<link name="{name}"><inertial><origin xyz="{half} 0 0"/><mass value="{mass}"/>
  <inertia ixx="1e-9" ixy="0" ixz="0" iyy="{moment}" iyz="0" izz="{moment}"/></inertial></link>"""
JOINT = """<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{place} 0 0"/><axis xyz="0 -1 0"/></joint>"""


def write_urdf(path: Path) -> None:
    """Two rods, one behind the other."""
    numbers = {"half": LENGTH / 2, "mass": MASS, "moment": MASS * LENGTH**2 / 12}
    links = ['<link name="base"/>', *(LINK.format(name=name, **numbers) for name in ("upper", "fore"))]
    joints = (("shoulder", "base", "upper", 0.0), ("elbow", "upper", "fore", LENGTH))
    texts = [JOINT.format(name=name, parent=parent, child=child, place=x) for name, parent, child, x in joints]
    path.write_text(f'<robot name="arm">{"".join(links + texts)}</robot>', encoding="utf-8")


def read_arm() -> rd.Robot:
    """The robot as it is read, with its balance sheet."""
    with tempfile.TemporaryDirectory() as folder:
        write_urdf(Path(folder) / "arm.urdf")
        return rd.import_robot(Path(folder) / "arm.urdf")


def main() -> dict[str, np.ndarray]:
    """Mass matrix [kg m^2] and the torques that hold the arm [N m] at q = (0.4, 0.7)."""
    dynamics, q = rd.MachineDynamics(read_arm().machine), np.array([0.4, 0.7])
    return {"mass_matrix": dynamics.mass_matrix(q), "weight": dynamics.holding_forces(q)}


def draw(path: str) -> None:
    """The arm let go."""
    plot_signals(rd.simulate(read_arm().scenario(duration=2.0)), ["shoulder.position", "elbow.position"], path)


if __name__ == "__main__":
    for name, value in main().items():
        print(name, value, sep="\n")
