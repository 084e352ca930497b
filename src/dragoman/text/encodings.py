"""A guess at the encoding of text that is not UTF-8."""

import re
from itertools import islice
from pathlib import Path

from dragoman.text.lines import capped_lines

LINES_TO_LOOK_AT = 1000

# What text in an encoding looks like once decoded: accented letters stand alone or in
# twos among ASCII, letters of other scripts in longer runs, and no Cyrillic word goes
# on in capitals.
_ALONE = r"(?<![^\x00-\x7f])[{}]{{1,2}}(?![^\x00-\x7f])"
_WESTERN = "À-ÖØ-öø-ÿŒœŠšŽž¿¡«»“”„‘’–—…€°ºª£"
_CENTRAL = "ĄąĆćČčĎďĘęĚěŁłŃńŇňŐőŘřŚśŠšŤťŮůŰűŹźŻżŽž„”óé"
_CYRILLIC = re.compile("[А-Яа-яЁё][а-яё]+")
_PLAUSIBLE = {
    "WINDOWS-1252": re.compile(_ALONE.format("À-ÖØ-öø-ÿŒœŠšŽž¿¡«»“”„‘’–—…€°ºª£")),
    "WINDOWS-1250": re.compile(
        _ALONE.format("ĄąĆćČčĎďĘęĚěŁłŃńŇňŐőŘřŚśŠšŤťŮůŰűŹźŻżŽž„”óé")
    ),
    "WINDOWS-1251": _CYRILLIC,
    "KOI8-R": _CYRILLIC,
    "SHIFT_JIS": re.compile("[ぁ-んァ-ヶー一-龠々、。]{3,}"),
    "EUC-KR": re.compile("[가-힣]{2,}"),
    "GB18030": re.compile("[一-龠，。、？！：；“”]{3,}"),
    "EUC-JP": re.compile("[ぁ-んァ-ヶー一-龠々、。]{3,}"),
}


def guess_encoding(path: Path) -> str | None:
    """Return the likely encoding of a file, or None if it is UTF-8 or cannot be read.

    A pipe cannot be read a second time.
    """
    if not path.is_file():
        return None
    foreign = (line for line in capped_lines(path) if not is_plain_utf8(line))
    sample = b"\n".join(islice(foreign, LINES_TO_LOOK_AT))
    if not sample:
        return None
    if b"\0" in sample:
        return "UTF-16"
    return max(_PLAUSIBLE, key=lambda encoding: _share(sample, encoding))


def is_plain_utf8(line: bytes) -> bool:
    """Whether a line can be decoded and has no NUL, which text never has."""
    try:
        return "\0" not in line.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _share(sample: bytes, encoding: str) -> float:
    """Return the share of characters beyond ASCII that look right once decoded."""
    text = sample.decode(encoding, "replace")
    plausible = sum(map(len, _PLAUSIBLE[encoding].findall(text)))
    return plausible / max(1, sum(not letter.isascii() for letter in text))
