"""Does cosim run a file, keep its runs, and report every problem with file, key and value?"""

from robodyn import load

FILE = """
duration = 0.1

[subsystems.first]
scenario = "oscillator-first"
set = { "spring.stiffness" = 20.0 }
interfaces.port = { on = "slide", takes = "model", stiffness = "100 N/m" }

[subsystems.second]
scenario = "oscillator-second"
interfaces.port = { on = "slide", takes = "force" }

[[connections]]
between = ["first.port", "second.port"]

[settings]
step = "5 ms"
"""
FLAWED = """
[subsystems.first]
scenario = "oscillator-fist"

[subsystems.second]
scenario = "oscillator-second"
solver = { metod = "rk4" }
interfaces.port = { on = "slide", takes = "forc" }

[[connections]]
between = ["first.port"]
odrer = 1

[settings]
step = "5 mms"
scheme = "paralel"
"""


def test_a_file_is_run_and_its_runs_are_kept(invoke, read_json, tmp_path):
    (tmp_path / "masses.toml").write_text(FILE)
    done = invoke("cosim", "masses.toml", "--scheme", "sequential", "--order", "1", "--json")
    assert done.exit_code == 0, done.output
    message = read_json(done.stdout)
    assert message["statistics"]["steps"] == 20
    assert set(message["files"]) == {"first", "second", "coupling"}
    coupling = load(tmp_path / "out" / "masses-coupling.run")
    assert coupling["first.port.position"].final == message["final"]["first"]["slide.position"]
    assert load(tmp_path / "out" / "masses-first.run").provenance.parameters["spring.stiffness"]["value"] == 20.0


def test_every_problem_of_a_file_is_told(invoke, tmp_path):
    (tmp_path / "flawed.toml").write_text(FLAWED)
    done = invoke("cosim", "flawed.toml")
    assert done.exit_code == 2
    parts = [
        "flawed.toml",
        "'oscillator-fist'",
        "solver.metod",
        "takes: 'forc'",
        "connections[0].odrer",
        "between",
        "5 mms",
    ]
    assert [part for part in parts if part not in done.output] == []


def test_wrong_units_of_set_numbers_and_solvers_that_are_no_tables_are_told(invoke, tmp_path):
    text = FILE.replace("= 20.0", '= "20 m"').replace("[[conn", 'solver = "rk4"\n\n[[conn')
    (tmp_path / "flawed.toml").write_text(f"name = 'a/b'\n{text}")
    done = invoke("cosim", "flawed.toml")
    parts = ['set.spring.stiffness: "20 m" must be in N', "second.solver: must be a table", "'a/b' is not a name"]
    assert [part for part in parts if part not in done.output] == []


def test_connections_that_do_not_fit_are_told_with_the_file(invoke, tmp_path):
    (tmp_path / "wrong.toml").write_text(FILE.replace('"second.port"]', '"second.pot"]'))
    done = invoke("cosim", "wrong.toml")
    assert done.exit_code == 2
    assert "wrong.toml" in done.output
    assert "connections[0].second: there is no interface 'second.pot' (did you mean 'second.port'?)" in done.output


def test_a_run_that_diverges_has_an_exit_code_of_its_own(invoke, tmp_path):
    text = FILE.replace("duration = 0.1", "duration = 10.0").replace("5 ms", "0.1 s")
    (tmp_path / "wild.toml").write_text(f"{text}largest_value = 1e4\n")
    done = invoke("cosim", "wild.toml")
    assert done.exit_code == 3
    assert "unstable at this macro step" in done.output
    assert (tmp_path / "out" / "wild-coupling.run").exists()


def test_a_subsystem_has_the_keys_and_units_of_a_scenario(invoke, tmp_path):
    own = """scenario = "oscillator-second"
solver = { method = "rk4", step = "0.5 ms" }
initial = { slide.velocity = "-2000 mm/s" }
recording = { times = ["0 s", "50 ms", 0.1] }"""
    (tmp_path / "masses.toml").write_text(FILE.replace('scenario = "oscillator-second"', own))
    done = invoke("cosim", "masses.toml")
    assert done.exit_code == 0, done.output
    second = load(tmp_path / "out" / "masses-second.run")
    assert second.time.tolist() == [0, 0.05, 0.1]
    assert second["slide.velocity"].values[0] == -2
    assert second.provenance.solver["step"] == 0.5e-3


def test_a_subsystem_is_checked_like_a_scenario(invoke, tmp_path):
    own = """scenario = "oscillator-second"
solver = { method = "rk4", step = "5 m", rtol = "1 mm" }
initial = { slide.velocity = "3 s" }
recording = { rate = "10 ms", odd = 1 }"""
    (tmp_path / "masses.toml").write_text(FILE.replace('scenario = "oscillator-second"', own))
    done = invoke("cosim", "masses.toml")
    assert done.exit_code == 2
    for part in (
        'subsystems.second.solver.step: "5 m" must be in s',
        'subsystems.second.solver.rtol: "1 mm" must be a plain number',
        'subsystems.second.initial.slide.velocity: "3 s" must be in m/s',
        'subsystems.second.recording.rate: "10 ms" must be in Hz',
        "subsystems.second.recording.odd: is unknown",
    ):
        assert part in done.output


def test_a_coupling_that_makes_energy_ends_with_code_3_and_a_table(invoke, read_json, tmp_path):
    text = FILE.replace("duration = 0.1", "duration = 2.0").replace("5 ms", "20 ms")
    (tmp_path / "masses.toml").write_text(text)
    done = invoke("cosim", "masses.toml")
    assert done.exit_code == 3
    assert "energy is conserved by the coupling" in done.output
    assert "VIOLATED" in done.output
    message = read_json(invoke("cosim", "masses.toml", "--json").stdout)
    assert message["outcome"]["kind"] == "suspect"
    checks = message["certificates"]["coupling"]["certificate"]
    assert [check["ok"] for check in checks] == [False, True]


def test_certify_prints_the_errors_of_half_the_macro_step(invoke, tmp_path):
    (tmp_path / "masses.toml").write_text(FILE)
    done = invoke("cosim", "masses.toml", "--order", "1", "--certify")
    assert done.exit_code == 0, done.output
    assert "errors are differences from half the macro step, doubled" in " ".join(done.output.split())
    head = next(line.split() for line in done.output.splitlines() if line.split()[:1] == ["signal"])
    assert head[-2:] == ["error", "unit"]
    row = next(line.split() for line in done.output.splitlines() if line.split()[:1] == ["slide.position"])
    assert 0 < float(row[-2]) < 0.1
    assert row[-1] == "m"
