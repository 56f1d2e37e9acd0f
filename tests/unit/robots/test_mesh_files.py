"""Meshes are found by package, model, file and relative paths, within the robot's folder and those allowed."""

import shutil

import pytest
from support.robot_files import OWN, example_robot

from robodyn.description.robots import import_robot
from robodyn.description.robots.links import MeshError, MeshFiles

MESH = OWN / "meshes" / "tetrahedron.stl"


@pytest.fixture
def home(tmp_path):
    """A package `lab` with a robot in its folder `urdf` and a mesh; beside it one that is no part of it."""
    for folder in ("lab/urdf", "lab/meshes", "other"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "lab/package.xml").write_text("<package/>")
    (tmp_path / "lab/urdf/robot.urdf").write_text("<robot/>")
    shutil.copy(MESH, tmp_path / "lab/meshes/a b.stl")
    shutil.copy(MESH, tmp_path / "other/c.stl")
    return tmp_path


@pytest.mark.parametrize(
    "uri",
    [
        "package://lab/meshes/a b.stl",
        "package:///lab/meshes/a b.stl",
        "model://lab/meshes/a%20b.stl",
        "../meshes/a b.stl",
        "file://{}",
    ],
)
def test_a_mesh_of_the_package_is_found(home, uri):
    wanted = home / "lab/meshes/a b.stl"
    assert MeshFiles(home / "lab/urdf/robot.urdf").find(uri.format(wanted)) == wanted


@pytest.mark.parametrize("uri", ["../../other/c.stl", "file://{}", "package://lab/../other/c.stl"])
def test_a_mesh_outside_is_refused_unless_its_folder_is_allowed(home, uri):
    outside = home / "other/c.stl"
    file = home / "lab/urdf/robot.urdf"
    with pytest.raises(MeshError, match="outside of the robot's folder"):
        MeshFiles(file).find(uri.format(outside))
    if not uri.startswith("package"):
        assert MeshFiles(file, [home / "other"]).find(uri.format(outside)) == outside


def test_a_link_out_of_the_folder_is_outside(home):
    (home / "lab/meshes/link.stl").symlink_to(home / "other/c.stl")
    with pytest.raises(MeshError, match="outside"):
        MeshFiles(home / "lab/urdf/robot.urdf").find("package://lab/meshes/link.stl")


def test_a_folder_to_search_has_packages_and_meshes(home):
    file = home / "other/robot.urdf"
    with pytest.raises(MeshError, match="no such file"):
        MeshFiles(file).find("package://elsewhere/meshes/a b.stl")
    assert MeshFiles(file, [home]).find("package://lab/meshes/a b.stl").name == "a b.stl"
    assert MeshFiles(file, [home / "lab"]).find("package://lab/meshes/a b.stl").name == "a b.stl"


@pytest.mark.parametrize(("uri", "what"), [("https://a/b.stl", "looked up"), ("", "not a path"), ("a.dae", "no such")])
def test_other_paths_are_refused_with_the_reason(home, uri, what):
    with pytest.raises(MeshError, match=what):
        MeshFiles(home / "lab/urdf/robot.urdf").find(uri)


def test_a_mesh_that_is_none_is_refused(home):
    (home / "lab/meshes/cut.stl").write_bytes(bytes(200))
    (home / "lab/meshes/a.ply").write_text("ply")
    files = MeshFiles(home / "lab/urdf/robot.urdf")
    with pytest.raises(MeshError, match="not an STL file, or is truncated"):
        files.find("../meshes/cut.stl")
    with pytest.raises(MeshError, match="cannot be drawn"):
        files.find("../meshes/a.ply")


def test_meshes_of_a_published_robot_are_found_by_their_package():
    robot = import_robot(example_robot("xarm7.urdf"))
    files = [look.file for body in robot.machine.mechanism.bodies for look in body.looks if not look.collision]
    assert len(files) == 8
    assert all(file.endswith(".stl") for file in files)
