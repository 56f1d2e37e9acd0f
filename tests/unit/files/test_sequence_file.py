"""Are phases of one motion written to files and read back, and is what is wrong with them reported?"""

import numpy as np
import pytest

from robodyn import ModelError, simulate
from robodyn.description.catalog import find_scenario
from robodyn.description.files import is_sequence, read_scenario, read_sequence, write_sequence


def test_a_sequence_written_to_files_is_read_back_equal_and_runs_bit_equal(tmp_path):
    sequence = find_scenario("scara-phases")
    first, *others = write_sequence(sequence, tmp_path / "phases.toml")
    assert [path.name for path in others] == [f"phases-{name}.toml" for name in ("approach", "rise", "finish")]
    assert is_sequence(first)
    assert not is_sequence(others[0])
    again = read_sequence(first)
    assert (again.name, again.title, again.phases) == (sequence.name, sequence.title, sequence.phases)
    one, other = simulate(sequence), simulate(again)
    assert one.outcome == other.outcome
    # Signals that a phase does not have are no numbers there.
    assert all(np.array_equal(one[name].values, other[name].values, equal_nan=True) for name in one.names)


def test_a_phase_is_changed_in_its_own_file(tmp_path):
    """The tool rises 50 mm above the obstacle before the arm goes on, instead of 5 mm: it takes longer."""
    write_sequence(find_scenario("scara-phases"), tmp_path / "phases.toml")
    rise = tmp_path / "phases-rise.toml"
    text = rise.read_text()
    assert "safe = 0.005" in text
    rise.write_text(text.replace("safe = 0.005", 'safe = "50 mm"'))
    run, before = simulate(read_sequence(tmp_path / "phases.toml")), simulate(find_scenario("scara-phases"))
    cleared, sooner = (next(e.time for e in one.events if e.name == "cleared") for one in (run, before))
    assert cleared > sooner + 0.01
    assert run["lift.position"](cleared) == pytest.approx(0.25, abs=1e-6)


def test_all_that_is_wrong_with_a_sequence_and_its_phases_is_reported(tmp_path):
    write_sequence(find_scenario("scara-phases"), tmp_path / "phases.toml")
    finish = tmp_path / "phases-finish.toml"
    finish.write_text(finish.read_text().replace("duration = 6.0", "duration = -6.0"))
    file = tmp_path / "phases.toml"
    file.write_text(file.read_text().replace("rise.toml", "rize.toml") + "duration = 3\n")
    with pytest.raises(ModelError) as refusal:
        read_sequence(file)
    message = str(refusal.value)
    assert "phases[1]: there is no file 'phases-rize.toml'" in message
    assert "duration: is no key of a file that names phases" in message
    assert "duration: must be positive, is -6" in message
    file.write_text("phases = 3")
    with pytest.raises(ModelError, match="must be a list of files, is 3"):
        read_sequence(file)


def test_a_sequence_is_no_scenario_for_who_reads_one(tmp_path):
    write_sequence(find_scenario("scara-phases"), tmp_path / "phases.toml")
    with pytest.raises(ModelError, match="phases"):
        read_scenario(tmp_path / "phases.toml")
