"""Which format a document has, and the file that reads it."""

from pathlib import PurePath
from typing import Literal, get_args

from dragoman.documents.document import Document, Split, sentences_of
from dragoman.documents.markdown import parse_markdown
from dragoman.documents.markup import HTML_RULES, TagRules, parse_markup
from dragoman.documents.plain_text import parse_plain
from dragoman.documents.subtitles import parse_subtitles
from dragoman.errors import DocumentError

Format = Literal["text", "html", "xml", "markdown", "srt", "vtt"]
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS: dict[str, Format] = {
    ".txt": "text",
    ".text": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".srt": "srt",
    ".vtt": "vtt",
}
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def format_of(name: str) -> Format:
    """Tell a document's format by the ending of its name."""
    ending = PurePath(name).suffix.lower()
    if ending not in ENDINGS:
        raise DocumentError(
            f"documents that end in {ending or 'nothing'} cannot be translated: "
            f"choose one of {', '.join(ENDINGS)}"
        )
    return ENDINGS[ending]


def open_document(
    text: str,
    format: Format,  # noqa: A002 (the usual word)
    language: str,
    *,
    split: Split | None = None,
    rules: TagRules | None = None,
) -> Document:
    """Find what is to be translated in a document."""
    split = split or sentences_of(language)
    match format:
        case "text":
            return parse_plain(text, split)
        case "html":
            return parse_markup(text, split, rules or HTML_RULES)
        case "xml":
            return parse_markup(text, split, rules or TagRules(xml=True))
        case "markdown":
            return parse_markdown(text, split)
        case "srt" | "vtt":
            return parse_subtitles(text, split, vtt=format == "vtt")


def read_text(content: bytes, name: str) -> tuple[str, str]:
    """Give the text of a file, and the encoding it has to be written in again."""
    encoding = next((e for mark, e in _MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding), encoding
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"{name} is not {encoding} from byte {error.start} on: save it as UTF-8"
        ) from error
