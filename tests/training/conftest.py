"""The toy model and its corpus, and several processes that train together."""

import json
import multiprocessing
import runpy
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.model_folder import SavedModel, load_model
from dragoman.text.corpus import Corpus
from dragoman.training.preparation import Prepared, prepare


@pytest.fixture
def saved(model_folder: Path) -> SavedModel:
    return load_model(model_folder)


@pytest.fixture
def prepared(model_folder: Path, corpus: Any, saved: SavedModel) -> Prepared:
    """What the toy model learned from; it is only opened, as nothing has changed."""
    return prepare(
        model_folder / "prepared",
        [Corpus(corpus.train_source, corpus.train_target)],
        Corpus(corpus.valid_source, corpus.valid_target),
        saved.config,
    )


Together = Callable[..., list[dict[str, Any]]]
TINY: dict[str, Any] = {
    "model.d_model": 16,
    "model.d_ff": 32,
    "model.num_heads": 2,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "tokenizer.vocabulary_size": 380,
    "training.batch_tokens": 1500,
    "training.threads": 1,
    "training.save_every": 4,
    "training.valid_every": 5,
    "training.valid_sentences": 2,
}


@pytest.fixture(scope="session")
def tiny() -> dict[str, Any]:
    """Give settings with which a run takes seconds."""
    return dict(TINY)


@pytest.fixture(scope="session")
def together(corpus: Any, tmp_path_factory: pytest.TempPathFactory) -> Together:
    """Train in several processes, as torchrun would start them, but at once.

    They are forked from a clean process that has loaded torch already.
    """
    server = multiprocessing.get_context("forkserver")
    # DistributedDataParallel would load the second, a second's work in each process.
    server.set_forkserver_preload(["dragoman.training.train", "torch._dynamo"])
    reports = tmp_path_factory.mktemp("reports")

    def run(
        count: int,
        folder: Path,
        *,
        stop: dict[int, tuple[int, int]] | None = None,
        settings: dict[str, Any] | None = None,
        folders: list[Path] | None = None,
        machines: int = 1,
        by_rank: dict[int, dict[str, Any]] | None = None,
        variables: dict[str, str] | None = None,
        **options: Any,
    ) -> list[dict[str, Any]]:
        environment = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        started = []
        for rank in range(count):
            own = {
                "RANK": rank,
                "WORLD_SIZE": count,
                "LOCAL_RANK": rank % (count // machines),
                "LOCAL_WORLD_SIZE": count // machines,
            }
            given: dict[str, Any] = {
                "environment": environment
                | (variables or {})
                | {name: str(value) for name, value in own.items()},
                "stop": (stop or {}).get(rank),
                "report": reports / f"rank-{rank}.json",
                "options": {
                    "folder": folders[rank] if folders else folder,
                    "source": corpus.train_source,
                    "target": corpus.train_target,
                    "valid_source": corpus.valid_source,
                    "valid_target": corpus.valid_target,
                    "preset": "tiny",
                    "settings": TINY | (settings or {}),
                    "quiet": True,
                }
                | options
                | (by_rank or {}).get(rank, {}),
            }
            given["report"].unlink(missing_ok=True)
            script = str(Path(__file__).with_name("one_process.py"))
            process = server.Process(
                target=runpy.run_path,
                args=(script, {"given": given}, "__one_process__"),
            )
            process.start()
            started.append((process, given["report"]))
        for process, _ in started:
            process.join(600)
            process.kill()
        return [json.loads(report.read_text()) for _, report in started]

    return run


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
