"""What each head does: in one sentence, or over the validation text."""

from typing import Any

from dragoman.inspection.attention import KINDS
from dragoman.inspection.head_profile import HeadProfile, head_profile
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk, Question
from dragoman.studio.jobs import Job
from dragoman.studio.validation_text import first_pairs

SENTENCES = 100
ABLATION = ("without", "with")


def heads(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Measure every head on the sentence on show; what ablation costs, if asked."""
    question = Question.read(asked).untouched
    inspection = desk.original(question)
    if not inspection.target_text:
        return {"pairs": 0}  # the model said nothing: there is nothing to measure on
    ablation = asked.choice("ablation", ABLATION) == "with"
    pair = inspection.source_text, inspection.target_text
    profile = desk.keep(
        ("heads", question, ablation),
        lambda: head_profile(inspection.translator, [pair], ablation=ablation),
    )
    return _plain(profile)


def profile(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Begin to measure every head on the validation text."""
    volume = desk.shelf.volume(asked.text("model"))

    def work(job: Job) -> dict[str, Any]:
        pairs = first_pairs(volume.folder, SENTENCES)
        job.report(0, len(pairs))
        measured = head_profile(desk.shelf.fresh(volume), pairs, on_progress=job.report)
        return _plain(measured)

    job = desk.jobs.start(("profile", volume), work, again=asked.flag("again"))
    return job.to_dict()


def _plain(measured: HeadProfile) -> dict[str, Any]:
    costs = measured.ablation_cost
    return {
        "pairs": measured.num_pairs,
        "entropy": {kind: measured.entropy[kind].tolist() for kind in KINDS},
        "offset": {kind: measured.offset[kind].tolist() for kind in KINDS},
        "sink": {kind: measured.sink[kind].tolist() for kind in KINDS},
        "alignment": {"cross": measured.alignment.tolist()},
        "cost": costs and {kind: costs[kind].tolist() for kind in KINDS},
    }
