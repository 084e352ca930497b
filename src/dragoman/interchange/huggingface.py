"""Hugging Face's Marian, which OPUS-MT's models are: in.

Ids are never assumed: what ends a sentence, what is unknown and what decoding starts
from is read from `config.json` and `vocab.json`, and a piece of SentencePiece that the
vocabulary lacks is unknown.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from dragoman.config import read_saved
from dragoman.errors import ConfigError, ImportedModelError, TokenizerError
from dragoman.interchange.foreign import (
    Arrangement,
    Foreign,
    Linear,
    Weights,
    foreign_config,
    read_bytes,
    read_json,
)
from dragoman.interchange.self_test import Original
from dragoman.interchange.stream_order import reordered, taking_turns
from dragoman.text.imported_tokenizer import ImportedTokenizer
from dragoman.text.tokenizer_pair import TokenizerPair

ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "quick_gelu": "quick_gelu",
    "swish": "swish",
    "silu": "swish",
}
OWN = "dragoman"  # what Hugging Face has no place for, in our exports
TARGET_VOCABULARY = "target_vocab.json"
WEIGHTS, PICKLED = "model.safetensors", "pytorch_model.bin"


def read_huggingface(folder: Path, languages: tuple[str, str]) -> Foreign:
    """Read the folder of a `MarianMTModel`, as `save_pretrained` writes it."""
    values = _read_names(folder / "config.json")
    kind = values.get("model_type")
    if kind not in ("marian", "pegasus"):
        raise ImportedModelError(
            f"{folder} holds a {kind!r} model: of Hugging Face's, only 'marian' and "
            "'pegasus' can be imported"
        )
    their = _Shape(values)
    source, target = _vocabularies(folder, their)
    theirs = _Theirs(_read_weights(folder))
    own = folder / OWN
    separate = source.pieces != target.pieces
    if own.is_dir():
        separate = (folder / TARGET_VOCABULARY).is_file()
    settings = their.settings(separate=separate)
    bias = theirs.tensors.get("final_logits_bias")
    weights = _weights(theirs, their, settings, (source.arranged, target.arranged))
    theirs.refuse_rest()
    first = source.tokenizer()
    same = source.pieces == target.pieces and source.content == target.content
    pair = TokenizerPair(first, first if same else target.tokenizer())
    config = foreign_config(settings)
    weights = reordered(weights, taking_turns(config.model.d_model))
    foreign = Foreign(f"Hugging Face {kind}", weights, pair, config, languages)
    return as_it_was(foreign, own, bias) if own.is_dir() else foreign


def as_it_was(foreign: Foreign, own: Path, bias: Tensor | None) -> Foreign:
    """Give a model that we exported its own settings and tokenizers again."""
    try:
        described = _read_names(own / "config.json")
        config = read_saved(described["settings"])
        source, target = described["languages"]
        tokenizers = TokenizerPair.load(own)
    except (ValueError, KeyError, TypeError, TokenizerError, ConfigError) as error:
        raise ImportedModelError(
            f"{own} was truncated or altered ({error}): copy the folder again"
        ) from error
    weights = dict(foreign.weights)
    weights.pop("output_bias")
    if config.model.output_bias and bias is not None:
        weights["output_bias"] = bias.flatten()
    return Foreign(foreign.program, weights, tokenizers, config, (source, target))


def original_transformers(folder: Path) -> Original | None:
    """Give `transformers` itself on this folder, where it is installed."""
    try:
        import transformers
    except ImportError:
        return None
    name = f"transformers {transformers.__version__}"

    def translate(sentences: Sequence[str], limits: Sequence[int]) -> list[str]:
        try:
            model = transformers.MarianMTModel.from_pretrained(folder).eval()
            with warnings.catch_warnings():  # it recommends what it makes no use of
                warnings.simplefilter("ignore")
                tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
        except (OSError, ValueError, KeyError) as error:
            raise ImportedModelError(
                f"{name} cannot open {folder} for the self-test ({error})"
            ) from error
        said = []
        for sentence, limit in zip(sentences, limits, strict=True):
            read = tokenizer(sentence, return_tensors="pt")
            with torch.inference_mode():
                found = model.generate(**read, num_beams=1, max_new_tokens=limit)
            said.append(str(tokenizer.decode(found[0], skip_special_tokens=True)))
        return said

    return Original(name, translate)


@dataclass(frozen=True)
class _Shape:
    """What `config.json` says, each number read with its name in any complaint."""

    values: Mapping[str, Any]

    def number(self, key: str) -> int:
        value = self.values.get(key)
        if type(value) is not int or not 0 <= value < 2**31:
            raise ImportedModelError(
                f"config.json says {key} = {value!r}, not a number"
            )
        return value

    def both(self, key: str) -> int:
        """Give a number that must be the same on both sides."""
        one, other = self.number(f"encoder_{key}"), self.number(f"decoder_{key}")
        if one != other:
            raise ImportedModelError(
                f"config.json says {one} encoder_{key} and {other} decoder_{key}: only "
                "models with the same on both sides can be imported"
            )
        return one

    @property
    def shares(self) -> bool:
        """Whether both languages have one embedding."""
        return bool(self.values.get("share_encoder_decoder_embeddings", True))

    @property
    def tied(self) -> bool:
        """Whether the output projection is the target's embedding."""
        return bool(self.values.get("tie_word_embeddings", True))

    @property
    def scales(self) -> bool:
        """Whether embeddings are multiplied by √d_model."""
        return bool(self.values.get("scale_embedding", False))

    def settings(self, *, separate: bool) -> dict[str, Any]:
        """Give our settings for it."""
        activation = ACTIVATIONS.get(str(self.values.get("activation_function")))
        if activation is None:
            raise ImportedModelError(
                f"the activation {self.values.get('activation_function')!r} is unknown "
                f"here: {', '.join(ACTIVATIONS)} can be imported"
            )
        one_matrix = self.shares != separate  # as both languages' vocabularies are
        pre_norm = self.values["model_type"] == "pegasus"
        return {
            "model.d_model": self.number("d_model"),
            "model.d_ff": self.both("ffn_dim"),
            "model.num_heads": self.both("attention_heads"),
            "model.num_encoder_layers": self.number("encoder_layers"),
            "model.num_decoder_layers": self.number("decoder_layers"),
            "model.norm": "pre" if pre_norm else "post",
            "model.activation": activation,
            "model.tie_embeddings": one_matrix and self.tied and self.scales,
            "model.output_bias": True,
            "tokenizer.shared_vocabulary": not separate,
        }


@dataclass(frozen=True)
class _Vocabulary:
    pieces: tuple[str, ...]
    arranged: Arrangement
    content: bytes

    def tokenizer(self) -> ImportedTokenizer:
        return ImportedTokenizer("sentencepiece", self.arranged.pieces, self.content)


def _vocabularies(folder: Path, shape: _Shape) -> tuple[_Vocabulary, _Vocabulary]:
    source = _read_names(folder / "vocab.json")
    separate = folder / TARGET_VOCABULARY
    target = _read_names(separate) if separate.is_file() else source
    sides = []
    for file, vocabulary in (("source.spm", source), ("target.spm", target)):
        content = read_bytes(folder / file)
        pieces = _pieces(vocabulary)
        size = "vocab_size"
        if vocabulary is target and "decoder_vocab_size" in shape.values:
            size = "decoder_vocab_size"
        if len(pieces) != shape.number(size):
            raise ImportedModelError(
                f"config.json says {shape.number(size)} tokens and the vocabulary has "
                f"{len(pieces)}: they do not belong together"
            )
        if "<unk>" not in vocabulary:
            raise ImportedModelError(f"{folder} has a vocabulary without <unk>")
        arranged = Arrangement.of(
            pieces,
            end=shape.number("eos_token_id"),
            unknown=vocabulary["<unk>"],
            begin=shape.number("decoder_start_token_id"),
            pad=shape.number("pad_token_id"),
        )
        sides.append(_Vocabulary(pieces, arranged, content))
    return sides[0], sides[1]


def _pieces(vocabulary: Mapping[str, Any]) -> tuple[str, ...]:
    """Turn piece → id around; each id must have exactly one piece."""
    pieces: list[str | None] = [None] * len(vocabulary)
    for piece, number in vocabulary.items():
        if type(number) is not int or not 0 <= number < len(pieces):
            raise ImportedModelError(
                f"the vocabulary gives {piece!r} the id {number!r}, of {len(pieces)}"
            )
        pieces[number] = piece
    if None in pieces:
        raise ImportedModelError(f"the vocabulary has no piece {pieces.index(None)}")
    return tuple(piece for piece in pieces if piece is not None)


@dataclass
class _Theirs:
    """Hugging Face's tensors, of which each must be taken."""

    tensors: dict[str, Tensor]

    def take(self, name: str) -> Tensor:
        if name not in self.tensors:
            raise ImportedModelError(f"the model has no {name}: it is damaged")
        return self.tensors.pop(name).float()

    def linear(self, name: str) -> Linear:
        return self.take(f"{name}.weight"), self.take(f"{name}.bias")

    def refuse_rest(self) -> None:
        rest = sorted(n for n in self.tensors if "embed_positions" not in n)
        if rest:
            raise ImportedModelError(
                f"the model has {rest[0]} and {len(rest) - 1} more weights that have "
                "no place here"
            )


def _weights(
    theirs: _Theirs,
    shape: _Shape,
    settings: Mapping[str, Any],
    arranged: tuple[Arrangement, Arrangement],
) -> dict[str, Tensor]:
    ours = Weights()
    _put_embeddings(ours, theirs, shape, settings, arranged)
    for side, parts in (
        ("encoder", (("self_attention", "self_attn", "around_attention"),)),
        (
            "decoder",
            (
                ("self_attention", "self_attn", "around_self_attention"),
                ("cross_attention", "encoder_attn", "around_cross_attention"),
            ),
        ),
    ):
        for number in range(settings[f"model.num_{side}_layers"]):
            name, layer = f"{side}.layers.{number}", f"model.{side}.layers.{number}"
            for attention, their, around in parts:
                q, k, v, out = (
                    theirs.linear(f"{layer}.{their}.{part}_proj")
                    for part in ("q", "k", "v", "out")
                )
                ours.attention(f"{name}.{attention}", (q, k, v), out)
                norm = theirs.linear(f"{layer}.{their}_layer_norm")
                ours.norm(f"{name}.{around}.norm", norm)
            ours.linear(f"{name}.feed_forward.inner", theirs.linear(f"{layer}.fc1"))
            ours.linear(f"{name}.feed_forward.outer", theirs.linear(f"{layer}.fc2"))
            norm = theirs.linear(f"{layer}.final_layer_norm")
            ours.norm(f"{name}.around_feed_forward.norm", norm)
        if settings["model.norm"] == "pre":
            ours.norm(f"{side}.norm", theirs.linear(f"model.{side}.layer_norm"))
    return ours.tensors


def _put_embeddings(
    ours: Weights,
    theirs: _Theirs,
    shape: _Shape,
    settings: Mapping[str, Any],
    arranged: tuple[Arrangement, Arrangement],
) -> None:
    tables = ours.tensors
    shared = theirs.tensors.pop("model.shared.weight", None)
    embeddings = []
    for side in ("encoder", "decoder"):
        own = theirs.tensors.pop(f"model.{side}.embed_tokens.weight", shared)
        if own is None:
            raise ImportedModelError(f"the model has no embeddings for its {side}")
        embeddings.append(own.float())
    output = theirs.tensors.pop("lm_head.weight", embeddings[1]).float()
    bias = theirs.tensors.pop("final_logits_bias", None)
    factor = 1.0 if shape.scales else settings["model.d_model"] ** -0.5
    tied = settings["model.tie_embeddings"]
    source, target = arranged
    for table, arrangement in zip(
        (*embeddings, output), (source, target, target), strict=True
    ):
        if len(table) <= max(arrangement.rows):
            raise ImportedModelError(
                f"the model has {len(table)} embeddings and the vocabulary "
                f"{max(arrangement.rows) + 1}: they do not belong together"
            )
    tables["embed_source.tokens.weight"] = source.matrix(embeddings[0]) * factor
    if not (tied and settings["tokenizer.shared_vocabulary"]):
        tables["embed_target.tokens.weight"] = target.matrix(embeddings[1]) * factor
    if not tied:
        tables["untied_output.weight"] = target.matrix(output)
    tables["output_bias"] = target.bias(None if bias is None else bias.flatten())


def _read_weights(folder: Path) -> dict[str, Tensor]:
    path = folder / WEIGHTS
    if not path.is_file():
        path = folder / PICKLED
    if not path.is_file():
        raise ImportedModelError(f"{folder} has no {WEIGHTS}: copy all its files")
    try:
        if path.name == WEIGHTS:
            return load_file(path)
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, SafetensorError, RuntimeError, EOFError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise ImportedModelError(f"{path} cannot be read ({said})") from error
    except Exception as error:  # a pickle that wants more than tensors, of any kind
        said = str(error).partition("\n")[0]
        raise ImportedModelError(
            f"{path} holds more than weights and is not opened ({said}): convert it to "
            f"{WEIGHTS} where you trust it"
        ) from error
    if not isinstance(loaded, dict) or not all(
        isinstance(value, Tensor) for value in loaded.values()
    ):
        raise ImportedModelError(f"{path} does not hold weights by name")
    return loaded


def _read_names(path: Path) -> dict[str, Any]:
    values = read_json(path)
    if not isinstance(values, dict):
        raise ImportedModelError(f"{path} does not hold names and values")
    return values
