"""The validation text, translated and scored sentence by sentence."""

from typing import Any

from dragoman.evaluation.metrics import corpus_bleu
from dragoman.inspection.inspect import inspect
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk
from dragoman.studio.jobs import Job
from dragoman.studio.validation_text import first_pairs

SENTENCES = 100


def examples(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Begin to translate the first validation sentences; rows appear as they come."""
    volume = desk.shelf.volume(asked.text("model"))

    def work(job: Job) -> list[dict[str, Any]]:
        pairs = first_pairs(volume.folder, SENTENCES)
        translator = desk.shelf.fresh(volume)
        rows: list[dict[str, Any]] = []
        for number, (source, reference) in enumerate(pairs, 1):
            job.report(len(rows), len(pairs), list(rows))
            found = inspect(translator, source)
            rows.append(
                {
                    "number": number,
                    "source": source,
                    "translation": found.target_text,
                    "reference": reference,
                    "bleu": corpus_bleu([found.target_text], [reference]),
                    "confidence": found.log_probability / len(found.target_out),
                    "warnings": [concern.message for concern in found.concerns],
                }
            )
        return rows

    job = desk.jobs.start(("examples", volume), work, again=asked.flag("again"))
    return job.to_dict()
