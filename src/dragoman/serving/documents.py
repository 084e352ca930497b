"""A file that came by HTTP, translated as a document in the slower lane."""

from dataclasses import dataclass

from dragoman.documents.formats import format_of, read_text
from dragoman.serving.keys import Key
from dragoman.serving.service import Request, Service
from dragoman.serving.work import Terms


@dataclass(frozen=True)
class TranslatedFile:
    """The bytes of a translated file, and how many characters it had."""

    content: bytes
    characters: int


async def translate_file(
    service: Service,
    key: Key,
    name: str,
    content: bytes,
    source: str,
    target: str,
    deadline: float,
    terms: Terms = (),
) -> TranslatedFile:
    """Translate a file of a known format; all but its text stays."""
    kind = format_of(name.rpartition("/")[2][-100:])
    text, encoding = read_text(content, "the file")
    characters = service.admit(key, [text])
    [result] = await service.translate(
        Request(
            (text,),
            source,
            target,
            kind,
            terms=terms,
            lane="documents",
            deadline=deadline,
        )
    )
    return TranslatedFile(result.text.encode(encoding), characters)
