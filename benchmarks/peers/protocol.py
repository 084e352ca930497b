"""How the benchmark speaks with a peer: one process each, one line a question.

A peer is started in its own environment with the path of a job, a JSON file that names
the weights, the sentences and what is asked. It loads, warms up, answers `ready`, and
then each `go` with the seconds that translating everything took. `outputs` is answered
with the tokens of the translations.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAD, UNKNOWN, BEGIN, END = range(4)


@dataclass(frozen=True)
class Job:
    """What is asked of a peer."""

    model: dict[str, Any]  # the shape of the network, as in its settings
    weights: str  # a file of named arrays, as numpy writes them
    vocabulary: int
    batches: list[list[list[int]]]  # batch, sentence, token; neither BEGIN nor END
    beam_size: int
    length: int | None  # every translation has so many tokens; None: the model decides
    max_extra_tokens: int
    length_penalty: float
    threads: int
    folder: str  # the model folder, where one is needed
    texts: list[str]  # the same sentences as text, where that is asked

    def limit(self, batch: list[list[int]]) -> int:
        """Give the most tokens of a translation in this batch."""
        longest = max(len(sentence) for sentence in batch)
        return self.length or longest + self.max_extra_tokens

    def padded(self, batch: list[list[int]]) -> list[list[int]]:
        """Give the sentences with END, all of one length."""
        width = max(len(sentence) for sentence in batch) + 1
        return [[*s, END, *[PAD] * (width - len(s) - 1)] for s in batch]


Translations = list[Any]  # lists of tokens, or texts


def read_job() -> Job:
    """Read the job that the command line names."""
    return Job(**json.loads(Path(sys.argv[1]).read_text("utf-8")))


def read_weights(job: Job) -> dict[str, Any]:
    """Read the arrays by our own names for them."""
    import numpy as np

    with np.load(job.weights) as arrays:
        return {name: arrays[name] for name in arrays.files}


def answer(translate: Callable[[], Translations]) -> None:
    """Warm up, then answer until nobody asks any more."""
    outputs = translate()
    print("ready", flush=True)
    for line in sys.stdin:
        match line.strip():
            case "go":
                start = time.perf_counter()
                outputs = translate()
                print(json.dumps(time.perf_counter() - start), flush=True)
            case "outputs":
                print(json.dumps(outputs), flush=True)
