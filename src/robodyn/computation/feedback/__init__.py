"""State feedback: sampled plants, gains of regulators and observers, and the law that they make."""
