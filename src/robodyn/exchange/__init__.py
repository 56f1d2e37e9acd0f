"""Exchange: a system in the form of other programs. FMI, C and WebAssembly, spreadsheets, learning environments."""
