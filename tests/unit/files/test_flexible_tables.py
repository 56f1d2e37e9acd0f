"""Are flexible bodies of a file those that Python makes, and is everything wrong with them reported?"""

import json
import textwrap

import numpy as np
import pytest

from robodyn import ModelError, read_scenario
from robodyn.description.structures import Element, Particles, Reduction, Section, beam, frame, modal_body

HEAD = """
duration = 1
[joints.hinge]
kind = "revolute"
parent = "ground"
child = "link"
"""
ROD = '{ kind = "rod", radius = "10 mm", young = "70 GPa", shear = "27 GPa", density = "2.7 g/cm^3" }'
ROUND = Section.rod(0.01, 7e10, 2.7e10, 2700.0)
FLAT = ("y", "rz")

MASS = [0.5, 1.0, 0.5]
POSITION = [[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [0.8, 0.0, 0.1]]
SHIFT = [[[0, 0, 0], [0, 0, 0]], [[0, 0.3, 0], [0, 0.1, 0.4]], [[0, 1, 0], [0, 0, 1]]]
TURN = [[[0, 0, 0], [0, 0, 0]], [[0, 0, 0.9], [0, -0.8, 0]], [[0, 0, 1.5], [0, -1.2, 0]]]
STIFFNESS = [[200.0, 10.0], [10.0, 900.0]]
TIP = {"position": POSITION[2], "shift": SHIFT[2], "turn": TURN[2]}
MODAL = {"mass": MASS, "position": POSITION, "shift": SHIFT, "turn": TURN, "stiffness": STIFFNESS}
MODAL |= {"nodes": {"end": TIP}}


def read_link(tmp_path, body, rest=""):
    return read_machine(tmp_path, body, rest).mechanism.body("link")


def read_machine(tmp_path, body, rest=""):
    path = tmp_path / "arm.toml"
    path.write_text(HEAD + textwrap.dedent(body) + textwrap.dedent(rest))
    return read_scenario(path).machine


def message(tmp_path, body, rest=""):
    """Flaws by their paths."""
    with pytest.raises(ModelError) as error:
        read_machine(tmp_path, body, rest)
    return {flaw.path: str(flaw) for flaw in error.value.flaws}


def modal_link():
    particles = Particles.lumped(MASS, POSITION, SHIFT, turn=TURN)
    return modal_body("link", particles, STIFFNESS, {"end": tuple(TIP.values())}, damping=0.02)


def as_lists(data):
    """TOML of a table of lists; JSON's lists are TOML's too."""
    flat = {key: value for key, value in data.items() if key != "nodes"}
    flat |= {f"nodes.{name}.{key}": value for name, node in data["nodes"].items() for key, value in node.items()}
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in flat.items())


def write_csv(path):
    axes = ("x", "y", "z", "rx", "ry", "rz")
    rows = [["name", "mass", "x", "y", "z", *(f"mode{k}.{axis}" for k in (1, 2) for axis in axes)]]
    for k, mass in enumerate(MASS):
        motion = [value for mode in range(2) for value in (*SHIFT[k][mode], *TURN[k][mode])]
        rows.append(["end" if k == 2 else "", mass, *POSITION[k], *motion])
    path.write_text("\n".join(",".join(map(str, row)) for row in rows))


@pytest.mark.parametrize(
    ("sizes", "section"),
    [
        ('kind = "rod", radius = "10 mm"', ROUND),
        ('kind = "tube", radius = "20 mm", thickness = "2 mm"', Section.tube(0.02, 0.002, 7e10, 2.7e10, 2700.0)),
        ('kind = "rectangle", width = 0.01, height = 0.03', Section.rectangle(0.01, 0.03, 7e10, 2.7e10, 2700.0)),
        (
            'kind = "general", area = "10 cm^2", iy = "1000 mm^4", iz = 2e-9, torsion = 1.7e-9, shear_area = 5e-4',
            Section(7e10, 2.7e10, 2700.0, 1e-3, 1e-9, 2e-9, 1.7e-9, 5e-4),
        ),
    ],
)
def test_a_beam_of_a_file_is_that_of_python(tmp_path, sizes, section):
    file = f"""
    [bodies.link]
    damping = 0.01
    stiffness = 0.9
    rayleigh = {{ mass = "0.1 1/s", stiffness = "1 ms" }}
    [bodies.link.beam]
    length = "800 mm"
    elements = 4
    frequency = "3 kHz"
    highest = 4000
    interfaces = []
    directions = ["y", "rz"]
    stiffening = true
    section = {{ {sizes}, young = 7e10, shear = 2.7e10, density = 2700 }}
    """
    how = Reduction(interfaces=(), frequency=3000.0, highest=4000.0, directions=FLAT, stiffening=True)
    numbers = {"damping": 0.01, "stiffness": 0.9, "rayleigh": (0.1, 1e-3)}
    found, expected = read_link(tmp_path, file), beam("link", 0.8, section, how, elements=4, **numbers)

    # Units are converted by a product, Python's numbers are written out: the last bit may differ.
    np.testing.assert_allclose(found.modal_stiffness, expected.modal_stiffness, rtol=1e-12)
    assert found.mass == pytest.approx(expected.mass, rel=1e-12)
    assert (found.damping, found.stiffness, found.rayleigh) == (0.01, 0.9, (0.1, 1e-3))
    assert bool(found.node("tip").shortening)


def test_a_frame_of_a_file_is_that_of_python(tmp_path):
    file = f"""
    [sections.round]
    kind = "rod"
    radius = 0.01
    young = 7e10
    shear = 2.7e10
    density = 2700
    [bodies.link.frame]
    root = "base"
    modes = 1
    interfaces = ["hand"]
    nodes = {{ base = [0, 0, 0], corner = [0.3, 0.2, 0], hand = [0.8, 0, 0] }}
    elements = [
        {{ start = "base", end = "corner", section = "round", parts = 2, up = [0, 1, 1] }},
        {{ start = "corner", end = "hand", section = {ROD} }},
    ]
    """
    nodes = {"base": (0, 0, 0), "corner": (0.3, 0.2, 0), "hand": (0.8, 0, 0)}
    elements = [Element("base", "corner", ROUND, 2, (0.0, 1.0, 1.0)), Element("corner", "hand", ROUND)]
    expected = frame("link", nodes, elements, Reduction(interfaces=("hand",), modes=1), root="base")
    found = read_link(tmp_path, file)

    np.testing.assert_allclose(found.frequencies, expected.frequencies, rtol=1e-9)
    assert found.edges == expected.edges


@pytest.mark.parametrize("ending", ["", ".json", ".npz", ".csv"])
def test_modal_data_of_a_table_or_a_file_are_those_of_python(tmp_path, ending):
    rest = as_lists(MODAL)
    if ending:
        rest = f'file = "link{ending}"\n'
    if ending == ".json":
        (tmp_path / "link.json").write_text(json.dumps(MODAL))
    elif ending == ".npz":
        arrays = {key: value for key, value in MODAL.items() if key != "nodes"}
        np.savez(tmp_path / "link.npz", **arrays, **{f"nodes.end.{key}": value for key, value in TIP.items()})
    elif ending == ".csv":
        write_csv(tmp_path / "link.csv")
        rest += f"stiffness = {STIFFNESS}\n"
    assert read_link(tmp_path, "[bodies.link]\ndamping = 0.02\n[bodies.link.modal]\n", rest) == modal_link()


def test_what_names_a_node_stands_there_unless_an_origin_makes_a_bracket(tmp_path):
    rest = """
    [points]
    end = { body = "link", node = "tip" }
    bracket = { body = "link", node = "tip", origin = ["900 mm", 0, 0] }
    place = { body = "link", origin = ["400 mm", 0, 0] }
    """
    body = f"[bodies.link]\npoints = true\nbeam = {{ length = 0.8, modes = 0, elements = 2, section = {ROD} }}\n"
    mechanism = read_machine(tmp_path, body, rest).mechanism
    places = {point.name: (point.origin, point.node) for point in mechanism.points}

    assert places["end"] == ((0.8, 0.0, 0.0), "tip")
    assert places["bracket"] == ((0.9, 0.0, 0.0), "tip")
    assert places["place"] == ((0.4, 0.0, 0.0), None)
    assert {"link.root", "link.tip", "link.root_tip1"} < set(places)


def test_modes_are_used_like_joints(tmp_path):
    rest = """
    [blocks.pad]
    law = "spring"
    on = "link.mode1"
    parameters = { stiffness = "100 N/m" }
    [initial]
    link.mode1.position = "2 mm"
    """
    body = f'tunable = ["link.damping"]\n{HEAD}[bodies.link.beam]\nlength = 0.8\nmodes = 0\nsection = {ROD}\n'
    path = tmp_path / "arm.toml"
    path.write_text(body + textwrap.dedent(rest))
    scenario = read_scenario(path)

    assert scenario.initial["link.mode1.position"] == pytest.approx(2e-3)
    assert scenario.machine.blocks[0].on == "link.mode1"


def test_everything_wrong_with_flexible_bodies_is_told_at_once(tmp_path):
    flaws = message(
        tmp_path,
        """
        [sections]
        thick = { kind = "tube", radius = 0.01, thickness = "20 mm", young = 1, shear = 1, density = 1 }
        odd = { kind = "rectangel", width = 1 }
        spare = { kind = "rectangle", width = -1, height = 1, young = 0, shear = 1, density = "3 kg" }

        [bodies.link]
        mass = 3
        damping = -0.1
        points = true
        beam = { length = -1, section = "thick", directon = ["y"] }

        [bodies.fork]
        rayleigh = { mass = "1 s" }
        [bodies.fork.frame]
        modes = 2
        frequency = 10
        nodes = { root = [0, 0, 0], tip = [1, 0, 0] }
        elements = [{ start = "root", end = "tpi", section = "odd", parts = 0, up = [0, 0, 0] }]

        [bodies.both]
        beam = {}
        modal = {}
        """,
        """
        [joints]
        elbow = { kind = "revolute", parent = "link", child = "fork", node = "top" }
        wrist = { kind = "revolute", parent = "fork", child = "both" }
        [loads.weight]
        point = "link.tip"
        [initial]
        link.mode1.position = 0.1
        fork.mode2.positon = 0.1
        """,
    )
    expected = {
        "sections.thick.thickness": "outer radius",
        "sections.odd.kind": "'rectangle'",
        "sections.spare.width": "positive",
        "sections.spare.young": "positive",
        "sections.spare.density": "kg/m^3",
        "sections.spare": "it is not used",
        "bodies.link.mass": "follows from 'beam'",
        "bodies.link.damping": "negative",
        "bodies.link.beam.length": "positive",
        "bodies.link.beam.modes": "highest frequency",
        "bodies.link.beam.directon": "'directions'",
        "bodies.fork.rayleigh.mass": "1/s",
        "bodies.fork.frame.modes": "either",
        "bodies.fork.frame.elements[0]": "'tip'",
        "bodies.fork.frame.elements[0].parts": "at least 1",
        "bodies.fork.frame.elements[0].up": "zero",
        "bodies.both": "exactly one of 'beam', 'frame', 'modal'",
        "initial.fork.mode2.positon": "'fork.mode2.position'",
    }
    assert flaws.keys() == expected.keys()
    assert [path for path, part in expected.items() if part not in flaws[path]] == []


def test_nodes_that_do_not_exist_are_told_together_with_other_flaws(tmp_path):
    body = f"[bodies.link.beam]\nlength = 0.8\nmodes = 0\nsection = {ROD}\n[bodies.hand]\nmass = -1\n[bodies.rest]\n"
    rest = """
    [joints.grip]
    kind = "fixed"
    parent = "link"
    child = "hand"
    node = "tpi"
    [joints.next]
    kind = "fixed"
    parent = "link"
    child = "rest"
    origin = [0.75, 0, 0]
    """
    flaws = message(tmp_path, body, rest)
    assert flaws.keys() == {"bodies.hand.mass", "joints.grip.node", "joints.next.origin"}
    assert "'tip'" in flaws["joints.grip.node"]
    assert "nearest is 'root_tip7'" in flaws["joints.next.origin"]


@pytest.mark.parametrize(
    ("change", "path", "part"),
    [
        ({"mass": [1.0, 2.0]}, "position", "(2, 3), is (3, 3)"),
        ({"mass": [1.0, -1.0, 1.0]}, "mass", "negative"),
        ({"shift": [[0, 1, 0]] * 3}, "shift", "(3, 0, 3), is (3, 3)"),
        ({"shift": [[[0, 1, 0]], [[0]]]}, "shift", "different lengths"),
        ({"shift": [[[0, 1, 0]] * 2] * 3, "turn": [[[0, 0, 0]] * 2] * 3}, "shift", "moves no mass"),
        ({"stiffness": [1.0, 2.0, 3.0]}, "stiffness", "(2,), is (3,)"),
        ({"stiffness": [[1.0, 2.0], [3.0, 1.0]]}, "stiffness", "symmetric"),
        ({"stiffness": [1.0, 0.0]}, "stiffness", "positive for each mode"),
        ({"stiffness": ["3 apples", 1.0]}, "stiffness[0]", "apples"),
        ({"nodes": {}}, "nodes", "there are none"),
        ({"nodes": {"end": {"position": [0, 0, 1], "shift": [[0, 1, 0]]}}}, "nodes.end.shift", "(2, 3), is (1, 3)"),
    ],
)
def test_modal_data_that_do_not_fit_are_told(tmp_path, change, path, part):
    flaws = message(tmp_path, "[bodies.link.modal]\n", as_lists(MODAL | change))
    assert part in flaws[f"bodies.link.modal.{path}"]


@pytest.mark.parametrize(
    ("file", "text", "part"),
    [
        ("none.npz", None, "is not a file"),
        ("link.xls", "", ".npz, .json, .csv"),
        ("link.npz", "text", "not an .npz archive"),
        ("link.json", "{", "is not JSON"),
        ("link.json", "[]", "must hold an object"),
        ("link.csv", "name,mass,x,y,z\n", "has no rows"),
        ("link.csv", "mass,x,y,z,mode1.x,mode1.y,weight\n1,2,3,4,5,6,7", "missing mode1.z; unknown weight"),
        ("link.csv", "mass,x,y,z,mode1.x,mode1.y,mode1.z\n1,2,3,4,5,6,a", "row 1, mode1.z: 'a'"),
    ],
)
def test_a_data_file_that_cannot_be_used_is_told(tmp_path, file, text, part):
    if text is not None:
        (tmp_path / file).write_text(text)
    flaws = message(tmp_path, f'[bodies.link.modal]\nfile = "{file}"\n')
    assert list(flaws) == ["bodies.link.modal.file"]
    assert part in flaws["bodies.link.modal.file"]


def test_flaws_of_a_data_file_name_it(tmp_path):
    (tmp_path / "link.json").write_text(json.dumps(MODAL | {"colour": 3, "mass": "much"}))
    flaws = message(tmp_path, '[bodies.link.modal]\nfile = "link.json"\nstiffness = [1, 2]\n')
    assert flaws.keys() == {
        "bodies.link.modal.stiffness",
        "bodies.link.modal[link.json].colour",
        "bodies.link.modal[link.json].mass",
    }
