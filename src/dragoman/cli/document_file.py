"""`dragoman translate MODEL page.html -o seite.html`: a file in, a file out."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.errors import ConfigError, DocumentError

if TYPE_CHECKING:
    from dragoman.decoding.options import SearchOptions
    from dragoman.text.glossary import Glossary
    from dragoman.translator import Translator


def document_to_translate(options: argparse.Namespace) -> Path | None:
    """Give the file that is to be translated, if --output asks for one."""
    if options.output is None:
        return None
    for name in ("nbest", "alternatives", "prefix", "document", "json", "report"):
        if getattr(options, name):
            raise ConfigError(
                f"--output does not go with --{name}: a document has one translation "
                "and no columns, so leave one of them out"
            )
    if len(options.sentences) != 1:
        raise ConfigError(
            f"--output takes one file to translate, and {len(options.sentences)} were "
            "named: dragoman translate MODEL page.html --output seite.html"
        )
    from dragoman.documents.formats import format_of

    source = Path(options.sentences[0])
    format_of(source.name)
    if not source.is_file():
        raise DocumentError(f"there is no file {source}: name one to translate")
    return source


def translate_file(
    translator: "Translator",
    source: Path,
    options: argparse.Namespace,
    search: "SearchOptions",
    glossary: "Glossary | None",
) -> int:
    """Translate a document and write it; say what had to be repaired."""
    from dragoman import durable
    from dragoman.alignment import Aligner
    from dragoman.documents.formats import format_of, open_document, read_text
    from dragoman.documents.inline_tags import Translated
    from dragoman.inspection.alignment_head import alignment_head
    from dragoman.text.word_links import Links, word_units

    text, encoding = read_text(source.read_bytes(), str(source))
    language = translator.engine.described.languages[0]
    document = open_document(text, format_of(source.name), language)
    sentences = document.sentences
    found = translator.translate_nbest(
        [sentence.text for sentence in sentences],
        1,
        options=search,
        glossary=glossary,
        protect=options.protect,
        token_scores=False,
    )
    texts = [best[0].text for best in found]
    linked = [place for place, sentence in enumerate(sentences) if sentence.needs_links]
    links: list[Links] = [(None,) * len(word_units(translated)) for translated in texts]
    if linked:
        aligner = Aligner(translator, alignment_head(options.model, translator))
        pairs = [(sentences[place].text, texts[place]) for place in linked]
        for place, link in zip(linked, aligner.align(pairs), strict=True):
            links[place] = link
    done = document.finish(
        [Translated(*both) for both in zip(texts, links, strict=True)]
    )
    beside = options.output.with_name(options.output.name + ".tmp")
    durable.write_bytes(beside, done.text.encode(encoding))
    beside.replace(options.output)
    for repair in done.repairs:
        print(f"dragoman: {repair}; look at it", file=sys.stderr)
    return 0
