from importlib import metadata

import pytest

from dragoman.doctor.extras import Extra, list_extras


def test_extras_are_those_that_the_package_names_itself() -> None:
    named = set(metadata.metadata("dragoman").get_all("Provides-Extra") or ())
    listed = {extra.name for extra in list_extras()}
    assert listed == named - {"dev"}
    assert {"ctranslate2", "studio", "inspection"} <= listed


def test_every_extra_names_its_packages_and_its_command() -> None:
    for extra in list_extras():
        assert extra.versions
        assert extra.command == f"pip install 'dragoman[{extra.name}]'"


def test_a_package_that_is_not_there_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ["torch>=2.10", "no-such-package>=1.0; extra == 'lost'"]
    monkeypatch.setattr(metadata, "requires", lambda _: lines)
    assert list_extras() == (Extra("lost", {"no-such-package": None}),)
    assert not list_extras()[0].present
