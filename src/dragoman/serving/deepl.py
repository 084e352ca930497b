"""DeepL's API, versions 2 and 3, as its clients use it: texts, languages, usage."""

from collections.abc import Sequence

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute

from dragoman.documents.formats import Format
from dragoman.documents.markup import TagRules
from dragoman.serving.api import Api, answer_json
from dragoman.serving.asked import Asked
from dragoman.serving.deepl_documents import DeepLDocuments
from dragoman.serving.deepl_glossaries import DeepLGlossaries
from dragoman.serving.keys import Key
from dragoman.serving.models import base_language, language_name
from dragoman.serving.refusals import RefusalError, bad_request
from dragoman.serving.service import Request, Service
from dragoman.serving.tasks import Files
from dragoman.serving.work import Terms

MOST_TEXTS = 50
FORMALITIES = ("default", "more", "less", "prefer_more", "prefer_less")
VARIANTS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-BR", "PT-PT")}
NOT_LIMITED = 1_000_000_000_000  # characters, where a key has no limit


class DeepL:
    """What DeepL's clients ask for."""

    def __init__(self, service: Service, files: Files) -> None:
        self.service = service
        self.api = Api("deepl", service, "message")
        self.glossaries = DeepLGlossaries(self.api)
        self.documents = DeepLDocuments(self.api, files, self.languages_of, self.terms)

    def routes(self) -> list[BaseRoute]:
        """Give the paths of this API."""
        route = self.api.route
        return [
            route("/v2/translate", self.translate, "POST"),
            route("/v2/usage", self.usage, "GET", "POST"),
            route("/v2/languages", self.languages, "GET", "POST"),
            route("/v2/write/{rest:path}", self.not_offered, "POST"),
            route("/v3/style_rules", self.not_offered, "GET", "POST"),
            route("/v3/style_rules/{rest:path}", self.not_offered, "GET", "POST"),
            *self.documents.routes(),
            *self.glossaries.routes(),
        ]

    async def not_offered(self, request: HttpRequest, asked: Asked) -> Response:
        """Say that a service of DeepL's is not to be had here."""
        del asked
        self.api.key(request)
        raise RefusalError(404, "This server does not offer rephrasing or style rules")

    async def translate(self, request: HttpRequest, asked: Asked) -> Response:
        """Answer `POST /v2/translate`."""
        key = self.api.key(request, asked.text("auth_key"))
        texts = asked.texts("text", "text[]")
        if not texts:
            raise bad_request("Parameter 'text' not specified.")
        if len(texts) > MOST_TEXTS:
            raise RefusalError(413, f"Request has more than {MOST_TEXTS} texts.")
        source, target = self.languages_of(asked)
        self._check_formality(asked, target)
        terms = self.terms(key, asked, source, target)
        kind, rules = _markup(asked)
        request.state.characters = self.service.admit(key, texts)
        results = await self.service.translate(
            Request(
                tuple(texts),
                source,
                target,
                kind,
                rules,
                split=asked.text("split_sentences", "1").lower() not in ("0", "none"),
                terms=terms,
                deadline=self.api.deadline(request),
            )
        )
        model = asked.text("model_type")
        translations = []
        for text, result in zip(texts, results, strict=True):
            one: dict[str, object] = {
                "detected_source_language": result.detected.language.upper(),
                "text": result.text,
                "billed_characters": len(text),
            }
            if model:
                one["model_type_used"] = "quality_optimized"
            translations.append(one)
        return answer_json({"translations": translations})

    def languages_of(self, asked: Asked) -> tuple[str, str]:
        """Give source and target of a request, in our codes."""
        target, source = asked.text("target_lang"), asked.text("source_lang")
        if not target:
            raise bad_request("Parameter 'target_lang' not specified.")
        pairs = self.service.shelf.pairs
        if base_language(target) not in {b for _, b in pairs}:
            raise bad_request(f"Value for 'target_lang' not supported: {target[:20]}")
        if source and base_language(source) not in {a for a, _ in pairs}:
            raise bad_request(f"Value for 'source_lang' not supported: {source[:20]}")
        pair = base_language(source), base_language(target)
        if source and pair not in pairs:
            raise bad_request(
                f"Source and target language {source[:20]}, {target[:20]} are not "
                "supported together"
            )
        return (pair[0] if source else "auto"), pair[1]

    def _check_formality(self, asked: Asked, target: str) -> None:
        """Refuse what a model without formality cannot do, as DeepL does."""
        formality = asked.text("formality", "default")
        if formality not in FORMALITIES:
            raise bad_request("Value for 'formality' not supported.")
        if formality in ("more", "less"):
            raise bad_request(
                f"Target language {target.upper()} does not support 'formality'"
            )

    def terms(self, key: Key, asked: Asked, source: str, target: str) -> Terms:
        """Give the entries of the glossaries that a request names."""
        numbers = asked.texts("glossary_ids", "glossary_ids[]")
        if asked.text("glossary_id"):
            numbers = [*numbers, asked.text("glossary_id")]
        if not numbers:
            return ()
        if source == "auto":
            raise bad_request("Use of a glossary requires the source_lang parameter.")
        return tuple(
            entry
            for number in numbers
            for entry in self.glossaries.entries(key, number, (source, target))
        )

    async def usage(self, request: HttpRequest, asked: Asked) -> Response:
        """Answer `GET /v2/usage`."""
        key = self.api.key(request, asked.text("auth_key"))
        return answer_json(
            {
                "character_count": self.service.store.usage(key.name),
                "character_limit": key.characters_per_month or NOT_LIMITED,
            }
        )

    async def languages(self, request: HttpRequest, asked: Asked) -> Response:
        """Answer `GET /v2/languages`."""
        self.api.key(request, asked.text("auth_key"))
        kind = asked.text("type", "source")
        if kind not in ("source", "target"):
            raise bad_request("Value for 'type' not supported.")
        if kind == "source":
            found = [_language(code) for code in self.service.shelf.sources]
            return answer_json(found)
        targets = dict.fromkeys(target for _, target in self.service.shelf.pairs)
        codes = [v for t in targets for v in VARIANTS.get(t, (t.upper(),))]
        return answer_json(
            [_language(code) | {"supports_formality": False} for code in codes]
        )


def _language(code: str) -> dict[str, object]:
    name = language_name(base_language(code))
    variant = code.partition("-")[2]
    named = {"GB": "British", "US": "American", "BR": "Brazilian", "PT": "European"}
    if variant:
        name = f"{name} ({named[variant]})"
    return {"language": code.upper(), "name": name}


def _markup(asked: Asked) -> tuple[Format, TagRules | None]:
    """Read how tags are to be handled."""
    match asked.text("tag_handling").lower():
        case "":
            return "text", None
        case "html":
            return "html", TagRules(ignored=_lower(asked.commas("ignore_tags")))
        case "xml":
            return "xml", TagRules(
                xml=True,
                ignored=asked.commas("ignore_tags"),
                splitting=asked.commas("splitting_tags"),
                inline=asked.commas("non_splitting_tags"),
                outline=asked.flag("outline_detection", True),
            )
        case _:
            raise bad_request("Value for 'tag_handling' not supported.")


def _lower(names: Sequence[str] | frozenset[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)
