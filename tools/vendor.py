"""Fetch the libraries that the studio's page is made with, for developers only.

`python tools/vendor.py` fetches the versions below with npm, checks each archive
against the digest that stands here, and writes what the page needs, with licences and
hashes.
Nobody who installs Dragoman needs npm: what this writes is part of the project.
"""

import base64
import hashlib
import io
import re
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "src/dragoman/studio/static/vendor"
TESTS = ROOT / "tests/browser/vendor"


@dataclass(frozen=True)
class Package:
    """One package: where its files go, and under which names."""

    name: str
    version: str
    sha512: str
    licence: str
    files: dict[str, str]
    folder: Path = PAGE


PACKAGES = (
    Package(
        "preact",
        "11.2.0",
        "/HfHI/7N84e6GrWBJ3J280z3mLaRJiDcSvj/A+y/4AbLnND/1UlGHe1sR6oYuTGwId0nP7dqDU9OnLxM"
        "PZ7xBg==",
        "MIT",
        {
            "dist/preact.mjs": "preact.js",
            "hooks/dist/hooks.mjs": "preact-hooks.js",
            "LICENSE": "LICENSE-preact.txt",
        },
    ),
    Package(
        "htm",
        "3.1.1",
        "983Vyg8NwUE7JkZ6NmOqpCZ+sh1bKv2iYTlUkzlWmA5JD2acKoxd4KVxbMmxX/85mtfdnDmTFoNKcg5D"
        "GAvxNQ==",
        "Apache-2.0",
        {"dist/htm.mjs": "htm.js", "LICENSE": "LICENSE-htm.txt"},
    ),
    Package(
        "@preact/signals",
        "2.11.4",
        "Rb+5RPo9gWSaHtzJeauhHxiC8KP/IF2DEPkHPEOGOnuy2wnJzRqyeLRankUCYd6ADqtxS6GnWGv6Ie34"
        "3d8aYw==",
        "MIT",
        {"dist/signals.mjs": "signals.js", "LICENSE": "LICENSE-signals.txt"},
    ),
    Package(
        "@preact/signals-core",
        "1.14.5",
        "vcRv7Ityz5JVmeiVqIluLFzT/PDS/AlhHUpw3/aUWqcVUs6bDGIPXE/6RSC4evBNWYvnniozg5Syfj33"
        "al3gkg==",
        "MIT",
        {"dist/signals-core.mjs": "signals-core.js"},
    ),
    Package(
        "uplot",
        "1.6.32",
        "KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyT"
        "xpiQIw==",
        "MIT",
        {
            "dist/uPlot.esm.js": "uplot.js",
            "dist/uPlot.min.css": "uplot.css",
            "LICENSE": "LICENSE-uplot.txt",
        },
    ),
    Package(
        "axe-core",
        "4.14.0",
        "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm"
        "3zzpcQ==",
        "MPL-2.0",
        {
            "axe.min.js": "axe.min.js",
            "LICENSE": "LICENSE-axe-core.txt",
            "LICENSE-3RD-PARTY.txt": "LICENSE-axe-core-third-party.txt",
        },
        TESTS,
    ),
)
# A browser finds modules by address, not by package name.
IMPORTS = {
    "preact": "./preact.js",
    "preact/hooks": "./preact-hooks.js",
    "@preact/signals-core": "./signals-core.js",
}


def fetch(package: Package) -> bytes:
    """Let npm fetch an archive; refuse one that is not what it was."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = f"{package.name}@{package.version}"
        subprocess.run(
            ["npm", "pack", "--silent", wanted], cwd=folder, check=True, text=True
        )
        (archive,) = Path(folder).glob("*.tgz")
        content = archive.read_bytes()
    found = base64.b64encode(hashlib.sha512(content).digest()).decode()
    if found != package.sha512:
        raise SystemExit(f"{wanted} is not what it was: its SHA-512 is {found}")
    return content


def with_addresses(script: str) -> str:
    """Turn the package names in a module's imports into addresses."""
    for name, address in IMPORTS.items():
        for quote in "\"'":
            for before in ("from", "from ", "import", "import "):
                script = script.replace(
                    f"{before}{quote}{name}{quote}", f"{before}{quote}{address}{quote}"
                )
    return re.sub(r"//# sourceMappingURL=\S+", "", script).rstrip() + "\n"


def unpack(package: Package) -> None:
    """Write the wanted files of a package."""
    package.folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(fetch(package))) as archive:
        for inside, outside in package.files.items():
            member = archive.extractfile(f"package/{inside}")
            assert member is not None
            text = member.read().decode("utf-8")
            if outside.endswith(".js") and package.folder == PAGE:
                text = with_addresses(text)
            (package.folder / outside).write_text(text, "utf-8")


def describe(folder: Path) -> str:
    """Say what lies in a vendor folder, and under which licences."""
    rows = [
        f"| {package.name} | {package.version} | {package.licence} |\n"
        for package in PACKAGES
        if package.folder == folder
    ]
    return (
        "# Libraries by others\n\n"
        "Written by `tools/vendor.py`; imports were given addresses, nothing else was\n"
        "changed. `SHA256SUMS` is checked by a test.\n\n"
        "| package | version | licence |\n|---|---|---|\n" + "".join(rows)
    )


def main() -> None:
    """Fetch everything anew, and note its hashes."""
    for package in PACKAGES:
        unpack(package)
    for folder in (PAGE, TESTS):
        (folder / "README.md").write_text(describe(folder), "utf-8")
        files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
        lines = [
            f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
            for path in files
        ]
        (folder / "SHA256SUMS").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
