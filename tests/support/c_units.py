"""Units of the Functional Mock-up Interface written in C for tests, by nothing of this project."""

import inspect
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "units"
STUB = "__attribute__((weak)) int {name}(void) {{ return 3; }}\n"


def build_unit(name, folder, change=lambda text: text):
    """Compile `name.c` and pack it with its description; change(text): of the description, for broken units."""
    fmpy = pytest.importorskip("fmpy")
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler here: imported units are NOT tested")
    text = change((FOLDER / f"{name}.xml").read_text())
    version = 2 if 'fmiVersion="2.0"' in text else 3
    source = FOLDER / f"{name}.c"
    (folder / "stubs.c").write_text(write_stubs(version))
    library = folder / f"{name}.so"
    headers = Path(fmpy.__file__).parent / "c-code"
    flags = ["-shared", "-fPIC", "-O1", "-w", f"-I{headers}", f"-I{FOLDER}"]
    subprocess.run(["cc", *flags, source, folder / "stubs.c", "-lm", "-o", library], check=True)
    path = folder / f"{name}.fmu"
    place = fmpy.platform if version == 2 else fmpy.platform_tuple
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        archive.write(library, f"binaries/{place}/{name}{fmpy.sharedLibraryExtension}")
    return path


def write_stubs(version):
    """FMPy wants all functions of the interface; those that a unit does not have fail."""
    import fmpy.fmi2
    import fmpy.fmi3

    kinds = (fmpy.fmi2.FMU2Slave, fmpy.fmi2.FMU2Model) if version == 2 else (fmpy.fmi3._FMU3,)
    names = {name for kind in kinds for name, _ in inspect.getmembers(kind) if name.startswith(f"fmi{version}")}
    return "".join(STUB.format(name=name) for name in sorted(names))
