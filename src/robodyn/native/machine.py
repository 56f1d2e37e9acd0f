"""Just-in-time compilation: how does LLVM text become machine code in this process?"""

import ctypes
import functools
import os
import sys

import llvmlite
import llvmlite.binding as llvm

from robodyn.errors import Flaw, ModelError
from robodyn.native.instructions import library_functions
from robodyn.native.pieces import PIECES, RARELY, Text

OPTIMISATION = 1
QUICK = 0
"""Level of optimisation for code that is called a few times: compiled in half the time, a third slower, same bits."""
WIDE = ("znver4", "znver5")
LEVEL = "ROBODYN_OPTIMISATION"
"""Environment variable with another level for all code."""


def optimisation(quick: bool) -> int:
    """Level of optimisation, 0 to 3: ROBODYN_OPTIMISATION, else what suits the code."""
    given = os.environ.get(LEVEL)
    if not given:
        return QUICK if quick else OPTIMISATION
    if given not in ("0", "1", "2", "3"):
        raise ModelError([Flaw("", f"the environment variable {LEVEL} is '{given}'", "0, 1, 2 or 3")])
    return int(given)


class Machine:
    """Machine code in memory, for as long as this object lives."""

    def __init__(self, often: bytes, rarely: bytes = b"") -> None:
        _provide_library()
        self._engine = _load(often)
        # In engines of their own: LLVM takes local names of several object files in one engine for the same.
        self._rarely = _load(rarely) if rarely else None
        if self._rarely is not None:
            table = self._rarely.get_global_value_address(PIECES)
            ctypes.c_void_p.from_address(self.address_of_data(RARELY)).value = table

    def address_of(self, symbol: str) -> int:
        """Address of a function."""
        return self._engine.get_function_address(symbol)

    def address_of_data(self, symbol: str) -> int:
        """Address of a global variable."""
        return self._engine.get_global_value_address(symbol)


def _load(code: bytes) -> llvm.ExecutionEngine:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def compile_objects(text: Text, level: int = OPTIMISATION) -> tuple[bytes, ...]:
    """Object files of modules in LLVM text; what is rarely called is compiled fast."""
    _initialize()
    levels = zip(text, (level, QUICK), strict=True)
    return tuple(_target_machine(each).emit_object(llvm.parse_assembly(body)) for body, each in levels if body)


@functools.cache
def circumstances() -> tuple[str, ...]:
    """What machine code depends on beside the text it is made of."""
    version = ".".join(map(str, llvm.llvm_version_info))
    return (llvmlite.__version__, version, llvm.get_default_triple(), *_processor())


@functools.cache
def _processor() -> tuple[str, str]:
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def has_wide_vectors() -> bool:
    """Whether vectors of eight numbers are faster than those of four, as seen on the first of these processors; others
    that have them split or slow them down."""
    return _processor()[0] in WIDE


def vector_length() -> int:
    """Numbers in a vector that the processor computes at once."""
    return 8 if has_wide_vectors() else 4


@functools.cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _target_machine(level: int = OPTIMISATION) -> llvm.TargetMachine:
    _initialize()
    name, features = _processor()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=name, features=features, opt=level, reloc="pic", jit=True)


@functools.cache
def _provide_library() -> None:
    """Tells LLVM where the C library's functions are that it does not find by itself."""
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    for name in library_functions():
        function = getattr(library, name, None)
        if llvm.address_of_symbol(name) is None and function is not None:
            llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
