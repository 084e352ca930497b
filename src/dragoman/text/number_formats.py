"""How numbers are written in the target language, where a rule says so.

English "1,234.56" is "1.234,56" in German and Spanish. Only what can be nothing else is
rewritten: digits in groups of three, and decimals with a currency, a percent sign or a
unit. "3.5" may be a version and "10.30" a time, so they stay.
"""

import re
from collections.abc import Iterator
from functools import cache

from dragoman.text.number_words import spelled_out, spelled_time
from dragoman.text.spans import Kind, Span

# What separates thousands, and what comes before the decimals.
_POINT, _COMMA, _BLANK = (",", "."), (".", ","), ("\N{NO-BREAK SPACE}", ",")
_STYLES = (
    dict.fromkeys(("en", "ja", "zh", "ko", "he", "th", "hi", "ms", "tl"), _POINT)
    | dict.fromkeys(
        ("de", "es", "it", "pt", "nl", "da", "id", "tr", "el", "ro", "hr", "ca", "gl"),
        _COMMA,
    )
    | dict.fromkeys(
        ("fr", "ru", "uk", "pl", "cs", "sk", "sv", "nb", "no", "fi", "hu", "bg"), _BLANK
    )
)
_CORE = re.compile(r"\d[\d.,'’\u00a0\u202f ]*\d|\d")
_DIGIT = re.compile(r"\d")
_TIME = re.compile(r"(\d{1,2})[:.](\d\d)", re.ASCII)


class NumberFormats:
    """How numbers of one language are written in another."""

    def __init__(self, source: str, target: str) -> None:
        self._source = _STYLES.get(source)
        self._target = _STYLES.get(target)
        self._target_language = target

    def write(self, span: Span) -> str:
        """Give a span as the translation should have it."""
        if span.kind is not Kind.NUMBER or None in (self._source, self._target):
            return span.text
        if self._source == self._target:
            return span.text
        return _CORE.sub(lambda core: self._rewritten(core[0], span.text), span.text)

    def forms(self, span: Span) -> tuple[str, ...]:
        """Give all forms that count as right; the first is preferred."""
        if span.kind is not Kind.NUMBER:
            return (span.text,)
        return tuple(dict.fromkeys((self.write(span), span.text, *self.words(span))))

    def words(self, span: Span) -> tuple[str, ...]:
        """Give what a small number or a time may be in words, if we know."""
        if span.kind is not Kind.NUMBER:
            return ()
        if time := _TIME.fullmatch(span.text):
            return spelled_time(int(time[1]), int(time[2]), self._target_language)
        return spelled_out(self._plain_value(span.text), self._target_language)

    def _rewritten(self, core: str, number: str) -> str:
        assert self._source is not None, "known, or nothing is rewritten"
        assert self._target is not None, "known, or nothing is rewritten"
        thousands, point = self._source
        new_thousands, new_point = self._target
        grouped = _grouped(thousands, point).fullmatch(core)
        measured = core != number.strip("+-−±")  # it has a currency or a unit
        decimal = measured and re.fullmatch(rf"\d+{re.escape(point)}\d+", core)
        if not (grouped or decimal):
            return core
        whole, _, decimals = core.partition(point)
        whole = re.sub(r"\D", new_thousands, whole)
        return f"{whole}{new_point}{decimals}" if decimals else whole

    def _plain_value(self, text: str) -> int | None:
        """Give the value of a whole number without anything about it."""
        thousands, point = self._source or _POINT
        if text.isdecimal() or _grouped(thousands, point).fullmatch(text):
            bare = "".join(_DIGIT.findall(text.partition(point)[0]))
            return int(bare) if point not in text and len(bare) < 10 else None
        return None


@cache
def _grouped(thousands: str, point: str) -> re.Pattern[str]:
    apart = r"[\u00a0\u202f ]" if thousands.isspace() else re.escape(thousands)
    return re.compile(
        rf"\d{{1,3}}(?:{apart}\d{{3}})+(?:{re.escape(point)}\d+)?", re.ASCII
    )


def places_of(form: str, text: str) -> Iterator[int]:
    """Give where a number stands in a text by itself, not within a longer one."""
    if not _DIGIT.search(form):  # spelled out
        pattern = rf"(?<!\w){re.escape(form)}(?!\w)"
        yield from (m.start() for m in re.finditer(pattern, text, re.IGNORECASE))
        return
    before = r"(?<!\d)(?<!\d[.,:/])" if form[0].isdigit() else ""
    after = r"(?![.,:/]?\d)" if form[-1].isdigit() else ""
    pattern = f"{before}{re.escape(form)}{after}"
    yield from (found.start() for found in re.finditer(pattern, text))
