import pytest

from dragoman.inspection.beam_tree import FINISHED, KEPT, BeamNode
from dragoman.inspection.inspect import inspect
from dragoman.translator import Translator

SOURCE = "Where is the train station?"
# In one of these a narrow search misses what the toy would rather say.
MISSED_IN = (
    SOURCE,
    *(f"{start} {end}" for start in ("Good", "I am", "Tom") for end in ("here.", "!")),
)


def test_what_the_search_found_was_found(toy: Translator) -> None:
    seen = inspect(toy, SOURCE)
    verdict = seen.reference(seen.target_out.ids[:-1])
    assert (verdict.blame, verdict.step) == ("found", None)
    assert verdict.score == pytest.approx(verdict.best_score, abs=1e-4)


def test_a_reference_that_the_model_likes_less_is_the_models_error(
    toy: Translator,
) -> None:
    seen = inspect(toy, SOURCE)
    verdict = seen.reference("Zzz qqq!")
    assert verdict.blame == "model error"
    assert verdict.score < verdict.best_score
    assert verdict.step is not None
    tokens = toy.tokenizers.target.encode("Zzz qqq!")
    assert verdict.piece == toy.tokenizers.target.pieces(tokens)[verdict.step - 1]
    on_beam = seen.beam.find(tokens[: verdict.step - 1])
    assert all(node.fate == KEPT for node in on_beam)
    penalty = seen.beam.penalty(len(tokens) + 1)
    assert verdict.score == pytest.approx(verdict.log_probability / penalty)


def test_a_better_translation_that_was_missed_is_the_searchs_error(
    toy: Translator,
) -> None:
    better: list[BeamNode] = []
    for source in MISSED_IN:
        narrow = inspect(toy, source, beam_size=1)
        wide = inspect(toy, source, beam_size=12).beam
        best = narrow.beam.nodes[narrow.beam.best].score
        ended = [node for node in wide.nodes if node.fate == FINISHED]
        if better := [node for node in ended if node.score > best + 1e-3]:
            break
    assert better, "the wide beam found nothing better to try this with"
    verdict = narrow.reference([n.token for n in wide.path(better[0].number)[:-1]])
    assert verdict.blame == "search error"
    assert verdict.score > verdict.best_score
    assert verdict.fate.startswith(("below", "not among"))
