import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.carried import Outcome
from dragoman.text.demands import Demands, demands_of
from dragoman.text.glossary import Glossary
from dragoman.text.number_formats import NumberFormats

GLOSSARY = Glossary.of({"server": "servidor", "Tom": ""})
SOURCE = "Tom, restart the <b>server</b> at {time}."


def demands(text: str, *, has_placeholders: bool = True) -> Demands:
    return demands_of(
        text,
        "nfc",
        protecting=True,
        has_placeholders=has_placeholders,
        glossary=GLOSSARY,
    )


def test_what_is_asked_for_is_seen() -> None:
    asked = demands(SOURCE)
    assert asked.text == "Tom, restart the ⟦1⟧ server ⟦2⟧ at ⟦3⟧."
    assert [term.text for term in asked.terms] == ["Tom", "server"]
    assert not demands("Good morning!").anything


def test_a_translation_that_has_all_of_it_is_finished_without_complaint() -> None:
    asked = demands(SOURCE)
    said = "Tom, reinicia el ⟦1⟧ servidor ⟦2⟧ a las ⟦3⟧."
    assert asked.are_met(said)
    text, report = asked.finish(said)
    assert text == "Tom, reinicia el <b>servidor</b> a las {time}."
    assert all(carried.placed for carried in report)
    assert "server → servidor" in map(str, report)


@pytest.mark.parametrize(
    "said",
    [
        "Tom, reinicia el ⟦1⟧ servidor ⟦2⟧.",  # a span is lacking
        "Tom, reinicia el ⟦1⟧ servidor ⟦2⟧ a las ⟦3⟧ ⟦3⟧.",  # one is there twice
        "Tom, reinicia el ⟦2⟧ servidor ⟦1⟧ a las ⟦3⟧.",  # closed before it is opened
        "Tom, reinicia el ⟦1⟧ ⟦2⟧ servidor a las ⟦3⟧.",  # nothing in the element
        "Tom, reinicia el ⟦1⟧ equipo ⟦2⟧ a las ⟦3⟧.",  # a term is lacking
        "Tom, reinicia ⟦4⟧ el ⟦1⟧ servidor ⟦2⟧ a las ⟦3⟧.",  # a stranger
    ],
)
def test_what_is_wrong_is_noticed(said: str) -> None:
    assert not demands(SOURCE).are_met(said)


@given(st.text(alphabet=st.sampled_from("⟦123⟧ ab servidor"), max_size=60))
def test_nothing_is_dropped_whatever_the_model_said(said: str) -> None:
    asked = demands(SOURCE)
    text, report = asked.finish(said)
    for span in ("<b>", "</b>", "{time}", "Tom"):
        assert span in text
    assert "servidor" in text.lower()
    assert len(report) == 5
    if asked.are_met(said):
        assert all(carried.placed for carried in report)


def test_without_placeholders_spans_stay_in_the_text_and_are_looked_for() -> None:
    asked = demands("It costs 1,234.56 at {time}.", has_placeholders=False)
    assert asked.text == asked.source
    assert asked.are_met("Son 1,234.56 a las {time}.")
    assert not asked.are_met("Son 1.234,56 a las {time}.")
    text, report = asked.finish("Son {time}.")
    assert text == "Son {time}. 1,234.56"
    assert [carried.placed for carried in report] == [False, True]
    assert str(report[0]) == "appended: 1,234.56"


def test_a_term_is_wanted_as_often_as_it_stands_there() -> None:
    asked = demands("A server and a server.")
    assert not asked.are_met("Un servidor.")
    assert asked.are_met("Un servidor y un servidor.")


@pytest.mark.parametrize("has_placeholders", [True, False])
def test_a_number_in_a_term_is_the_glossarys_matter(has_placeholders: bool) -> None:
    asked = demands_of(
        "Pump 3000 has 3000 parts: see https://pump3000.example/3000.",
        "nfc",
        protecting=True,
        has_placeholders=has_placeholders,
        glossary=Glossary.of({"pump 3000": "bomba 3000"}),
    )
    assert [term.text for term in asked.terms] == ["Pump 3000"]
    spans = [hidden.text for hidden in asked.hidden] + [one.text for one in asked.left]
    assert spans == ["3000", "https://pump3000.example/3000"]
    if has_placeholders:
        assert asked.text == "Pump 3000 has ⟦1⟧ parts: see ⟦2⟧."


def only_glossary(pairs: dict[str, str], text: str) -> Demands:
    return demands_of(
        text,
        "nfc",
        protecting=True,
        has_placeholders=True,
        glossary=Glossary.of(pairs),
    )


def test_the_report_gives_the_form_that_stands_there() -> None:
    asked = only_glossary({"house|houses": "casita|casitas"}, "Houses are small.")
    [carried] = asked.report("Casitas son pequeñas.")
    assert (carried.target, carried.outcome) == ("Casitas", Outcome.PLACED)
    assert not carried.case_kept
    [kept] = asked.report("Las casitas son pequeñas.")
    assert kept.case_kept


@pytest.mark.parametrize(
    ("text", "outcome", "target"),
    [
        ("La casita es pequeña.", Outcome.PLACED, "casita"),
        ("Las casitas son pequeñas.", Outcome.CHANGED, "casitas"),
        ("La CASITA es pequeña.", Outcome.CHANGED, "CASITA"),
        ("La casa es pequeña.", Outcome.MISSING, ""),
    ],
)
def test_every_outcome_of_a_term_is_told(
    text: str, outcome: Outcome, target: str
) -> None:
    [carried] = only_glossary({"house": "casita"}, "A house.").report(text)
    assert (carried.outcome, carried.target) == (outcome, target)


def test_what_the_model_had_no_place_for_is_told_as_appended() -> None:
    text, [carried] = only_glossary({"house": "casita"}, "A house.").finish("Eso.")
    assert text == "Eso. casita"
    assert carried.outcome is Outcome.APPENDED


def test_tags_in_a_wrong_place_are_told() -> None:
    asked = demands("<b>x</b> y")
    assert {c.outcome for c in asked.report("</b>x<b> y")} == {Outcome.MISPLACED}
    assert {c.outcome for c in asked.report("<b></b>x y")} == {Outcome.MISPLACED}
    assert {c.outcome for c in asked.report("x <b>y</b>")} == {Outcome.PLACED}


def test_what_is_not_translated_keeps_the_form_of_the_source() -> None:
    asked = only_glossary({"tea": ""}, "Tea, tea and TEA")
    assert [term.targets for term in asked.terms] == [("Tea",), ("tea",), ("TEA",)]
    assert asked.are_met("Tea, tea y TEA")
    assert not asked.are_met("tea tea tea")


@pytest.mark.parametrize("text", ["{name}", "<b>5</b> …", " 1,234 / %s!", "C:\\x"])
def test_a_line_that_is_only_spans_has_nothing_to_translate(text: str) -> None:
    assert demands(text).only_spans
    assert not demands(f"{text} word").only_spans


def test_numbers_come_in_the_format_of_the_target() -> None:
    asked = demands_of(
        "It costs $1,234.56, or 10,000 of 3.5.",
        "nfc",
        protecting=True,
        has_placeholders=True,
        glossary=None,
        formats=NumberFormats("en", "es"),
    )
    text, report = asked.finish("Cuesta ⟦1⟧, o ⟦2⟧ de ⟦3⟧.")
    assert text == "Cuesta $1.234,56, o 10.000 de 3.5."
    assert all(carried.placed for carried in report)
    assert all(c.placed for c in asked.report("$1,234.56, diez mil, 3.5"))


NUMBERS = st.integers(0, 10**9).map(str) | st.sampled_from(
    ["2:30", "50%", "$5", "-5°C", "3/4", "+49 170 1234567", "1.2.3", "10-12", "MP3"]
)


@given(st.lists(NUMBERS, min_size=1, max_size=12), st.booleans(), st.data())
def test_a_number_is_never_lost_in_silence(
    numbers: list[str], has_placeholders: bool, data: st.DataObject
) -> None:
    asked = demands(" and ".join(numbers), has_placeholders=has_placeholders)
    words = [*(h.mark for h in asked.hidden), *(s.text for s in asked.left), "y"]
    said = data.draw(st.lists(st.sampled_from(words), max_size=15).map(" ".join))
    text, report = asked.finish(said)
    for number in numbers:
        assert number in text
    if not all(carried.placed for carried in report):
        assert not asked.are_met(said)
