"""Real sentences to train translators on: a person's own, or those of the demo."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from dragoman.errors import FetchError, LabError
from dragoman.lab.experiment import Bench
from dragoman.text.corpus_folder import CorpusFiles
from dragoman.text.public_corpora import get

DEMO_DATA = Path("data")  # where `dragoman demo` keeps its corpora
_STEMS = {"train": ("train",), "valid": ("valid", "val", "dev"), "test": ("test",)}


@dataclass(frozen=True)
class ParallelText:
    """Three parts of a corpus in two languages, and what to call it."""

    name: str
    train: tuple[Path, Path]  # source and target
    valid: tuple[Path, Path]
    test: tuple[Path, Path]

    @classmethod
    def of(cls, files: CorpusFiles) -> Self:
        """Take a corpus that Dragoman fetched."""
        return cls(
            files.folder.name,
            (files.train_source, files.train_target),
            (files.valid_source, files.valid_target),
            (files.test_source, files.test_target),
        )


def text_for(bench: Bench) -> ParallelText:
    """Give the text that was asked for; else the demo's, or for a quick run ours."""
    if bench.data is not None:
        return find_text(bench.data)
    if not bench.quick:
        try:
            return ParallelText.of(get("tatoeba-en-es", DEMO_DATA / "tatoeba-en-es"))
        except FetchError as error:
            raise LabError(
                f"{error}: without a network, give parallel text with --data DIR"
            ) from error
    return ParallelText.of(get("phrasebook-en-es", bench.folder / "phrasebook-en-es"))


def find_text(folder: Path) -> ParallelText:
    """Find train, valid (or val, dev) and test files of two languages in a folder."""
    found: dict[str, dict[str, Path]] = {part: {} for part in _STEMS}
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            for part, stems in _STEMS.items():
                if path.is_file() and path.name.startswith(stems) and path.suffix:
                    found[part].setdefault(path.suffix, path)
    languages = sorted(set.intersection(*(set(files) for files in found.values())))
    # English is read where it is there; of several others, the first by its name.
    languages.sort(key=lambda ending: ending != ".en")
    if len(languages) < 2:
        raise LabError(
            f"{folder} has no train, valid and test files of two languages: name them "
            "as in train.en, train.de, valid.en, valid.de, test.en, test.de"
        )
    source, target = languages[:2]
    return ParallelText(
        f"{folder.name}, {source[1:]} to {target[1:]}",
        (found["train"][source], found["train"][target]),
        (found["valid"][source], found["valid"][target]),
        (found["test"][source], found["test"][target]),
    )
