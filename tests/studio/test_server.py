import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from dragoman.cli.main import main
from dragoman.errors import StudioError
from dragoman.studio.server import LOOPBACK, PORT, listen, url


def test_without_a_port_the_first_free_one_is_taken() -> None:
    with listen("127.0.0.1", None) as first, listen("127.0.0.1", None) as second:
        ports = [sock.getsockname()[1] for sock in (first, second)]
        assert ports[0] != ports[1]
        assert all(port >= PORT for port in ports)


def test_a_taken_port_is_said_in_a_line() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StudioError) as caught:
            listen("127.0.0.1", port)
    assert str(caught.value) == (
        f"cannot listen on 127.0.0.1, port {port} (Address already in use): choose "
        "another with --port, or a host of this machine with --host"
    )


def test_an_answer_does_not_wait_for_its_head_to_be_acknowledged() -> None:
    with (
        listen(LOOPBACK, 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as answering,
    ):
        assert answering.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_address_is_one_that_a_browser_opens() -> None:
    with listen("127.0.0.1", 0) as sock:
        assert url(sock) == f"http://127.0.0.1:{sock.getsockname()[1]}/"
    with listen("0.0.0.0", 0) as sock:
        assert url(sock).startswith("http://127.0.0.1:")


def test_the_command_opens_and_ctrl_c_closes(model_folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "dragoman", "studio", str(model_folder)]
    with subprocess.Popen(
        [*command, "--no-browser", "--port", str(port)],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = f"http://127.0.0.1:{port}/"
        assert line == f"the studio is open at {address} (Ctrl-C closes it)\n"
        for _ in range(100):
            try:
                with urlopen(address) as page:
                    assert b"Dragoman studio" in page.read()
                break
            except OSError:
                time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == ""


@pytest.mark.parametrize("port", ["-1", "70000", "http"])
def test_a_port_that_is_none_is_refused(
    port: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["studio", "MODEL", "--port", port])
    assert f"{port!r} is not a port: choose 0 to 65535" in capsys.readouterr().err


def test_a_missing_folder_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["studio", str(tmp_path / "none"), "--no-browser"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"dragoman: there is no model folder {tmp_path / 'none'}")
    assert error.count("\n") == 1
