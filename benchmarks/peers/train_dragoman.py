"""Dragoman's own objective and optimizer, as its training loop uses them."""

import torch
from peers.training_protocol import answer_with_losses, read_training_job

from dragoman.config import load_preset
from dragoman.data.batching import Batch
from dragoman.kernels.choice import kernels_at_work
from dragoman.model.build import build_model
from dragoman.model.freed_memory import keep_freed_memory
from dragoman.training.collector import only_new_garbage
from dragoman.training.objective import Objective
from dragoman.training.optimizer import Optimizer


def main() -> None:
    job = read_training_job()
    torch.set_num_threads(job.threads)
    keep_freed_memory()
    torch.manual_seed(1)
    settings = {f"model.{key}": value for key, value in job.model.items()} | {
        "training.optimizer": "adam",
        "training.label_smoothing": job.label_smoothing,
        "training.clip_norm": job.clip_norm,
    }
    config = load_preset("base").with_settings(settings)
    model = build_model(config.model, job.vocabulary).train()
    objective = Objective(model, config.training)
    optimizer = Optimizer(model, config.training)
    batches = [Batch(*map(torch.tensor, sides)) for sides in job.padded()]

    def update(batch: Batch) -> float:
        loss = objective(batch)
        (loss.smoothed / loss.tokens).backward()
        optimizer.clip()
        optimizer.step(job.learning_rate)
        optimizer.forget_gradients()
        mean: float = loss.smoothed.item() / loss.tokens
        return mean

    with kernels_at_work(), only_new_garbage():
        answer_with_losses(batches, update)


if __name__ == "__main__":
    main()
