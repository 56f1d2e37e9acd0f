"""EPAAS study: do its wrist coordinates and its electronic coupling do what it says? (section 2.1)"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.presentation.studies import PublishedValue, above, below
from robodyn_studies.catalog.epaas_cartesian import PLACES, WristPlace, epaas_wrist_path, pistons_at, place_at

SOURCE, OWN = "section 2.1", "this project's own"


@cache
def wrist_run() -> Run:
    """All five axes along the catalogue's places of the wrist, its weight balanced."""
    return simulate(epaas_wrist_path(weight=False))


def wrist_figures() -> Iterator[PublishedValue]:
    """Places to pistons and back; the reach of the printed arm; what the coupling keeps."""
    generator = np.random.default_rng(7)
    low, high = (0.25, 0.2, -1.0, -0.3, -0.3), (0.4, 0.36, 1.0, 0.3, 0.3)
    places = [WristPlace(*row) for row in generator.uniform(low, high, (50, 5))]
    apart = max(max(abs(a - b) for a, b in zip(place_at(pistons_at(p)), p, strict=True)) for p in places)
    yield below("wrist_places_to_pistons_and_back", apart, 1e-12, "m or rad", "50 random places; rounding alone", OWN)
    rolled = max(abs(place_at(pistons_at(p, coupled=False)).psi - p.psi) for p in PLACES)
    reason = "without the coupling the gripper rolls by what the forearm turns on the catalogue's path"
    yield above("wrist_roll_without_coupling", float(np.degrees(rolled)), 10.0, "deg", reason, SOURCE)
    kept = max(abs(place_at(pistons_at(p)).psi - p.psi) for p in PLACES)
    yield below("wrist_roll_with_coupling", float(np.degrees(kept)), 1e-9, "deg", "the coupling keeps it", SOURCE)
