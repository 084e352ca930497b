"""How long threads that wait for each other stay awake, set before torch is loaded.

The threads of torch, which the kernels use too, are those of GNU OpenMP. Left alone, a
thread that waits stays awake for milliseconds, in which a partner that shares its core
with another program gets nothing done: beside one busy program four fifths of the speed
are lost. A thousand turns of a loop, some twenty microseconds, bridge the gaps between
operations; who waits for longer sleeps, and leaves the core to its partner.
benchmarks/journal.md says what was measured.
"""

import os
import sys

TURNS = "1000"
VARIABLE = "GOMP_SPINCOUNT"
ALREADY_SAID = (VARIABLE, "OMP_WAIT_POLICY")


def wait_briefly() -> None:
    """Let waiting threads sleep soon, unless the environment says how they wait.

    It is read when torch is loaded: after that, this does nothing.
    """
    if "torch" not in sys.modules and not any(map(os.environ.get, ALREADY_SAID)):
        os.environ[VARIABLE] = TURNS
