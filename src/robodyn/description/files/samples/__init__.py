"""Sample files: signals over time from CSV, Parquet, MCAP, ROS bags, NumPy and MATLAB files, in SI."""

from robodyn.description.files.samples.mapping import DataMapping, read_mapping
from robodyn.description.files.samples.reading import Samples, read_clocks, read_samples

__all__ = ["DataMapping", "Samples", "read_clocks", "read_mapping", "read_samples"]
