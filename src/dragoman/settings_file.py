"""Settings of a run in a TOML file, with the sections and keys of a preset."""

import dataclasses
import tomllib
from pathlib import Path
from typing import Any, get_type_hints

from dragoman.config import Config
from dragoman.errors import ConfigError
from dragoman.setting_rules import refuse_unknown


def read_settings(path: Path) -> dict[str, Any]:
    """Return the settings of a file by their full names, `section.key`."""
    try:
        sections = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(
            f"cannot read the settings in {path} ({error.strerror or error}): give a "
            "TOML file with the sections and keys of a preset"
        ) from error
    except ValueError as error:  # of TOML and of UTF-8
        raise ConfigError(
            f"{path} is not TOML ({error}): write sections and keys as in a preset"
        ) from error
    try:
        return _flat(sections)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _flat(sections: dict[str, Any]) -> dict[str, Any]:
    known = get_type_hints(Config)
    settings: dict[str, Any] = {}
    for section, values in sections.items():
        if not isinstance(values, dict):
            raise ConfigError(
                f"{section} = {values!r} stands in no section: write it beneath one of "
                f"{', '.join(f'[{name}]' for name in known)}"
            )
        refuse_unknown([section], known, "section", "")
        keys = [field.name for field in dataclasses.fields(known[section])]
        refuse_unknown(values, keys, "setting", f"{section}.")
        settings |= {f"{section}.{key}": value for key, value in values.items()}
    return settings
