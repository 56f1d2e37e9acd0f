"""Are the published operation counts of Uicker-Kahn those of an evaluation that keeps no product?"""

from support.epaas_arm import epaas_system

from robodyn_studies.operation_counts import compare_algorithms
from robodyn_studies.uicker_kahn import literal_uicker_kahn


def test_published_count_of_uicker_kahn_lies_between_keeping_products_and_keeping_none():
    # The study quotes 33,743 multiplications and 27,270 additions for 5 joints, from Hollerbach (1980).
    kept = compare_algorithms(epaas_system().motion.mechanics.tree)["inverse, Uicker-Kahn"]["general"]
    none_kept = literal_uicker_kahn(5)

    assert kept.multiplications < 33743 < none_kept.multiplications
    assert kept.additions < 27270 < none_kept.additions


def test_literal_count_of_one_joint_is_that_of_its_formulas_by_hand():
    # T Q and U, U J for D_11; T Q Q, U J for D_111: four kept or made products, one of them again for the second J;
    # two traces of 16, gravity's row (16) and column (4), a D, v v D (2).
    found = literal_uicker_kahn(1)

    assert found.multiplications == 5 * 64 + 2 * 16 + 20 + 3
