"""A worker for torchrun: the second process of a run is killed once, in update 7."""

import os
import signal
import sys
from typing import Any

from dragoman.cli.main import main
from dragoman.training.loop import Trainer, Update

update = Trainer._update


def deadly_update(self: Trainer, parts: Any, tokens: int) -> Update:
    first_time = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
    if first_time and self.processes.rank == 1 and self.state.step == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    return update(self, parts, tokens)


if __name__ == "__main__":
    Trainer._update = deadly_update  # type: ignore[method-assign]
    sys.exit(main(sys.argv[1:]))
