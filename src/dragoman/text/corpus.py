"""Parallel text: two plain files, or one TSV or JSONL file, each also gzipped."""

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import CorpusError
from dragoman.text.lines import LINE_LIMIT, capped_lines, read_lines
from dragoman.text.pairs import RawPair, Reason, Reject, reject

__all__ = ["Corpus", "RawPair", "count_pairs", "read_lines", "read_pairs"]


@dataclass(frozen=True)
class Corpus:
    """Where parallel text lies; without a target, the source file holds both sides."""

    source: Path
    target: Path | None = None
    weight: float | None = None  # its share among several; None: as many as it has


def read_pairs(corpus: Corpus) -> Iterator[RawPair | Reject]:
    """Stream the pairs of a corpus, one for each line, in order."""
    if corpus.target is None:
        pairs = _one_file(corpus.source, _parser(corpus.source))
    else:
        pairs = _two_files(corpus.source, corpus.target)
    first = next(pairs, None)
    if first is None:
        files = (corpus.source, corpus.target)
        named = " or ".join(str(path) for path in files if path)
        raise CorpusError(f"there is no line in {named}: give a corpus with sentences")
    yield first
    yield from pairs


def count_pairs(corpora: Iterable[Corpus]) -> int:
    """Count the lines of all corpora, fit or not."""
    return sum(sum(1 for _ in capped_lines(corpus.source)) for corpus in corpora)


def _two_files(source: Path, target: Path) -> Iterator[RawPair | Reject]:
    lines = itertools.zip_longest(capped_lines(source), capped_lines(target))
    for number, (source_line, target_line) in enumerate(lines, 1):
        if source_line is None or target_line is None:
            counts = [number - 1, number + sum(1 for _ in lines)]
            if target_line is None:
                counts.reverse()
            raise CorpusError(
                f"{source} has {counts[0]} lines but {target} has {counts[1]}: each "
                "line needs its translation on the same line of the other file"
            )
        if len(source_line) > LINE_LIMIT or len(target_line) > LINE_LIMIT:
            yield reject(number, Reason.TOO_LONG, source_line, target_line)
        else:
            yield RawPair(number, source_line, target_line)


Parser = Callable[[int, bytes], RawPair | Reject]


def _one_file(path: Path, parse: Parser) -> Iterator[RawPair | Reject]:
    for number, line in enumerate(capped_lines(path), 1):
        if len(line) > LINE_LIMIT:
            yield reject(number, Reason.TOO_LONG, line)
        elif not line or line.isspace():
            yield reject(number, Reason.EMPTY, line)
        else:
            yield parse(number, line)


def _parser(path: Path) -> Parser:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    match suffixes[-1:]:
        case [".tsv"]:
            return _parse_tsv
        case [".jsonl"]:
            return _parse_jsonl
    raise CorpusError(
        f"{path} was given without a target file: give one, or give a .tsv or .jsonl "
        "file (also .gz), which holds both sides"
    )


def _parse_tsv(number: int, line: bytes) -> RawPair | Reject:
    columns = line.split(b"\t")
    if len(columns) != 2:
        return reject(number, Reason.MALFORMED, line)
    return RawPair(number, columns[0], columns[1])


def _parse_jsonl(number: int, line: bytes) -> RawPair | Reject:
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return reject(number, Reason.INVALID_UTF8, line)
    except (ValueError, RecursionError):
        return reject(number, Reason.MALFORMED, line)
    match record:
        case {"source": str(source), "target": str(target)}:
            return RawPair(number, _json_bytes(source), _json_bytes(target))
    return reject(number, Reason.MALFORMED, line)


def _json_bytes(text: str) -> bytes:
    # JSON can spell half a surrogate pair; passed on, cleaning finds it invalid. It can
    # also spell a line feed, but a sentence is one line wherever it goes next.
    return text.replace("\n", " ").encode("utf-8", "surrogatepass")
