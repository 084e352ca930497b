"""Marian's own models, and Firefox's, which are Marian's in int8: in and out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from torch import Tensor

from dragoman.errors import ImportedModelError
from dragoman.interchange.foreign import (
    Arrangement,
    Foreign,
    Linear,
    Weights,
    foreign_config,
    shifted_sinusoids,
)
from dragoman.interchange.marian_files import Array, read_tensors
from dragoman.interchange.self_test import Original
from dragoman.text.imported_tokenizer import ImportedTokenizer
from dragoman.text.tokenizer_pair import TokenizerPair

POSITIONS = 1024
EPSILON = 1e-6  # of Marian's layer norms
END_PIECE, UNKNOWN_PIECE = "</s>", "<unk>"
_ACTIVATIONS = {"relu": "relu", "swish": "swish", "gelu": "quick_gelu"}


def read_marian(
    weights: Path, vocabularies: tuple[Path, Path], languages: tuple[str, str]
) -> Foreign:
    """Read a `.npz` or `.bin` with the SentencePiece vocabularies of both sides."""
    tensors, settings = read_tensors(weights)
    theirs = _Theirs(dict(tensors), settings)
    source, target = (_vocabulary(path) for path in vocabularies)
    one_file = vocabularies[0] == vocabularies[1] or source == target
    first = _tokenizer(*source)
    tokenizers = TokenizerPair(first, first if one_file else _tokenizer(*target))
    arranged = _arrange(source[0]), _arrange(target[0])
    made = _settings(theirs, one_file)
    ours = _weights(theirs, made, arranged)
    theirs.refuse_rest()
    config = foreign_config(made)
    return Foreign("Marian", ours, tokenizers, config, languages)


def _vocabulary(path: Path) -> tuple[tuple[str, ...], bytes]:
    """Give the pieces of a SentencePiece model by id, and its content."""
    try:
        content = path.read_bytes()
        processor = sentencepiece.SentencePieceProcessor(model_proto=content)
    except (OSError, RuntimeError) as error:
        said = " ".join(str(error).split())
        raise ImportedModelError(
            f"{path} is not a SentencePiece vocabulary ({said}): give the .spm of the "
            "model with --vocabulary"
        ) from error
    size = processor.vocab_size()
    return tuple(processor.id_to_piece(i) for i in range(size)), content


def _arrange(pieces: tuple[str, ...]) -> Arrangement:
    for needed in (END_PIECE, UNKNOWN_PIECE):
        if needed not in pieces:
            raise ImportedModelError(
                f"the vocabulary has no {needed}: it is not one of Marian's"
            )
    end, unknown = pieces.index(END_PIECE), pieces.index(UNKNOWN_PIECE)
    return Arrangement.of(pieces, end=end, unknown=unknown)


def _tokenizer(pieces: tuple[str, ...], content: bytes) -> ImportedTokenizer:
    return ImportedTokenizer("sentencepiece", _arrange(pieces).pieces, content)


@dataclass
class _Theirs:
    """Marian's tensors, of which each must be taken, and its settings."""

    tensors: dict[str, Array]
    settings: Mapping[str, str]

    def number(self, key: str) -> int:
        value = self.settings.get(key, "")
        if not value.isdecimal() or len(value) > 6:
            raise ImportedModelError(f"the model says {key}: {value!r}, not a number")
        return int(value)

    def flag(self, key: str) -> bool:
        return self.settings.get(key) == "true"

    def word(self, key: str, default: str = "") -> str:
        return self.settings.get(key, default)

    def take(self, name: str) -> Tensor:
        if name not in self.tensors:
            raise ImportedModelError(f"the model has no {name}: it is damaged")
        return torch.from_numpy(self.tensors.pop(name)).float()

    def linear(self, weight: str, bias: str) -> Linear:
        matrix = self.take(weight)  # (input, output)
        return matrix.T, self.take(bias).flatten()

    def norm(self, name: str) -> Linear:
        scale, bias = self.take(f"{name}_ln_scale"), self.take(f"{name}_ln_bias")
        return scale.flatten(), bias.flatten()

    def attention(self, weights: Weights, ours: str, theirs: str) -> None:
        maps = [self.linear(f"{theirs}_W{part}", f"{theirs}_b{part}") for part in "qkv"]
        output = self.linear(f"{theirs}_Wo", f"{theirs}_bo")
        weights.attention(ours, maps, output)

    def refuse_rest(self) -> None:
        """Say what has no place here; int8 products need weights of their own."""
        rest = sorted(
            name
            for name in self.tensors
            if not name.endswith("_QuantMultA") and name != "decoder_c_tt"
        )
        if rest:
            raise ImportedModelError(
                f"the model has {rest[0]} and {len(rest) - 1} more weights that have "
                "no place here: only plain Transformers and SSRU decoders can be "
                "imported"
            )


def _settings(theirs: _Theirs, one_vocabulary: bool) -> dict[str, Any]:
    if theirs.word("type") != "transformer":
        raise ImportedModelError(
            f"a Marian model of the type {theirs.word('type')!r} cannot be imported: "
            "only 'transformer' can"
        )
    norm = {("", "dan"): "post", ("n", "da"): "pre"}.get(
        (theirs.word("transformer-preprocess"), theirs.word("transformer-postprocess"))
    )
    activation = _ACTIVATIONS.get(theirs.word("transformer-ffn-activation", "swish"))
    autoreg = theirs.word("transformer-decoder-autoreg", "self-attention")
    recurrent = (autoreg, theirs.word("dec-cell")) == ("rnn", "ssru")
    if (
        norm is None
        or activation is None
        or not (recurrent or autoreg == "self-attention")
    ):
        raise ImportedModelError(
            "this shape of Marian's Transformer cannot be imported: it must have "
            "norms after ('dan') or before ('n', 'da') sublayers, relu, swish or gelu, "
            "and a decoder of self-attention or SSRU"
        )
    everything = theirs.flag("tied-embeddings-all") and one_vocabulary
    return {
        "model.kind": "ssru" if recurrent else "transformer",
        "model.d_model": theirs.number("dim-emb"),
        "model.d_ff": theirs.number("transformer-dim-ffn"),
        "model.num_heads": theirs.number("transformer-heads"),
        "model.num_encoder_layers": theirs.number("enc-depth"),
        "model.num_decoder_layers": theirs.number("dec-depth"),
        "model.norm": norm,
        "model.norm_epsilon": EPSILON,
        "model.activation": activation,
        "model.positions": "learned",
        "model.max_positions": POSITIONS,
        "model.tie_embeddings": everything
        or (not one_vocabulary and theirs.flag("tied-embeddings")),
        "model.output_bias": True,
        "tokenizer.shared_vocabulary": one_vocabulary,
    }


def _weights(
    theirs: _Theirs,
    settings: Mapping[str, Any],
    arranged: tuple[Arrangement, Arrangement],
) -> dict[str, Tensor]:
    ours = Weights()
    _put_embeddings(ours, theirs, settings, arranged)
    for number in range(settings["model.num_encoder_layers"]):
        name, layer = f"encoder.layers.{number}", f"encoder_l{number + 1}"
        theirs.attention(ours, f"{name}.self_attention", f"{layer}_self")
        ours.norm(f"{name}.around_attention.norm", theirs.norm(f"{layer}_self_Wo"))
        _put_feed_forward(ours, theirs, name, layer)
    for number in range(settings["model.num_decoder_layers"]):
        name, layer = f"decoder.layers.{number}", f"decoder_l{number + 1}"
        if settings["model.kind"] == "ssru":
            forget = theirs.linear(f"{layer}_rnn_Wf", f"{layer}_rnn_bf")
            ours.linear(f"{name}.recurrence.forget", forget)
            write = theirs.take(f"{layer}_rnn_W").T.contiguous()
            ours.tensors[f"{name}.recurrence.write.weight"] = write
            norm = theirs.norm(f"{layer}_rnn_ffn")
            ours.norm(f"{name}.around_recurrence.norm", norm)
        else:
            theirs.attention(ours, f"{name}.self_attention", f"{layer}_self")
            norm = theirs.norm(f"{layer}_self_Wo")
            ours.norm(f"{name}.around_self_attention.norm", norm)
        theirs.attention(ours, f"{name}.cross_attention", f"{layer}_context")
        norm = theirs.norm(f"{layer}_context_Wo")
        ours.norm(f"{name}.around_cross_attention.norm", norm)
        _put_feed_forward(ours, theirs, name, layer)
    if settings["model.norm"] == "pre":
        for side in ("encoder", "decoder"):
            ours.norm(f"{side}.norm", theirs.norm(f"{side}_top"))
    return ours.tensors


def _put_feed_forward(ours: Weights, theirs: _Theirs, name: str, layer: str) -> None:
    for part, number in (("inner", 1), ("outer", 2)):
        map_ = theirs.linear(f"{layer}_ffn_W{number}", f"{layer}_ffn_b{number}")
        ours.linear(f"{name}.feed_forward.{part}", map_)
    norm = theirs.norm(f"{layer}_ffn_ffn")
    ours.norm(f"{name}.around_feed_forward.norm", norm)


def _put_embeddings(
    ours: Weights,
    theirs: _Theirs,
    settings: Mapping[str, Any],
    arranged: tuple[Arrangement, Arrangement],
) -> None:
    source, target = arranged
    tables = ours.tensors
    if "Wemb" in theirs.tensors:
        embeddings = [theirs.take("Wemb")] * 2
    else:
        embeddings = [theirs.take("encoder_Wemb"), theirs.take("decoder_Wemb")]
    for table, arrangement in zip(embeddings, arranged, strict=True):
        if table.shape[1:] != (settings["model.d_model"],):
            raise ImportedModelError(
                f"the embeddings are {tuple(table.shape)}, and the model says dim-emb: "
                f"{settings['model.d_model']}"
            )
        if len(table) != len(arrangement.pieces) - 2:
            raise ImportedModelError(
                f"the model has {len(table)} embeddings and the vocabulary "
                f"{len(arrangement.pieces) - 2} pieces: they do not belong together"
            )
    shared, tied = (
        settings["tokenizer.shared_vocabulary"],
        settings["model.tie_embeddings"],
    )
    if not (shared and tied):
        tables["embed_target.tokens.weight"] = target.matrix(embeddings[1])
    tables["embed_source.tokens.weight"] = source.matrix(embeddings[0])
    if not tied:
        untied = "decoder_ff_logit_out_W" in theirs.tensors
        output = theirs.take("decoder_ff_logit_out_W").T if untied else embeddings[1]
        tables["untied_output.weight"] = target.matrix(output)
    tables["output_bias"] = target.bias(theirs.take("decoder_ff_logit_out_b").flatten())
    d_model = settings["model.d_model"]
    positions = shifted_sinusoids(POSITIONS, d_model, slowest=d_model // 2 - 1)
    for side in ("source", "target"):
        tables[f"embed_{side}.positions.table"] = positions.clone()


def original_firefox(weights: Path, vocabularies: tuple[Path, Path]) -> Original | None:
    """Give the engine of Firefox's models on this one, where it is installed."""
    try:
        import fxtranslate
    except ImportError:
        return None

    def translate(sentences: Sequence[str], limits: Sequence[int]) -> list[str]:
        del limits  # it has its own
        try:
            files = [path.read_bytes() for path in (weights, *vocabularies)]
            engine = fxtranslate.Translator(*files)
        except ValueError as error:
            raise ImportedModelError(
                f"fxtranslate cannot open {weights} for the self-test ({error})"
            ) from error
        return [str(engine.translate(sentence)) for sentence in sentences]

    return Original("fxtranslate", translate)
