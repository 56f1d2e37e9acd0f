"""Many runs of one scenario with other numbers: grids and random draws, on all cores, resumable."""
