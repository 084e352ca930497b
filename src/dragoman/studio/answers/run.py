"""One run: the words of both sides, and what changes did to it."""

from dataclasses import asdict
from typing import Any

from dragoman.inspection.change import Change
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.tokens import MERGE_RULE, Tokens
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk, Question


def run(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Translate the sentence, and say what the page's bar shows of it."""
    question = Question.read(asked)
    shown = desk.shown(question)
    changed = question != question.untouched
    return {
        "question": asked.fields,
        "source": tokens(shown.source),
        "target": tokens(shown.target_out),
        "target_in": tokens(shown.target_in),
        "translation": shown.target_text,
        "given": question.target is not None,
        "log_probability": shown.log_probability,
        "merge_rule": MERGE_RULE,
        "concerns": [asdict(concern) for concern in shown.concerns],
        "begins": shown.translator.tokenizers.target.decode(question.prefix),
        "effect": _effect(desk.original(question), shown) if changed else None,
    }


def tokens(side: Tokens) -> dict[str, Any]:
    """Give ids, pieces and words as plain data."""
    return {
        "ids": list(side.ids),
        "pieces": list(side.pieces),
        "words": [
            {"text": word.text, "start": word.start, "end": word.end}
            for word in side.words
        ],
    }


def _effect(before: Inspection, after: Inspection) -> dict[str, Any]:
    """Say what the changes did to the translation."""
    change = Change("changes on the page", before, after)
    return {
        "translation_before": change.answer_before,
        "translation": change.answer_after,
        "total": change.total,
        "delta": change.delta.tolist(),
        "diff": [asdict(part) for part in change.diff],
    }
