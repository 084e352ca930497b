"""A peer at work in a process and an environment of its own, asked one line a time."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from environments import Environment, last_line

HERE = Path(__file__).parent


class PeerProcess:
    """A process that does its job when asked, or the reason why it does not."""

    def __init__(
        self,
        name: str,
        environment: Environment,
        command: list[str],  # a script in `peers/` and its arguments
        log: Path,
    ) -> None:
        self.name = name
        self.seconds: list[float] = []
        self.outputs: Any = None  # for who asks for them
        self.problem = environment.problem
        self.process: subprocess.Popen[str] | None = None
        if self.problem is not None:
            return
        script, *arguments = command
        self.log = log.open("w+")
        self.process = subprocess.Popen(
            [str(environment.python), str(HERE / "peers" / script), *arguments],
            env=os.environ | {"PYTHONPATH": _path()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        if self._line() != "ready":
            self.stop()
            self.log.seek(0)
            self.problem = f"fails: {last_line(self.log.read())}"

    def go(self) -> None:
        """Let it do its job once more, and note the seconds that took."""
        taken = self.ask("go")
        if taken is not None:
            self.seconds.append(taken)

    def ask(self, question: str) -> Any:
        """Ask one thing; None where there is no answer."""
        if self.problem is not None or self.process is None:
            return None
        assert self.process.stdin is not None
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        line = self._line()
        if not line:
            self.problem = "ended early"
            return None
        return json.loads(line)

    def _line(self) -> str:
        """Read an answer, passing over what a library may print."""
        assert self.process is not None
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line[:1] in "[0123456789" or line.strip() == "ready":
                return line.strip()
        return ""

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def _path() -> str:
    """Let a peer find its side of the protocol."""
    return os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
