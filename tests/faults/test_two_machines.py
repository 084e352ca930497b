"""A run across two network namespaces, as if on two machines with nothing in common."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman import durable

SETTINGS = {
    "model.d_model": 16,
    "model.d_ff": 32,
    "model.num_heads": 2,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "tokenizer.vocabulary_size": 380,
    "training.threads": 1,
}
ADDRESSES = ("10.213.7.1", "10.213.7.2")
LIMIT = 1500  # seconds; the machine may be busy


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@pytest.fixture
def machines(in_ci: bool) -> Iterator[list[tuple[str, str, str]]]:
    """Two namespaces joined by a cable: name, network card and address of each."""
    number = os.getpid()
    made = [
        (f"dragoman-{number}-{k}", f"d{number}-{k}", ADDRESSES[k]) for k in range(2)
    ]
    cards = [card for _, card, _ in made]
    try:
        for name, _, _ in made:
            ip("netns", "add", name)
        ip("link", "add", cards[0], "type", "veth", "peer", "name", cards[1])
        for name, card, address in made:
            ip("link", "set", card, "netns", name)
            ip("-n", name, "address", "add", f"{address}/24", "dev", card)
            ip("-n", name, "link", "set", card, "up")
            ip("-n", name, "link", "set", "lo", "up")
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or error
        reason = f"network namespaces cannot be made here: {said}"
        if in_ci:
            pytest.fail(reason)
        pytest.skip(reason)
    yield made
    for name, _, _ in made:
        subprocess.run(["ip", "netns", "delete", name], check=False)


def command(folder: Path, corpus: Any, launch: list[str]) -> list[str]:
    return [
        *(sys.executable, "-m", "torch.distributed.run", *launch),
        *("-m", "dragoman", "train", str(folder), "--preset", "tiny", "--steps", "12"),
        *("--source", str(corpus.train_source), "--target", str(corpus.train_target)),
        *(f"--set={name}={value}" for name, value in SETTINGS.items()),
    ]


@pytest.mark.faults
def test_two_machines_learn_what_two_processes_of_one_do(
    machines: list[tuple[str, str, str]], corpus: Any, tmp_path: Path
) -> None:
    endpoint = f"{ADDRESSES[0]}:29400"
    started = []
    for name, card, address in machines:
        host = "true" if address == ADDRESSES[0] else "false"
        launch = ["--nnodes=2", "--nproc-per-node=1", "--rdzv-backend=c10d"]
        launch += [f"--rdzv-endpoint={endpoint}", f"--rdzv-conf=is_host={host}"]
        launch += [f"--local-addr={address}"]
        folder = tmp_path / name  # nothing in common: each has its own disk
        started.append(
            subprocess.Popen(
                ["ip", "netns", "exec", name, *command(folder, corpus, launch)],
                env=os.environ | {"GLOO_SOCKET_IFNAME": card},
            )
        )
    for process in started:
        assert process.wait(LIMIT) == 0
    together = tmp_path / "together"
    launch = ["--standalone", "--nproc-per-node=2"]
    subprocess.run(command(together, corpus, launch), check=True, timeout=LIMIT)
    (here, _, _), (there, _, _) = machines
    one, other = tmp_path / here / "model.safetensors", together / "model.safetensors"
    assert durable.sha256(one) == durable.sha256(other)
    assert not (tmp_path / there / "model.safetensors").exists()
