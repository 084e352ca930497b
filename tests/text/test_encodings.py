from pathlib import Path

import pytest

from dragoman.text.encodings import guess_encoding

TEXTS = [
    ("WINDOWS-1252", "¿Dónde está la estación?\nMañana será otro día.\n"),
    ("WINDOWS-1252", "Schöne Grüße aus München.\nÜbermäßig groß.\n"),
    ("WINDOWS-1252", "Où est l’été ?\nÇa va très bien, à bientôt.\n"),
    ("WINDOWS-1250", "Dziękuję.\nCzy mógłbyś mi pomóc? Gdzie jest łódź?\n"),
    ("WINDOWS-1251", "Привет, как дела?\nЯ живу в Москве и люблю чай.\n"),
    ("KOI8-R", "Привет, как дела?\nЯ живу в Москве и люблю чай.\n"),
    ("SHIFT_JIS", "こんにちは、元気ですか。\n私は東京に住んでいます。\n"),
    ("EUC-JP", "こんにちは、元気ですか。\n私は東京に住んでいます。\n"),
    ("GB18030", "你好，你今天怎么样？\n我住在北京，我喜欢喝茶。\n"),
    ("EUC-KR", "안녕하세요, 잘 지내세요?\n저는 서울에 살고 있습니다.\n"),
    ("UTF-16", "Hello there.\nHow are you?\n"),
]


@pytest.mark.parametrize(("encoding", "text"), TEXTS)
def test_the_usual_encodings_are_told_apart(
    encoding: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"A line of ASCII.\n" + text.encode(encoding))
    assert guess_encoding(path) == encoding


@pytest.mark.parametrize("text", ["", "plain\n", "Grüße\n", "\ufeffこんにちは\n"])
def test_utf8_needs_no_guess(text: str, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(text.encode())
    assert guess_encoding(path) is None


def test_what_cannot_be_read_twice_is_not_guessed_at() -> None:
    assert guess_encoding(Path("/dev/null")) is None
    assert guess_encoding(Path("/nowhere")) is None
