"""What the page of an inspection shows, as one plain object."""

import base64
from typing import Any

from torch import Tensor

from dragoman.inspection.attention import KINDS
from dragoman.inspection.attention_figure import sharpest_layer
from dragoman.inspection.beam_tree import FINISHED, BeamTree
from dragoman.inspection.head_profile import HeadProfile
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.interventions import describe
from dragoman.inspection.logit_lens import logit_lens
from dragoman.inspection.observation import Observation
from dragoman.inspection.stream import STACKS
from dragoman.inspection.text_inspection import ContinuedText
from dragoman.inspection.tokens import MERGE_RULE, Tokens
from dragoman.text.tokenizer import Tokenizer

ALTERNATIVES = 10


def page_data(
    seen: Observation, name: str, profile: HeadProfile | None = None
) -> dict[str, Any]:
    """Gather everything; with a profile, the head that aligns best is shown first."""
    own = _of_translation(seen) if isinstance(seen, Inspection) else _of_text(seen)
    return {
        "about": name,
        "target_in": _tokens(seen.target_in),
        "target_out": _tokens(seen.target_out),
        "predictions": _predictions(seen),
        "attention": {
            kind: _attention(seen.attention(kind))
            for kind in KINDS
            if seen.attention(kind).numel()
        },
        "start": _start(seen, profile),
        "alignment": None if profile is None else profile.alignment.tolist(),
        "best": None if profile is None else vars(profile.best_aligning),
        "lens": _lens(seen),
        "stream": _streams(seen),
        "merge_rule": MERGE_RULE,
        "footer": _footer(seen),
        **own,
        "facts": own["facts"] + [("changed", describe(c)) for c in seen.interventions],
    }


def _of_translation(inspection: Inspection) -> dict[str, Any]:
    beam = inspection.beam if len(inspection.source) > 1 else None
    languages = inspection.translator.saved.languages
    given = beam is not None and beam.result.tokens != inspection.target_out.ids[:-1]
    facts = [
        ("log-probability", f"{inspection.log_probability:.3f}"),
        ("source tokens", str(len(inspection.source) - 1)),
        ("target tokens", str(len(inspection.target_out) - 1)),
    ]
    if beam is not None:
        facts.append(("beam", f"{beam.beam_size} wide, {len(beam.nodes) - 1} weighed"))
    return {
        "texts": [
            (languages[0], inspection.source_text),
            (f"{languages[1]}{' (given)' * given}", inspection.target_text),
        ],
        "facts": facts,
        "concerns": [concern.message for concern in inspection.concerns],
        "source": _tokens(inspection.source),
        "sides": {
            "cross": ("target_out", "source"),
            "encoder": ("source", "source"),
            "decoder": ("target_out", "target_in"),
        },
        "kind_names": {
            "cross": "Translation → source",
            "encoder": "Source → source",
            "decoder": "Translation → itself",
        },
        "where": "After",
        "beam": None if beam is None else _beam(beam, inspection.tokenizer),
    }


def _of_text(seen: Observation) -> dict[str, Any]:
    facts = [("tokens", str(len(seen.target_out) - 1))]
    if isinstance(seen, ContinuedText):
        facts.append(("log-probability", f"{seen.log_probability:.3f}"))
        rows, where, answered = "target_out", "After", "goes on"
    else:
        rows, where, answered = "target_in", "At", "filled"
    return {
        "texts": [("text", seen.title), (answered, seen.answer)],
        "facts": facts,
        "concerns": [],
        "sides": {seen.first_kind: (rows, "target_in")},
        "kind_names": {seen.first_kind: "Text → itself"},
        "where": where,
        "beam": None,
    }


def _tokens(tokens: Tokens) -> dict[str, Any]:
    return {
        "pieces": tokens.pieces,
        "words": [(word.text, word.start, word.end) for word in tokens.words],
    }


def _predictions(seen: Observation) -> list[dict[str, Any]]:
    return [
        {
            "reads": made.reads,
            "predicts": made.predicts,
            "probability": made.probability,
            "alternatives": [(a.piece, a.probability) for a in made.alternatives],
        }
        for made in seen.predictions(ALTERNATIVES)
    ]


def _attention(weights: Tensor) -> dict[str, Any]:
    layers, heads, rows, columns = weights.shape
    # Half precision in base64 is a tenth of the same numbers written out.
    halves = weights.numpy().astype("<f2").tobytes()
    return {
        "layers": layers,
        "heads": heads,
        "rows": rows,
        "columns": columns,
        "data": base64.b64encode(halves).decode("ascii"),
    }


def _start(seen: Observation, profile: HeadProfile | None) -> dict[str, Any]:
    """Choose what is shown first: the head that aligns best, or the sharpest layer."""
    kind = seen.first_kind
    if not seen.attention(kind).numel():
        return {"kind": None, "layer": 0, "head": None}
    if profile is not None:
        best = profile.best_aligning
        return {"kind": kind, "layer": best.layer, "head": best.head}
    layer = sharpest_layer(seen.attention(kind))
    return {"kind": kind, "layer": layer, "head": None}


def _beam(beam: BeamTree, tokenizer: Tokenizer) -> dict[str, Any]:
    finished = sorted(
        (node for node in beam.nodes if node.fate == FINISHED),
        key=lambda node: -node.score,
    )
    return {
        "size": beam.beam_size,
        "alpha": beam.alpha,
        "best": beam.best,
        "nodes": [
            {
                "parent": node.parent,
                "step": node.step,
                "piece": node.piece,
                "log_probability": node.log_probability,
                "score": node.score,
                "rank": node.rank,
                "fate": node.fate,
            }
            for node in beam.nodes
        ],
        "finished": [
            {
                "text": tokenizer.decode([n.token for n in beam.path(node.number)]),
                "score": node.score,
                "log_probability": node.log_probability,
                "step": node.step,
                "best": node.number == beam.best,
            }
            for node in finished
        ],
    }


def _lens(seen: Observation) -> list[dict[str, Any]]:
    return [
        {
            "layer": row.layer,
            "name": row.name,
            "guesses": [(g.piece, g.probability, g.final_rank) for g in row.guesses],
        }
        for row in logit_lens(seen)
    ]


def _streams(seen: Observation) -> list[dict[str, Any]]:
    return [
        {
            "stack": stack,
            "sublayers": [
                {
                    "name": f"{sublayer.layer + 1} {sublayer.name}",
                    "mean": float(sublayer.lengths.mean()),
                    "least": float(sublayer.lengths.min()),
                    "most": float(sublayer.lengths.max()),
                }
                for sublayer in seen.sublayers(stack)
            ],
        }
        for stack in STACKS
        if seen.sublayers(stack)
    ]


def _footer(seen: Observation) -> str:
    errors = [a.largest_error for kind in KINDS for a in seen.layers(kind)]
    if seen.capture.look is not None:
        errors.append(seen.capture.look.largest_error)
    if not errors:
        return "Written by Dragoman."
    return (
        "Every weight here was recomputed from queries and keys; the largest "
        f"|shown − model| over all heads is {max(errors):.1e}."
    )
