"""Does a proof fail where numbers are not those of the reference?"""

import math

import pytest


@pytest.mark.parametrize(
    ("ours", "reference", "relative"), [(1.0, 1.2, False), ([0.0, 3.0], [0.0, 2.0], True), (math.nan, 1.0, False)]
)
def test_a_proof_fails_beyond_what_is_allowed_and_where_there_is_no_number(proof, ours, reference, relative):
    with pytest.raises(AssertionError, match="allowed 0.1"):
        proof("it", kind="program", source="another", ours=ours, reference=reference, within=0.1, relative=relative)


def test_a_proof_holds_within_what_is_allowed(proof):
    proof("it", kind="program", source="another", ours=[1.0, 2.0], reference=[1.0, 2.05], within=0.1)
    with pytest.raises(AssertionError, match="guess"):
        proof("it", kind="guess", source="another", deviation=0.0, within=0.1)
