"""Hugging Face `generate` with the same weights: Marian (post-norm) or M2M100 (pre)."""

import math
import os
from typing import Any

from peers.protocol import (
    BEGIN,
    END,
    PAD,
    Job,
    Translations,
    answer,
    read_job,
    read_weights,
)

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers

POSITIONS = 1024
NAMES = {
    ".self_attention.output.": ".self_attn.out_proj.",
    ".cross_attention.output.": ".encoder_attn.out_proj.",
    ".feed_forward.inner.": ".fc1.",
    ".feed_forward.outer.": ".fc2.",
    ".around_attention.norm.": ".self_attn_layer_norm.",
    ".around_self_attention.norm.": ".self_attn_layer_norm.",
    ".around_cross_attention.norm.": ".encoder_attn_layer_norm.",
    ".around_feed_forward.norm.": ".final_layer_norm.",
    "encoder.norm.": "encoder.layer_norm.",
    "decoder.norm.": "decoder.layer_norm.",
}


def sinusoids(d_model: int) -> torch.Tensor:
    position = torch.arange(POSITIONS, dtype=torch.float64)[:, None]
    frequency = torch.exp(
        torch.arange(0, d_model, 2).double() * (-math.log(10000.0) / d_model)
    )
    angles = position * frequency
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()


def build(job: Job) -> Any:
    shape = job.model
    common = {
        "vocab_size": job.vocabulary,
        "d_model": shape["d_model"],
        "encoder_layers": shape["num_encoder_layers"],
        "decoder_layers": shape["num_decoder_layers"],
        "encoder_ffn_dim": shape["d_ff"],
        "decoder_ffn_dim": shape["d_ff"],
        "encoder_attention_heads": shape["num_heads"],
        "decoder_attention_heads": shape["num_heads"],
        "max_position_embeddings": POSITIONS,
        "activation_function": "relu",
        "scale_embedding": True,
        "pad_token_id": PAD,
        "bos_token_id": BEGIN,
        "eos_token_id": END,
        "decoder_start_token_id": BEGIN,
        "forced_eos_token_id": None,
    }
    if shape["norm"] == "pre":
        config = transformers.M2M100Config(
            **common, encoder_layerdrop=0.0, decoder_layerdrop=0.0
        )
        return transformers.M2M100ForConditionalGeneration(config)
    config = transformers.MarianConfig(**common, decoder_vocab_size=job.vocabulary)
    return transformers.MarianMTModel(config)


def load(model: Any, job: Job) -> None:
    state = model.state_dict()
    for name, array in read_weights(job).items():
        tensor = torch.from_numpy(array)
        renamed = name
        for ours, theirs in NAMES.items():
            renamed = renamed.replace(ours, theirs)
        if ".projections." in renamed:
            module = "self_attn" if "self_attention" in renamed else "encoder_attn"
            for part, piece in zip("qkv", tensor.chunk(3), strict=True):
                place = renamed.replace(
                    renamed.split(".")[3] + ".projections", f"{module}.{part}_proj"
                )
                state["model." + place].copy_(piece)
        elif ".tokens." in renamed:
            for place in state:
                if place.endswith(
                    ("embed_tokens.weight", "shared.weight", "lm_head.weight")
                ):
                    state[place].copy_(tensor)
        else:
            state["model." + renamed].copy_(tensor)
    set_positions(model, sinusoids(job.model["d_model"]))


def set_positions(model: Any, table: torch.Tensor) -> None:
    for stack in (model.model.encoder, model.model.decoder):
        positions = stack.embed_positions
        if hasattr(positions, "weights"):  # M2M100 begins to count after the padding
            positions.weights[PAD + 1 : PAD + 1 + POSITIONS].copy_(
                table[: len(positions.weights) - PAD - 1]
            )
        else:
            positions.weight.copy_(table)


def main() -> None:
    job = read_job()
    torch.set_num_threads(job.threads)
    torch.set_grad_enabled(False)
    model = build(job).eval()
    load(model, job)

    def translate() -> Translations:
        found: Translations = []
        for batch in job.batches:
            source = torch.tensor(job.padded(batch))
            limit = job.limit(batch)
            output = model.generate(
                input_ids=source,
                attention_mask=(source != PAD).long(),
                num_beams=job.beam_size,
                length_penalty=job.length_penalty,
                min_new_tokens=job.length,
                max_new_tokens=limit,
                do_sample=False,
            )
            found += [[t for t in row[1:] if t > END] for row in output.tolist()]
        return found

    answer(translate)


if __name__ == "__main__":
    main()
