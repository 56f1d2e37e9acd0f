"""Does an error name its source, count its problems and suggest the nearest name?"""

import pytest

from robodyn.base.errors import Flaw, FlawList, ModelError, nearest


def test_a_flaw_reads_as_path_problem_and_remedy():
    assert str(Flaw("a.b", "is bad", "mend it")) == "a.b: is bad (mend it)"
    assert str(Flaw("", "is bad")) == "is bad"


def test_a_flaw_is_seen_from_its_container():
    assert Flaw("mass", "is bad").under("bodies.arm").path == "bodies.arm.mass"
    assert Flaw("", "is bad").under("bodies.arm").path == "bodies.arm"


def test_an_error_tells_source_count_and_every_flaw():
    flaws = FlawList()
    flaws.add("a", "is bad")
    flaws.add("b", "is worse", "mend it")
    with pytest.raises(ModelError) as error:
        flaws.raise_if_any("arm.toml")
    assert str(error.value).splitlines() == ["arm.toml: 2 problems", "  a: is bad", "  b: is worse (mend it)"]


def test_no_flaw_is_no_error():
    flaws = FlawList()
    flaws.raise_if_any("arm.toml")
    assert not flaws.found


@pytest.mark.parametrize(
    ("name", "known", "remedy"),
    [
        ("mas", ("mass", "com"), "did you mean 'mass'?"),
        ("zzz", ("mass", "com"), "known: com, mass"),
        ("zzz", (), "none are defined here"),
        (3, ("mass",), "known: mass"),
    ],
)
def test_the_nearest_known_name_is_suggested(name, known, remedy):
    assert nearest(name, known) == remedy


def test_a_long_list_of_known_names_is_cut():
    assert nearest("zzz", [f"name{k:02d}" for k in range(40)]).endswith("name11, ...")
