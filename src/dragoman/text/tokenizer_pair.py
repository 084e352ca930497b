"""The two tokenizers of a translator, which may be one and the same."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from dragoman.errors import TokenizerError
from dragoman.text.tokenizer import Tokenizer, load_tokenizer

_SUFFIXES = (".model", ".json", ".imported")
_SHARED = "tokenizer"
_SOURCE = "tokenizer.source"
_TARGET = "tokenizer.target"


@dataclass(frozen=True)
class TokenizerPair:
    """The tokenizers of the source and the target language."""

    source: Tokenizer
    target: Tokenizer

    @property
    def shared(self) -> bool:
        """Whether both languages have one vocabulary, however each is cut into it."""
        source, target = self.source, self.target
        if source is target or "imported" not in (source.kind, target.kind):
            return source is target
        from dragoman.text.imported_tokenizer import ImportedTokenizer

        return (
            isinstance(source, ImportedTokenizer)
            and isinstance(target, ImportedTokenizer)
            and source.vocabulary == target.vocabulary
        )

    def save(self, folder: Path) -> list[Path]:
        """Write `tokenizer.*`, or `tokenizer.source.*` and `tokenizer.target.*`."""
        if self.source is self.target:
            named = {_SHARED: self.source}
        else:
            named = {_SOURCE: self.source, _TARGET: self.target}
        # What was saved here before must not be taken for part of this pair.
        for stale in _present(folder, _SHARED, _SOURCE, _TARGET):
            stale.unlink()
        written = []
        for name, tokenizer in named.items():
            suffix, content = tokenizer.serialize()
            path = folder / (name + suffix)
            path.write_bytes(content)
            written.append(path)
        return written

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Load the pair that `save` wrote."""
        if shared := _present(folder, _SHARED):
            tokenizer = load_tokenizer(shared[0])
            return cls(tokenizer, tokenizer)
        source, target = _present(folder, _SOURCE), _present(folder, _TARGET)
        if not source or not target:
            raise TokenizerError(
                f"{folder} has no tokenizer: it must hold tokenizer.model (or .json), "
                "or one each for source and target; copy the model folder again"
            )
        return cls(load_tokenizer(source[0]), load_tokenizer(target[0]))


def _present(folder: Path, *names: str) -> list[Path]:
    paths = [folder / (name + suffix) for name in names for suffix in _SUFFIXES]
    return [path for path in paths if path.is_file()]
