"""A model in CTranslate2's format, for its engine here and for any other user of it."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dragoman import durable
from dragoman.arguments import check_choice, check_path
from dragoman.config import Config, ModelConfig
from dragoman.engines.exports import (
    FORMAT,
    MANIFEST,
    QUANTIZATIONS,
    Export,
    export_folder,
    fingerprint,
)
from dragoman.errors import ExportError, MissingExtraError
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.embeddings import Embed
from dragoman.model.layers import DecoderLayer, EncoderLayer, FeedForward
from dragoman.model.positions import LearnedPositions, SinusoidalPositions, sinusoids
from dragoman.model.transformer import Transformer
from dragoman.model_files import write_checksums
from dragoman.model_folder import SavedModel, load_translator
from dragoman.special_tokens import BEGIN, END, NAMES, PAD, UNKNOWN
from dragoman.text.tokenizer import Tokenizer

Spec = Any  # CTranslate2 has no types
Array = np.ndarray[Any, np.dtype[np.float32]]
IMPOSSIBLE = -6e4  # which float16 can hold too
FEWEST_POSITIONS = 1024  # a table of sinusoids has an end, and costs little


def export_ctranslate2(
    model: str | Path, quantization: str = "int8", output: str | Path | None = None
) -> Export:
    """Export a model folder; the export lies in it unless another place is given."""
    check_path("model", model)
    check_choice("quantization", quantization, QUANTIZATIONS)
    folder = Path(model)
    place = export_folder(folder, quantization) if output is None else Path(output)
    _refuse_to_replace(place)
    saved = load_translator(folder)
    specification = build_specification(saved)
    specification.validate()
    specification.optimize(quantization=quantization)
    manifest = {
        "format": FORMAT,
        "quantization": quantization,
        "positions": num_positions(saved.config),
        "made_from": fingerprint(folder),
    }
    _write(place, specification, saved, manifest)
    return Export.read(place)


def _refuse_to_replace(place: Path) -> None:
    """Keep what a person has there, unless it is an older export."""
    if place.exists() and not (place / MANIFEST).is_file():
        if place.is_dir() and not any(place.iterdir()):
            return
        raise ExportError(
            f"{place} is there already and is not an export: give another place with "
            "--output"
        )


def _write(
    place: Path, specification: Spec, saved: SavedModel, manifest: dict[str, Any]
) -> None:
    """Write beside the place, then take it: a crash leaves the old export or none."""
    beside = place.with_name(place.name + ".tmp")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        specification.save(str(beside))
        durable.write_text(beside / MANIFEST, json.dumps(manifest, indent=2) + "\n")
        saved.tokenizers.save(beside)
        for path in beside.iterdir():
            with path.open("rb+") as file:
                durable.sync(file)
        write_checksums(beside, list(beside.iterdir()))
        shutil.rmtree(place, ignore_errors=True)
        durable.rename_folder(beside, place)
    except OSError as error:
        raise ExportError(
            f"cannot write the export {place} ({error.strerror or error}): give a "
            "place that can be written with --output"
        ) from error


def num_positions(config: Config) -> int:
    """Say how many tokens a sentence may have once exported."""
    if config.model.positions == "learned":
        return config.model.max_positions
    needed = config.data.max_tokens + config.decoding.max_extra_tokens + 1
    return max(FEWEST_POSITIONS, needed)


def build_specification(saved: SavedModel) -> Spec:
    """Put the weights where CTranslate2 looks for them."""
    config, model = saved.config.model, saved.model
    if config.kind != "transformer" or not isinstance(model, Transformer):
        raise ExportError(
            f"a model of model.kind = {config.kind!r} cannot be exported: CTranslate2 "
            "knows Transformers only; translate with the engine pytorch"
        )
    _refuse_unknown_parts(config)
    specs = _specs()
    shape = _shape(config, specs)
    specification = specs.TransformerSpec(
        specs.TransformerEncoderSpec(config.num_encoder_layers, **shape),
        specs.TransformerDecoderSpec(config.num_decoder_layers, **shape),
    )
    if config.norm == "pre" or config.last_norm:
        for side, stack in (
            (specification.encoder, model.encoder),
            (specification.decoder, model.decoder),
        ):
            _set_norm(side.layer_norm, stack.norm)
            side.pre_norm = config.norm == "pre"
    for spec, layer in zip(
        specification.encoder.layer, model.encoder.layers, strict=True
    ):
        assert isinstance(layer, EncoderLayer)
        _set_encoder_layer(spec, layer)
    for spec, layer in zip(
        specification.decoder.layer, model.decoder.layers, strict=True
    ):
        assert isinstance(layer, DecoderLayer)
        _set_decoder_layer(spec, layer)
    _set_embeddings(specification, model, num_positions(saved.config))
    _set_vocabularies(specification, saved)
    return specification


def _refuse_unknown_parts(config: ModelConfig) -> None:
    """Say in one line what CTranslate2 has no place for."""
    if config.positions == "none":
        raise ExportError(
            'a model with model.positions="none" cannot be exported: CTranslate2 adds '
            "positions to every embedding"
        )
    for setting, value, allowed in (
        ("positions", config.positions, ("sinusoidal", "learned", "rotary")),
        ("norm_kind", config.norm_kind, ("layer", "rms")),
    ):
        if value not in allowed:
            raise ExportError(
                f'a model with model.{setting}="{value}" cannot be exported: '
                f"CTranslate2 knows {', '.join(allowed)}"
            )


def _shape(config: ModelConfig, specs: Spec) -> dict[str, Any]:
    """Say in CTranslate2's words what kind of Transformer it is."""
    activations = specs.common_spec.Activation
    shape = {
        "num_heads": config.num_heads,
        # Only pre-norm stacks have room for a last norm; which they are is said later.
        "pre_norm": config.norm == "pre" or config.last_norm,
        "head_dim": config.d_head or None,
        "rms_norm": config.norm_kind == "rms",
        "ffn_glu": config.activation == "swiglu",
        "activation": {
            "relu": activations.RELU,
            "gelu": activations.GELU,
            "quick_gelu": activations.GELUSigmoid,
            "swish": activations.SWISH,
            "swiglu": activations.SWISH,
        }[config.activation],
        "num_heads_kv": config.num_kv_heads or None,
        "layernorm_embedding": config.embedding_norm,
    }
    if config.positions == "rotary":
        shape |= {"rotary_dim": config.head_size, "rotary_interleave": False}
    return shape


def _specs() -> Spec:
    try:
        from ctranslate2.specs import transformer_spec
    except ImportError as error:
        raise MissingExtraError(
            "exporting to CTranslate2", "ctranslate2", "ctranslate2"
        ) from error
    return transformer_spec


def _set_vocabularies(specification: Spec, saved: SavedModel) -> None:
    specification.register_source_vocabulary(vocabulary(saved.tokenizers.source))
    specification.register_target_vocabulary(vocabulary(saved.tokenizers.target))
    config = specification.config
    config.unk_token, config.bos_token = NAMES[UNKNOWN], NAMES[BEGIN]
    config.eos_token, config.decoder_start_token = NAMES[END], NAMES[BEGIN]
    config.add_source_eos = saved.config.model.source_end
    config.layer_norm_epsilon = saved.config.model.norm_epsilon


def vocabulary(tokenizer: Tokenizer) -> list[str]:
    """Give a name to each id: its piece, numbered where two pieces read alike."""
    pieces = tokenizer.pieces(range(tokenizer.vocabulary_size))
    seen: set[str] = set()
    named = []
    for number, piece in enumerate(pieces):
        name = piece if piece not in seen else f"{piece}#{number}"
        seen.add(name)
        named.append(name)
    return named


def _set_embeddings(specification: Spec, model: Transformer, positions: int) -> None:
    encoder, decoder = specification.encoder, specification.decoder
    for spec, embeddings, embed in (
        (encoder, encoder.embeddings[0], model.embed_source),
        (decoder, decoder.embeddings, model.embed_target),
    ):
        embeddings.weight = _array(embed.tokens.weight)
        if hasattr(spec, "layernorm_embedding"):
            _set_norm(spec.layernorm_embedding, embed.norm)
        if hasattr(spec, "position_encodings"):
            added = _added_positions(embed, positions)
            spec.position_encodings.encodings = _array(added)
    decoder.projection.weight = _array(model.output_weight)
    # PAD and BEGIN are never said; as part of the model, whoever uses the export.
    bias = torch.zeros(len(model.output_weight))
    if model.output_bias is not None:
        bias = model.output_bias.detach().clone()
    bias[[PAD, BEGIN]] = IMPOSSIBLE
    decoder.projection.bias = _array(bias)


def _added_positions(embed: Embed, count: int) -> Tensor:
    """Give what is added to embeddings: nothing, where attention is told of places."""
    match embed.positions:
        case LearnedPositions():
            return embed.positions.table
        case SinusoidalPositions():
            return sinusoids(count, embed.tokens.embedding_dim)
        case _:
            return torch.zeros(count, embed.tokens.embedding_dim)


def _set_encoder_layer(spec: Spec, layer: EncoderLayer) -> None:
    _set_self_attention(spec.self_attention, layer.self_attention)
    _set_norm(spec.self_attention.layer_norm, layer.around_attention.norm)
    _set_feed_forward(spec.ffn, layer.feed_forward, layer.around_feed_forward.norm)


def _set_decoder_layer(spec: Spec, layer: DecoderLayer) -> None:
    _set_self_attention(spec.self_attention, layer.self_attention)
    _set_norm(spec.self_attention.layer_norm, layer.around_self_attention.norm)
    _set_cross_attention(spec.attention, layer.cross_attention)
    _set_norm(spec.attention.layer_norm, layer.around_cross_attention.norm)
    _set_feed_forward(spec.ffn, layer.feed_forward, layer.around_feed_forward.norm)


def _set_self_attention(spec: Spec, attention: MultiHeadAttention) -> None:
    joint = attention.projections
    _set_linear(spec.linear[0], joint.weight, joint.bias)
    _set_linear(spec.linear[1], attention.output.weight, attention.output.bias)
    _set_scale(spec, attention)


def _set_cross_attention(spec: Spec, attention: MultiHeadAttention) -> None:
    joint, inner = attention.projections, attention.inner
    _set_linear(spec.linear[0], joint.weight[:inner], joint.bias[:inner])
    _set_linear(spec.linear[1], joint.weight[inner:], joint.bias[inner:])
    _set_linear(spec.linear[2], attention.output.weight, attention.output.bias)
    _set_scale(spec, attention)


def _set_scale(spec: Spec, attention: MultiHeadAttention) -> None:
    if not attention.attention.scaling:
        spec.queries_scale = np.float32(1.0)


def _set_feed_forward(spec: Spec, network: FeedForward, norm: nn.Module) -> None:
    parts = 2 if network.activation == "swiglu" else 1  # the gate, and what it passes
    inner = zip(
        network.inner.weight.chunk(parts), network.inner.bias.chunk(parts), strict=True
    )
    _set_linear(spec.linear_0, *next(inner))
    if parts == 2:
        _set_linear(spec.linear_0_noact, *next(inner))
    _set_linear(spec.linear_1, network.outer.weight, network.outer.bias)
    _set_norm(spec.layer_norm, norm)


def _set_linear(spec: Spec, weight: Tensor, bias: Tensor) -> None:
    spec.weight, spec.bias = _array(weight), _array(bias)


def _set_norm(spec: Spec, norm: nn.Module) -> None:
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    spec.gamma = _array(norm.weight)
    if isinstance(norm, nn.LayerNorm):
        spec.beta = _array(norm.bias)


def _array(tensor: Tensor) -> Array:
    return tensor.detach().to("cpu", torch.float32, copy=True).contiguous().numpy()
