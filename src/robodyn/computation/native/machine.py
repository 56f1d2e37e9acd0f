"""Just-in-time compilation: how does LLVM text become machine code in this process?"""

import ctypes
import functools
import itertools
import os
import sys
from collections.abc import Iterable, Sequence

import llvmlite
import llvmlite.binding as llvm

from robodyn.base import refuse

from .instructions import library_functions
from .pieces import PIECES, RARELY, ModuleText

OPTIMISATION = 1
QUICK = 0
"""Level of optimisation for code that is called a few times: in half the time, 1.4 times as slow, same bits."""
WIDE = ("znver4", "znver5")
WINDOWS = sys.platform == "win32"
LEVEL = "ROBODYN_OPTIMISATION"
"""Environment variable with another level for all code."""


def optimisation(quick: bool) -> int:
    """Level of optimisation, 0 to 3: ROBODYN_OPTIMISATION, else what suits the code."""
    level = os.environ.get(LEVEL)
    if not level:
        return QUICK if quick else OPTIMISATION
    if level not in ("0", "1", "2", "3"):
        refuse("", f"the environment variable {LEVEL} is '{level}'", "0, 1, 2 or 3")
    return int(level)


class MachineCode:
    """Machine code in memory, for as long as this object lives."""

    def __init__(self, objects: Sequence[bytes], symbols: Iterable[str]) -> None:
        """objects: as of `compile_objects`; symbols: functions and variables whose addresses will be asked for."""
        often, *rarely = objects
        self._often = _load(often, [*symbols, *([RARELY] if rarely else [])])
        # In a library of its own: both have pieces of the same names.
        self._rarely = _load(rarely[0], [PIECES]) if rarely else None
        if self._rarely is not None:
            ctypes.c_void_p.from_address(self.address_of(RARELY)).value = self._rarely[PIECES]

    def address_of(self, symbol: str) -> int:
        """Address of a function or a variable."""
        return self._often[symbol]


_numbers = itertools.count()


def _load(code: bytes, symbols: Iterable[str]) -> llvm.ResourceTracker:
    library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name, address in _missing_functions().items():
        library.import_symbol(name, address)
    for symbol in symbols:
        library.export_symbol(symbol)
    return library.link(_linker(), f"library{next(_numbers)}")


@functools.cache
def _linker() -> llvm.LLJIT:
    """JITLink lays out an object file in one piece, so that its code is of the small model: see `_target_machine`."""
    return llvm.create_lljit_compiler(_target_machine(), use_jit_link=not WINDOWS)


def compile_objects(text: ModuleText, level: int = OPTIMISATION) -> tuple[bytes, ...]:
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


def has_wide_registers() -> bool:
    """Whether there are vectors of eight numbers at all: eight robots then fill one register."""
    return "+avx512f" in _processor()[1]


def vector_length() -> int:
    """Numbers in a vector that the processor computes at once."""
    return 8 if has_wide_vectors() else 4


@functools.cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # Code that is compiled fast takes its instructions from whole blocks: a sixth faster for a tenth more time.
    llvm.set_option("", "-fast-isel=false")


def _target_machine(level: int = OPTIMISATION) -> llvm.TargetMachine:
    _initialize()
    name, features = _processor()
    target = llvm.Target.from_default_triple()
    # Constants are then reached by four bytes in an instruction, instead of eight in one more.
    model = "jitdefault" if WINDOWS else "small"
    return target.create_target_machine(cpu=name, features=features, opt=level, reloc="pic", codemodel=model, jit=True)


@functools.cache
def _missing_functions() -> dict[str, int]:
    """Addresses of the C library's functions that LLVM does not find by itself."""
    library = ctypes.CDLL("ucrtbase" if WINDOWS else None)
    functions = {name: getattr(library, name, None) for name in library_functions()}
    return {
        name: ctypes.cast(function, ctypes.c_void_p).value or 0
        for name, function in functions.items()
        if function is not None and llvm.address_of_symbol(name) is None
    }
