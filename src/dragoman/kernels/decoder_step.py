"""A step of a Transformer's decoder, all layers in one call."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dragoman.kernels.library import library
from dragoman.kernels.pointers import LANES, pointer, threads
from dragoman.kernels.product import MapStruct, Panels


class _NormStruct(ctypes.Structure):
    _fields_ = (("gain", ctypes.c_void_p), ("bias", ctypes.c_void_p))


class _LayerStruct(ctypes.Structure):
    _fields_ = (
        *((name, MapStruct) for name in ("projections", "self_output", "queries")),
        *((name, MapStruct) for name in ("cross_output", "inner", "outer")),
        ("around_self_attention", _NormStruct),
        ("around_cross_attention", _NormStruct),
        ("around_feed_forward", _NormStruct),
    )


class _DecoderStruct(ctypes.Structure):
    _fields_ = (
        ("layers", ctypes.c_void_p),
        ("last", _NormStruct),
        *((name, ctypes.c_int) for name in ("num_layers", "num_heads", "d_head")),
        *((name, ctypes.c_int) for name in ("d_model", "d_ff", "pre_norm")),
        ("epsilon", ctypes.c_float),
        ("scale", ctypes.c_float),
    )


class _PastStruct(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("target", "source", "visible", "words")),
        *((name, ctypes.c_void_p) for name in ("sentences", "spots")),
        *((name, ctypes.c_void_p) for name in ("cosines", "sines")),
        *((name, ctypes.c_int64) for name in ("num_sentences", "capacity")),
        *((f"{name}_step", ctypes.c_int64) for name in ("sentence", "head", "word")),
        *((name, ctypes.c_int) for name in ("rows", "places", "num_words", "width")),
    )


Norm = tuple[Tensor, Tensor]  # gain and bias


@dataclass(frozen=True)
class LayerWeights:
    """What one layer computes with; each map is (weight, bias)."""

    projections: tuple[Tensor, Tensor]  # to queries, keys and values
    self_output: tuple[Tensor, Tensor]
    queries: tuple[Tensor, Tensor]  # to the source
    cross_output: tuple[Tensor, Tensor]
    inner: tuple[Tensor, Tensor]
    outer: tuple[Tensor, Tensor]
    norms: tuple[Norm, Norm, Norm]  # around each sublayer


@dataclass(frozen=True)
class Shape:
    """What all layers have in common."""

    num_heads: int
    d_head: int
    d_model: int
    d_ff: int
    pre_norm: bool
    epsilon: float
    scale: float  # of what queries and keys have in common


@dataclass(frozen=True)
class Past:
    """What the rows of a step look at."""

    target: Tensor  # (2 · layer, sentence, head, place, d_head)
    visible: Tensor  # (row, place)
    source: Sequence[tuple[Tensor, Tensor]]  # keys, values (sentence, head, word, ...)
    words: Tensor  # (sentence, word): what is no padding
    sentences: Tensor  # (row,)
    spots: Tensor  # (row,): where each stands among its sentence's `width`
    width: int  # how many of the last places are written in this step
    turn: tuple[Tensor, Tensor] | None  # cosines and sines (1, d_head) of its place


class DecoderStep:
    """The weights of a decoder in panels, and what a step makes of them."""

    def __init__(
        self, layers: Sequence[LayerWeights], last: Norm | None, shape: Shape
    ) -> None:
        self._shape = shape
        self._maps = [
            [Panels(*pair) for pair in (one.projections, one.self_output, one.queries)]
            + [Panels(*pair) for pair in (one.cross_output, one.inner, one.outer)]
            for one in layers
        ]
        self._norms = [norm for one in layers for norm in one.norms]
        self._layers = (_LayerStruct * len(layers))(
            *(
                _LayerStruct(*(each.struct for each in maps), *map(_norm, one.norms))
                for maps, one in zip(self._maps, layers, strict=True)
            )
        )
        self._last = last
        self._struct = _DecoderStruct(
            ctypes.addressof(self._layers),
            _NormStruct() if last is None else _norm(last),
            len(layers),
            *(shape.num_heads, shape.d_head, shape.d_model, shape.d_ff),
            shape.pre_norm,
            shape.epsilon,
            shape.scale,
        )

    def __call__(self, x: Tensor, past: Past) -> Tensor:
        """Take the newest token of each row (row, d_model) through all layers."""
        x = x.clone(memory_format=torch.contiguous_format)
        rows, places = past.visible.shape
        num_words, shape = past.words.shape[-1], self._shape
        for_rows = shape.d_model + 4 * shape.num_heads * shape.d_head + shape.d_ff
        for_threads = places + num_words + LANES
        room = x.new_empty(rows * for_rows + torch.get_num_threads() * for_threads)
        lists = torch.empty(rows * (places + num_words + 2), dtype=torch.int32)
        visible, words = past.visible.contiguous(), past.words.contiguous()
        sources = [part.data_ptr() for pair in past.source for part in pair]
        source = (ctypes.c_void_p * len(sources))(*sources)
        turn = [part.data_ptr() for part in past.turn] if past.turn else [None, None]
        struct = _PastStruct(
            past.target.data_ptr(),
            ctypes.addressof(source),
            *(each.data_ptr() for each in (visible, words, past.sentences, past.spots)),
            *turn,
            *(past.target.shape[1], past.target.shape[3]),
            *past.source[0][0].stride()[:3],
            *(rows, places, num_words, past.width),
        )
        library().decoder_step(
            ctypes.byref(self._struct),
            ctypes.byref(struct),
            *map(pointer, (x, room, lists)),
            threads(),
        )
        return x


def _norm(norm: Norm) -> _NormStruct:
    gain, bias = norm
    return _NormStruct(gain.data_ptr(), bias.data_ptr())
