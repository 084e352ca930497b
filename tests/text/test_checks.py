import pytest

from dragoman.text.checks import Lengths, LineChecks
from dragoman.text.demands import Demands, demands_of
from dragoman.text.profile import LENGTHS, Proportions, TextProfile

ROWS = (Proportions(0.4, 0.8, 2.5),) * (len(LENGTHS) + 1)
PROFILE = TextProfile(40, ROWS, ("LATIN",))
CHECKS = LineChecks(("en", "es"), PROFILE)
USUAL = Lengths(10, 10)


def demands(text: str) -> Demands:
    return demands_of(
        text, "nfc", protecting=True, has_placeholders=True, glossary=None
    )


def kinds(source: str, text: str, lengths: Lengths = USUAL) -> list[str]:
    return [c.kind for c in CHECKS.concerns(demands(source), text, lengths)]


@pytest.mark.parametrize(
    ("source", "text", "kind"),
    [
        ("He is very good.", "Él es muy muy muy bueno.", "repeated"),
        ("He is good.", "Él es, él es, él es bueno.", "repeated"),
        ("He came late.", "Él llegó 5 minutos tarde.", "number"),
        ("He came late.", "Él пришёл tarde.", "script"),
        ("he came late to our house", "He came late to our house", "copied"),
    ],
)
def test_what_is_wrong_is_seen(source: str, text: str, kind: str) -> None:
    assert kinds(source, text) == [kind]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("He is good.", "Él es bueno."),
        ("No, no, no!", "¡No, no, no!"),
        ("Come at noon.", "Ven a las 12."),
        ("I have twelve.", "Tengo 12."),
        ("It is 3 p.m.", "Son las 15."),
        ("It is 1,234.", "Es 1.234."),
        ("Москва is big.", "Москва es grande."),
        ("Tom Jackson, Boston", "Tom Jackson, Boston"),
        ("{name}", "{name}"),
    ],
)
def test_what_is_right_is_let_be(source: str, text: str) -> None:
    assert kinds(source, text) == []


def test_lengths_are_held_against_what_was_learned() -> None:
    assert kinds("Good.", "Bien.", Lengths(10, 2)) == ["short"]
    assert kinds("Good.", "Bien.", Lengths(10, 40)) == ["long"]
    assert CHECKS.is_shortish(Lengths(10, 6))
    assert not CHECKS.is_shortish(Lengths(10, 9))


def test_without_a_profile_only_the_text_is_judged() -> None:
    checks = LineChecks(("xx", "yy"), None)
    found = checks.concerns(demands("Good."), "Bien пять 5", Lengths(10, 1))
    assert found == ()
    assert not checks.is_shortish(Lengths(10, 1))


def test_a_profile_is_read_as_it_was_written() -> None:
    assert TextProfile.from_dict(PROFILE.to_dict()) == PROFILE
    broken = PROFILE.to_dict() | {"proportions": []}
    with pytest.raises(ValueError, match="are not whole"):
        TextProfile.from_dict(broken)
