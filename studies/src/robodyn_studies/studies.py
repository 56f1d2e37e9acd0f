"""Studies: which are there to reproduce?"""

from __future__ import annotations

from robodyn.presentation.studies import Study
from robodyn_studies.constraints import STUDY as CONSTRAINTS
from robodyn_studies.cosimulation import STUDY as COSIMULATION
from robodyn_studies.epaas import STUDY as EPAAS
from robodyn_studies.rx90 import STUDY as RX90
from robodyn_studies.scara import STUDY as SCARA

STUDIES: dict[str, Study] = {study.name: study for study in (SCARA, EPAAS, CONSTRAINTS, RX90, COSIMULATION)}
