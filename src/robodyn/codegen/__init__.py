"""Code generation: exported models as C, and the compilers that make programs of it."""
