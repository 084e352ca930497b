"""Hugging Face's Marian, and Pegasus for norms that come first: out.

Plain `transformers` opens what is written here, without code of ours. Our own settings
and tokenizers lie beside it, so that an import gives the very same model again.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from dragoman import durable
from dragoman.config import ModelConfig
from dragoman.errors import ExportError
from dragoman.interchange.ctranslate2 import vocabulary
from dragoman.interchange.huggingface import OWN, TARGET_VOCABULARY, WEIGHTS
from dragoman.interchange.stream_order import reordered, sines_first
from dragoman.model.weights import get_weights
from dragoman.model_files import FORMAT
from dragoman.model_folder import SavedModel, load_translator
from dragoman.special_tokens import BEGIN, END, PAD
from dragoman.text.imported_tokenizer import ImportedTokenizer
from dragoman.text.tokenizer import Tokenizer

POSITIONS = 1024
_NAMES = {
    "encoder.": "model.encoder.",
    "decoder.": "model.decoder.",
    "embed_source.tokens": "model.encoder.embed_tokens",
    "embed_target.tokens": "model.decoder.embed_tokens",
    "untied_output": "lm_head",
    ".self_attention.output": ".self_attn.out_proj",
    ".cross_attention.output": ".encoder_attn.out_proj",
    ".self_attention.projections": ".self_attn.{}_proj",
    ".cross_attention.projections": ".encoder_attn.{}_proj",
    "feed_forward.inner": "fc1",
    "feed_forward.outer": "fc2",
    "around_attention.norm": "self_attn_layer_norm",
    "around_self_attention.norm": "self_attn_layer_norm",
    "around_cross_attention.norm": "encoder_attn_layer_norm",
    "around_feed_forward.norm": "final_layer_norm",
    "coder.norm": "coder.layer_norm",
}


def export_huggingface(model: str | Path, output: str | Path) -> Path:
    """Export a model folder for `transformers`; the folder must be new or empty."""
    place = Path(output)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise ExportError(
            f"{place} is there already: give an empty place with --output"
        )
    saved = load_translator(Path(model))
    _refuse_unknown_parts(saved.config.model, shared=saved.tokenizers.shared)
    contents = {
        "config.json": _config(saved),
        "generation_config.json": _generation(saved),
        "tokenizer_config.json": _tokenizer_config(saved),
        "vocab.json": _vocabulary(saved.tokenizers.source),
    }
    if not saved.tokenizers.shared:
        contents[TARGET_VOCABULARY] = _vocabulary(saved.tokenizers.target)
    pieces = {
        "source.spm": _sentencepiece(saved.tokenizers.source),
        "target.spm": _sentencepiece(saved.tokenizers.target),
    }
    beside = place.with_name(place.name + ".tmp")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        (beside / OWN).mkdir(parents=True)
        for name, values in contents.items():
            _write_json(beside / name, values)
        for name, content in pieces.items():
            (beside / name).write_bytes(content)
        save_file(_weights(saved), beside / WEIGHTS, metadata={"format": "pt"})
        durable.write_text(beside / "README.md", _card(place.name, saved))
        saved.tokenizers.save(beside / OWN)
        described = {
            "format": FORMAT,
            "languages": list(saved.languages),
            "settings": saved.config.to_dict(),
        }
        _write_json(beside / OWN / "config.json", described)
        shutil.rmtree(place, ignore_errors=True)
        durable.rename_folder(beside, place)
    except OSError as error:
        raise ExportError(
            f"cannot write the export {place} ({error.strerror or error}): give a "
            "place that can be written with --output"
        ) from error
    return place


def _refuse_unknown_parts(config: ModelConfig, *, shared: bool) -> None:
    """Say in one line what Hugging Face has no place for, and what to train."""
    for setting, value, allowed in (
        ("kind", config.kind, ("transformer",)),
        ("positions", config.positions, ("sinusoidal",)),
        ("norm_kind", config.norm_kind, ("layer",)),
        ("norm_epsilon", config.norm_epsilon, (1e-5,)),
        ("activation", config.activation, ("relu", "gelu", "quick_gelu", "swish")),
        ("embedding_norm", config.embedding_norm, (False,)),
        ("last_norm", config.last_norm and config.norm == "post", (False,)),
        ("attention_scale", config.attention_scale, (True,)),
        ("num_kv_heads", config.shared_heads, (config.num_heads,)),
        ("d_head", config.d_head, (0, config.d_model // config.num_heads)),
    ):
        if value not in allowed:
            raise ExportError(
                f"a model with model.{setting}={json.dumps(value)} cannot be exported "
                "to Hugging Face: Marian and Pegasus know "
                f"{', '.join(map(json.dumps, allowed))} there, so train such a model"
            )
    if config.norm == "pre" and not (shared and config.tie_embeddings):
        raise ExportError(
            'a model with model.norm="pre" and separate embeddings cannot be exported '
            "to Hugging Face: Pegasus has one embedding; train with "
            "model.tie_embeddings=true and one vocabulary, or export --to ctranslate2"
        )


def _config(saved: SavedModel) -> dict[str, Any]:
    model, tokenizers = saved.config.model, saved.tokenizers
    pre_norm = model.norm == "pre"
    one_matrix = tokenizers.shared and model.tie_embeddings
    target = tokenizers.target.vocabulary_size
    activation = "silu" if model.activation == "swish" else model.activation
    values: dict[str, Any] = {
        "model_type": "pegasus" if pre_norm else "marian",
        "architectures": [
            "PegasusForConditionalGeneration" if pre_norm else "MarianMTModel"
        ],
        "vocab_size": tokenizers.source.vocabulary_size,
        "d_model": model.d_model,
        "encoder_layers": model.num_encoder_layers,
        "decoder_layers": model.num_decoder_layers,
        "encoder_ffn_dim": model.d_ff,
        "decoder_ffn_dim": model.d_ff,
        "encoder_attention_heads": model.num_heads,
        "decoder_attention_heads": model.num_heads,
        "activation_function": activation,
        "max_position_embeddings": POSITIONS,
        "dropout": model.dropout,
        "attention_dropout": model.attention_dropout,
        "activation_dropout": model.feed_forward_dropout,
        "scale_embedding": True,
        "tie_word_embeddings": model.tie_embeddings,
        "pad_token_id": PAD,
        "bos_token_id": BEGIN,
        "eos_token_id": END,
        "forced_eos_token_id": None,
        "decoder_start_token_id": BEGIN,
        "is_encoder_decoder": True,
        "torch_dtype": "float32",
    }
    if not pre_norm:
        values["decoder_vocab_size"] = target
        values["share_encoder_decoder_embeddings"] = one_matrix
    return values


def _generation(saved: SavedModel) -> dict[str, Any]:
    return {
        "bad_words_ids": [[PAD], [BEGIN]],  # what is never said
        "bos_token_id": BEGIN,
        "decoder_start_token_id": BEGIN,
        "eos_token_id": END,
        "pad_token_id": PAD,
        "max_length": 512,
        "num_beams": saved.config.decoding.beam_size,
    }


def _tokenizer_config(saved: SavedModel) -> dict[str, Any]:
    source, target = saved.languages
    return {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": source,
        "target_lang": target,
        "separate_vocabs": not saved.tokenizers.shared,
        "unk_token": "<unk>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
        "clean_up_tokenization_spaces": False,
        "model_max_length": saved.config.data.max_tokens,
    }


def _vocabulary(tokenizer: Tokenizer) -> dict[str, int]:
    return {piece: number for number, piece in enumerate(vocabulary(tokenizer))}


def _sentencepiece(tokenizer: Tokenizer) -> bytes:
    """Give what cuts text into pieces, if SentencePiece alone does."""
    if isinstance(tokenizer, ImportedTokenizer):
        if tokenizer.sentencepiece_model is not None:
            return tokenizer.sentencepiece_model
    elif tokenizer.kind in ("bpe", "unigram", "characters"):
        return tokenizer.serialize()[1]
    raise ExportError(
        f"a model with tokenizer.kind={json.dumps(tokenizer.kind)} cannot be exported "
        "to Hugging Face: Marian's tokenizer is SentencePiece; train with bpe"
    )


def _weights(saved: SavedModel) -> dict[str, Tensor]:
    model = saved.model
    own = get_weights(model)
    order = sines_first(saved.config.model.d_model)
    bias = own.pop("output_bias", torch.zeros(len(model.output_weight)))
    weights = {"final_logits_bias": bias[None].clone()}
    shared = "embed_target.tokens.weight" not in own
    for name, tensor in reordered(own, order).items():
        theirs = name
        for ours, renamed in _NAMES.items():
            theirs = theirs.replace(ours, renamed)
        if shared and name == "embed_source.tokens.weight":
            theirs = "model.shared.weight"
        parts = "qkv" if "{}" in theirs else " "
        for part, piece in zip(parts, tensor.chunk(len(parts)), strict=True):
            weights[theirs.format(part)] = piece.contiguous()
    return weights


def _card(name: str, saved: SavedModel) -> str:
    source, target = saved.languages
    return f"""---
language:
- {source}
- {target}
library_name: transformers
pipeline_tag: translation
tags:
- translation
- dragoman
---

# {name}

A translator from `{source}` to `{target}`, trained with Dragoman. `transformers` opens
it as it is; `dragoman import {name} MODEL` gives Dragoman's own folder again.
"""


def _write_json(path: Path, values: dict[str, Any]) -> None:
    durable.write_text(path, json.dumps(values, ensure_ascii=False, indent=1) + "\n")
