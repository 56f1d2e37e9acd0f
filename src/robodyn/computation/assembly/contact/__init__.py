"""Contact: compliant and rigid contacts, stick-slip friction, end stops, and the modes of their reactions."""
