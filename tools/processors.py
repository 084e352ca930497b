"""Runs the tests as other processors would: other instructions, compilers, one core.

    python tools/processors.py           every form, all tests that a processor decides
    python tools/processors.py --quick   the AVX2 form and the one without a compiler,
                                         of the kernels' tests alone

What is held to a level is all that multiplies: our kernels, PyTorch's, oneDNN's, MKL's
and CTranslate2's.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from dragoman.kernels.instructions import LEVELS, whole_processor

ROOT = Path(__file__).parents[1]
TESTS = ["kernels", "engines", "interchange", "training", "decoding"]
QUICK = ["kernels", "training/test_kernel_choice.py"]
HELD = {
    "x86-64-v2": ("default", "SSE41", "SSE4_2", "GENERIC"),
    "x86-64-v3": ("avx2", "AVX2", "AVX2", "AVX2"),
    "x86-64-v4": ("avx512", "AVX512_CORE", "AVX512", "AVX512"),
}
VARIABLES = (
    "ATEN_CPU_CAPABILITY",
    "ONEDNN_MAX_CPU_ISA",
    "MKL_ENABLE_INSTRUCTIONS",
    "CT2_FORCE_CPU_ISA",
)


@dataclass(frozen=True)
class Form:
    """One kind of machine to pass for."""

    name: str
    level: str | None = None
    compiler: str | None = None
    one_core: bool = False
    more: dict[str, str] = field(default_factory=dict)

    def why_not(self) -> str | None:
        """Say what this machine lacks for it, if anything."""
        if self.level is not None:
            missing = LEVELS[self.level] - whole_processor().instructions
            if missing:
                return f"this processor lacks {min(missing)}"
        if self.compiler is not None and shutil.which(self.compiler) is None:
            return f"there is no {self.compiler} here"
        return None

    def environment(self) -> dict[str, str]:
        """Give what holds a process to it."""
        held = dict(self.more)
        if self.level is not None:
            held |= dict(zip(VARIABLES, HELD[self.level], strict=True))
            held["DRAGOMAN_KERNELS"] = self.level
        if self.compiler is not None:
            held["CC"] = self.compiler
        return {**os.environ, **held}


# Without a compiler most tests of kernels have nothing to test, even where CI is true.
NO_COMPILER = Form("no compiler", more={"CC": "no-such-compiler", "CI": ""})
FORMS = [
    *(
        Form(f"{level}, {compiler}", level, compiler)
        for compiler in ("gcc", "clang")
        for level in HELD
    ),
    NO_COMPILER,
    Form("one core", one_core=True, more={"OMP_NUM_THREADS": "1"}),
]


@dataclass(frozen=True)
class Outcome:
    """What came of one form's tests."""

    form: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0
    note: str = ""


def run(form: Form, tests: list[str]) -> Outcome:
    """Run the tests as this form, and count."""
    if reason := form.why_not():
        return Outcome(form.name, note=f"skipped: {reason}")
    print(f"\n== {form.name}", flush=True)
    cores = min(2, os.cpu_count() or 1)
    alone = ["-n", "0"] if form.one_core else ["-n", str(cores)]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "outcome.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", *alone]
        command += [f"--junitxml={table}", *(f"tests/{name}" for name in tests)]
        began = time.monotonic()
        subprocess.run(
            command,
            cwd=ROOT,
            env=form.environment(),
            preexec_fn=_stay_on_one_core if form.one_core else None,
            check=False,
        )
        seconds = time.monotonic() - began
        if not table.exists():
            return Outcome(form.name, failed=1, note="pytest did not come to its end")
        counts = ElementTree.parse(table).getroot()[0].attrib  # noqa: S314 (our own)
    total, skipped = int(counts["tests"]), int(counts["skipped"])
    failed = int(counts["failures"]) + int(counts["errors"])
    return Outcome(form.name, total - skipped - failed, failed, skipped, seconds)


def _stay_on_one_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def main() -> None:
    """Run every form, and say in one table how it went."""
    quick = sys.argv[1:] == ["--quick"]
    avx2 = next(form for form in FORMS if form.level == "x86-64-v3")
    forms = [avx2, NO_COMPILER] if quick else FORMS
    outcomes = [run(form, QUICK if quick else TESTS) for form in forms]
    print(f"\n{'as':<18}{'passed':>8}{'failed':>8}{'skipped':>9}{'minutes':>9}")
    for one in outcomes:
        counts = f"{one.passed:>8,}{one.failed:>8,}{one.skipped:>9,}"
        print(f"{one.form:<18}{counts}{one.seconds / 60:>9.1f}  {one.note}".rstrip())
    if any(one.failed for one in outcomes):
        sys.exit(1)


if __name__ == "__main__":
    main()
