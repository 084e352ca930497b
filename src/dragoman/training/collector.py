"""Python's garbage collector, kept from looking at what stays for the whole run."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def only_new_garbage() -> Iterator[None]:
    """Let it pass over all that is there now: an update leaves little garbage.

    Each update makes some thousand short-lived objects, so it comes by often; and
    torch alone is some hundred thousand that it would look at in vain.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
