"""Terms whose translation is given, and where they stand in a text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from dragoman.arguments import check_is, check_path, check_text
from dragoman.errors import GlossaryError
from dragoman.text.normalization import normalize
from dragoman.text.words import is_in_word, units


@dataclass(frozen=True)
class Term:
    """A term in its forms, and the forms of its translation; the first is preferred."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]  # none: it is not translated


@dataclass(frozen=True)
class FoundTerm:
    """A term as it stands in a text, and what its translation must contain."""

    text: str
    start: int
    targets: tuple[str, ...]
    given: tuple[str, ...]  # those that have the capitals of the glossary


class Glossary:
    """Terms by the first word of each of their forms."""

    def __init__(self, terms: Iterable[Term], notes: Iterable[str] = ()) -> None:
        self.terms = tuple(terms)
        self.notes = tuple(notes)  # on lines that may not mean what they say
        self._forms: dict[str, list[tuple[str, Term]]] = {}
        for term in self.terms:
            for form in term.sources:
                first = units(form)[0][1].casefold()
                self._forms.setdefault(first, []).append((form, term))
        for forms in self._forms.values():
            forms.sort(key=lambda item: -len(item[0]))

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        return f"Glossary({len(self)} term{'' if len(self) == 1 else 's'})"

    @classmethod
    def of(cls, pairs: Mapping[str, str]) -> Self:
        """Make a glossary of terms and their translations; "" is not translated."""
        check_is("a glossary", pairs, Mapping, "a mapping of terms to translations")
        for source, target in pairs.items():
            check_text("a term", source)
            check_text(f"the translation of {source!r}", target)
        lines = [f"{source}\t{target}" for source, target in pairs.items()]
        return cls(_read(lines, "the glossary"))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read lines of a term, a tab and its translation, further forms after tabs.

        Forms may also be separated by "|". Without a translation a term stays as it is.
        """
        check_path("a glossary", path)
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise GlossaryError(
                f"cannot read the glossary {path} ({error.strerror or error}): give a "
                "file of lines with a term, a tab and its translation"
            ) from error
        except UnicodeDecodeError as error:
            raise GlossaryError(
                f"the glossary {path} is not UTF-8: save it as UTF-8"
            ) from error
        lines = text.splitlines()
        return cls(_read(lines, str(path)), _notes(lines, str(path)))

    def find(self, text: str) -> list[FoundTerm]:
        """Give the terms of a text from left to right, the longest where they overlap.

        A form in small letters is found in capitals too, any other only as it is.
        """
        found: list[FoundTerm] = []
        end = 0
        for start, word in units(text):
            if start < end:
                continue
            for form, term in self._forms.get(word.casefold(), ()):
                written = text[start : start + len(form)]
                if _is_form(written, form) and _ends_there(text, start, form):
                    given = term.targets or (written,)
                    # What is not translated keeps the source's form.
                    targets = _forms_as_written(term.targets, written) or given
                    found.append(FoundTerm(written, start, targets, given))
                    end = start + len(form)
                    break
        return found


def _is_form(written: str, form: str) -> bool:
    return written == form or (form == form.lower() == written.lower())


def _ends_there(text: str, start: int, form: str) -> bool:
    after = text[start + len(form) : start + len(form) + 1]
    return not (after and is_in_word(form[-1]) and is_in_word(after))


def _forms_as_written(targets: Sequence[str], written: str) -> tuple[str, ...]:
    """Give the forms that count: with a capital at the start of a sentence, too."""
    forms = list(targets)
    forms += [form[0].upper() + form[1:] for form in targets]
    if len(written) > 1 and written.isupper():
        forms += [form.upper() for form in targets]
    return tuple(dict.fromkeys(forms))


def _read(lines: Iterable[str], name: str) -> list[Term]:
    terms: dict[tuple[str, ...], tuple[str, ...]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("# "):
            continue
        first, *others = line.split("\t")
        sources = _forms([first])
        if not sources:
            raise GlossaryError(
                f"line {number} of {name} has no term before its tab: write a term, "
                "a tab and its translation"
            )
        targets = _forms(others)
        terms[sources] = tuple(dict.fromkeys(terms.get(sources, ()) + targets))
    return [Term(sources, targets) for sources, targets in terms.items()]


def _notes(lines: Iterable[str], name: str) -> Iterator[str]:
    """Point out lines with too few or too many columns, and how they were read."""
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("# "):
            continue
        term, *columns = (column.strip() for column in line.split("\t"))
        if not columns:
            yield (
                f"line {number} of {name} has no tab: {term!r} is taken for a term "
                "that stays as it is (a tab at its end says so)"
            )
        elif any(columns[1:]):
            yield (
                f"line {number} of {name} has {len(columns) + 1} columns: "
                f"{columns[1]!r} is taken for another form of {columns[0]!r} (forms "
                "are better separated by |)"
            )


def _forms(columns: Iterable[str]) -> tuple[str, ...]:
    forms = (normalize(form, "nfc") for column in columns for form in column.split("|"))
    return tuple(form for form in forms if form)
