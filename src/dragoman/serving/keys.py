"""Who may ask, and how much: API keys, kept as hashes in a TOML file.

[[key]]
name = "weblate"
sha256 = "…"              # of the key: printf %s KEY | sha256sum
characters_per_minute = 60000
characters_per_month = 5000000
"""

import hashlib
import hmac
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.errors import ServingError
from dragoman.serving.refusals import RefusalError
from dragoman.serving.store import Store

ANONYMOUS = "anonymous"


@dataclass(frozen=True)
class Key:
    """Somebody who may ask; a limit of 0 is none."""

    name: str
    sha256: str = ""
    characters_per_minute: int = 0
    characters_per_month: int = 0


@dataclass
class Keys:
    """The keys there are, and what each has used in this minute."""

    store: Store
    known: tuple[Key, ...] = ()
    anonymous: bool = True
    _minutes: dict[str, tuple[int, int]] = field(default_factory=dict)

    def who(self, given: str) -> Key:
        """Give the key that was shown; all are compared, in the same time."""
        digest = hashlib.sha256(given.encode("utf-8", "replace")).hexdigest()
        found = None
        for key in self.known:
            if hmac.compare_digest(key.sha256, digest):
                found = key
        if found is not None:
            return found
        if self.anonymous and (not given or not self.known):
            return Key(ANONYMOUS)
        raise RefusalError(403, "Invalid API key")

    def spend(self, key: Key, characters: int) -> None:
        """Take characters from a key's limits, or refuse."""
        minute = int(time.time() // 60)
        at, used = self._minutes.get(key.name, (minute, 0))
        used = used if at == minute else 0
        if 0 < key.characters_per_minute < used + characters:
            wait = 60 - int(time.time()) % 60
            raise RefusalError(429, "Slowdown: too many characters in a minute", wait)
        month = key.characters_per_month
        if 0 < month < self.store.usage(key.name) + characters:
            raise RefusalError(456, "Quota exceeded: no characters are left this month")
        self._minutes[key.name] = (minute, used + characters)
        self.store.add_usage(key.name, characters)


def read_keys(path: Path) -> tuple[Key, ...]:
    """Read a file of keys, or say in one line what is wrong with it."""
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ServingError(f"cannot read the keys in {path}: {error}") from error
    tables = values.pop("key", None)
    if values or not isinstance(tables, list) or not tables:
        raise ServingError(f"{path} is no file of keys: it has tables [[key]] only")
    return tuple(_key(table, path) for table in tables)


def _key(table: object, path: Path) -> Key:
    match table:
        case {"name": str(name), "sha256": str(sha), **limits} if len(sha) == 64:
            allowed = ("characters_per_minute", "characters_per_month")
            if all(
                k in allowed and type(v) is int and v >= 0 for k, v in limits.items()
            ):
                minute, month = (int(str(limits.get(each, 0))) for each in allowed)
                return Key(name, sha.lower(), minute, month)
    raise ServingError(
        f"a [[key]] in {path} needs a name and a sha256 of 64 digits, and may have "
        "characters_per_minute and characters_per_month, whole numbers"
    )
