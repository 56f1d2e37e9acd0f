"""Are figures judged as they say?"""

import math

from robodyn.studies import PublishedValue, above, below


def test_a_figure_is_reproduced_within_its_tolerance_and_not_beyond():
    assert PublishedValue("f", 2.0, 2.1, tolerance=0.2).ok is True
    assert PublishedValue("f", 2.0, 2.3, tolerance=0.2).ok is False
    assert PublishedValue("f", 2.0, math.nan, tolerance=0.2).ok is False


def test_a_figure_without_a_value_is_not_reproducible():
    figure = PublishedValue("f", 2.0, None, tolerance=0.2, reason="no data")
    assert figure.ok is None
    assert figure.verdict == "not reproducible"


def test_limits_are_statements():
    assert below("f", 1.0, 2.0, "s", "").ok is True
    assert below("f", 3.0, 2.0, "s", "").ok is False
    assert above("f", 3.0, 2.0, "s", "").ok is True
    assert above("f", math.nan, 2.0, "s", "").ok is False


def test_a_program_gets_the_promised_keys():
    message = PublishedValue("f", 2.0, 2.1, "s", 0.2, "why", "where").as_plain()
    assert {"name", "published", "value", "unit", "tolerance", "ok", "source"} <= message.keys()
