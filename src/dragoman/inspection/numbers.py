"""The numbers of an inspection, for other programs: JSON, and arrays for NumPy."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.inspection.attention import KINDS
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.interventions import describe
from dragoman.inspection.tokens import MERGE_RULE, Tokens


def to_dict(inspection: Inspection) -> dict[str, Any]:
    """Give tokens, predictions, search, warnings and attention weights."""
    values: dict[str, Any] = {
        "source": _tokens(inspection.source_text, inspection.source),
        "target": _tokens(inspection.target_text, inspection.target_out),
        "log_probability": inspection.log_probability,
        "changes": [describe(change) for change in inspection.interventions],
        "warnings": [
            {"kind": c.kind, "words": c.words, "message": c.message}
            for c in inspection.concerns
        ],
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
            for made in inspection.predictions()
        ],
        "attention": {kind: inspection.attention(kind).tolist() for kind in KINDS},
        "merge_rule": MERGE_RULE,
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


def _tokens(text: str, tokens: Tokens) -> dict[str, Any]:
    return {
        "text": text,
        "ids": tokens.ids,
        "pieces": tokens.pieces,
        "words": [vars(word) for word in tokens.words],
    }


def to_arrays(inspection: Inspection) -> dict[str, NDArray[Any]]:
    """Give every tensor by a name that says what it is; layers count from 0."""
    capture = inspection.capture
    arrays = {
        "source.ids": np.asarray(inspection.source.ids),
        "source.pieces": np.asarray(inspection.source.pieces),
        "target.ids": np.asarray(inspection.target_out.ids),
        "target.pieces": np.asarray(inspection.target_out.pieces),
        "logits": inspection.logits.numpy(),
    }
    for (kind, layer), seen in capture.attentions.items():
        for name in (
            *("queries", "keys", "values", "mask"),
            *("scores", "scaled", "masked", "weights", "outputs", "head_writes"),
        ):
            arrays[f"{kind}.{layer}.{name}"] = getattr(seen, name).numpy()
    if capture.look is not None:
        for name in ("states", "words", "weights", "contexts"):
            arrays[f"cross.0.{name}"] = getattr(capture.look, name).numpy()
    for sublayer in capture.sublayers:
        place = f"{sublayer.stack}.{sublayer.layer}.{sublayer.name}"
        arrays[f"{place}.stream"] = sublayer.after.numpy()
        arrays[f"{place}.written"] = sublayer.written.numpy()
        arrays[f"{place}.norm.mean"] = sublayer.norm.mean.numpy()
        arrays[f"{place}.norm.variance"] = sublayer.norm.variance.numpy()
    return arrays


def write_npz(inspection: Inspection, path: Path) -> None:
    """Write every tensor into one file that `numpy.load` reads."""
    with path.open("wb") as file:
        np.savez_compressed(file, **to_arrays(inspection))  # type: ignore[arg-type]
