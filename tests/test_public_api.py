import subprocess
import sys

import pytest

import dragoman


def test_public_names_are_these() -> None:
    assert dragoman.__all__ == [
        "Client",
        "DragomanError",
        "Glossary",
        "LanguageModel",
        "MaskedLanguageModel",
        "Translator",
        "evaluate",
        "inspect",
        "load",
        "plan",
        "train",
    ]
    assert all(getattr(dragoman, name) is not None for name in dragoman.__all__)
    assert set(dragoman.__all__) <= set(dir(dragoman))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dragoman.nothing


def test_importing_dragoman_does_not_import_torch() -> None:
    code = "import sys, dragoman, dragoman.cli.main; print('torch' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"
