"""An inspection as a few lines of text, for a terminal."""

import math

from dragoman.inspection.attention_figure import sharpest_layer
from dragoman.inspection.beam_tree import FINISHED
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.observation import Observation
from dragoman.inspection.predictions import Prediction
from dragoman.inspection.text_inspection import ContinuedText, FilledText
from dragoman.inspection.tokens import BLANK_MARK

NO_ATTENTION = (
    "this model has no attention: the whole sentence reached its decoder as one state, "
    "so there is nothing that a word looks at"
)
_BAR = 10
_WARNINGS = 5  # as many as are shown one by one


def summary(seen: Observation) -> str:
    """Say what the model made of a text, how sure it is, and where it looked."""
    match seen:
        case Inspection():
            return _translation(seen)
        case ContinuedText():
            return _continued(seen)
        case FilledText():
            return _filled(seen)
    raise AssertionError(f"{type(seen)} has no summary")


def _translation(inspection: Inspection) -> str:
    source, target = inspection.translator.saved.languages
    parts = [
        f"{source}  {inspection.source_text}\n{target}  {inspection.target_text}",
        f"{_tokens(inspection)}\nlog-probability {inspection.log_probability:.3f}",
    ]
    if len(inspection.source) > 1:
        parts.append(_search(inspection))
    if not inspection.attention("cross").numel():
        parts.append(NO_ATTENTION)
    if inspection.concerns:
        parts.append(_warnings(inspection))
    return "\n\n".join(parts)


def _continued(seen: ContinuedText) -> str:
    total = (
        f"log-probability {seen.log_probability:.3f} to the line's end, perplexity "
        f"{math.exp(-seen.log_probability / len(seen.target_out)):.2f}"
    )
    parts = [f"text  {seen.text}", f"{_tokens(seen)}\n{total}"]
    return "\n\n".join([*parts, f"goes on  {seen.answer}"])


def _filled(seen: FilledText) -> str:
    parts = [f"text    {seen.text}"]
    if seen.gaps:
        parts = [f"{parts[0]}\nfilled  {seen.answer}"]
    return "\n\n".join([*parts, _tokens(seen)])


def _warnings(inspection: Inspection) -> str:
    lines = [f"warning: {c.message}" for c in inspection.concerns[:_WARNINGS]]
    more = len(inspection.concerns) - len(lines)
    if more:
        lines.append(f"and {more} more warnings like these")
    return "\n".join(lines)


def _tokens(seen: Observation) -> str:
    looked = _most_attended(seen)
    made = seen.predictions(3)
    names = [_name(seen, prediction) for prediction in made]
    width = max(map(len, names))
    lines = []
    for name, prediction, look in zip(names, made, looked, strict=True):
        others = ", ".join(
            f"{_plain(other.piece)} {other.probability:.0%}"
            for other in prediction.alternatives
            if other.token != prediction.token and other.probability >= 0.005
        )
        bar = ("█" * round(_BAR * prediction.probability)).ljust(_BAR, "·")
        lines.append(
            f"{name:<{width}}  {prediction.probability:>4.0%} "
            f"{bar}  {look}{others and 'else '}{others}".rstrip()
        )
    return "\n".join(lines)


def _name(seen: Observation, prediction: Prediction) -> str:
    """Name what was predicted and, where a gap was filled, the gap."""
    predicts = _plain(prediction.predicts)
    if isinstance(seen, FilledText) and prediction.reads != prediction.predicts:
        return f"{_plain(prediction.reads)} {predicts}"
    return predicts


def _most_attended(seen: Observation) -> list[str]:
    """Name the piece to which each predicted piece gives most."""
    weights = seen.attention(seen.first_kind)
    if not weights.numel():
        return ["" for _ in seen.target_out.ids]
    mean = weights[sharpest_layer(weights)].mean(dim=0)
    pieces = [_plain(piece) for piece in seen.columns(seen.first_kind).pieces]
    width = max(map(len, pieces))
    return [
        f"looks at {pieces[int(row.argmax())]:<{width}} {float(row.max()):>4.0%}  "
        for row in mean
    ]


def _search(inspection: Inspection) -> str:
    beam = inspection.beam
    tokenizer = inspection.translator.tokenizers.target
    ended = [node for node in beam.nodes if node.fate == FINISHED]
    lines = [
        f"beam {beam.beam_size}, length penalty {beam.alpha:g}: "
        f"{len(beam.nodes) - 1} continuations weighed in {beam.num_steps} steps, "
        f"{len(ended)} translations ended"
    ]
    for node in sorted(ended, key=lambda node: -node.score):
        text = tokenizer.decode([step.token for step in beam.path(node.number)])
        lines.append(f"{node.score:>8.3f}  {text}")
    return "\n".join(lines)


def _plain(piece: str) -> str:
    """Write the mark that begins a word as a thin dot, and nothing a terminal obeys."""
    return "".join(
        letter if letter.isprintable() else "?"
        for letter in piece.replace(BLANK_MARK, "·")
    )
