from dragoman.inspection.beam_tree import FINISHED
from dragoman.inspection.inspect import inspect
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.summary import summary
from dragoman.translator import Translator


def test_each_token_has_a_line_with_its_probability(seen: Inspection) -> None:
    lines = summary(seen).splitlines()
    assert lines[0] == f"en  {seen.source_text}"
    assert lines[1] == f"es  {seen.target_text}"
    made = seen.predictions()
    for line, prediction in zip(lines[3:], made, strict=False):
        assert line.startswith(prediction.predicts.replace("▁", "·"))
        assert f"{prediction.probability:.0%} " in line
        assert "looks at" in line
    assert f"log-probability {seen.log_probability:.3f}" in lines


def test_every_translation_that_ended_is_listed(toy: Translator) -> None:
    seen = inspect(toy, "Good morning!")
    ended = [node for node in seen.beam.nodes if node.fate == FINISHED]
    text = summary(seen)
    assert f"{len(ended)} translations ended" in text
    assert all(f"{node.score:.3f}" in text for node in ended)


def test_nothing_that_a_terminal_obeys_is_printed(toy: Translator) -> None:
    text = summary(inspect(toy, "a\x1b[31m", "b\x1b[31m"))
    assert "\x1b" not in text.split("\n\n", 1)[1]


def test_no_more_than_a_handful_of_warnings_is_shown(toy: Translator) -> None:
    many = inspect(toy, "Good morning!", " ".join(["a a b b"] * 9))
    assert len(many.concerns) > 6
    text = summary(many)
    assert text.count("warning: ") == 5
    assert text.endswith(f"and {len(many.concerns) - 5} more warnings like these")
    few = inspect(toy, "Good morning!", "b b")
    assert summary(few).count("warning: ") == len(few.concerns)


def test_a_blank_sentence_has_a_summary(toy: Translator) -> None:
    assert "beam" not in summary(inspect(toy, ""))
