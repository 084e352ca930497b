"""An inspection as a few lines of text, for a terminal."""

from dragoman.inspection.attention_figure import sharpest_layer
from dragoman.inspection.beam_tree import FINISHED
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.tokens import BLANK_MARK

NO_ATTENTION = (
    "this model has no attention: the whole sentence reached its decoder as one state, "
    "so there is nothing that a word looks at"
)
_BAR = 10
_WARNINGS = 5  # as many as are shown one by one


def summary(inspection: Inspection) -> str:
    """Say what was translated, how sure the model is, and where it looked."""
    source, target = inspection.translator.saved.languages
    parts = [
        f"{source}  {inspection.source_text}\n{target}  {inspection.target_text}",
        _tokens(inspection),
    ]
    if len(inspection.source) > 1:
        parts.append(_search(inspection))
    if not inspection.attention("cross").numel():
        parts.append(NO_ATTENTION)
    if inspection.concerns:
        parts.append(_warnings(inspection))
    return "\n\n".join(parts)


def _warnings(inspection: Inspection) -> str:
    lines = [f"warning: {c.message}" for c in inspection.concerns[:_WARNINGS]]
    more = len(inspection.concerns) - len(lines)
    if more:
        lines.append(f"and {more} more warnings like these")
    return "\n".join(lines)


def _tokens(inspection: Inspection) -> str:
    looked = _most_attended(inspection)
    made = inspection.predictions(3)
    width = max(len(_plain(prediction.predicts)) for prediction in made)
    lines = []
    for prediction, seen in zip(made, looked, strict=True):
        others = ", ".join(
            f"{_plain(other.piece)} {other.probability:.0%}"
            for other in prediction.alternatives
            if other.token != prediction.token and other.probability >= 0.005
        )
        bar = ("█" * round(_BAR * prediction.probability)).ljust(_BAR, "·")
        lines.append(
            f"{_plain(prediction.predicts):<{width}}  {prediction.probability:>4.0%} "
            f"{bar}  {seen}{others and 'else '}{others}".rstrip()
        )
    total = f"log-probability {inspection.log_probability:.3f}"
    return "\n".join([*lines, total])


def _most_attended(inspection: Inspection) -> list[str]:
    """Name the source piece to which each target piece gives most."""
    weights = inspection.attention("cross")
    if not weights.numel():
        return ["" for _ in inspection.target_out.ids]
    mean = weights[sharpest_layer(weights)].mean(dim=0)
    pieces = [_plain(piece) for piece in inspection.source.pieces]
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
