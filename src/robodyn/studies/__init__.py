"""Published studies, reproduced: figures beside ours, pictures, a page each."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.studies.constraints import STUDY as CONSTRAINTS
from robodyn.studies.cosimulation import STUDY as COSIMULATION
from robodyn.studies.epaas import STUDY as EPAAS
from robodyn.studies.figure import Figure
from robodyn.studies.rx90 import STUDY as RX90
from robodyn.studies.scara import STUDY as SCARA
from robodyn.studies.study import Picture, Study

STUDIES: Mapping[str, Study] = {study.name: study for study in (SCARA, EPAAS, CONSTRAINTS, RX90, COSIMULATION)}

__all__ = ["STUDIES", "Figure", "Picture", "Study"]
