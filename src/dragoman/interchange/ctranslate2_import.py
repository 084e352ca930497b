"""CTranslate2's models, whatever they were converted from: in.

Weights of any quantization become float32 again. The folder knows the pieces by id, but
not how text is cut into them: a SentencePiece file does.
"""

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from dragoman.errors import ImportedModelError
from dragoman.interchange.foreign import (
    NOWHERE,
    Arrangement,
    Foreign,
    Linear,
    Weights,
    foreign_config,
    read_bytes,
    read_json,
    shifted_sinusoids,
)
from dragoman.interchange.self_test import Original
from dragoman.special_tokens import UNKNOWN
from dragoman.text.imported_tokenizer import ImportedTokenizer
from dragoman.text.tokenizer_pair import TokenizerPair

POSITIONS = 1024  # of sinusoids that are computed
_VERSIONS = (4, 5, 6)
_TYPES = {
    0: torch.float32,
    1: torch.int8,
    2: torch.int16,
    3: torch.int32,
    4: torch.float16,
    5: torch.bfloat16,
}
_ACTIVATIONS = {0: "relu", 2: "swish", 3: "gelu", 4: "quick_gelu"}
_PADS = ("<pad>", "<blank>")  # as programs name what is never said
_MOST = 1_000_000


def read_ctranslate2(
    folder: Path, sentencepiece: tuple[Path, Path], languages: tuple[str, str]
) -> Foreign:
    """Read the folder of a CTranslate2 Transformer with the SentencePiece it needs."""
    theirs = _Theirs(read_variables(folder / "model.bin"))
    values = (
        read_json(folder / "config.json") if (folder / "config.json").is_file() else {}
    )
    if not isinstance(values, dict):
        raise ImportedModelError(f"{folder / 'config.json'} holds no names and values")
    pieces = _vocabularies(folder)
    zero_start = bool(theirs.scalar("decoder/start_from_zero_embedding", 0))
    source, target = (_arrange(side, values, zero_start=zero_start) for side in pieces)
    settings = _settings(theirs, values, shared=pieces[0] == pieces[1])
    weights = _weights(theirs, settings, (source, target))
    theirs.refuse_rest()
    contents = [read_bytes(path) for path in sentencepiece]
    first = _tokenizer(source, contents[0])
    same = pieces[0] == pieces[1] and contents[0] == contents[1]
    pair = TokenizerPair(first, first if same else _tokenizer(target, contents[1]))
    return Foreign("CTranslate2", weights, pair, foreign_config(settings), languages)


def original_ctranslate2(folder: Path, foreign: Foreign) -> Original | None:
    """Give CTranslate2 itself on this folder, where it is installed."""
    try:
        import ctranslate2
    except ImportError:
        return None
    source, target = foreign.tokenizers.source, foreign.tokenizers.target
    assert isinstance(target, ImportedTokenizer)
    ids = {piece: number for number, piece in enumerate(target.vocabulary)}

    def translate(sentences: Sequence[str], limits: Sequence[int]) -> list[str]:
        try:
            engine = ctranslate2.Translator(
                str(folder), compute_type="float32", inter_threads=1
            )
        except (RuntimeError, ValueError) as error:
            raise ImportedModelError(
                f"CTranslate2 cannot open {folder} for the self-test ({error})"
            ) from error
        said = []
        for sentence, limit in zip(sentences, limits, strict=True):
            tokens = [source.pieces(source.encode(sentence))]
            [found] = engine.translate_batch(
                tokens, beam_size=1, max_decoding_length=limit
            )
            said.append(
                target.decode(
                    [ids.get(token, UNKNOWN) for token in found.hypotheses[0]]
                )
            )
        return said

    return Original(f"CTranslate2 {ctranslate2.__version__}", translate)


def read_variables(path: Path) -> dict[str, Tensor]:
    """Read `model.bin`: each variable by its name, aliases included."""
    content = read_bytes(path)
    try:
        return _Reader(content).variables()
    except (struct.error, ValueError, RuntimeError, KeyError) as error:
        said = " ".join(str(error).split())
        raise ImportedModelError(
            f"{path} is not a whole CTranslate2 model ({said}): fetch it again"
        ) from error


class _Reader:
    """Walks through the bytes of a `model.bin`."""

    def __init__(self, content: bytes) -> None:
        self.content = memoryview(content)
        self.place = 0

    def variables(self) -> dict[str, Tensor]:
        if (version := self.number("I")) not in _VERSIONS:
            raise ValueError(f"its version {version} is none of {_VERSIONS}")
        if "Transformer" not in (name := self.text()):
            raise ValueError(f"it is a {name}, and no Transformer")
        self.number("I")  # its revision
        found = {}
        for _ in range(min(self.number("I"), _MOST)):
            name = self.text()
            found[name] = self.tensor()
        for _ in range(min(self.number("I"), _MOST)):
            alias, name = self.text(), self.text()
            found[alias] = found[name]
            if (scale := f"{name}_scale") in found:  # goes without saying
                found.setdefault(f"{alias}_scale", found[scale])
        return found

    def number(self, kind: str) -> int:
        (value,) = struct.unpack_from(f"<{kind}", self.content, self.place)
        self.place += struct.calcsize(f"<{kind}")
        return int(value)

    def text(self) -> str:
        return bytes(self.take(self.number("H"))).rstrip(b"\0").decode()

    def take(self, size: int) -> memoryview:
        if self.place + size > len(self.content):
            raise ValueError("its end is missing")
        self.place += size
        return self.content[self.place - size : self.place]

    def tensor(self) -> Tensor:
        shape = [self.number("I") for _ in range(self.number("B"))]
        kind = self.number("B")
        if kind not in _TYPES:
            raise ValueError(f"there is no type {kind}")
        raw = self.take(self.number("I"))
        if math.prod(shape) * _TYPES[kind].itemsize != len(raw):
            raise ValueError("a shape does not fit its data")
        if not len(raw):
            return torch.zeros(shape, dtype=_TYPES[kind])
        return torch.frombuffer(bytearray(raw), dtype=_TYPES[kind]).view(shape)


@dataclass
class _Theirs:
    """CTranslate2's variables, of which each must be taken."""

    variables: dict[str, Tensor]

    def scalar(self, name: str, default: float | None = None) -> float:
        found = self.variables.get(name)
        if found is None and default is not None:
            return default
        if found is None or found.numel() != 1:
            raise ImportedModelError(f"the model has no number {name}: it is damaged")
        return float(found.item())

    def take(self, name: str) -> Tensor:
        if name not in self.variables:
            raise ImportedModelError(f"the model has no {name}: it is damaged")
        found = self.variables.pop(name)
        scale = self.variables.pop(f"{name}_scale", None)
        if found.is_floating_point():
            return found.float()
        if scale is None:
            raise ImportedModelError(f"the scales of {name} are missing: it is damaged")
        if scale.numel() not in (1, len(found)):
            raise ImportedModelError(f"the scales of {name} do not fit it")
        return found.float() / scale.float().view(-1, *[1] * (found.dim() - 1))

    def linear(self, name: str) -> Linear:
        weight = self.take(f"{name}/weight")
        if f"{name}/bias" in self.variables:
            return weight, self.take(f"{name}/bias")
        return weight, torch.zeros(len(weight))

    def norm(self, name: str) -> Linear:
        gamma, beta = self.take(f"{name}/gamma"), f"{name}/beta"
        if beta not in self.variables:
            raise ImportedModelError(
                f"{name} has no beta: models with RMS norms cannot be imported"
            )
        return gamma, self.take(beta)

    def refuse_rest(self) -> None:
        rest = sorted(n for n, value in self.variables.items() if value.dim())
        if rest:
            raise ImportedModelError(
                f"the model has {rest[0]} and {len(rest) - 1} more weights that have "
                "no place here: only plain Transformers can be imported"
            )


def _settings(
    theirs: _Theirs, values: Mapping[str, Any], *, shared: bool
) -> dict[str, Any]:
    sides = ("encoder", "decoder")
    heads, pre, activation, scales = (
        {int(theirs.scalar(f"{side}/{name}", default)) for side in sides}
        for name, default in (
            ("num_heads", None),
            ("pre_norm", 1),
            ("activation", 0),
            ("scale_embeddings", 1),
        )
    )
    known = _ACTIVATIONS.get(next(iter(activation)))
    if len(heads) > 1 or len(pre) > 1 or len(activation) > 1 or known is None:
        raise ImportedModelError(
            "this shape of Transformer cannot be imported: both sides must have as "
            "many heads, norms in one place, and one activation of "
            f"{', '.join(_ACTIVATIONS.values())}"
        )
    pre_norm, layers = bool(next(iter(pre))), {}
    for side in sides:
        layers[side] = 0
        while f"{side}/layer_{layers[side]}/ffn/linear_0/weight" in theirs.variables:
            layers[side] += 1
    embeddings = _embeddings(theirs)
    tied = shared and scales == {1} and _same(*embeddings)
    width = theirs.variables.get("encoder/layer_0/ffn/linear_0/weight")
    closed = "encoder/layer_norm/gamma" in theirs.variables
    if pre_norm and not closed:
        raise ImportedModelError("a pre-norm stack without a last norm is unknown here")
    table = theirs.variables.get("encoder/position_encodings/encodings")
    unscaled = theirs.scalar("encoder/layer_0/self_attention/queries_scale", -1.0)
    return {
        "model.d_model": embeddings[0].shape[-1],
        "model.d_ff": 1 if width is None else len(width),
        "model.num_heads": next(iter(heads)),
        "model.num_encoder_layers": layers["encoder"],
        "model.num_decoder_layers": layers["decoder"],
        "model.norm": "pre" if pre_norm else "post",
        "model.last_norm": closed and not pre_norm,
        "model.embedding_norm": "encoder/layernorm_embedding/gamma" in theirs.variables,
        "model.norm_epsilon": float(values.get("layer_norm_epsilon") or 1e-5),
        "model.activation": known,
        "model.attention_scale": unscaled != 1.0,
        "model.positions": "learned",
        "model.max_positions": POSITIONS if table is None else len(table),
        "model.tie_embeddings": tied,
        "model.output_bias": True,
        "model.source_end": bool(values.get("add_source_eos", False)),
        "tokenizer.shared_vocabulary": shared,
    }


def _embeddings(theirs: _Theirs) -> list[Tensor]:
    """Look at the embeddings of both sides and the output projection."""
    names = ("encoder/embeddings_0", "decoder/embeddings", "decoder/projection")
    found = []
    for name in names:
        kept = dict(theirs.variables)
        found.append(theirs.take(f"{name}/weight"))
        theirs.variables = kept
    return found


def _same(source: Tensor, target: Tensor, output: Tensor) -> bool:
    return torch.equal(source, target) and torch.equal(target, output)


def _weights(
    theirs: _Theirs,
    settings: Mapping[str, Any],
    arranged: tuple[Arrangement, Arrangement],
) -> dict[str, Tensor]:
    ours = Weights()
    _put_embeddings(ours, theirs, settings, arranged)
    around = {"encoder": "around_attention", "decoder": "around_self_attention"}
    for side in ("encoder", "decoder"):
        for number in range(settings[f"model.num_{side}_layers"]):
            name, layer = f"{side}.layers.{number}", f"{side}/layer_{number}"
            weight, bias = theirs.linear(f"{layer}/self_attention/linear_0")
            maps = list(zip(weight.chunk(3), bias.chunk(3), strict=True))
            output = theirs.linear(f"{layer}/self_attention/linear_1")
            ours.attention(f"{name}.self_attention", maps, output)
            norm = theirs.norm(f"{layer}/self_attention/layer_norm")
            ours.norm(f"{name}.{around[side]}.norm", norm)
            if side == "decoder":
                _put_cross_attention(ours, theirs, name, layer)
            for part, linear in (("inner", 0), ("outer", 1)):
                map_ = theirs.linear(f"{layer}/ffn/linear_{linear}")
                ours.linear(f"{name}.feed_forward.{part}", map_)
            norm = theirs.norm(f"{layer}/ffn/layer_norm")
            ours.norm(f"{name}.around_feed_forward.norm", norm)
        if settings["model.norm"] == "pre" or settings["model.last_norm"]:
            ours.norm(f"{side}.norm", theirs.norm(f"{side}/layer_norm"))
    return ours.tensors


def _put_cross_attention(ours: Weights, theirs: _Theirs, name: str, layer: str) -> None:
    queries = theirs.linear(f"{layer}/attention/linear_0")
    weight, bias = theirs.linear(f"{layer}/attention/linear_1")
    both = zip(weight.chunk(2), bias.chunk(2), strict=True)
    output = theirs.linear(f"{layer}/attention/linear_2")
    ours.attention(f"{name}.cross_attention", [queries, *both], output)
    norm = theirs.norm(f"{layer}/attention/layer_norm")
    ours.norm(f"{name}.around_cross_attention.norm", norm)


def _put_embeddings(
    ours: Weights,
    theirs: _Theirs,
    settings: Mapping[str, Any],
    arranged: tuple[Arrangement, Arrangement],
) -> None:
    tables, d_model = ours.tensors, settings["model.d_model"]
    sides = ("encoder", "decoder")
    matrices = [
        theirs.take("encoder/embeddings_0/weight"),
        theirs.take("decoder/embeddings/weight"),
    ]
    output, bias = theirs.linear("decoder/projection")
    tied = settings["model.tie_embeddings"]
    for number, side in enumerate(sides):
        ours_side = ("source", "target")[number]
        matrix, arrangement = matrices[number], arranged[number]
        if len(matrix) <= max(arrangement.rows):
            raise ImportedModelError(
                f"the model has {len(matrix)} embeddings and the vocabulary "
                f"{max(arrangement.rows) + 1}: they do not belong together"
            )
        scales = theirs.scalar(f"{side}/scale_embeddings", 1)
        factor = 1.0 if scales else d_model**-0.5
        shared = tied and settings["tokenizer.shared_vocabulary"]
        if not (shared and number):
            name = f"embed_{ours_side}.tokens.weight"
            tables[name] = arrangement.matrix(matrix) * factor
        positions = theirs.variables.pop(f"{side}/position_encodings/encodings", None)
        if positions is None:
            positions = shifted_sinusoids(
                POSITIONS, d_model, first=1, slowest=d_model // 2 - 1
            )
        tables[f"embed_{ours_side}.positions.table"] = positions.float().contiguous()
        if settings["model.embedding_norm"]:
            norm = theirs.norm(f"{side}/layernorm_embedding")
            ours.norm(f"embed_{ours_side}.norm", norm)
    if len(output) <= max(arranged[1].rows):
        raise ImportedModelError("the output projection is smaller than the vocabulary")
    if not tied:
        tables["untied_output.weight"] = arranged[1].matrix(output)
    tables["output_bias"] = arranged[1].bias(bias)


def _arrange(
    pieces: tuple[str, ...], values: Mapping[str, Any], *, zero_start: bool
) -> Arrangement:
    def number(key: str, default: str) -> int:
        name = values.get(key, default)
        if name not in pieces:
            raise ImportedModelError(f"the vocabulary has no {name!r}, its {key}")
        return pieces.index(name)

    begin = NOWHERE
    if not zero_start:
        if values.get("decoder_start_token", "<s>") is None:
            raise ImportedModelError(
                "this model is told by its users what to begin with: such models "
                "cannot be imported"
            )
        begin = number("decoder_start_token", "<s>")
    return Arrangement.of(
        pieces,
        end=number("eos_token", "</s>"),
        unknown=number("unk_token", "<unk>"),
        begin=begin,
        pad=next((pieces.index(name) for name in _PADS if name in pieces), NOWHERE),
    )


def _vocabularies(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    shared = _vocabulary(folder, "shared_vocabulary")
    if shared is not None:
        return shared, shared
    source = _vocabulary(folder, "source_vocabulary")
    target = _vocabulary(folder, "target_vocabulary")
    if source is None or target is None:
        raise ImportedModelError(f"{folder} has no vocabulary: copy all its files")
    return source, target


def _vocabulary(folder: Path, name: str) -> tuple[str, ...] | None:
    if (path := folder / f"{name}.json").is_file():
        pieces = read_json(path)
        if not isinstance(pieces, list) or not all(isinstance(p, str) for p in pieces):
            raise ImportedModelError(f"{path} does not list pieces")
        return tuple(pieces)
    if (path := folder / f"{name}.txt").is_file():
        text = read_bytes(path).decode("utf-8", "replace").removesuffix("\n")
        return tuple(text.split("\n"))
    return None


def _tokenizer(arranged: Arrangement, content: bytes) -> ImportedTokenizer:
    try:
        return ImportedTokenizer("sentencepiece", arranged.pieces, content)
    except (ValueError, RuntimeError) as error:
        said = " ".join(str(error).split())
        raise ImportedModelError(
            f"the tokenizer is not SentencePiece ({said}): give the .model of this "
            "model with --vocabulary"
        ) from error
