"""Where the text of the benchmarks lies."""

from pathlib import Path

from dragoman.text.public_corpora import get


def training_text(folder: Path) -> tuple[Path, Path]:
    """Give the English training text of a folder and its first translation."""
    english = folder / "train.en"
    others = sorted(path for path in folder.glob("train.??") if path != english)
    if not english.exists() or not others:
        raise SystemExit(f"{folder} has no train.en with a translation beside it")
    return english, others[0]


def multi30k_or_demo(shared: Path) -> Path:
    """Give the folder of Multi30k, or of the demo's corpus where there is none."""
    folder = shared / "multi30k"
    if folder.is_dir():
        return folder
    name = "tatoeba-en-es"
    return get(name, Path("data") / name, on_message=print).folder
