"""JoeyNMT with the same weights."""

from types import SimpleNamespace
from typing import Any

import torch
from joeynmt.model import build_model
from joeynmt.search import beam_search
from joeynmt.vocabulary import Vocabulary
from peers.protocol import END, PAD, Job, Translations, answer, read_job, read_weights

NAMES = {
    "around_attention.norm.": "layer_norm.",
    "around_self_attention.norm.": "x_layer_norm.",
    "around_cross_attention.norm.": "dec_layer_norm.",
    "around_feed_forward.norm.": "feed_forward.layer_norm.",
    "feed_forward.inner.": "feed_forward.pwff_layer.0.",
    "feed_forward.outer.": "feed_forward.pwff_layer.3.",
    "encoder.norm.": "encoder.layer_norm.",
    "decoder.norm.": "decoder.layer_norm.",
}


def settings(job: Job) -> dict[str, Any]:
    shape = job.model

    def side(layers: int) -> dict[str, Any]:
        return {
            "type": "transformer",
            "num_layers": layers,
            "num_heads": shape["num_heads"],
            "embeddings": {
                "embedding_dim": shape["d_model"],
                "scale": True,
                "dropout": 0.0,
            },
            "hidden_size": shape["d_model"],
            "ff_size": shape["d_ff"],
            "dropout": 0.0,
            "layer_norm": shape["norm"],
        }

    return {
        "tied_embeddings": True,
        "tied_softmax": True,
        "encoder": side(shape["num_encoder_layers"]),
        "decoder": side(shape["num_decoder_layers"]),
    }


def build(job: Job) -> Any:
    special: dict[str, Any] = {
        "unk_token": "<unk>",
        "pad_token": "<pad>",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "sep_token": None,
        "unk_id": 0,  # its fixed order; masks are given, so that nothing else depends
        "pad_id": 1,
        "bos_id": 2,
        "eos_id": 3,
        "lang_tags": [],
    }
    words = [f"w{i}" for i in range(4, job.vocabulary)]
    vocabulary = Vocabulary(words, SimpleNamespace(**special))
    return build_model(settings(job), src_vocab=vocabulary, trg_vocab=vocabulary)


def load(model: Any, job: Job) -> int:
    """Copy the weights; give how many of its parameters got theirs from us."""
    state, copied = model.state_dict(), set()
    for name, array in read_weights(job).items():
        tensor, renamed = torch.from_numpy(array), name
        for ours, theirs in NAMES.items():
            renamed = renamed.replace(ours, theirs)
        if name.startswith("encoder."):
            renamed = renamed.replace("self_attention.", "src_src_att.")
        renamed = renamed.replace("self_attention.", "trg_trg_att.")
        renamed = renamed.replace("cross_attention.", "src_trg_att.")
        places: dict[str, torch.Tensor] = {}
        if ".projections." in renamed:
            parts = zip("qkv", tensor.chunk(3), strict=True)
            places = {
                renamed.replace(".projections.", f".{part}_layer."): piece
                for part, piece in parts
            }
        elif ".tokens." in renamed:
            places = {place: tensor for place in state if place.endswith("lut.weight")}
            places["decoder.output_layer.weight"] = tensor
        else:
            places[renamed.replace(".output.", ".output_layer.")] = tensor
        for place, piece in places.items():
            state[place].copy_(piece)
            copied.add(place)
    return len(copied)


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
            mask = (source != PAD).unsqueeze(1)
            lengths = (source != PAD).sum(dim=1)
            encoded, hidden, _, _ = model(
                return_type="encode", src=source, src_length=lengths, src_mask=mask
            )
            limit = job.limit(batch)
            output, _, _ = beam_search(
                model=model,
                beam_size=job.beam_size,
                encoder_output=encoded,
                encoder_hidden=hidden,
                src_mask=mask,
                max_output_length=limit,
                min_output_length=limit if job.length else 1,
                alpha=job.length_penalty,
                n_best=1,
            )
            found += [[t for t in row if t > END] for row in output.tolist()]
        return found

    answer(translate)


if __name__ == "__main__":
    main()
