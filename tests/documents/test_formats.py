"""Each format: what is translated, and that all else stays to the byte."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.conftest import finished, identity, shout

from dragoman.documents.document import in_lines
from dragoman.documents.formats import (
    FORMATS,
    Format,
    format_of,
    open_document,
    read_text,
)
from dragoman.errors import DocumentError

MARKDOWN = """\
---
title: kept
---

# A heading with `code`

A paragraph with **bold words**, *slanted* ones and a
[link to *there*](https://example.org "title") that goes on
over lines.\x20\x20
After a hard break, an ![image](a.png) and a\\*star.

> A quote that
> goes on.

- first item
- [ ] second _item_
  that goes on

1. number one

```python
kept = "code"
```

    kept = "indented code"

<div>
kept html
</div>

| Name | Meaning |
|------|:-------:|
| one  | `x` two |

[ref]: https://example.org

***
"""
SHOUTED_MARKDOWN = """\
---
title: kept
---

# A HEADING WITH `code`

A PARAGRAPH WITH **BOLD WORDS**, *SLANTED* ONES AND A
[LINK TO *THERE*](https://example.org "title") THAT GOES ON
OVER LINES.\x20\x20
AFTER A HARD BREAK, AN ![image](a.png) AND A\\*STAR.

> A QUOTE THAT
> GOES ON.

- FIRST ITEM
- [ ] SECOND _ITEM_
  THAT GOES ON

1. NUMBER ONE

```python
kept = "code"
```

    kept = "indented code"

<div>
kept html
</div>

| NAME | MEANING |
|------|:-------:|
| ONE  | `x` TWO |

[ref]: https://example.org

***
"""
SRT = """\
1\r
00:00:01,000 --> 00:00:04,000\r
<i>Hello there,</i>\r
my friend.\r
\r
2\r
00:00:05,000 --> 00:00:06,500 X1:10\r
- Who is it?\r
- {\\an8}Nobody.\r
"""
VTT = """\
WEBVTT Kept header

NOTE kept note

intro
00:01.000 --> 00:04.000 align:start
<v Ann>Fish &amp; <b.loud>chips</b>

00:05.000 --> 00:06.000
last cue
"""


def shouted(text: str, kind: Format) -> str:
    return finished(open_document(text, kind, "en"), shout).text


def test_markdown_keeps_its_structure() -> None:
    assert shouted(MARKDOWN, "markdown") == SHOUTED_MARKDOWN


def test_srt_keeps_numbers_times_and_lines() -> None:
    assert shouted(SRT, "srt") == SRT.replace("Hello there,", "HELLO THERE,").replace(
        "my friend.", "MY FRIEND."
    ).replace("Who is it", "WHO IS IT").replace("Nobody", "NOBODY")


def test_vtt_keeps_notes_settings_and_voices() -> None:
    assert shouted(VTT, "vtt") == VTT.replace("Fish", "FISH").replace(
        "chips", "CHIPS"
    ).replace("last cue", "LAST CUE")


def test_plain_text_keeps_its_lines() -> None:
    text = "\n  One. Two!\r\n\n- three\n...\n"
    assert shouted(text, "text") == "\n  ONE. TWO!\r\n\n- THREE\n...\n"
    document = open_document(text, "text", "en")
    assert [s.text for s in document.sentences] == ["One.", "Two!", "three"]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("text", [MARKDOWN, SRT, VTT, "", "\n", "a\u2028b\x0bc\x85d"])
def test_identity_gives_identical_text_in_every_format(kind: Format, text: str) -> None:
    document = open_document(text, kind, "en")
    assert finished(document, identity).text == text


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from(
            [
                *"ab *_`[]()<>#-|\n\\!~:",
                "\n\n",
                "00:00:01,000 --> 00:00:02,000\n",
                "[a](b)",
            ]
        ),
        max_size=40,
    ).map("".join),
    st.sampled_from(FORMATS),
)
def test_whatever_a_document_holds_identity_keeps_it(text: str, kind: Format) -> None:
    assert finished(open_document(text, kind, "en"), identity).text == text


def test_a_cue_of_another_length_fills_as_many_lines() -> None:
    assert in_lines("one two three four", 2) == "one two\nthree four"
    assert in_lines("one", 3) == "one"
    assert in_lines("a\nb", 2) == "a\nb"


def test_formats_are_told_by_their_ending() -> None:
    assert format_of("a/Page.HTM") == "html"
    with pytest.raises(DocumentError, match=r"end in \.docx cannot be translated: cho"):
        format_of("a.docx")


def test_encodings_are_told_by_their_mark() -> None:
    text = "ä\r\n"
    for encoding in ("utf-8", "utf-8-sig"):
        assert read_text(text.encode(encoding), "x") == (text, encoding)
    read, encoding = read_text(text.encode("utf-16"), "x")
    assert read.encode(encoding) == text.encode("utf-16")
    with pytest.raises(DocumentError, match="x is not utf-8 from byte 1 on: save it"):
        read_text(b"a\xff", "x")
