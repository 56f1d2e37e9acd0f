"""Sample files: signals over time from CSV, Parquet, MCAP, ROS bags, NumPy and MATLAB files, in SI."""

from robodyn.base import imported_names

from .reading import DataMapping, Samples, read_clocks, read_mapping, read_samples

__all__ = imported_names(__name__)
