"""Settings by flags, file and environment; keys by a file; all strict."""

import hashlib
from pathlib import Path

import pytest

from dragoman.errors import ConfigError, ServingError
from dragoman.serving.keys import Key, Keys, read_keys
from dragoman.serving.refusals import RefusalError
from dragoman.serving.settings import read_settings
from dragoman.serving.store import Store


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text('models = ["a"]\nport = 1\ntimeout = 5\ncache = 7\n')
    named = {"DRAGOMAN_SERVE_PORT": "2", "DRAGOMAN_SERVE_CORS": "x,y", "HOME": "/"}
    settings = read_settings({"port": 3, "cache": None}, file, named)
    assert settings.port == 3
    assert settings.cors == ("x", "y")
    assert settings.timeout == 5.0
    assert settings.cache == 7
    assert settings.models == ("a",)


@pytest.mark.parametrize(
    ("flags", "environment", "message"),
    [
        ({"models": ["a"]}, {"DRAGOMAN_SERVE_PORTS": "1"}, "did you mean 'port'"),
        ({"models": ["a"]}, {"DRAGOMAN_SERVE_PORT": "x"}, "is not a number"),
        (
            {"models": ["a"]},
            {"DRAGOMAN_SERVE_ANONYMOUS": "x"},
            "neither true nor false",
        ),
        ({"models": [1]}, {}, "models = .* is not a list of texts"),
        ({"models": ["a"], "port": "1"}, {}, "port = '1' is not a whole number"),
        ({"models": ["a"], "timeout": 0.0}, {}, "timeout must be more than 0"),
    ],
)
def test_what_cannot_be_set_is_said(
    flags: dict[str, object], environment: dict[str, str], message: str
) -> None:
    with pytest.raises((ConfigError, ServingError), match=message):
        read_settings(flags, None, environment)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "cannot read the keys"),
        ("", "is no file of keys"),
        ("[[key]]\nname = 'a'", "needs a name and a sha256 of 64 digits"),
        (
            f"[[key]]\nname='a'\nsha256='{'0' * 64}'\nmore=1",
            "needs a name and a sha256",
        ),
    ],
)
def test_a_strange_file_of_keys_is_refused(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "keys").write_text(text)
    with pytest.raises(ServingError, match=message):
        read_keys(tmp_path / "keys")


def test_keys_are_known_by_their_hash_alone() -> None:
    digest = hashlib.sha256(b"secret").hexdigest()
    keys = Keys(Store(None), (Key("alice", digest),), anonymous=False)
    assert keys.who("secret").name == "alice"
    for wrong in ("", "Secret", digest, "alice"):
        with pytest.raises(RefusalError, match="Invalid API key"):
            keys.who(wrong)


def test_what_is_refused_is_not_counted() -> None:
    keys = Keys(Store(None))
    limited = Key("bob", characters_per_minute=10, characters_per_month=15)
    keys.spend(limited, 8)
    with pytest.raises(RefusalError, match="Slowdown") as slow:
        keys.spend(limited, 8)
    assert slow.value.status == 429
    with pytest.raises(RefusalError, match="Quota"):
        keys.spend(Key("bob", characters_per_month=15), 8)
    assert keys.store.usage("bob") == 8


def test_glossaries_belong_to_their_owner(tmp_path: Path) -> None:
    store = Store(tmp_path / "db")
    kept = store.save_glossary("alice", "g", {("en", "es"): {"a": "b"}})
    assert store.glossary("bob", kept.id) is None
    assert not store.delete_glossary("bob", kept.id)
    store.close()
    again = Store(tmp_path / "db")
    assert list(again.glossaries("alice")) == [kept]
    changed = again.save_glossary("alice", "h", {("en", "de"): {"x": "y"}}, kept.id)
    assert (changed.id, changed.created) == (kept.id, kept.created)
    assert again.delete_glossary("alice", kept.id)
