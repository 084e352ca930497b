"""How many threads torch takes."""


def set_threads(threads: int | None) -> None:
    """Let torch use so many threads, or as many as it would (one per core)."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)
