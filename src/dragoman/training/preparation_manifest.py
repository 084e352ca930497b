"""Recognises a corpus that was prepared before, from the same files and settings."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from dragoman import durable
from dragoman.config import Config
from dragoman.data.store_layout import FORMAT
from dragoman.text.corpus import Corpus
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.training.preparation_report import PreparationReport

MANIFEST = "prepared.json"


@dataclass(frozen=True)
class Manifest:
    """What a folder was prepared from, and what came out."""

    request: dict[str, Any]
    batch_tokens: int  # these and the corpora's weights do not change what is stored,
    weights: list[float | None]  # only what the report says of an epoch
    report: PreparationReport

    def write(self, folder: Path) -> None:
        """Write into a folder; whatever else it holds must be there already."""
        values = {
            "request": self.request,
            "batch_tokens": self.batch_tokens,
            "weights": self.weights,
            "report": self.report.to_dict(),
        }
        durable.write_text(folder / MANIFEST, json.dumps(values, indent=2) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read from a folder; None if there is none that can be understood."""
        try:
            values = json.loads((folder / MANIFEST).read_text("utf-8"))
            report = PreparationReport.from_dict(values["report"])
            return cls(
                values["request"], values["batch_tokens"], values["weights"], report
            )
        except (OSError, ValueError, TypeError, KeyError):
            return None


def describe_request(
    corpora: Sequence[Corpus],
    valid: Corpus | None,
    config: Config,
    tokenizers: TokenizerPair | None,
) -> dict[str, Any]:
    """Give all that the outcome depends on, as plain data that can be compared."""
    tokenizer: dict[str, Any] = (
        {"given": _digest(tokenizers)}
        if tokenizers
        else {
            "kind": config.tokenizer.kind,
            "vocabulary_size": config.tokenizer.vocabulary_size,
            "shared_vocabulary": config.tokenizer.shared_vocabulary,
        }
    )
    text: dict[str, Any] = {}
    if config.model.reads_text:
        text["text"] = {"kind": config.model.kind, "window": config.model.window}
    return text | {
        "store_format": FORMAT,
        "corpora": [_files(corpus) for corpus in corpora],
        "valid": _files(valid) if valid else None,
        "data": asdict(config.data),
        "seed": config.training.seed,
        "tokenizer": tokenizer,
    }


def _files(corpus: Corpus) -> list[list[Any]]:
    return [_file(path) for path in (corpus.source, corpus.target) if path]


def _file(path: Path) -> list[Any]:
    # A file that cannot be looked at is left to the reader, which says so properly.
    try:
        status = path.stat()
    except OSError:
        return [str(path.absolute())]
    return [str(path.resolve()), status.st_size, status.st_mtime_ns]


def _digest(tokenizers: TokenizerPair) -> list[str]:
    return [
        hashlib.sha256(tokenizer.serialize()[1]).hexdigest()
        for tokenizer in (tokenizers.source, tokenizers.target)
    ]
