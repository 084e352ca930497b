"""Two models side by side."""

from dataclasses import asdict
from typing import Any

from dragoman.errors import StudioError
from dragoman.inspection.change import word_diff
from dragoman.inspection.inspection import Inspection
from dragoman.studio.answers.run import tokens
from dragoman.studio.asked import Asked
from dragoman.studio.comparison import bleu_by_length
from dragoman.studio.desk import Desk, Question
from dragoman.studio.jobs import Job
from dragoman.studio.validation_text import first_pairs

SENTENCES = 200
AT_ONCE = 20


def compare(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Translate one sentence with two models, and say where they differ."""
    question = Question.read(asked)
    other = Question(asked.text("other"), question.source, None)
    found = [desk.original(Question(question.model, question.source, None))]
    found.append(desk.original(other))
    return {
        "runs": [
            {
                "translation": one.target_text,
                "log_probability": one.log_probability,
                "source": tokens(one.source),
                "target": tokens(one.target_out),
                "alignment": _alignment(one),
            }
            for one in found
        ],
        "difference": [
            asdict(part) for part in word_diff(*(one.target_text for one in found))
        ],
    }


def _alignment(inspection: Inspection) -> list[list[float]] | None:
    weights = inspection.word_attention("cross")
    if not len(weights):
        return None  # a model without attention
    numbers: list[list[float]] = weights[-1].mean(dim=0).tolist()
    return numbers


def compare_scores(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Begin to score two models on the validation text."""
    names = asked.text("model"), asked.text("other")
    volumes = [desk.shelf.volume(name) for name in names]
    languages = {desk.shelf.saved(volume).languages for volume in volumes}
    if len(languages) > 1:
        raise StudioError("models of different languages share no validation text")

    def work(job: Job) -> dict[str, Any]:
        pairs = first_pairs(volumes[0].folder, SENTENCES)
        sources, references = zip(*pairs, strict=True)
        found: dict[str, Any] = {"sentences": len(pairs), "models": []}
        for number, volume in enumerate(volumes):
            translator = desk.shelf.fresh(volume)
            translations: list[str] = []
            for start in range(0, len(sources), AT_ONCE):
                job.report(number * len(sources) + start, 2 * len(sources))
                translations += translator.translate(sources[start : start + AT_ONCE])
            scores = bleu_by_length(sources, translations, references)
            found["models"].append([asdict(score) for score in scores])
        return found

    job = desk.jobs.start(("compare", names), work, again=asked.flag("again"))
    return job.to_dict()
