"""Where the sentences of a line end, by rules that need nothing installed.

A sentence ends at ".", "!", "?" or "…" before a blank, unless the word before the full
stop is an abbreviation or an initial, the next word begins in a small letter, or the
language writes ordinal numbers with a full stop; and at "。", "！" or "？" anywhere.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from dragoman.text.spans import Span, find_spans

_END = re.compile(
    r"(?P<stop>[.!?…؟।]+)[\"'”’»)\]]*\s+(?=(?P<next>[\"'“‘„«(\[¿¡–—\-]*\s*\S))"
    r"|[。！？]+[」』”）]*(?=.)"
)
_LAST_WORD = re.compile(r"[^\s\"'“‘„«(\[]*$")
_ABBREVIATIONS = {
    "en": "mr mrs ms dr prof st sr jr vs etc e.g i.e no fig vol inc ltd co corp gen "
    "col sgt capt lt rev hon mt ft approx dept est a.m p.m u.s u.k ave blvd rd",
    "es": "sr sra srta dr dra d dña ud uds vd vds prof lic ing pág págs núm etc ej "
    "p.ej tel avda c.p a.m p.m ee.uu art cap vol",
    "de": "hr fr dr prof z.b d.h u.a usw bzw ca evtl ggf inkl nr str tel vgl bspw "
    "abs art bd jh mio mrd sog st u.s.w v.a z.t dipl ing",
    "fr": "m mm mme mmes mlle dr pr me st ste etc p.ex cf art chap av bd env fig n "
    "no p pp vol c.-à-d",
}
_KNOWN = {lang: frozenset(words.split()) for lang, words in _ABBREVIATIONS.items()}
_ANY = frozenset().union(*_KNOWN.values())
_BEFORE_NUMBERS = "no nr núm fig vol pág págs p pp art cap chap abs"
# Languages that write "5." for the fifth.
_ORDINAL_STOP = "de da nb nn no fi et cs sk pl hr sl sr hu is lv tr"


def sentence_ends(text: str, language: str, spans: list[Span]) -> Iterator[int]:
    """Give the places behind each sentence but the last, blanks included."""
    for found in _END.finditer(text):
        place = found.end()
        if any(span.start < place < span.end for span in spans):
            continue
        if found["stop"] is None or _is_end(text, found, language):
            yield place


def _is_end(text: str, found: re.Match[str], language: str) -> bool:
    following = found["next"][-1]
    if following.islower():
        return False
    if found["stop"] != ".":
        return True
    last = _LAST_WORD.search(text, 0, found.start())
    word = last[0] if last else ""
    if word.casefold() in _BEFORE_NUMBERS.split():
        return not following.isdecimal()
    if word.casefold() in _KNOWN.get(language, _ANY):
        return False
    if len(word) == 1 and word.isupper() and word != "I":  # "J. S. Bach"
        return False
    if word.isdecimal():
        ordinal = language in _ORDINAL_STOP.split() and len(word) <= 2
        begins_line = found.start() == len(word)  # the number of a list's item
        return not (ordinal or begins_line)
    return True


def split_sentences(text: str, language: str) -> list[tuple[str, str]]:
    """Give each sentence of a line and the blanks after it; together they are it."""
    if not _END.search(text):  # as most lines
        stripped = text.rstrip()
        return [(stripped, text[len(stripped) :])]
    spans = find_spans(text)
    cuts = [0, *sentence_ends(text, language, spans), len(text)]
    parts = []
    for start, end in pairwise(cuts):
        sentence = text[start:end].rstrip()
        parts.append((sentence, text[start + len(sentence) : end]))
    return [part for part in parts if part[0] or part[1]]
