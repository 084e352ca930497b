"""Checks of what callers pass in: what came, what is allowed, and the nearest name."""

import dataclasses
import difflib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from dragoman.errors import ConfigError, DragomanError


def check_choice(
    what: str,
    value: object,
    allowed: Sequence[str],
    error: type[DragomanError] = ConfigError,
) -> None:
    """Refuse a name that does not exist, and name the nearest one that does."""
    if value not in allowed:
        raise error(
            f"there is no {what} {value!r}{nearest(value, allowed)}: choose one of "
            f"{', '.join(allowed)}"
        )


def nearest(value: object, allowed: Iterable[str]) -> str:
    """Return a remark that names what was probably meant, if anything was."""
    near = difflib.get_close_matches(str(value), list(allowed), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def check_whole(name: str, value: object, least: int | None = 1) -> None:
    """Refuse what is not a whole number, or too small a one."""
    if _is(Integral, value) and (least is None or value >= least):  # type: ignore[operator]
        return
    above = "" if least is None else f" above {least - 1}"
    raise _wrong(name, f"a whole number{above}", value)


def check_number(name: str, value: object, *, above_0: bool = True) -> None:
    """Refuse what is not a number, or not above 0 where it has to be."""
    if _is(Real, value) and (not above_0 or 0 < value < float("inf")):  # type: ignore[operator]
        return
    raise _wrong(name, "a number above 0" if above_0 else "a number", value)


def _is(kind: type, value: object) -> bool:
    """Whether a value, NumPy's too, is a number of this kind; True is no number."""
    return isinstance(value, kind) and not isinstance(value, bool)


def check_text(name: str, value: object) -> None:
    """Refuse what is not a text."""
    if not isinstance(value, str):
        raise _wrong(name, "a text", value)


def texts_of(name: str, values: object) -> list[str]:
    """Return several texts as a list; one text is not several."""
    return _listed(name, values, "a list of texts", check_text)


def check_path(name: str, value: object) -> None:
    """Refuse what does not name a file or a folder."""
    if not isinstance(value, str | os.PathLike):
        raise _wrong(name, "a path", value)


def paths_of(name: str, values: object) -> list[Path]:
    """Return several paths as a list; one path is not several."""
    return list(map(Path, _listed(name, values, "a list of paths", check_path)))


def _listed(
    name: str, values: object, allowed: str, check: Callable[[str, object], None]
) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise _wrong(name, allowed, values)
    listed = list(values)
    for place, value in enumerate(listed):
        check(f"{name}[{place}]", value)
    return listed


def check_flags(**flags: object) -> None:
    """Refuse what is neither True nor False."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise _wrong(name, "True or False", value)


def check_is(name: str, value: object, kind: type, advice: str) -> None:
    """Refuse what is not of a class of ours, and say how to come by one."""
    if not isinstance(value, kind):
        raise _wrong(name, advice, value)


def check_fields(options: Any) -> None:  # noqa: ANN401 (any of our dataclasses)
    """Refuse values that are not of the plain type that a dataclass declares."""
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if field.type in (int, int | None) and value is not None:
            check_whole(field.name, value, least=None)
        elif field.type is float:
            check_number(field.name, value, above_0=False)
        elif field.type is bool:
            check_flags(**{field.name: value})


def _wrong(name: str, allowed: str, value: object) -> ConfigError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    return ConfigError(f"{name} must be {allowed}, not {shown}")
