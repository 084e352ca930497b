"""What survives a restart: how much each key has used, and the glossaries."""

import json
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS usage (
    key TEXT NOT NULL, month TEXT NOT NULL, characters INTEGER NOT NULL,
    PRIMARY KEY (key, month)
);
CREATE TABLE IF NOT EXISTS glossaries (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL,
    created TEXT NOT NULL, dictionaries TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS suggestions (
    owner TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL,
    original TEXT NOT NULL, better TEXT NOT NULL
);
"""

Pair = tuple[str, str]
Entries = dict[str, str]


@dataclass(frozen=True)
class StoredGlossary:
    """A glossary with one dictionary for each pair of languages."""

    id: str
    name: str
    created: str
    dictionaries: Mapping[Pair, Entries]


class Store:
    """A small database on disk, or in memory where there is no place for one."""

    def __init__(self, path: Path | None) -> None:
        self._base = sqlite3.connect(
            ":memory:" if path is None else path, isolation_level=None
        )
        self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute("PRAGMA synchronous=FULL")
        self._base.executescript(SCHEMA)

    def close(self) -> None:
        """Close the database."""
        self._base.close()

    def add_usage(self, key: str, characters: int) -> None:
        """Note that a key has used so many characters this month."""
        self._base.execute(
            "INSERT INTO usage VALUES (?, ?, ?) ON CONFLICT (key, month) "
            "DO UPDATE SET characters = characters + excluded.characters",
            (key, _month(), characters),
        )

    def usage(self, key: str) -> int:
        """Give the characters that a key has used this month."""
        row = self._base.execute(
            "SELECT characters FROM usage WHERE key = ? AND month = ?", (key, _month())
        ).fetchone()
        return int(row[0]) if row else 0

    def add_suggestion(
        self, owner: str, pair: Pair, original: str, better: str
    ) -> None:
        """Keep a better translation that somebody has suggested."""
        self._base.execute(
            "INSERT INTO suggestions VALUES (?, ?, ?, ?, ?)",
            (owner, *pair, original, better),
        )

    def glossaries(self, owner: str) -> Iterator[StoredGlossary]:
        """Give the glossaries of a key."""
        for row in self._base.execute(
            "SELECT id, name, created, dictionaries FROM glossaries WHERE owner = ? "
            "ORDER BY created, id",
            (owner,),
        ).fetchall():
            yield _glossary(row)

    def glossary(self, owner: str, number: str) -> StoredGlossary | None:
        """Give one glossary of a key, if it has it."""
        row = self._base.execute(
            "SELECT id, name, created, dictionaries FROM glossaries "
            "WHERE owner = ? AND id = ?",
            (owner, number),
        ).fetchone()
        return _glossary(row) if row else None

    def save_glossary(
        self,
        owner: str,
        name: str,
        dictionaries: Mapping[Pair, Entries],
        number: str | None = None,
    ) -> StoredGlossary:
        """Keep a glossary, a new one or in the place of an old one."""
        known = None if number is None else self.glossary(owner, number)
        kept = StoredGlossary(
            known.id if known else str(uuid.uuid4()),
            name,
            known.created if known else _now(),
            dictionaries,
        )
        plain = [[*pair, entries] for pair, entries in dictionaries.items()]
        self._base.execute(
            "INSERT OR REPLACE INTO glossaries VALUES (?, ?, ?, ?, ?)",
            (kept.id, owner, name, kept.created, json.dumps(plain)),
        )
        return kept

    def delete_glossary(self, owner: str, number: str) -> bool:
        """Forget a glossary; say whether there was one."""
        done = self._base.execute(
            "DELETE FROM glossaries WHERE owner = ? AND id = ?", (owner, number)
        )
        return done.rowcount > 0


def _now() -> str:
    """Give the time as DeepL writes it, with six digits of a second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _month() -> str:
    return time.strftime("%Y-%m", time.gmtime())


def _glossary(row: tuple[str, str, str, str]) -> StoredGlossary:
    dictionaries = {(a, b): entries for a, b, entries in json.loads(row[3])}
    return StoredGlossary(row[0], row[1], row[2], dictionaries)
