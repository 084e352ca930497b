"""Virtual environments for the peers, made once and kept."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path.home() / ".cache" / "dragoman-benchmarks"

# Each line is one call of pip: torch comes first, so that nothing else chooses it.
REQUIREMENTS = {
    "ctranslate2": (("ctranslate2==4.8.4", "sentencepiece==0.2.2"),),
    "eole": (("torch==2.13.0",), ("eole==0.6.4", "aiohttp")),
    "huggingface": (("torch==2.13.0",), ("transformers==5.22.2", "numpy")),
    "joeynmt": (("torch==2.13.0",), ("joeynmt==2.3.0", "importlib_metadata")),
    "marian": (("pymarian", "numpy", "pyyaml"),),
}
IMPORTS = {
    "ctranslate2": "ctranslate2, sentencepiece",
    "eole": "eole.models.model",
    "huggingface": "torch, transformers",
    "joeynmt": "joeynmt.model, joeynmt.search",
    "marian": "pymarian",
}


@dataclass(frozen=True)
class Environment:
    """The Python of a peer, or why there is none."""

    python: Path
    problem: str | None = None


def prepare(name: str, folder: Path) -> Environment:
    """Give a peer's environment; what does not install is said, not dropped."""
    python = folder / name / "bin" / "python"
    ready = folder / name / ".ready"
    if not ready.exists():
        print(f"installing {name} in {folder / name}", file=sys.stderr, flush=True)
        commands = [[sys.executable, "-m", "venv", str(folder / name)]]
        commands += [
            [str(python), "-m", "pip", "install", "--quiet", *packages]
            for packages in REQUIREMENTS[name]
        ]
        for command in commands:
            run = subprocess.run(command, capture_output=True, text=True)
            if run.returncode:
                return Environment(python, f"does not install: {last_line(run.stderr)}")
        ready.touch()
    check = [str(python), "-c", f"import {IMPORTS[name]}"]
    run = subprocess.run(check, capture_output=True, text=True)
    if run.returncode:
        return Environment(python, f"does not start: {last_line(run.stderr)}")
    return Environment(python)


def last_line(text: str) -> str:
    """Give the last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:160] if lines else "it says nothing"
