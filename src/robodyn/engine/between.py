"""Reading between rows: how does Python let the engine say how good that is?"""

import ctypes

import numpy as np

from robodyn.engine.binding import address_of, copied, fill, functions
from robodyn.engine.trajectory import Trajectory


class RowReading:
    """What of the outputs says how they are read between rows, (n_y,) each.

    Args:
        unit: number of each output's unit, 0 for none, negative for those that hold; rate: number of the output that is
            its rate, -1 for none; degree: how many times it is itself the rate of another.
    """

    def __init__(self, unit: list[int], rate: list[int], degree: list[int]) -> None:
        self.tables = {
            name: np.array(table, np.int64) for name, table in (("unit", unit), ("rate", rate), ("degree", degree))
        }
        n = len(unit)
        strides = {"t_next": 1, "y_next": n, "knot_next": 1, "probe_next": 1 + 2 * n}
        self.structure = fill("Record", None, n_y=n, **self.tables, **strides)

    def errors(self, trajectory: Trajectory, share: float) -> np.ndarray:
        """Error of each output between rows, as part of its size, that this share of the probes stays below; 0 for
        outputs that hold."""
        probes = np.column_stack(trajectory.probes)
        arrays = {"t": trajectory.time, "y": trajectory.y, "knot": trajectory.knots, "probes": probes}
        given = {name: np.ascontiguousarray(array, float) for name, array in arrays.items()}
        counts = {"n_rows": len(trajectory.time), "n_probes": len(probes)}
        record = copied(self.structure, **counts, **{name: address_of(array) for name, array in given.items()})
        errors = np.zeros(len(self.tables["unit"]))
        if not functions().find_errors_between(ctypes.addressof(record), share, address_of(errors)):
            raise MemoryError("there is not enough memory to look between the rows")
        return errors
