"""What a server can be told, by flags, by a TOML file and by the environment.

A flag wins over the environment (`DRAGOMAN_SERVE_PORT`), that over the file.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from dragoman.errors import ConfigError, ServingError
from dragoman.setting_rules import refuse_unknown

PREFIX = "DRAGOMAN_SERVE_"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class ServeSettings:
    """How a server serves."""

    models: tuple[str, ...] = ()  # model folders
    models_dir: str = ""  # a directory of model folders, which is watched
    host: str = "127.0.0.1"
    port: int = 8718
    socket: str = ""  # a Unix socket instead of host and port
    keys: str = ""  # a file of API keys
    anonymous: bool = False  # answer without a key, beyond this machine too
    database: str = ""  # usage and glossaries; in memory where there is none
    allowed_hosts: tuple[str, ...] = ()  # further names that the server answers to
    cors: tuple[str, ...] = ()  # origins whose pages may ask; none by default
    device: str = "auto"
    threads: int = 0  # 0: one for each core
    max_characters: int = 100_000  # of one request
    max_tokens: int = 100_000  # in the queue
    cache: int = 10_000  # sentences that are remembered
    timeout: float = 30.0  # seconds for a request that names no deadline
    watch_seconds: float = 5.0
    log_requests: bool = False

    def __post_init__(self) -> None:
        if not self.models and not self.models_dir:
            raise ServingError("there is nothing to serve: name a model folder")
        if not 0 <= self.port <= 65_535:
            raise ServingError(f"{self.port} is not a port: choose 0 to 65535")
        for name in ("max_characters", "max_tokens", "timeout", "watch_seconds"):
            if getattr(self, name) <= 0:
                raise ServingError(f"{name} must be more than 0")
        beyond = not self.socket and self.host not in LOOPBACK
        if beyond and not self.keys and not self.anonymous:
            raise ServingError(
                f"{self.host} can be reached from other machines: give --keys FILE, or "
                "--anonymous to answer everybody"
            )


def read_settings(
    flags: Mapping[str, Any],
    file: Path | None,
    environment: Mapping[str, str] = os.environ,
) -> ServeSettings:
    """Put flags, environment and file together, strictly."""
    hints = get_type_hints(ServeSettings)
    values: dict[str, Any] = {}
    if file is not None:
        try:
            values = tomllib.loads(file.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ServingError(
                f"cannot read the settings in {file}: {error}"
            ) from error
    named = {
        name.removeprefix(PREFIX).lower(): _plain(hints, name, text)
        for name, text in environment.items()
        if name.startswith(PREFIX)
    }
    values |= named | {
        name: value for name, value in flags.items() if value is not None
    }
    refuse_unknown(values, hints, "setting", "")
    return ServeSettings(
        **{name: _checked(name, hints[name], value) for name, value in values.items()}
    )


def _plain(hints: Mapping[str, Any], name: str, text: str) -> Any:  # noqa: ANN401
    kind = hints.get(name.removeprefix(PREFIX).lower())
    try:
        if kind is int:
            return int(text)
        if kind is float:
            return float(text)
    except ValueError:
        raise ConfigError(f"{name} = {text!r} is not a number") from None
    if kind is bool:
        if text.lower() not in ("true", "false", "1", "0"):
            raise ConfigError(f"{name} = {text!r} is neither true nor false")
        return text.lower() in ("true", "1")
    if kind == tuple[str, ...]:
        return tuple(part for part in text.split(",") if part)
    return text


def _checked(name: str, kind: Any, value: Any) -> Any:  # noqa: ANN401
    if kind == tuple[str, ...] and isinstance(value, list | tuple):
        if all(isinstance(part, str) for part in value):
            return tuple(value)
    elif kind is float and type(value) in (int, float):
        return float(value)
    elif type(value) is kind:
        return value
    wanted = {
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        str: "a text",
    }
    said = wanted.get(kind, "a list of texts")
    raise ConfigError(f"{name} = {value!r} is not {said}")
