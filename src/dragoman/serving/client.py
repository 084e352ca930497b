"""A client of the server's own API, for Python programs.

It needs the standard library only, and tries again where that is worth it.
"""

import asyncio
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, overload

from dragoman.errors import ServingError

TRIES = 5
LONGEST_WAIT = 10.0  # seconds between two tries
AGAIN = (429, 502, 503, 504)
NOTHING_MORE: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True)
class ServedTranslation:
    """A translation as a server gave it."""

    text: str
    language: str  # of the source, as given or detected
    model: str
    warnings: tuple[str, ...]
    sentences: tuple[Mapping[str, Any], ...]  # scores, alignments: see /docs


class Client:
    """Asks a server: `Client("http://127.0.0.1:8718").translate("Hello!", "es")`."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8718",
        key: str = "",
        *,
        timeout: float = 60.0,
        tries: int = TRIES,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ServingError(f"{url!r} is no address of a server: begin with http://")
        self.url = url.rstrip("/")
        self._key = key
        self._timeout = timeout
        self._tries = tries

    @overload
    def translate(  # type: ignore[overload-overlap]
        self,
        texts: str,
        target: str,
        source: str = "auto",
        options: Mapping[str, object] = NOTHING_MORE,
    ) -> ServedTranslation: ...

    @overload
    def translate(
        self,
        texts: Sequence[str],
        target: str,
        source: str = "auto",
        options: Mapping[str, object] = NOTHING_MORE,
    ) -> list[ServedTranslation]: ...

    def translate(
        self,
        texts: str | Sequence[str],
        target: str,
        source: str = "auto",
        options: Mapping[str, object] = NOTHING_MORE,
    ) -> ServedTranslation | list[ServedTranslation]:
        """Translate a text, or several; the options are those of `/v1/translate`."""
        several = [texts] if isinstance(texts, str) else list(texts)
        body = {"texts": several, "source": source, "target": target, **options}
        found = [_read(one) for one in self._ask("/v1/translate", body)["translations"]]
        return found[0] if isinstance(texts, str) else found

    async def translate_async(
        self,
        texts: Sequence[str],
        target: str,
        source: str = "auto",
        options: Mapping[str, object] = NOTHING_MORE,
    ) -> list[ServedTranslation]:
        """Translate several texts without holding up an event loop."""
        return await asyncio.to_thread(self.translate, texts, target, source, options)

    def models(self) -> list[dict[str, Any]]:
        """List the models that are served."""
        listed: list[dict[str, Any]] = self._ask("/v1/models")["models"]
        return listed

    def _ask(self, path: str, body: object = None) -> dict[str, Any]:
        """Ask, and ask again after a while where that may help."""
        reason = ""
        for wait in _waits(self._tries):
            if wait:
                time.sleep(wait)
            try:
                with urllib.request.urlopen(  # noqa: S310 (http and https only)
                    self._request(path, body), timeout=self._timeout
                ) as answer:
                    found: dict[str, Any] = json.load(answer)
                    return found
            except urllib.error.HTTPError as error:
                reason = _said(error)
                if error.code not in AGAIN:
                    raise ServingError(f"{self.url} refused: {reason}") from error
            except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
                reason = str(getattr(error, "reason", error)) or type(error).__name__
        raise ServingError(
            f"{self.url} did not answer after {self._tries} tries ({reason}): see "
            "whether it runs, or try again later"
        )

    def _request(self, path: str, body: object) -> urllib.request.Request:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.Request(self.url + path, data, headers)  # noqa: S310


def _waits(tries: int) -> Iterator[float]:
    """Wait longer each time, and never two clients alike."""
    yield 0.0
    for number in range(1, tries):
        yield min(LONGEST_WAIT, 0.2 * 2**number) * random.uniform(0.5, 1.0)


def _said(error: urllib.error.HTTPError) -> str:
    with error:
        try:
            return str(json.load(error)["error"])
        except (ValueError, KeyError, TypeError):
            return f"status {error.code}"


def _read(one: Mapping[str, Any]) -> ServedTranslation:
    return ServedTranslation(
        one["text"],
        one["detected"]["language"],
        one["model"],
        tuple(one["warnings"]),
        tuple(one["sentences"]),
    )
