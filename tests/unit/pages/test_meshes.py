"""Are meshes read in every format with unit, colour and place, made smaller to fit, and refused where damaged?"""

import json
import struct

import numpy as np
import pytest

from robodyn.presentation.pages.meshes import Mesh, MeshStore, decimate, fit_budget, read_meshes, size_of

TRIANGLES = np.array([[[0, 0, 0], [1, 0, 0], [0, 2, 0]], [[0, 0, 0], [0, 0, 3], [1, 0, 0]]], float)
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>
<unit meter="0.001"/></asset><library_effects><effect id="e"><profile_COMMON><technique sid="t"><lambert>
<diffuse><color>1 0.5 0 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="s">
<float_array id="a" count="9">0 0 0 1000 0 0 0 2000 0</float_array><technique_common>
<accessor source="#a" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source><vertices id="v">
<input semantic="POSITION" source="#s"/></vertices><triangles count="1" material="k">
<input semantic="VERTEX" source="#v" offset="0"/>
<p>0 1 2</p></triangles></mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="w">
<node><translate>0 0 3000</translate><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="k" target="#m"/></technique_common></bind_material></instance_geometry></node>
</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#w"/></scene>
</COLLADA>"""


def binary(triangles, head=b"solid"):
    """The bytes of a binary STL; the word that begins text files may begin these too."""
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *corners.ravel(), 0) for corners in triangles)
    return head.ljust(80) + struct.pack("<I", len(triangles)) + rows


def text(triangles):
    corners = "".join(
        "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in one) + "endloop\nendfacet\n"
        for one in triangles
    )
    return f"solid thing\n{corners}endsolid thing\n".encode()


def triangles_of(mesh):
    """Triangles by their corners, in an order that tells nothing but their sense of rotation."""
    found = mesh.corners[mesh.faces]
    return sorted(np.roll(one, -np.lexsort(one.T)[0], axis=0).round(4).tolist() for one in found)


def gltf(uri):
    data = TRIANGLES[0].astype("<f4").tobytes()
    plain = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "scale": [1, 1, -1]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": uri}],
    }  # fmt: skip
    return json.dumps(plain), data


@pytest.mark.parametrize("write", [binary, text])
def test_stl_is_read_with_its_scale(tmp_path, write):
    file = tmp_path / "a.stl"
    file.write_bytes(write(TRIANGLES))
    (mesh,) = read_meshes(str(file), (2, 1, 1))
    assert len(mesh.corners) == 4
    assert mesh.colour is None
    expected = Mesh((TRIANGLES * (2, 1, 1)).reshape(-1, 3), np.arange(6).reshape(2, 3))
    assert triangles_of(mesh) == triangles_of(expected)
    # A mirrored mesh is turned inside out: its triangles run the other way round.
    (mirrored,) = read_meshes(str(file), (-1, 1, 1))
    expected = Mesh((TRIANGLES * (-1, 1, 1))[:, ::-1].reshape(-1, 3), np.arange(6).reshape(2, 3))
    assert triangles_of(mirrored) == triangles_of(expected)


def test_obj_has_the_colours_of_the_file_beside_it(tmp_path):
    (tmp_path / "a.mtl").write_text("newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\n")
    faces = "usemtl red\nf 1 2 3\nusemtl blue\nf 1 2 4\n"
    (tmp_path / "a.obj").write_text(f"mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n{faces}")
    found = read_meshes(str(tmp_path / "a.obj"))
    assert sorted((mesh.colour, len(mesh.faces)) for mesh in found) == [("#0000ff", 1), ("#ff0000", 1)]


def test_dae_has_its_unit_place_and_colour(tmp_path):
    (tmp_path / "a.dae").write_text(DAE)
    (mesh,) = read_meshes(str(tmp_path / "a.dae"))
    assert mesh.colour == "#ff8000"
    assert np.allclose(mesh.corners[mesh.faces], [[[0, 0, 3], [1, 0, 3], [0, 2, 3]]])


def test_gltf_reads_buffers_beside_it_and_turns_what_is_mirrored(tmp_path):
    page, data = gltf("a.bin")
    (tmp_path / "a.bin").write_bytes(data)
    (tmp_path / "a.gltf").write_text(page)
    (mesh,) = read_meshes(str(tmp_path / "a.gltf"))
    assert triangles_of(mesh) == [[[0, 0, 0], [0, 2, 0], [1, 0, 0]]]


def test_files_of_other_folders_are_not_read(tmp_path):
    folder = tmp_path / "meshes"
    folder.mkdir()
    page, data = gltf("../secret.bin")
    (tmp_path / "secret.bin").write_bytes(data)
    (folder / "a.gltf").write_text(page)
    with pytest.raises(ValueError, match=r"only .mtl and .bin files of its own folder are read"):
        read_meshes(str(folder / "a.gltf"))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.stl", b""),
        ("a.stl", b"nothing"),
        ("a.stl", b"solid x\nvertex 1 2 3\n"),
        ("a.stl", binary(TRIANGLES)[:-1]),
        ("a.stl", text([[[0, 0, "x"]] * 3])),
        ("a.stl", binary(np.full((1, 3, 3), np.nan))),
        ("a.obj", b"v 1 2\nf 1 2 9\n"),
        ("a.dae", b"<COLLADA/>"),
        ("a.dae", b'<!DOCTYPE x [<!ENTITY a "b">]>' + DAE.encode()),
        ("a.glb", b"glTF" + bytes(40)),
        ("a.gltf", b"{"),
    ],
)
def test_damaged_meshes_are_refused(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match="."):
        read_meshes(str(tmp_path / name))


def cube(n):
    """The skin of a unit cube, n times n squares a side, each corner once."""
    u = np.linspace(0, 1, n + 1)
    squares = [(u[i], u[i + 1], u[j], u[j + 1]) for i in range(n) for j in range(n)]
    side = [[[a, c, 0], [a, d, 0], [b, d, 0]] for a, b, c, d in squares]
    side += [[[a, c, 0], [b, d, 0], [b, c, 0]] for a, b, c, d in squares]
    low = np.array(side)
    turns = [low[:, :, [0, 1, 2]], low[:, :, [2, 0, 1]], low[:, :, [1, 2, 0]]]
    places = np.concatenate([*turns, *(1 - turn for turn in turns)]).reshape(-1, 3)
    corners, index = np.unique(places.round(9), axis=0, return_inverse=True)
    return Mesh(corners, index.reshape(-1, 3))


def volume(mesh):
    a, b, c = (mesh.corners[mesh.faces[:, k]] for k in range(3))
    return np.sum(a * np.cross(b, c)) / 6


def test_a_decimated_cube_keeps_its_edges_and_its_volume():
    fine = cube(20)
    assert abs(volume(fine)) == pytest.approx(1.0)
    coarse = decimate(fine, 0.26)
    assert len(coarse.faces) < 0.1 * len(fine.faces)
    # Its planes meet in its edges, so that clusters there stay on them; means of corners would cut off 8 %.
    assert volume(coarse) == pytest.approx(volume(fine), rel=0.002)
    assert np.ptp(coarse.corners, axis=0) == pytest.approx([1, 1, 1], abs=2e-3)


def test_meshes_fit_into_their_budget_together():
    fine = cube(40)
    (whole,), cell = fit_budget([fine], size_of(fine))
    assert (whole, cell) == (fine, 0.0)
    for most in (size_of(fine) // 2, 5000):
        fitted, cell = fit_budget([fine, fine], most)
        assert cell > 0
        assert 0.3 * most < sum(size_of(mesh) for mesh in fitted) <= most


def test_a_page_has_each_mesh_once_and_says_what_was_left_out(tmp_path):
    mesh = cube(40)
    (tmp_path / "a.stl").write_bytes(binary(mesh.corners[mesh.faces]))
    store = MeshStore()
    assert store.find(str(tmp_path / "a.stl"), (1, 1, 1)) == store.find(str(tmp_path / "a.stl"), (1, 1, 1)) == [0]
    assert store.find(str(tmp_path / "a.stl"), (2, 1, 1)) == [1]
    plain = store.encode(0.05)
    letters = sum(len(one["corners"]) + len(one["faces"]) for one in plain["meshes"])
    assert letters <= 0.05 * 2**20
    assert "simplified from 38,400" in plain["mesh_note"]
    assert store.encode(2.0)["mesh_note"] == ""
