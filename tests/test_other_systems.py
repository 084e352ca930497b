"""On macOS and Windows all works in plain PyTorch: what only Linux has is not used.

Other packages bring what they need for each system, so they are loaded first; then all
that macOS or Windows lacks is taken away, and Dragoman is loaded and used.
"""

import subprocess
import sys
from pathlib import Path

TAKEN_AWAY = """
import os, platform, shutil, signal, subprocess, sys, tempfile
import ctranslate2, filelock, matplotlib.pyplot, numpy, sacrebleu, safetensors.torch
import sentencepiece, sentencex, starlette.testclient, tensorboard, tokenizers, torch
import torch.utils.tensorboard, torch.distributed, tqdm, uvicorn
import torch.utils.flop_counter, torch.utils.checkpoint

platform.uname()
MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty")
for name in MODULES:
    sys.modules[name] = None  # importing it is now an error
OF_OS = (
    "fork", "forkpty", "geteuid", "getloadavg", "getpgid", "getuid", "killpg", "mkfifo",
    "nice", "posix_fadvise", "posix_fallocate", "sched_getaffinity",
    "sched_setaffinity", "setsid", "sysconf", "uname", "wait3", "wait4",
)
for name in OF_OS:
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGQUIT", "SIGUSR1", "SIGUSR2", "alarm", "pause"):
    delattr(signal, name)
sys.platform = "win32"
"""

IMPORTS = """
import importlib, pkgutil
import dragoman

for found in pkgutil.walk_packages(dragoman.__path__, "dragoman."):
    if found.name != "dragoman.__main__":
        importlib.import_module(found.name)
print(len([name for name in sys.modules if name.startswith("dragoman.")]))
"""

USE = """
from pathlib import Path
import dragoman
from dragoman.cli.main import main
from dragoman.kernels.library import kernels_origin
from dragoman.text.public_corpora import get

files = get("phrasebook-en-es", Path("data"))
settings = {
    "model.d_model": 32, "model.d_ff": 64, "model.num_heads": 2,
    "tokenizer.vocabulary_size": 400, "training.batch_tokens": 600,
    "training.threads": 1, "training.valid_sentences": 5,
}
for steps in (2, 4):
    dragoman.train(
        Path("model"), source=files.train_source, target=files.train_target,
        valid_source=files.valid_source, valid_target=files.valid_target,
        preset="fast", steps=steps, settings=settings, quiet=True,
    )
assert main(["export", "model", "--to", "ctranslate2"]) == 0
for engine in ("pytorch", "ctranslate2"):
    translator = dragoman.Translator.load(Path("model"), engine=engine)
    assert len(translator.translate(["Good morning!", "Let's go!"])) == 2
assert kernels_origin().kind == "plain"
print(kernels_origin().why)
"""


def run(program: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", TAKEN_AWAY + program],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_can_be_imported(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "src/dragoman"
    files = [file for file in source.rglob("*.py") if file.stem != "__main__"]
    assert int(run(IMPORTS, tmp_path)) == len(files) - 1  # the package itself


def test_a_model_is_trained_resumed_exported_and_used(tmp_path: Path) -> None:
    assert "for Linux only, and this is win32" in run(USE, tmp_path)
