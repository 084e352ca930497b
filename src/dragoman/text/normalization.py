"""One spelling for one text: Unicode normal forms and single blanks."""

import re
import unicodedata
from typing import Literal

_BLANKS = re.compile(r"[ \t\r\f\v]+")
_FORMS: dict[str, Literal["NFC", "NFKC"]] = {"nfc": "NFC", "nfkc": "NFKC"}


def normalize(text: str, form: str) -> str:
    """Give the text in the form "nfc" or "nfkc" with single blanks; "none" keeps it."""
    if form == "none":
        return text
    if not text.isascii():
        text = unicodedata.normalize(_FORMS[form], text)
    # Most sentences have nothing to collapse, and looking is cheaper than replacing;
    # of all blanks only the space counts as printable.
    if "  " in text or not text.isprintable():
        text = _BLANKS.sub(" ", text)
    return text.strip(" ")
