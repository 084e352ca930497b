"""The one place where another program's model is recognised, read, proved and saved."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import ImportedModelError
from dragoman.interchange.argos import unpacked
from dragoman.interchange.ctranslate2_import import (
    original_ctranslate2,
    read_ctranslate2,
)
from dragoman.interchange.foreign import Foreign, take_place
from dragoman.interchange.huggingface import original_transformers, read_huggingface
from dragoman.interchange.marian import original_firefox, read_marian
from dragoman.interchange.self_test import Original, Proof, prove
from dragoman.model.weights import count_parameters
from dragoman.model_folder import SavedModel, save_model


@dataclass(frozen=True)
class Request:
    """What is to be imported, and what its files do not say themselves."""

    source: Path
    format: str | None = None
    languages: tuple[str, str] | None = None
    vocabularies: tuple[Path, ...] = ()
    known: Sequence[tuple[str, str]] = ()


def import_model(request: Request, folder: Path) -> Proof:
    """Read a model, let it prove itself, and save it as a model folder of ours."""
    take_place(folder)
    with _read(request) as (foreign, original):
        saved = foreign.saved()
        proof = prove(saved, request.known, original)
    card = _card(folder.name, request.source.name, foreign, saved, proof)
    save_model(
        folder, saved.model, saved.tokenizers, saved.config, saved.languages, card
    )
    return proof


def recognise(source: Path) -> str:
    """Say which program a file or folder comes from."""
    if not source.exists():
        raise ImportedModelError(f"there is no {source}: give a file or a folder")
    if source.suffix == ".argosmodel":
        return "argos"
    if (source / "source.spm").is_file() and (source / "config.json").is_file():
        return "huggingface"
    if (source / "model.bin").is_file() and [*source.glob("*_vocabulary.*")]:
        return "ctranslate2"
    if source.suffix in (".npz", ".bin") or (source.is_dir() and _marian(source)):
        return "marian"
    raise ImportedModelError(
        f"{source} is not a model that can be imported: it may be a folder of Hugging "
        "Face's Marian, of CTranslate2 or of Firefox, an .argosmodel, or Marian's .npz "
        "or .bin; say which with --format"
    )


@contextmanager
def _read(request: Request) -> Iterator[tuple[Foreign, Original | None]]:
    source = request.source
    kind = request.format or recognise(source)
    if kind == "argos":
        with unpacked(source) as (folder, said):
            pieces = folder / "sentencepiece.model"
            languages = request.languages or said
            yield _read_ctranslate2(folder / "model", (pieces, pieces), languages)
        return
    languages = request.languages or _guess_languages(source)
    match kind:
        case "huggingface":
            foreign = read_huggingface(source, languages)
            yield foreign, original_transformers(source)
        case "ctranslate2":
            yield _read_ctranslate2(source, _two(request, source), languages)
        case _:
            weights, vocabularies = _marian_files(request)
            foreign = read_marian(weights, vocabularies, languages)
            yield foreign, original_firefox(weights, vocabularies)


def _read_ctranslate2(
    folder: Path, pieces: tuple[Path, Path], languages: tuple[str, str]
) -> tuple[Foreign, Original | None]:
    foreign = read_ctranslate2(folder, pieces, languages)
    return foreign, original_ctranslate2(folder, foreign)


def _marian(folder: Path) -> list[Path]:
    """Give the weights among a folder's files; shortlists are called `lex`."""
    found = [*folder.glob("*.npz"), *folder.glob("*.bin")]
    return sorted(path for path in found if not path.name.startswith("lex"))


def _marian_files(request: Request) -> tuple[Path, tuple[Path, Path]]:
    source = request.source
    weights = _marian(source) if source.is_dir() else [source]
    if len(weights) != 1:
        raise ImportedModelError(
            f"{source} holds {len(weights)} files of weights: name the one to import"
        )
    return weights[0], _two(request, source if source.is_dir() else source.parent)


def _two(request: Request, home: Path) -> tuple[Path, Path]:
    """Give the SentencePiece files of both sides, which may be one."""
    given = request.vocabularies
    near = [*home.glob("*.spm"), *home.glob("*.model")]
    match found := given or tuple(sorted(near)):
        case (one,):
            return one, one
        case (one, other):
            return (one, other) if given else _source_first(one, other)
    raise ImportedModelError(
        f"{home} holds {len(found)} SentencePiece vocabularies: name one, or that of "
        "the source and that of the target, with --vocabulary"
    )


def _source_first(one: Path, other: Path) -> tuple[Path, Path]:
    """Put `srcvocab` before `trgvocab`, as Firefox names them."""
    return (one, other) if one.name.startswith("src") else (other, one)


def _guess_languages(source: Path) -> tuple[str, str]:
    """Read the languages from names such as `opus-mt-en-fr` and `model.enpt.bin`."""
    parts = source.name.replace("_", "-").split("-")
    if len(parts) >= 2 and all(1 < len(part) < 4 for part in parts[-2:]):
        return parts[-2], parts[-1]
    for word in source.name.replace("-", ".").split("."):
        if len(word) == 4 and word.isascii() and word.isalpha() and word.islower():
            return word[:2], word[2:]
    raise ImportedModelError(
        f"{source} does not say which languages it translates: say it with "
        "--languages, for example --languages en de"
    )


def _card(
    name: str, origin: str, foreign: Foreign, saved: SavedModel, proof: Proof
) -> str:
    source, target = foreign.languages
    rows = "\n".join(
        f"| {_cell(sentence)} | {_cell(said)} |"
        for sentence, said in zip(proof.sentences, proof.translations, strict=True)
    )
    return f"""# {name}

A translator from `{source}` to `{target}`, imported by Dragoman from the
{foreign.program} model `{origin}`. Its licence is that of the original.

```
dragoman translate {name} "A sentence to translate."
```

## The model

{count_parameters(saved.model):,} parameters, `model.kind` {foreign.config.model.kind}.

## The self-test

{proof.describe()}:

| {source} | {target} |
|---|---|
{rows}
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
