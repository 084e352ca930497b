"""One of several processes that train together; run by the fixture `together`.

What is asked of it lies in `given`: `environment`, `options` for `train`, `stop`, an
update and a signal that it then sends to itself, and `report`, where to write what
became of it.
"""

import hashlib
import json
import os
import sys
from typing import Any

import torch

from dragoman.errors import DragomanError
from dragoman.model.weights import get_weights
from dragoman.training.loop import Ending, Trainer, Update
from dragoman.training.train import train

update, end = Trainer._update, Trainer._end


def run(given: dict[str, Any]) -> dict[str, Any]:
    """Train; give the end, and the hash of this process's own weights."""
    os.environ.update(given["environment"])
    torch.set_num_threads(1)
    hashes: list[str] = []

    def signalled_update(self: Trainer, parts: Any, tokens: int) -> Update:
        if given["stop"] and self.state.step + 1 == given["stop"][0]:
            os.kill(os.getpid(), given["stop"][1])
        return update(self, parts, tokens)

    def noted_end(self: Trainer, ending: Ending) -> Ending:
        self.collect()
        weights = get_weights(self.model).values()
        content = b"".join(weight.numpy().tobytes() for weight in weights)
        hashes.append(hashlib.sha256(content).hexdigest())
        return end(self, ending)

    Trainer._update = signalled_update  # type: ignore[method-assign]
    Trainer._end = noted_end  # type: ignore[method-assign]
    try:
        result = train(**given["options"])
    except DragomanError as error:
        return {"error": str(error)}
    return {
        "ending": result.ending.name,
        "steps": result.steps,
        "signal": result.signal,
        "weights": hashes,
    }


if __name__ == "__one_process__":
    asked: dict[str, Any] = globals()["given"]
    told = run(asked)
    asked["report"].write_text(json.dumps(told))
    sys.exit("error" in told)
