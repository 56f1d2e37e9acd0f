"""Sample files: signals over time from CSV, Parquet, MCAP, ROS bags, NumPy and MATLAB files, in SI."""

from robodyn.description.files.samples.reading import DataMapping, Samples, read_clocks, read_mapping, read_samples

__all__ = ["DataMapping", "Samples", "read_clocks", "read_mapping", "read_samples"]
