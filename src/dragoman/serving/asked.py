"""What a client sent, whether as JSON or as a form, read with care."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.requests import Request as HttpRequest

from dragoman.serving.refusals import bad_request


@dataclass(frozen=True)
class Asked:
    """Named values, each of which may have come several times."""

    values: Mapping[str, Any]
    is_json: bool = False

    def text(self, name: str, default: str = "") -> str:
        """Give a value as text; an empty one counts as absent."""
        value = self.values.get(name)
        if isinstance(value, list):
            value = value[0] if len(value) == 1 else None
            if value is None:
                raise bad_request(f"Invalid request: {name} was given several times")
        if value is None or value == "":
            return default
        if not isinstance(value, str | int | float | bool):
            raise bad_request(f"Invalid request: {name} must be a text")
        return str(value)

    def texts(self, *names: str) -> list[str]:
        """Give all values of a name as texts; `name` and `name[]` are the same."""
        for name in names:
            value = self.values.get(name)
            if value is None:
                continue
            several = value if isinstance(value, list) else [value]
            if not all(isinstance(one, str) for one in several):
                raise bad_request(f"Invalid request: {name} must be a list of texts")
            return several
        return []

    def commas(self, name: str) -> frozenset[str]:
        """Give a list that may be written with commas in one text."""
        found = self.texts(name, f"{name}[]")
        return frozenset(
            p.strip() for one in found for p in one.split(",") if p.strip()
        )

    def number(self, name: str, default: int, most: int) -> int:
        """Give a whole number from 0 to a limit."""
        text = self.text(name, str(default))
        if not text.isdecimal() or int(text[:9]) > most or len(text) > 9:
            raise bad_request(f"Invalid request: {name} must be from 0 to {most}")
        return int(text)

    def flag(self, name: str, default: bool = False) -> bool:
        """Give a switch, written as true, 1, on or their contrary."""
        text = self.text(name, str(default)).lower()
        if text not in ("true", "false", "1", "0", "on", "off"):
            raise bad_request(f"Invalid request: {name} must be true or false")
        return text in ("true", "1", "on")

    def file(self, name: str) -> UploadFile:
        """Give a file that was sent."""
        value = self.values.get(name)
        if isinstance(value, list):
            value = value[0] if value else None
        if not isinstance(value, UploadFile):
            raise bad_request(f"Invalid request: missing {name} parameter")
        return value


async def read_asked(request: HttpRequest) -> Asked:
    """Read the body, and the query where the body does not say."""
    values: dict[str, Any] = {}
    for name, value in parse_qsl(request.url.query, keep_blank_values=True):
        values.setdefault(name, []).append(value)
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not body:
        return Asked(values)
    match kind:
        # `curl -d` calls everything a form.
        case "application/x-www-form-urlencoded" if not body.lstrip().startswith(b"{"):
            values |= _form(body)
        case "multipart/form-data":
            sent: dict[str, Any] = {}
            try:
                async with request.form() as form:
                    for name, part in form.multi_items():
                        sent.setdefault(name, []).append(part)
                    # Files close with the form, so they are read while it is open.
                    for parts in sent.values():
                        for part in parts:
                            if isinstance(part, UploadFile):
                                part.content = await part.read()  # type: ignore[attr-defined]
            except Exception as error:
                raise bad_request("Invalid request: broken form data") from error
            values |= sent
        case _:
            return Asked(values | _json(body), is_json=True)
    return Asked(values)


def _form(body: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, max_num_fields=20_000
        )
    except ValueError as error:
        raise bad_request("Invalid request: broken form data") from error
    values: dict[str, Any] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values


def _json(body: bytes) -> dict[str, Any]:
    try:
        values = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise bad_request("Invalid request: the body is not JSON") from error
    if not isinstance(values, dict):
        raise bad_request("Invalid request: the body must be a JSON object")
    if b"\\u" in body:
        try:
            json.dumps(values, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            message = "Invalid request: the text has halves of characters"
            raise bad_request(message) from error
    return values
