"""Which optional packages are here, and the command that adds those that are not."""

import re
from dataclasses import dataclass
from importlib import metadata

# A requirement such as `tokenizers>=0.20; extra == 'wordpiece'`.
REQUIREMENT = re.compile(r"([\w.-]+).*;.*extra == ['\"]([\w-]+)['\"]")
FOR_DEVELOPERS = "dev"


@dataclass(frozen=True)
class Extra:
    """An optional part of Dragoman, and the packages that it needs."""

    name: str
    versions: dict[str, str | None]  # of each package; None: it is missing

    @property
    def present(self) -> bool:
        """Whether all of its packages are installed."""
        return None not in self.versions.values()

    @property
    def command(self) -> str:
        """What adds it."""
        return f"pip install 'dragoman[{self.name}]'"

    def describe(self) -> str:
        """Name it with its packages' versions, where these are another matter."""
        versions = [f"{name} {version}" for name, version in self.versions.items()]
        return f"{self.name} ({', '.join(versions)})"


def list_extras() -> tuple[Extra, ...]:
    """List the extras that this installation knows, in the order it names them."""
    needed: dict[str, dict[str, str | None]] = {}
    for line in metadata.requires("dragoman") or ():
        match = REQUIREMENT.match(line)
        if match and match[2] != FOR_DEVELOPERS:
            needed.setdefault(match[2], {})[match[1]] = _version(match[1])
    return tuple(Extra(name, versions) for name, versions in needed.items())


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
