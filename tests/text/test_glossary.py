from pathlib import Path

import pytest

from dragoman.errors import GlossaryError
from dragoman.text.glossary import Glossary


def found(glossary: Glossary, text: str) -> list[tuple[str, str]]:
    return [(term.text, term.targets[0]) for term in glossary.find(text)]


def test_terms_are_found_as_whole_words_longest_first() -> None:
    glossary = Glossary.of(
        {"server": "servidor", "mail server": "correo", "art": "arte"}
    )
    assert found(glossary, "The mail server and a server, not servers or party.") == [
        ("mail server", "correo"),
        ("server", "servidor"),
    ]


def test_small_letters_match_any_case_and_capitals_only_themselves() -> None:
    glossary = Glossary.of({"server": "servidor", "Apple": "Apple", "US": "EE. UU."})
    assert found(glossary, "Server SERVER apple Apple us US") == [
        ("Server", "servidor"),
        ("SERVER", "servidor"),
        ("Apple", "Apple"),
        ("US", "EE. UU."),
    ]
    [term] = glossary.find("SERVER")
    assert term.targets == ("servidor", "Servidor", "SERVIDOR")


def test_forms_are_listed_with_bars_or_in_columns(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_bytes(
        "\ufeff# a comment\nserver|servers\tservidor|servidores\tequipo\n\n"
        "iPhone\n#1\tnúmero uno\n".encode()
    )
    glossary = Glossary.load(path)
    assert len(glossary) == 3
    [term] = glossary.find("Two servers.")
    assert term.targets[:3] == ("servidor", "servidores", "equipo")
    assert found(glossary, "My iPhone is #1.") == [
        ("iPhone", "iPhone"),
        ("#1", "número uno"),
    ]


def test_scripts_without_spaces_have_their_terms_found() -> None:
    glossary = Glossary.of({"東京": "Tokio"})
    assert found(glossary, "私は東京に行く") == [("東京", "Tokio")]


def test_the_same_term_twice_may_be_translated_either_way(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text("bank\tbanco\nbank\torilla\n", "utf-8")
    [term] = Glossary.load(path).find("the bank")
    assert term.targets[:2] == ("banco", "orilla")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\tcasa\n", "line 1 of .* has no term before its tab"),
        (b"\xff\xfe\n", "is not UTF-8"),
        (None, "cannot read the glossary"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "terms.tsv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(GlossaryError, match=message) as error:
        Glossary.load(path)
    assert "\n" not in str(error.value)
