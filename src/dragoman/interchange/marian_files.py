"""Marian's two containers of weights, `.bin` and `.npz`, read as plain data.

A `.bin` is a table of names, types and shapes before the numbers, which are float32 or,
in Firefox's models, int8 with a multiplier that they are divided by. Every size is
compared with the file before anything is made of it.
"""

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.errors import ImportedModelError

Array = np.ndarray[Any, np.dtype[Any]]

CONFIG = "special:model.yml"
_FLOAT32, _INT8, _TEXT = 0x404, 0x4101, 0x101
# What struct, zipfile, zlib and NumPy raise on a damaged file.
_DAMAGE = (
    *(ValueError, EOFError, KeyError, MemoryError, OverflowError, SyntaxError),
    *(NotImplementedError, RuntimeError),
    *(struct.error, zipfile.BadZipFile, zlib.error),
)
_HEADER = struct.Struct("<4Q")
_MOST_TENSORS, _LONGEST_NAME, _MOST_AXES = 100_000, 1000, 8


def read_tensors(path: Path) -> tuple[dict[str, Array], dict[str, str]]:
    """Give the weights in float32, and the settings that lie among them."""
    try:
        content = path.read_bytes()
        read = _read_npz if content[:2] == b"PK" else _read_bin
        tensors = read(content)
    except OSError as error:
        raise ImportedModelError(
            f"cannot read {path} ({error.strerror or error})"
        ) from error
    except _DAMAGE as error:
        raise ImportedModelError(
            f"{path} is not a whole Marian model ({error or 'damaged'}): fetch it again"
        ) from error
    config = tensors.pop(CONFIG, None)
    if config is None:
        raise ImportedModelError(
            f"{path} says nothing of its shape ({CONFIG} is missing): only models of "
            "Marian 1.2 and later can be imported"
        )
    return tensors, parse_settings(config.tobytes())


def parse_settings(text: bytes) -> dict[str, str]:
    """Read `key: value` lines; lists and what is indented are passed over."""
    settings = {}
    for line in text.rstrip(b"\0").decode("utf-8", "replace").splitlines():
        key, colon, value = line.partition(":")
        if colon and key and not key.startswith((" ", "-", "#")):
            settings[key] = value.strip().strip("\"'")
    return settings


def _read_bin(content: bytes) -> dict[str, Array]:
    version, count = struct.unpack_from("<2Q", content)
    if version != 1 or count > _MOST_TENSORS:
        raise ValueError("it begins otherwise")
    headers = [_HEADER.unpack_from(content, 16 + 32 * i) for i in range(count)]
    place = 16 + 32 * count
    names = []
    for length, _, num_axes, _ in headers:
        if length > _LONGEST_NAME or num_axes > _MOST_AXES:
            raise ValueError("a name or a shape is too long")
        names.append(content[place : place + length].rstrip(b"\0").decode())
        place += length
    shapes = []
    for _, _, num_axes, _ in headers:
        shapes.append(struct.unpack_from(f"<{num_axes}i", content, place))
        place += 4 * num_axes
    (padding,) = struct.unpack_from("<Q", content, place)
    place += 8 + padding
    tensors = {}
    for name, shape, (_, kind, _, size) in zip(names, shapes, headers, strict=True):
        if place + size > len(content):
            raise ValueError("its end is missing")
        tensors[name] = _tensor(name, kind, shape, content[place : place + size])
        place += size
    return tensors


def _tensor(name: str, kind: int, shape: tuple[int, ...], data: bytes) -> Array:
    if min(shape, default=1) < 0:
        raise ValueError(f"{name} has a shape below zero")
    count = 1
    for axis in shape:
        count *= axis
    width = {_FLOAT32: 4, _INT8: 1, _TEXT: 1}.get(kind)
    if width is None:
        raise ValueError(f"{name} is of the unknown type {kind:#x}")
    if count * width > len(data):
        raise ValueError(f"{name} is larger than its data")
    match kind:
        case 0x404:
            return np.frombuffer(data, "<f4", count).reshape(shape).copy()
        case 0x101:
            return np.frombuffer(data, np.int8, count).copy()
    if len(data) < count + 4:
        raise ValueError(f"{name} has no multiplier")
    (multiplier,) = struct.unpack_from("<f", data, count)
    if not multiplier > 0:
        raise ValueError(f"{name} has the multiplier {multiplier}")
    numbers = np.frombuffer(data, np.int8, count).astype(np.float32) / multiplier
    # Prepared for products: kept output by output, all but the embedding.
    stored = shape if name.startswith("Wemb") else shape[::-1]
    plain: Array = numbers.reshape(stored)
    return plain if name.startswith("Wemb") else plain.T.copy()


def _read_npz(content: bytes) -> dict[str, Array]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        listed = archive.infolist()
        if len(listed) > _MOST_TENSORS:
            raise ValueError("it holds too many arrays")
        for entry in listed:
            # Weights hardly shrink: what would swell is no model.
            if entry.file_size > 100 * max(entry.compress_size, 1024):
                raise ValueError(f"{entry.filename} would swell to a hundred times")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
