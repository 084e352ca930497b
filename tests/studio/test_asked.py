import pytest

from dragoman.errors import StudioError
from dragoman.inspection.interventions import Ablation, Edit, Temperature, Without
from dragoman.studio.asked import LONGEST_TEXT, Asked, read_change


def test_changes_are_read_as_they_stand_in_the_address() -> None:
    assert read_change("ablate:cross.0.1") == Ablation("cross", 0, 1)
    assert read_change("temperature:encoder.2.0:0.5") == Temperature(
        "encoder", 2, 0, 0.5
    )
    assert read_change("edit:decoder.0.1.2.3:-4") == Edit("decoder", 0, 1, 2, 3, -4.0)
    assert read_change("without:positions") == Without("positions")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ablate",
        "ablate:cross.0",
        "ablate:middle.0.1",
        "ablate:cross.zero.1",
        "temperature:cross.0.1:0",
        "temperature:cross.0.1:nan",
        "edit:cross.0.1.2.3:inf",
        "without:attention",
        "<script>:x",
    ],
)
def test_a_change_that_is_none_is_said_in_a_line(text: str) -> None:
    with pytest.raises(StudioError) as caught:
        read_change(text)
    assert str(caught.value) == (
        f"there is no change {text!r}: it is like ablate:cross.0.1, "
        "temperature:cross.0.1:2, edit:cross.0.1.2.3:0.5 or without:scaling"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "the question is not JSON"),
        (b"[]", "the question is not a JSON object"),
    ],
)
def test_a_question_is_an_object(body: bytes, message: str) -> None:
    with pytest.raises(StudioError, match=message):
        Asked.read(body)


def test_fields_are_what_they_must_be() -> None:
    asked = Asked({"text": 3, "long": "x" * (LONGEST_TEXT + 1), "n": 7, "yes": True})
    with pytest.raises(StudioError, match=r"^text is 3: give a text$"):
        asked.text("text")
    with pytest.raises(StudioError, match=r"^long has 5,001 characters: give at most"):
        asked.text("long")
    with pytest.raises(StudioError, match=r"^n is 7: give 0 to 3$"):
        asked.number("n", 0, 3)
    with pytest.raises(StudioError, match=r"^yes is True: give a whole number$"):
        asked.number("yes", 0, 3)
    with pytest.raises(StudioError, match=r"^long is 'x+': choose one of a, b$"):
        Asked({"long": "xx"}).choice("long", ("a", "b"))
    with pytest.raises(StudioError, match=r"^changes is not a list of at most 64"):
        Asked({"changes": "all"}).changes()
    with pytest.raises(StudioError, match=r"^n is 7: give true or false$"):
        asked.flag("n")
    assert asked.flag("yes")
    assert not asked.flag("absent")
    assert asked.optional_text("absent") is None
    assert asked.optional_number("absent", 0, 1) is None
    assert asked.choice("absent", ("a", "b")) == "a"
