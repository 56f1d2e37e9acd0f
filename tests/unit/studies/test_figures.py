"""Are figures judged as they say, and do they say what they prove?"""

import json
import math

import pytest

from robodyn.base.plain import to_plain
from robodyn.presentation.studies import Kind, PublishedValue, above, below, count_verdicts, describe_counts


def test_a_figure_is_reproduced_within_its_tolerance_and_not_beyond():
    assert PublishedValue("f", 2.0, 2.1, tolerance=0.2).ok is True
    assert PublishedValue("f", 2.0, 2.3, tolerance=0.2).ok is False
    assert PublishedValue("f", 2.0, math.nan, tolerance=0.2).ok is False


def test_a_figure_without_a_value_is_not_reproducible():
    figure = PublishedValue("f", 2.0, None, tolerance=0.2, reason="no data", kind=Kind.RESULT)
    assert figure.ok is None
    assert figure.verdict == "not reproducible"


def test_a_published_result_that_comes_out_otherwise_is_different_and_no_failure():
    figure = PublishedValue("f", 2.0, 3.0, reason="another machine", kind=Kind.RESULT)
    assert (figure.ok, figure.verdict) == (None, "different")
    assert PublishedValue("f", 2.0, 3.0, reason="shown").verdict == "reported"


def test_limits_are_statements():
    assert below("f", 1.0, 2.0, "s", "").ok is True
    assert below("f", 3.0, 2.0, "s", "").ok is False
    assert above("f", 3.0, 2.0, "s", "").ok is True
    assert above("f", math.nan, 2.0, "s", "").ok is False
    assert below("f", 1.0, 2.0, "s", "").expectation == "at most 2"


def test_only_what_a_publication_printed_is_called_published():
    assert PublishedValue("f", 2.0, 2.1, tolerance=0.2, kind=Kind.RESULT).published == 2.0
    assert PublishedValue("f", 2.0, 2.1, tolerance=0.2).published is None


def test_an_input_has_no_verdict_unless_the_model_has_another():
    assert PublishedValue("f", 4.0, 4.0, tolerance=0.0, kind=Kind.INPUT).ok is None
    assert PublishedValue("f", 4.0, 5.0, tolerance=0.0, kind=Kind.INPUT).ok is False


def test_what_parameters_were_fitted_to_is_an_input():
    with pytest.raises(ValueError, match="masses was fitted to it, so it is an input"):
        PublishedValue("f", 2.0, 2.0, tolerance=0.1, kind=Kind.RESULT, fitted="masses")


@pytest.mark.parametrize(("expected", "tolerance"), [(0.1, 0.1), (-0.1, 0.2), (0.0, 1e-9)])
def test_a_tolerance_as_wide_as_its_value_needs_a_reason(expected, tolerance):
    with pytest.raises(ValueError, match="as wide as its value"):
        PublishedValue("f", expected, 0.0, tolerance=tolerance)
    assert PublishedValue("f", expected, expected, tolerance=tolerance, wide="its last digit").ok
    with pytest.raises(ValueError, match="narrower than its value"):
        PublishedValue("f", 1.0, 1.0, tolerance=tolerance, wide="its last digit")


def test_counts_are_by_kind():
    figures = [
        PublishedValue("a", 2.0, 2.0, tolerance=0.1, kind=Kind.RESULT),
        PublishedValue("b", 2.0, None, kind=Kind.RESULT),
        PublishedValue("c", 2.0, 2.0, tolerance=0.1, kind=Kind.INPUT),
        below("d", 2.0, 1.0, "", ""),
    ]
    assert count_verdicts(figures)[Kind.RESULT] == {"reproduced": 1, "not reproducible": 1}
    assert describe_counts(figures) == [
        "published results: 1 reproduced, 1 not reproducible",
        "inputs: 1 given",
        "own checks: 1 FAILS",
    ]


def test_a_program_gets_the_promised_keys():
    message = to_plain(PublishedValue("f", 2.0, 2.1, "s", 0.2, "why", "where"))
    assert {"name", "kind", "published", "value", "unit", "tolerance", "ok", "source"} <= message.keys()
    assert json.loads(json.dumps(message))["kind"] == "own check"
