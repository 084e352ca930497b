"""The files of a model folder: their names, their checksums, and all but the weights.

Nothing here needs PyTorch, so that an engine which does not need it either can start
at once.
"""

import json
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from dragoman import durable
from dragoman.config import Config, read_saved
from dragoman.errors import ConfigError, ModelFolderError, TokenizerError
from dragoman.text.profile import TextProfile
from dragoman.text.tokenizer_pair import TokenizerPair

WEIGHTS, CONFIG, CARD, CHECKSUMS = (
    "model.safetensors",
    "config.json",
    "README.md",
    "SHA256SUMS",
)
SHORTLIST = "shortlist.safetensors"
ALIGNMENT = "alignment.json"
FORMAT = 1
LARGEST_CONFIG = 1_000_000  # bytes
LANGUAGE = re.compile(r"[\w.\-]{1,40}")  # such as en, pt-BR or source


@dataclass(frozen=True)
class ModelDescription:
    """What a model folder says of its model, beside the weights."""

    tokenizers: TokenizerPair
    config: Config
    languages: tuple[str, str]
    profile: TextProfile | None = None  # of its training text; older models have none

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read settings and tokenizers, or say in one line what is wrong with them.

        They are checked against their checksums; weights and shortlist are not looked
        at.
        """
        check_folder(folder, besides=(WEIGHTS, SHORTLIST, ALIGNMENT))
        description = _read_description(folder / CONFIG)
        try:
            config = read_saved(description["settings"])
            source, target = _languages(description["languages"])
            tokenizers = TokenizerPair.load(folder)
            known = description.get("text")
            profile = None if known is None else TextProfile.from_dict(known)
        except (KeyError, TypeError, ValueError, OSError) as error:
            raise ModelFolderError(
                f"{folder} does not hold a model: {error}"
            ) from error
        except (ConfigError, TokenizerError) as error:
            raise ModelFolderError(f"{folder} cannot be used: {error}") from error
        return cls(tokenizers, config, (source, target), profile)


def refuse_other_kind(folder: Path, config: Config, wanted: Iterable[str]) -> None:
    """Say in one line what a model is for, if it is of none of the wanted kinds."""
    kind = config.model.kind
    if kind in wanted:
        return
    match kind:
        case "language_model":
            what = "a language model: use `dragoman generate` or `evaluate --text`"
        case "masked_language_model":
            what = "a masked language model: use `dragoman fill` or `embed`"
        case _:
            what = "a translator: use `dragoman translate`"
    raise ModelFolderError(f"{folder} is {what}")


def write_checksums(folder: Path, files: list[Path]) -> None:
    """Note the SHA-256 of each file, in the form that `sha256sum --check` reads."""
    lines = [f"{durable.sha256(path)}  {path.name}\n" for path in sorted(files)]
    durable.replace_text(folder / CHECKSUMS, "".join(lines))


def is_whole(folder: Path) -> bool:
    """Say whether a model was saved here, and is as it was saved."""
    try:
        check_folder(folder)
    except ModelFolderError:
        return False
    return True


def check_folder(folder: Path, besides: Container[str] = ()) -> None:
    """Compare every file with its checksum, besides some that are not needed."""
    expected = read_checksums(folder)
    for name in (WEIGHTS, CONFIG):
        if name not in expected:
            raise ModelFolderError(f"{folder / CHECKSUMS} does not list {name}")
    check_files(
        folder, {name: sha for name, sha in expected.items() if name not in besides}
    )


def read_checksums(folder: Path) -> dict[str, str]:
    """Give the SHA-256 that each file of a model folder should have."""
    if not folder.is_dir():
        raise ModelFolderError(
            f"there is no model folder {folder}: `dragoman train {folder}` makes one"
        )
    if not (folder / CHECKSUMS).is_file():
        raise ModelFolderError(_why_unfinished(folder))
    return read_sums(folder)


def read_sums(folder: Path) -> dict[str, str]:
    """Read the SHA256SUMS of any folder that has them."""
    expected = {}
    for line in (folder / CHECKSUMS).read_text("utf-8", "replace").splitlines():
        sha, _, name = line.partition("  ")
        if not name:
            raise ModelFolderError(
                f"{folder / CHECKSUMS} was truncated or altered: copy the folder again"
            )
        expected[name] = sha
    return expected


def check_files(folder: Path, expected: Mapping[str, str]) -> None:
    """Compare files with the SHA-256 they should have."""
    for name, sha in expected.items():
        if "/" in name or not (folder / name).is_file():
            raise ModelFolderError(f"{folder / name} is missing: copy the folder again")
        if durable.sha256(folder / name) != sha:
            raise ModelFolderError(
                f"{folder / name} was truncated or altered (its SHA-256 is not the one "
                f"in {CHECKSUMS}): copy the folder again"
            )


def _why_unfinished(folder: Path) -> str:
    if (folder / "checkpoints").is_dir():
        return (
            f"{folder} holds a training run that has not finished: "
            "run the same `dragoman train` command again to go on"
        )
    return f"{folder} is not a model folder: it has no {CHECKSUMS}"


def _languages(named: Any) -> tuple[str, str]:  # noqa: ANN401 (whatever JSON holds)
    """Take the two languages as they are named: short words, for all that we know."""
    source, target = named
    for name in (source, target):
        if not isinstance(name, str) or not LANGUAGE.fullmatch(name):
            raise ValueError(f"{name!r:.40} is not the name of a language")
    return source, target


def _read_description(path: Path) -> dict[str, Any]:
    if path.stat().st_size > LARGEST_CONFIG:
        raise ModelFolderError(
            f"{path} has more than {LARGEST_CONFIG:,} bytes, and settings have a few "
            "thousand: copy the folder again"
        )
    try:
        description = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ModelFolderError(f"{path} is not JSON: {error}") from error
    except RecursionError:
        raise ModelFolderError(
            f"{path} is nested too deep to be settings: copy the folder again"
        ) from None
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ModelFolderError(
            f"{path} is not of format {FORMAT}, the one this Dragoman reads: "
            "use the Dragoman that wrote it, or train again"
        )
    return description
