"""Several corpora on one command line: each --source begins or completes one."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dragoman.errors import ConfigError

if TYPE_CHECKING:
    from dragoman.text.corpus import Corpus


class PartOfCorpus(argparse.Action):
    """Adds a file or a weight to the corpus before it, or begins the next one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Take up one option."""
        corpora: list[dict[str, Any]] = list(getattr(namespace, "corpora", []))
        if not corpora or self.dest in corpora[-1]:
            corpora.append({})
        corpora[-1][self.dest] = values
        namespace.corpora = corpora


def corpora_of(options: argparse.Namespace) -> "list[Corpus]":
    """Give all corpora of a command line, each of which has a source."""
    from dragoman.text.corpus import Corpus

    corpora = getattr(options, "corpora", [])
    if not corpora:
        raise ConfigError("there is nothing to learn from: give --source FILE")
    for named in corpora:
        if "source" not in named:
            option, value = next(iter(named.items()))
            raise ConfigError(
                f"--{option} {value} belongs to no corpus: give it beside the --source "
                "that it is for"
            )
    return [
        Corpus(named["source"], named.get("target"), named.get("weight"))
        for named in corpora
    ]
