"""What the page asked, read strictly: whatever does not fit is one clear line."""

import json
from dataclasses import dataclass
from typing import Any

from dragoman.errors import StudioError
from dragoman.inspection.attention import KINDS, Kind
from dragoman.inspection.interventions import (
    PARTS,
    Ablation,
    Edit,
    Intervention,
    Temperature,
    Without,
)

LONGEST_TEXT = 5000
MOST_CHANGES = 64
FORCE = "force:"


@dataclass(frozen=True)
class Asked:
    """The fields of one question."""

    fields: dict[str, Any]

    @classmethod
    def read(cls, body: bytes) -> "Asked":
        """Read a question from JSON."""
        try:
            fields = json.loads(body)
        except ValueError as error:
            raise StudioError(f"the question is not JSON: {error}") from error
        if not isinstance(fields, dict):
            raise StudioError("the question is not a JSON object")
        return cls(fields)

    def text(self, name: str, default: str | None = None) -> str:
        """Give a text of allowed length."""
        value = self.fields.get(name, default)
        if not isinstance(value, str):
            raise StudioError(f"{name} is {value!r}: give a text")
        if len(value) > LONGEST_TEXT:
            raise StudioError(
                f"{name} has {len(value):,} characters: give at most {LONGEST_TEXT:,}"
            )
        return value

    def optional_text(self, name: str) -> str | None:
        """Give a text, or nothing where none was sent."""
        return None if self.fields.get(name) is None else self.text(name)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Give one of the allowed words; the first where none was sent."""
        value = self.text(name, choices[0])
        if value not in choices:
            raise StudioError(
                f"{name} is {value!r}: choose one of {', '.join(choices)}"
            )
        return value

    def flag(self, name: str) -> bool:
        """Say whether something was asked for; not, where nothing was sent."""
        value = self.fields.get(name, False)
        if not isinstance(value, bool):
            raise StudioError(f"{name} is {value!r}: give true or false")
        return value

    def kind(self) -> Kind:
        """Give the kind of attention that is meant."""
        wanted = self.choice("kind", KINDS)
        return next(kind for kind in KINDS if kind == wanted)

    def number(self, name: str, low: int, high: int) -> int:
        """Give a whole number from `low` to `high`."""
        value = self.fields.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise StudioError(f"{name} is {value!r}: give a whole number")
        if not low <= value <= high:
            raise StudioError(f"{name} is {value}: give {low} to {high}")
        return value

    def optional_number(self, name: str, low: int, high: int) -> int | None:
        """Give a whole number, or nothing where none was sent."""
        if self.fields.get(name) is None:
            return None
        return self.number(name, low, high)

    def texts(self, name: str, most: int) -> tuple[str, ...]:
        """Give a list of texts, empty where none was sent."""
        values = self.fields.get(name, [])
        if not isinstance(values, list) or len(values) > most:
            raise StudioError(f"{name} is not a list of at most {most} texts")
        return tuple(Asked({name: value}).text(name) for value in values)

    def changes(self) -> tuple[Intervention, ...]:
        """Give the changes to the model that the page names."""
        texts = self.texts("changes", MOST_CHANGES)
        return tuple(read_change(text) for text in texts if not _forces(text))

    def prefix(self) -> tuple[int, ...]:
        """Give the tokens that the translation has to begin with."""
        texts = self.texts("changes", MOST_CHANGES)
        forced = [text.removeprefix(FORCE) for text in texts if _forces(text)]
        return tuple(
            _token(number) for text in forced[-1:] for number in text.split(".")
        )


def read_change(text: str) -> Intervention:
    """Read one change as it stands in the page's address.

    `ablate:cross.0.1`, `temperature:cross.0.1:2.0`, `edit:cross.0.1.2.3:0.5` (layer,
    head, query and key count from 0) or `without:scaling`.
    """
    verb, _, rest = text.partition(":")
    what, _, value = rest.partition(":")
    try:
        match verb, what.split("."):
            case "ablate", [kind, layer, head]:
                return Ablation(_kind(kind), int(layer), int(head))
            case "temperature", [kind, layer, head]:
                return Temperature(_kind(kind), int(layer), int(head), _positive(value))
            case "edit", [kind, layer, head, query, key]:
                place = int(query), int(key)
                return Edit(_kind(kind), int(layer), int(head), *place, _finite(value))
            case "without", [part]:
                return Without(next(known for known in PARTS if known == part))
    except (ValueError, StopIteration):
        pass
    raise StudioError(
        f"there is no change {text!r}: it is like ablate:cross.0.1, "
        "temperature:cross.0.1:2, edit:cross.0.1.2.3:0.5 or without:scaling"
    )


def _forces(text: str) -> bool:
    return text.startswith(FORCE)


def _token(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise StudioError(f"{text!r} is no token: a beginning is like force:12.7")
    return int(text)


def _kind(text: str) -> Kind:
    return next(kind for kind in KINDS if kind == text)


def _finite(text: str) -> float:
    value = float(text)
    if not abs(value) <= 1e4:
        raise ValueError(text)
    return value


def _positive(text: str) -> float:
    value = _finite(text)
    if value < 1e-3:
        raise ValueError(text)
    return value
