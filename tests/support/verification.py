"""One page of proof: what was compared with what others made, how far apart it is, and how to see it again.

A test that compares a number of ours with a closed form, a publication or another program says so by `proof`:

    proof("end of a row of four-bars", kind="published", source="IFToMM, A02", ours=x, reference=PUBLISHED, within=3e-6)

which asserts it. `make verify` runs these tests and writes what they found into docs/verification.md; a row that is not
asserted by a test cannot stand there.
"""

from pathlib import Path

import numpy as np
import pytest

PROPERTY = "verification"
KINDS = {"closed form": "Closed forms", "published": "Published values", "program": "Other programs", "log": "Logs"}
HEAD = """# Verification

What was compared with what nobody of this project made. `make verify` computes every row anew and writes this page; a
row is an assertion of the test that is named with it, and the test fails where the deviation is larger than allowed.
Published studies as a whole are compared by `robodyn reproduce`, logs of machines by
[`robodyn validate`](fitting.md#proof-on-data-that-were-not-seen). `verify/README.md` says how your own log gets a row.
Drake is compared where it is installed; `tests/references/test_drake.py` says how.
"""


@pytest.fixture
def proof(record_property):
    """Assert that numbers are those of a reference, and put them on the page of proof."""

    def prove(what, *, kind, source, within, ours=None, reference=None, deviation=None, unit="", relative=False):
        """Args:
        kind: "closed form", "published", "program" or "log"; source: which.
        ours, reference: arrays of one shape, compared entry by entry; or `deviation`, computed by the test.
        within: allowed deviation, in `unit`, or of the reference's largest entry where it is `relative`.
        """
        assert kind in KINDS, kind
        if deviation is None:
            ours, reference = np.broadcast_arrays(np.asarray(ours, float), np.asarray(reference, float))
            deviation = float(np.max(np.abs(ours - reference)))
            if relative:
                deviation /= float(np.max(np.abs(reference)))
        assert deviation <= within, f"{what}: {deviation:.3g} {unit} from {source}, allowed {within:g}"
        entry = {"what": what, "kind": kind, "source": source, "unit": "of its size" if relative else unit}
        record_property(PROPERTY, entry | {"deviation": float(deviation), "within": within})

    return prove


def add_option(parser):
    parser.addoption("--verification", metavar="FILE", help="write the page of proof into this file")


def write_page(reporter, config):
    """At the end of a run: all proofs of passed tests, those of one sentence in one row with the largest deviation."""
    path = config.getoption("--verification")
    if not path:
        return
    rows = {}
    for report in reporter.stats.get("passed", ()):
        for name, entry in report.user_properties:
            if name == PROPERTY:
                key = entry["what"], entry["source"]
                row = rows.setdefault(key, entry | {"cases": 0, "test": report.nodeid.partition("[")[0]})
                row["cases"] += 1
                if entry["deviation"] / entry["within"] > row["deviation"] / row["within"]:
                    row |= {"deviation": entry["deviation"], "within": entry["within"]}
    lines = [HEAD]
    for kind in {row["kind"]: None for kind in KINDS for row in rows.values() if row["kind"] == kind}:
        heading = KINDS[kind]
        lines += [f"\n## {heading}\n", "| what | compared with | cases | largest deviation | allowed | test |"]
        lines.append("| --- | --- | --- | --- | --- | --- |")
        for row in sorted((row for row in rows.values() if row["kind"] == kind), key=lambda row: row["what"]):
            unit = f" {row['unit']}" if row["unit"] else ""
            numbers = f"{row['cases']} | {row['deviation']:.0e}{unit} | {row['within']:.0e}{unit}"
            lines.append(f"| {row['what']} | {row['source']} | {numbers} | `pytest {row['test']}` |")
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    reporter.write_line(f"{len(rows)} comparisons, {sum(row['cases'] for row in rows.values())} cases: {path}")
