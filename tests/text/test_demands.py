import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.demands import Demands, demands_of
from dragoman.text.glossary import Glossary

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
    assert str(report[0]) == "not placed: 1,234.56"


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
