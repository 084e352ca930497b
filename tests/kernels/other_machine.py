"""Kernels of another kind of processor, called in an emulator as if they were loaded.

Memory is not shared: each call sends the tensors and structures that its arguments
point to, and writes back what became of them. So the tests that compare kernels with
their plain twins run as they are, with this as a plugin of pytest: test_arm.py does it.
"""

import ctypes
import gc
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.kernels import library
from dragoman.kernels.compiling import SOURCES, options_for
from dragoman.kernels.library import Kernels, Origin

DRIVER = Path(__file__).with_name("other_machine.c")
NAMES = ("LEVEL", "COMPILER", "EMULATOR")


@pytest.fixture(scope="session", autouse=True)
def _kernels_of_the_other_machine(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """Let everything that asks for kernels have those."""
    level, compiler, emulator = (os.environ[f"OTHER_{name}"] for name in NAMES)
    program = build_program(compiler, level, tmp_path_factory.mktemp("other"))
    machine: Any = OtherMachine([emulator, str(program)])
    found = Kernels(machine, Origin("compiled", level, f"for {emulator}"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "found_kernels", lambda: found)
        yield
    machine.close()


def build_program(compiler: str, level: str, folder: Path) -> Path:
    """Link the kernels with what calls them into a program that needs nothing else."""
    sources = [str(source) for source in sorted(SOURCES.glob("*.c"))]
    options = options_for(level)
    subprocess.run([compiler, *options, "-c", *sources], cwd=folder, check=True)
    objects = sorted(map(str, folder.glob("*.o")))
    listed = subprocess.run(
        [compiler.removesuffix("gcc") + "nm", *objects],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = [line.split()[2] for line in listed.splitlines() if " T " in line]
    table = folder / "known.c"
    table.write_text(
        "".join(f"void {name}(void);\n" for name in names)
        + "const struct { const char *name; void (*kernel)(void); } known[] = {"
        + "".join(f'{{"{name}", {name}}}, ' for name in names)
        + "{0, 0}};\n"
    )
    program = folder / "kernels"
    parts = [*objects, str(DRIVER), str(table), "-lm", "-o", str(program)]
    subprocess.run([compiler, "-O2", "-static", "-fopenmp", *parts], check=True)
    return program


@dataclass(frozen=True)
class _Block:
    """Memory that belongs to a tensor, or to a structure with pointers in it."""

    address: int
    size: int
    pointers: tuple[int, ...] = ()  # where in it they are


class OtherMachine:
    """Stands for a loaded library."""

    def __init__(self, command: list[str]) -> None:
        quietly = {**os.environ, "OMP_WAIT_POLICY": "passive"}  # emulated spinning
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=quietly
        )
        gc.collect()
        gc.freeze()  # what is there already points nowhere that a test would look

    def __getattr__(self, name: str) -> Callable[..., int]:
        """Give a kernel."""
        return lambda *arguments: self._call(name, arguments)

    def close(self) -> None:
        """End the other program."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        gc.unfreeze()

    def _call(self, name: str, arguments: tuple[Any, ...]) -> int:
        memory = list(_memory(arguments))
        sent: list[_Block] = []

        def place(address: int) -> bytes:
            for block in memory:
                if block.address <= address < block.address + block.size:
                    if block not in sent:
                        sent.append(block)
                    number = sent.index(block)
                    return struct.pack("qq", number, address - block.address)
            raise AssertionError(f"{name} points to what is no tensor")

        told = [_told(argument, place) for argument in arguments]
        links = []
        for block in sent:  # which grows on the way
            for offset in block.pointers:
                target = ctypes.c_void_p.from_address(block.address + offset).value
                if target:
                    links.append(place(block.address + offset) + place(target))
        message = _text(name) + _number(len(sent))
        for block in sent:
            content = ctypes.string_at(block.address, block.size)
            message += _number(block.size) + content
        message += _number(len(links)) + b"".join(links)
        message += _number(len(told)) + b"".join(told)
        return self._answer(message, sent)

    def _answer(self, message: bytes, sent: list[_Block]) -> int:
        sink, source = self._process.stdin, self._process.stdout
        assert sink is not None
        assert source is not None
        sink.write(message)
        sink.flush()
        (result,) = struct.unpack("q", source.read(8))
        for block in sent:
            content = source.read(block.size)
            if not block.pointers:  # pointers there mean nothing here
                ctypes.memmove(block.address, content, block.size)
        return int(result) & 0xFFFFFFFF


def _number(value: int) -> bytes:
    return struct.pack("q", value)


def _text(name: str) -> bytes:
    return _number(len(name)) + name.encode()


def _told(argument: Any, place: Callable[[int], bytes]) -> bytes:
    """Say what an argument is: a whole number, a pointer or a float."""
    if argument is None:
        return _number(0) + _number(0)
    if hasattr(argument, "_obj"):  # a structure, by reference
        return _number(1) + place(ctypes.addressof(argument._obj))
    if isinstance(argument, ctypes.c_void_p):
        if not argument.value:
            return _number(0) + _number(0)
        return _number(1) + place(argument.value)
    if isinstance(argument, ctypes.c_float):
        return _number(2) + struct.pack("f", argument.value)
    return _number(0) + struct.pack("Q", argument.value % 2**64)


def _memory(arguments: tuple[Any, ...]) -> Iterator[_Block]:
    """Find all memory that could be pointed to."""
    given = [argument._obj for argument in arguments if hasattr(argument, "_obj")]
    for one in [*given, *gc.get_objects()]:
        if isinstance(one, torch.Tensor):
            storage = one.untyped_storage()
            if storage.nbytes():
                yield _Block(storage.data_ptr(), storage.nbytes())
        elif isinstance(one, ctypes.Structure | ctypes.Array):
            pointers = tuple(_pointers(type(one)))
            yield _Block(ctypes.addressof(one), ctypes.sizeof(one), pointers)


def _pointers(kind: Any) -> Iterator[int]:
    """Say where in a structure or array pointers lie."""
    if kind is ctypes.c_void_p:
        yield 0
    elif issubclass(kind, ctypes.Array):
        step = ctypes.sizeof(kind._type_)
        for number in range(kind._length_):
            yield from (number * step + inner for inner in _pointers(kind._type_))
    elif issubclass(kind, ctypes.Structure):
        for name, inner_kind in kind._fields_:
            first = getattr(kind, name).offset
            yield from (first + inner for inner in _pointers(inner_kind))
