"""Description: what is there, and what happens to it? Models, laws, files, robots, paths: frozen, without state."""
