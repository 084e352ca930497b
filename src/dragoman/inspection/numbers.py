"""The numbers of an inspection, for other programs: JSON, and arrays for NumPy."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.inspection.attention import KINDS
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.interventions import describe
from dragoman.inspection.observation import Observation
from dragoman.inspection.tokens import MERGE_RULE, Tokens


def to_dict(seen: Observation) -> dict[str, Any]:
    """Give tokens, predictions, attention weights and, of a translation, its search."""
    values: dict[str, Any] = {
        **{name: _tokens(*side) for name, side in _sides(seen).items()},
        "log_probability": seen.log_probability,
        "changes": [describe(change) for change in seen.interventions],
        "predictions": [
            {
                "reads": made.reads,
                "predicts": made.predicts,
                "log_probability": made.log_probability,
                "rank": made.rank,
                "alternatives": [
                    {"piece": a.piece, "log_probability": a.log_probability}
                    for a in made.alternatives
                ],
            }
            for made in seen.predictions()
        ],
        "attention": {
            kind: seen.attention(kind).tolist()
            for kind in KINDS
            if isinstance(seen, Inspection) or seen.layers(kind)
        },
        "merge_rule": MERGE_RULE,
    }
    if isinstance(seen, Inspection):
        return values | _of_translation(seen)
    return values | {"answer": seen.answer}


def _of_translation(inspection: Inspection) -> dict[str, Any]:
    values: dict[str, Any] = {
        "warnings": [
            {"kind": c.kind, "words": c.words, "message": c.message}
            for c in inspection.concerns
        ],
    }
    if len(inspection.source) > 1:
        beam = inspection.beam
        values["beam"] = {
            "size": beam.beam_size,
            "length_penalty": beam.alpha,
            "best": beam.best,
            "nodes": [vars(node) for node in beam.nodes],
        }
    return values


def _sides(seen: Observation) -> dict[str, tuple[str, Tokens]]:
    """Give the texts and tokens that there are, by what they are to the model."""
    if isinstance(seen, Inspection):
        return {
            "source": (seen.source_text, seen.source),
            "target": (seen.target_text, seen.target_out),
        }
    return {
        "text": (seen.title, seen.target_in),
        "predicted": (seen.tokenizer.decode(seen.target_out.ids), seen.target_out),
    }


def _tokens(text: str, tokens: Tokens) -> dict[str, Any]:
    return {
        "text": text,
        "ids": tokens.ids,
        "pieces": tokens.pieces,
        "words": [vars(word) for word in tokens.words],
    }


def to_arrays(seen: Observation) -> dict[str, NDArray[Any]]:
    """Give every tensor by a name that says what it is; layers count from 0."""
    capture = seen.capture
    arrays = {"logits": seen.logits.numpy()}
    for name, (_, tokens) in _sides(seen).items():
        arrays[f"{name}.ids"] = np.asarray(tokens.ids)
        arrays[f"{name}.pieces"] = np.asarray(tokens.pieces)
    for (kind, layer), attention in capture.attentions.items():
        for name in (
            *("queries", "keys", "values", "mask"),
            *("scores", "scaled", "masked", "weights", "outputs", "head_writes"),
        ):
            arrays[f"{kind}.{layer}.{name}"] = getattr(attention, name).numpy()
    if capture.look is not None:
        for name in ("states", "words", "scores", "weights", "contexts"):
            arrays[f"cross.0.{name}"] = getattr(capture.look, name).numpy()
    for sublayer in capture.sublayers:
        place = f"{sublayer.stack}.{sublayer.layer}.{sublayer.name}"
        arrays[f"{place}.stream"] = sublayer.after.numpy()
        arrays[f"{place}.written"] = sublayer.written.numpy()
        arrays[f"{place}.norm.mean"] = sublayer.norm.mean.numpy()
        arrays[f"{place}.norm.variance"] = sublayer.norm.variance.numpy()
    return arrays


def write_npz(seen: Observation, path: Path) -> None:
    """Write every tensor into one file that `numpy.load` reads."""
    with path.open("wb") as file:
        np.savez_compressed(file, **to_arrays(seen))  # type: ignore[arg-type]
