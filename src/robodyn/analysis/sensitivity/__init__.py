"""How runs change with parameters, exactly and by changes."""
