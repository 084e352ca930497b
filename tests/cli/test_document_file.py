"""`dragoman translate MODEL page.html -o seite.html`."""

import re
from collections import Counter
from pathlib import Path

import pytest

from dragoman.cli.main import main

PAGE = """\
<!doctype html>\r
<html><head><title>Hello</title><style>p { color: red }</style></head>
<body class=kept><p>Good <b>morning</b>, <a href="x?a=1&b=2">my friend</a>!<br>
Thank <i>you</i> &amp; <code>goodbye()</code>.</p></body></html>
"""


def tags(text: str) -> Counter[str]:
    return Counter(re.findall(r"<[^>]*>", text))


def test_a_page_keeps_every_tag(model_folder: Path, tmp_path: Path) -> None:
    page, out = tmp_path / "page.html", tmp_path / "seite.html"
    page.write_bytes(PAGE.encode())
    assert main(["translate", str(model_folder), str(page), "-o", str(out)]) == 0
    written = out.read_bytes().decode()
    assert tags(written) == tags(PAGE)
    assert written != PAGE
    start = PAGE.index("Hello")
    assert written[:start] == PAGE[:start]
    assert "<code>goodbye()</code>" in written
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["nothing.html"], "there is no file nothing.html: name one to translate"),
        (["a.docx"], "documents that end in .docx cannot be translated: choose one"),
        (["a.txt", "b.txt"], "--output takes one file to translate, and 2 were named"),
        (["a.txt", "--nbest", "2"], "--output does not go with --nbest"),
    ],
)
def test_what_cannot_be_done_is_said(
    model_folder: Path,
    given: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["translate", str(model_folder), *given, "-o", "out"]) == 1
    assert message in capsys.readouterr().err
