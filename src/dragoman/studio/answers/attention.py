"""Attention weights and other measures of what a prediction rests on, as tensors."""

from typing import Any

import torch
from starlette.responses import Response

from dragoman.inspection.attribution import Attributions
from dragoman.inspection.head_profile import head_profile
from dragoman.inspection.tokens import merge_attention
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk, Question
from dragoman.studio.tensors import tensor_response
from dragoman.studio.validation_text import first_pairs

UNITS = ("word", "piece")
PROFILED = 40  # sentence pairs: enough to tell which head aligns


def attention(desk: Desk, asked: Asked) -> Response:
    """Give one attention (row, column): of one head, or the mean of a layer's heads."""
    inspection = desk.shown(Question.read(asked))
    kind = asked.kind()
    by_word = asked.choice("unit", UNITS) == "word"
    weights = inspection.word_attention(kind) if by_word else inspection.attention(kind)
    layer = asked.number("layer", 0, len(weights) - 1)
    head = asked.optional_number("head", 0, weights.shape[1] - 1)
    chosen = weights[layer].mean(dim=0) if head is None else weights[layer, head]
    return tensor_response(chosen)


def thumbnails(desk: Desk, asked: Asked) -> Response:
    """Give every head's attention (layer, head, query, key), only to be painted."""
    inspection = desk.shown(Question.read(asked))
    return tensor_response(inspection.attention(asked.kind()), "float16")


def attributions(desk: Desk, asked: Asked) -> Response:
    """Give all four measures (method, row, column)."""
    question = Question.read(asked)
    found = torch.stack(list(_attributions(desk, asked, question).by_method().values()))
    if asked.choice("unit", UNITS) == "word":
        inspection = desk.shown(question)
        found = merge_attention(found, inspection.target_out, inspection.source)
    return tensor_response(found)


def agreement(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Say how far the four measures agree."""
    found = _attributions(desk, asked, Question.read(asked))
    return {"methods": list(found.by_method()), "agreement": found.agreement.tolist()}


def _attributions(desk: Desk, asked: Asked, question: Question) -> Attributions:
    inspection = desk.shown(question)
    layers, heads = inspection.attention("cross").shape[:2]
    layer = asked.number("layer", 0, layers - 1)
    head = asked.optional_number("head", 0, heads - 1)
    return desk.keep(
        ("attributions", question, layer, head),
        lambda: inspection.attributions(layer, head),
    )


def best_head(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Name the cross-attention head that aligns best on the validation text."""
    name = asked.text("model")
    pairs = first_pairs(desk.shelf.volume(name).folder, PROFILED)
    profile = desk.keep(
        ("best head", name),
        lambda: head_profile(desk.shelf.translator(name), pairs, ablation=False),
    )
    best = profile.best_aligning
    return {
        "layer": best.layer,
        "head": best.head,
        "score": best.score,
        "pairs": profile.num_pairs,
    }
