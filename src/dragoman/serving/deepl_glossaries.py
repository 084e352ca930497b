"""DeepL's glossaries: version 2 with one pair of languages, version 3 with several."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute

from dragoman.serving.api import Api, answer_json
from dragoman.serving.asked import Asked
from dragoman.serving.keys import Key
from dragoman.serving.models import base_language
from dragoman.serving.refusals import RefusalError, bad_request
from dragoman.serving.store import Entries, Pair, StoredGlossary

MOST_ENTRIES = 10_000
TSV = "text/tab-separated-values"


class DeepLGlossaries:
    """`/v2/glossaries` and `/v3/glossaries`, kept in the store."""

    def __init__(self, api: Api) -> None:
        self.api = api

    def routes(self) -> list[BaseRoute]:
        """Give the paths of glossaries."""
        route = self.api.route
        old, new = "/v2/glossaries", "/v3/glossaries"
        return [
            route("/v2/glossary-language-pairs", self.pairs, "GET"),
            route(old, self.old, "GET", "POST"),
            route(f"{old}/{{number}}", self.old_one, "GET", "DELETE"),
            route(f"{old}/{{number}}/entries", self.old_entries, "GET"),
            route(new, self.new, "GET", "POST"),
            route(f"{new}/{{number}}", self.new_one, "GET", "PATCH", "DELETE"),
            route(f"{new}/{{number}}/entries", self.new_entries, "GET"),
            route(f"{new}/{{number}}/dictionaries", self.dictionaries, "PUT", "DELETE"),
        ]

    def entries(self, key: Key, number: str, pair: Pair) -> Iterator[tuple[str, str]]:
        """Give the entries of a glossary for a pair of languages."""
        found = self.api.service.store.glossary(key.name, number)
        if found is None:
            raise RefusalError(404, "Glossary not found")
        if pair not in found.dictionaries:
            raise bad_request(
                "Source and target language do not match those of the glossary"
            )
        yield from found.dictionaries[pair].items()

    async def pairs(self, request: HttpRequest, asked: Asked) -> Response:
        """Give the pairs of languages that glossaries may have."""
        self.api.key(request, asked.text("auth_key"))
        found = [
            {"source_lang": source, "target_lang": target}
            for source, target in self.api.service.shelf.pairs
        ]
        return answer_json({"supported_languages": found})

    async def old(self, request: HttpRequest, asked: Asked) -> Response:
        """List glossaries, or make one."""
        key, store = self._key(request, asked), self.api.service.store
        if request.method == "GET":
            listed = [_old(one) for one in store.glossaries(key.name)]
            return answer_json({"glossaries": listed})
        pair, entries = _dictionary(asked.values)
        kept = store.save_glossary(key.name, _name(asked), {pair: entries})
        return answer_json(_old(kept), 201)

    async def old_one(self, request: HttpRequest, asked: Asked) -> Response:
        """Give or delete a glossary."""
        key, found = self._find(request, asked)
        if request.method == "DELETE":
            return self._delete(key, found)
        return answer_json(_old(found))

    async def old_entries(self, request: HttpRequest, asked: Asked) -> Response:
        """Give the entries of a glossary, a line each."""
        _, found = self._find(request, asked)
        return Response(_tsv(_first(found)[1]), media_type=TSV)

    async def new(self, request: HttpRequest, asked: Asked) -> Response:
        """List glossaries, or make one of several dictionaries."""
        key, store = self._key(request, asked), self.api.service.store
        if request.method == "GET":
            listed = [_new(one) for one in store.glossaries(key.name)]
            return answer_json({"glossaries": listed})
        kept = store.save_glossary(key.name, _name(asked), _dictionaries(asked))
        return answer_json(_new(kept), 201)

    async def new_one(self, request: HttpRequest, asked: Asked) -> Response:
        """Give, change or delete a glossary."""
        key, found = self._find(request, asked)
        if request.method == "DELETE":
            return self._delete(key, found)
        if request.method == "PATCH":
            merged = {pair: dict(e) for pair, e in found.dictionaries.items()}
            if asked.values.get("dictionaries"):
                for pair, entries in _dictionaries(asked).items():
                    merged[pair] = merged.get(pair, {}) | entries
            name = asked.text("name", found.name)
            found = self.api.service.store.save_glossary(
                key.name, name, merged, found.id
            )
        return answer_json(_new(found))

    async def new_entries(self, request: HttpRequest, asked: Asked) -> Response:
        """Give the entries of one dictionary."""
        _, found = self._find(request, asked)
        pair = _pair(asked.values)
        if pair not in found.dictionaries:
            raise RefusalError(404, "Dictionary not found")
        entries = found.dictionaries[pair]
        one = _described(pair, entries) | {
            "entries": _tsv(entries),
            "entries_format": "tsv",
        }
        return answer_json({"dictionaries": [one]})

    async def dictionaries(self, request: HttpRequest, asked: Asked) -> Response:
        """Replace or delete one dictionary of a glossary."""
        key, found = self._find(request, asked)
        kept = dict(found.dictionaries)
        if request.method == "DELETE":
            if kept.pop(_pair(asked.values), None) is None:
                raise RefusalError(404, "Dictionary not found")
        else:
            pair, entries = _dictionary(asked.values)
            kept[pair] = entries
        self.api.service.store.save_glossary(key.name, found.name, kept, found.id)
        if request.method == "DELETE":
            return Response(status_code=204)
        return answer_json(_described(pair, entries))

    def _key(self, request: HttpRequest, asked: Asked) -> Key:
        return self.api.key(request, asked.text("auth_key"))

    def _find(self, request: HttpRequest, asked: Asked) -> tuple[Key, StoredGlossary]:
        key = self._key(request, asked)
        number = request.path_params["number"]
        found = self.api.service.store.glossary(key.name, number)
        if found is None:
            raise RefusalError(404, "Glossary not found")
        return key, found

    def _delete(self, key: Key, found: StoredGlossary) -> Response:
        self.api.service.store.delete_glossary(key.name, found.id)
        return Response(status_code=204)


def _name(asked: Asked) -> str:
    name = asked.text("name")
    if not name:
        raise bad_request("Parameter 'name' not specified.")
    return name[:1024]


def _pair(values: Mapping[str, Any]) -> Pair:
    asked = Asked(values)
    source, target = asked.text("source_lang"), asked.text("target_lang")
    if not source or not target:
        raise bad_request("Parameters 'source_lang' and 'target_lang' are needed.")
    return base_language(source[:20]), base_language(target[:20])


def _dictionary(values: Mapping[str, Any]) -> tuple[Pair, Entries]:
    """Read one dictionary: TSV or CSV, without empty or doubled terms."""
    asked = Asked(values)
    kind = asked.text("entries_format", "tsv")
    if kind not in ("tsv", "csv"):
        raise bad_request("Value for 'entries_format' not supported.")
    entries = dict(_rows(asked.text("entries"), kind))
    if not entries:
        raise bad_request("Parameter 'entries' not specified.")
    if len(entries) > MOST_ENTRIES:
        raise RefusalError(413, f"A glossary has at most {MOST_ENTRIES} entries.")
    return _pair(values), entries


def _rows(text: str, kind: str) -> Iterator[tuple[str, str]]:
    import csv

    rows: Iterable[list[str]] = (line.split("\t") for line in text.split("\n"))
    if kind == "csv":
        rows = csv.reader(text.split("\n"))
    try:
        for row in rows:
            parts = [part.strip() for part in row]
            if not any(parts):
                continue
            if len(parts) < 2 or not parts[0] or not parts[1]:
                raise bad_request("Invalid glossary entries provided")
            yield parts[0], parts[1]
    except csv.Error as error:
        raise bad_request("Invalid glossary entries provided") from error


def _dictionaries(asked: Asked) -> dict[Pair, Entries]:
    given = asked.values.get("dictionaries")
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise bad_request("Parameter 'dictionaries' not specified.")
    return dict(_dictionary(one) for one in given)


def _first(found: StoredGlossary) -> tuple[Pair, Entries]:
    return next(iter(found.dictionaries.items()), (("", ""), {}))


def _tsv(entries: Entries) -> str:
    return "\n".join(f"{source}\t{target}" for source, target in entries.items())


def _old(found: StoredGlossary) -> dict[str, object]:
    pair, entries = _first(found)
    return {
        "glossary_id": found.id,
        "name": found.name,
        "ready": True,
        "creation_time": found.created,
    } | _described(pair, entries)


def _new(found: StoredGlossary) -> dict[str, object]:
    described = [_described(*one) for one in found.dictionaries.items()]
    return {
        "glossary_id": found.id,
        "name": found.name,
        "creation_time": found.created,
        "dictionaries": described,
    }


def _described(pair: Pair, entries: Entries) -> dict[str, object]:
    return {
        "source_lang": pair[0],
        "target_lang": pair[1],
        "entry_count": len(entries),
    }
