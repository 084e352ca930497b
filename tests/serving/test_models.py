"""Models found by their languages, and replaced while they are asked."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.serving.conftest import Running, Start, run_async

from dragoman.model_files import CHECKSUMS
from dragoman.model_folder import load_model, save_model
from dragoman.serving.detection import UNKNOWN, Detector
from dragoman.serving.models import Shelf, Watcher, base_language, load
from dragoman.serving.refusals import RefusalError
from dragoman.serving.work import LoadedModel, Work


@pytest.fixture(scope="module")
def model(model_folder: Path) -> LoadedModel:
    return load(model_folder, "cpu", 1)


def copied(model_folder: Path, place: Path) -> Path:
    left_out = shutil.ignore_patterns("checkpoints", "prepared")
    return Path(shutil.copytree(model_folder, place, ignore=left_out))


def made_anew(folder: Path, card: str) -> None:
    """Write another version of a model, at one stroke as a person would copy it."""
    saved = load_model(folder)
    beside = folder.parent.parent / f"{folder.name}.new"
    parts = saved.model, saved.tokenizers, saved.config, saved.languages
    save_model(beside, *parts, card)
    old = folder.parent.parent / f"{folder.name}.old"
    folder.rename(old)
    beside.rename(folder)
    shutil.rmtree(old)


def test_codes_of_languages_are_plain() -> None:
    assert base_language("EN-US") == "en"
    assert base_language("pt_BR") == "pt"
    assert base_language("iw") == "he"


def test_a_pair_without_a_model_is_refused(model: LoadedModel) -> None:
    shelf = Shelf([model])
    assert shelf.find("en", "es") is model
    assert shelf.find("en", "es", model.version) is model
    with pytest.raises(RefusalError, match="es to en is not supported"):
        shelf.find("es", "en")
    with pytest.raises(RefusalError, match="there is no model 'x' for en to es"):
        shelf.find("en", "es", "x")


def test_works_of_every_kind_are_done_together(model: LoadedModel) -> None:
    works = [
        Work(model.key, "Good morning"),
        Work(model.key, "Good morning", nbest=3, token_scores=True, links=True),
        Work(model.key, "My friend", terms=(("friend", "compadre"),)),
        Work(model.key, "Good morning", prefix="Bue", alternatives=2),
        Work(model.key, "Good morning", prefix="Bue"),
    ]
    together = model.answer(works)
    alone = [model.answer([work])[0] for work in works]
    for one, other in zip(together, alone, strict=True):
        assert [t.text for t in one.translations] == [
            t.text for t in other.translations
        ]
        assert one.links == other.links
    assert len(together[1].links) == len(together[1].translations) == 3
    assert "compadre" in together[2].best.text
    assert len(together[3].alternatives) == 2
    assert together[4].best.text.startswith("Bue")


def test_a_watched_directory_gives_new_versions_and_keeps_the_old_from_bad_ones(
    model_folder: Path, tmp_path: Path
) -> None:
    models = tmp_path / "models"
    folder = copied(model_folder, models / "toy")
    shelf = Shelf([load(folder, "cpu", 1)])
    changes = []
    watcher = Watcher(
        models, shelf, lambda f: load(f, "cpu", 1), lambda: changes.append(1)
    )
    [first] = shelf.models
    run_async(watcher.look())
    assert shelf.models == (first,)
    made_anew(folder, "second")
    run_async(watcher.look())
    [second] = shelf.models
    assert second.version != first.version
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(1000)
    copied(model_folder, models / "other")
    sums = (folder / CHECKSUMS).read_text()
    (folder / CHECKSUMS).write_text(sums + f"{'0' * 64}  nothing\n")
    run_async(watcher.look())
    assert shelf.models[0] is second
    assert [one.name for one in shelf.models] == ["toy", "other"]
    assert len(changes) == 2


def swapped(start: Start, model_folder: Path, tmp_path: Path, times: int) -> None:
    models = tmp_path / "models"
    folder = copied(model_folder, models / "toy")
    options = ("--models-dir", str(models), "--watch-seconds", "0.05")
    server = start(*options, "--cache", "0", model=None)
    versions: set[str] = set()
    failures: list[str] = []
    done = threading.Event()

    def ask() -> None:
        number = 0
        while not done.is_set():
            number += 1
            body = {"texts": [f"Number {12345 + number}"], "target": "es"}
            answer = server.post("/v1/translate", body)
            if not answer.ok:
                failures.append(answer.text)
                continue
            [one] = answer.json()["translations"]
            if str(12345 + number) not in one["text"]:
                failures.append(one["text"])
            versions.add(one["model"])

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for turn in range(times):
        before = _version(server)
        made_anew(folder, f"version {turn}")
        for _ in range(600):
            if _version(server) != before:
                break
            time.sleep(0.05)
        assert _version(server) != before
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(versions) > 1
    server.stop()


def _version(server: Running) -> str:
    [model] = server.get("/v1/models").json()["models"]
    return str(model["version"])


def test_a_model_is_swapped_under_load_and_nothing_is_lost(
    start: Start, model_folder: Path, tmp_path: Path
) -> None:
    swapped(start, model_folder, tmp_path, 3)


@pytest.mark.faults
def test_a_model_is_swapped_a_hundred_times(
    start: Start, model_folder: Path, tmp_path: Path
) -> None:
    swapped(start, model_folder, tmp_path, 100)


def test_a_unix_socket_serves_too(model_folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "socket"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "dragoman", "serve", str(model_folder)),
            *("--socket", str(place)),
        ],
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        for _ in range(600):
            if place.exists():
                break
            time.sleep(0.1)
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(30)
            one.connect(str(place))
            one.sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert one.recv(4096).startswith(b"HTTP/1.1 200")
    finally:
        process.terminate()
        assert process.wait(30) == 0


def test_languages_are_told_text_by_text() -> None:
    detector = Detector(["en", "es", "de"])
    texts = ["Where is the station, please?", "¿Dónde está la estación?", "12345 !"]
    assert [detector.detect(t).language for t in texts] == ["en", "es", UNKNOWN]
    assert Detector(["en"]).detect("hola").language == "en"
