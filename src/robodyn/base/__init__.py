"""Base: what every floor uses: errors, units, frozen records, symbolic and spatial arithmetic."""
