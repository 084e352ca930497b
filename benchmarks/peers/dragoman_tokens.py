"""Dragoman's PyTorch engine on tokens."""

from dataclasses import replace

import torch
from peers.protocol import Translations, answer, read_job, read_weights

from dragoman.config import load_preset
from dragoman.decoding.options import SearchOptions
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.model.build import build_model
from dragoman.model.freed_memory import keep_freed_memory
from dragoman.model.weights import set_weights


def main() -> None:
    job = read_job()
    torch.set_num_threads(job.threads)
    keep_freed_memory()
    settings = {f"model.{key}": value for key, value in job.model.items()}
    config = load_preset("base").with_settings(settings)
    model = build_model(config.model, job.vocabulary).eval()
    weights = read_weights(job)
    set_weights(model, {name: torch.from_numpy(weights[name]) for name in weights})
    model.lay_out_for_steps()
    engine = PyTorchEngine(model, replace(config.decoding, batch_tokens=10**9))
    options = replace(
        SearchOptions.of(config.decoding),
        beam_size=job.beam_size,
        length_penalty=job.length_penalty,
        max_extra_tokens=job.max_extra_tokens,
        min_length=job.length - 1 if job.length else 0,
        max_length=job.length,
        max_repeats=0,  # the peers have no guard against loops
    )

    def translate() -> Translations:
        return [
            list(found[0].tokens)
            for batch in job.batches
            for found in engine.translate(batch, options)
        ]

    answer(translate)


if __name__ == "__main__":
    main()
