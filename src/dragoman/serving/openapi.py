"""The description of our own API (OpenAPI 3.1), and a page that shows it."""

import html
import json
from importlib.metadata import version
from typing import Any

from dragoman.documents.formats import FORMATS

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT, "minItems": 1}
ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": TEXT},
}
TRANSLATE = {
    "texts": TEXTS,
    "source": {"type": "string", "default": "auto", "description": "code, or auto"},
    "target": {"type": "string", "description": "code of a language"},
    "format": {"type": "string", "enum": list(FORMATS), "default": "text"},
    "split": {"type": "boolean", "default": True, "description": "into sentences"},
    "glossary": {
        "type": "object",
        "additionalProperties": TEXT,
        "description": "terms and the translations that they must have",
    },
    "nbest": {"type": "integer", "minimum": 1, "maximum": 16, "default": 1},
    "token_scores": {"type": "boolean", "description": "log-probability of each piece"},
    "alignment": {"type": "boolean", "description": "source word of each target word"},
    "prefix": {"type": "string", "description": "the translation begins so"},
    "model": {"type": "string", "description": "a name, a version, or name@version"},
    "pivot": {"type": "boolean", "description": "through a third language if needed"},
    "stream": {"type": "boolean", "description": "server-sent events, one per text"},
}
ALTERNATIVES = {
    "text": TEXT,
    "source": TEXT,
    "target": TEXT,
    "prefix": TEXT,
    "model": TEXT,
    "count": {"type": "integer", "minimum": 1, "maximum": 16, "default": 5},
}


def describe() -> dict[str, Any]:
    """Give the OpenAPI document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Dragoman", "version": version("dragoman")},
        "paths": {
            "/v1/translate": _post(
                "Translate texts", TRANSLATE, ["texts", "target"], "translations"
            ),
            "/v1/alternatives": _post(
                "Say what could come next after a prefix of a translation",
                ALTERNATIVES,
                ["text", "source", "target"],
                "alternatives",
            ),
            "/v1/detect": _post(
                "Tell the language of each text",
                {"texts": TEXTS},
                ["texts"],
                "detected",
            ),
            "/v1/models": {
                "get": {
                    "summary": "List the models that are served",
                    "responses": _responses("models"),
                }
            },
        },
    }


def _post(
    summary: str, fields: dict[str, Any], required: list[str], answer: str
) -> dict[str, Any]:
    schema = {"type": "object", "required": required, "properties": fields}
    return {
        "post": {
            "summary": summary,
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": schema}},
            },
            "responses": _responses(answer),
        }
    }


def _responses(answer: str) -> dict[str, Any]:
    shape = {
        "type": "object",
        "required": [answer],
        "properties": {answer: {"type": "array", "items": {"type": "object"}}},
    }
    refused = {"application/json": {"schema": ERROR}}
    reasons = {
        "400": "The request is wrong",
        "403": "The key is not known, or its quota is spent",
        "413": "The request is too long",
        "429": "Too many characters in a minute: see Retry-After",
        "503": "The server is busy, or the deadline passed: see Retry-After",
    }
    return {
        "200": {
            "description": "Done",
            "content": {"application/json": {"schema": shape}},
        }
    } | {
        status: {"description": text, "content": refused}
        for status, text in reasons.items()
    }


def docs_page() -> str:
    """Write the description down for people, in one page without scripts."""
    parts = []
    for path, methods in describe()["paths"].items():
        for method, what in methods.items():
            body = what.get("requestBody", {}).get("content", {})
            fields = body.get("application/json", {}).get("schema", {})
            rows = [
                f"<li><code>{name}</code> ({one['type']}"
                f"{', needed' if name in fields.get('required', ()) else ''})"
                f" {html.escape(one.get('description', ''))}</li>"
                for name, one in fields.get("properties", {}).items()
            ]
            parts.append(
                f"<h2>{method.upper()} {path}</h2><p>{html.escape(what['summary'])}</p>"
                f"<ul>{''.join(rows)}</ul>"
            )
    example = json.dumps({"texts": ["Hello!"], "target": "es"})
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        "<title>Dragoman: its API</title><h1>The API of this server</h1>"
        f"<pre>curl -d '{html.escape(example)}' localhost:8718/v1/translate</pre>"
        f"{''.join(parts)}<p>As OpenAPI 3.1: <code>/v1/openapi.json</code></p></html>"
    )
