"""Marian, through pymarian, with the same weights in its own format.

Marian begins a translation with a vector of zeros where we have BEGIN, so that what it
says differs although it computes as much.
"""

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pymarian
import yaml
from peers.protocol import Job, Translations, answer, read_job, read_weights

POSITIONS = 512


def settings(job: Job) -> dict[str, Any]:
    shape, pre = job.model, job.model["norm"] == "pre"
    return {
        "type": "transformer",
        "dim-emb": shape["d_model"],
        "dim-vocabs": [job.vocabulary, job.vocabulary],
        "enc-depth": shape["num_encoder_layers"],
        "dec-depth": shape["num_decoder_layers"],
        "transformer-heads": shape["num_heads"],
        "transformer-dim-ffn": shape["d_ff"],
        "transformer-decoder-dim-ffn": 0,
        "transformer-ffn-depth": 2,
        "transformer-decoder-ffn-depth": 0,
        "transformer-ffn-activation": "relu",
        "transformer-decoder-autoreg": "self-attention",
        "transformer-preprocess": "n" if pre else "",
        "transformer-postprocess": "da" if pre else "dan",
        "transformer-postprocess-top": "n" if pre else "",
        "transformer-postprocess-emb": "d",
        "transformer-train-position-embeddings": True,
        "transformer-no-projection": False,
        "transformer-tied-layers": [],
        "transformer-guided-alignment-layer": "last",
        "transformer-aan-depth": 2,
        "transformer-aan-activation": "swish",
        "transformer-aan-nogate": False,
        "transformer-dim-aan": 2048,
        "transformer-rnn-projection": False,
        "tied-embeddings-all": True,
        "tied-embeddings": False,
        "tied-embeddings-src": False,
        "max-length": POSITIONS,
        "skip": False,
        "layer-normalization": False,
        "input-types": [],
        "lemma-dim-emb": 0,
        "version": "v1.12.0",
    }


def sinusoids(d_model: int) -> Any:
    position = np.arange(POSITIONS)[:, None]
    frequency = np.exp(np.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    table = np.zeros((POSITIONS, d_model))
    table[:, 0::2], table[:, 1::2] = (
        np.sin(position * frequency),
        np.cos(position * frequency),
    )
    return table.astype(np.float32)


def arrays(job: Job) -> dict[str, Any]:
    ours, named = read_weights(job), {}
    norm = "_ln_{}_pre" if job.model["norm"] == "pre" else "_ln_{}"
    for name, array in ours.items():
        if ".tokens." in name:
            named["Wemb"] = array
            continue
        kind = "W" if name.endswith("weight") else "b"
        stack, *rest = name.split(".")
        if rest[0] == "norm":
            part = "scale" if kind == "W" else "bias"
            named[f"{stack}_top_ln_{part}"] = array[None]
            continue
        layer = f"{stack}_l{int(rest[1]) + 1}"
        block = rest[2]
        sublayer = {"self_attention": "self", "cross_attention": "context"}.get(block)
        if sublayer and rest[3] == "projections":
            for letter, piece in zip("qkv", np.split(array, 3), strict=True):
                named[f"{layer}_{sublayer}_{kind}{letter}"] = (
                    piece.T if kind == "W" else piece[None]
                )
        elif sublayer:
            named[f"{layer}_{sublayer}_{kind}o"] = (
                array.T if kind == "W" else array[None]
            )
        elif block == "feed_forward":
            number = 1 if rest[3] == "inner" else 2
            named[f"{layer}_ffn_{kind}{number}"] = (
                array.T if kind == "W" else array[None]
            )
        else:
            place = {
                "around_attention": "self_Wo",
                "around_self_attention": "self_Wo",
                "around_cross_attention": "context_Wo",
                "around_feed_forward": "ffn_ffn",
            }[block]
            part = norm.format("scale" if kind == "W" else "bias")
            named[f"{layer}_{place}{part}"] = array[None]
    named["Wpos"] = sinusoids(job.model["d_model"])
    named["decoder_ff_logit_out_b"] = np.zeros((1, job.vocabulary), np.float32)
    text = yaml.safe_dump(settings(job)).encode() + b"\0"
    named["special:model.yml"] = np.frombuffer(text, dtype=np.int8)
    return {key: np.ascontiguousarray(value) for key, value in named.items()}


def main() -> None:
    job = read_job()
    folder = Path(tempfile.mkdtemp())
    np.savez(folder / "model.npz", **arrays(job))
    words = {"</s>": 0, "<unk>": 1}
    words |= {f"w{i}": i for i in range(2, job.vocabulary)}
    (folder / "vocab.yml").write_text(yaml.safe_dump(words))
    longest = max(job.limit(batch) for batch in job.batches)
    width = max(len(sentence) for batch in job.batches for sentence in batch)
    translator = pymarian.Translator(
        models=[str(folder / "model.npz")],
        vocabs=[str(folder / "vocab.yml")] * 2,
        beam_size=job.beam_size,
        normalize=job.length_penalty,
        mini_batch=max(len(batch) for batch in job.batches),
        max_length_factor=longest / width,
        cpu_threads=job.threads,
        quiet=True,
    )
    texts = [
        [" ".join(f"w{t}" for t in sentence) for sentence in batch]
        for batch in job.batches
    ]

    def translate() -> Translations:
        return [line for batch in texts for line in translator.translate(batch)]

    answer(translate)


if __name__ == "__main__":
    main()
