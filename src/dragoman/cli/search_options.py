"""What a person may ask of a search, on the command line."""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dragoman.cli.parsers import positive_int

if TYPE_CHECKING:
    from dragoman.decoding.options import SearchOptions


def add_search_options(parser: argparse.ArgumentParser) -> None:
    """Declare what `translate` and `evaluate` have in common."""
    group = parser.add_argument_group("search")
    group.add_argument(
        "--beam", type=positive_int, metavar="N", help="hypotheses kept; 1 is greedy"
    )
    group.add_argument(
        "--search",
        choices=("beam", "sampling", "bayes-risk"),
        help="bayes-risk chooses by chrF among samples (default: beam)",
    )
    group.add_argument(
        "--length-penalty",
        choices=("paper", "none", "average"),
        help="how scores are weighed by length",
    )
    group.add_argument(
        "--alpha", type=float, metavar="X", help="of the paper's penalty"
    )
    group.add_argument(
        "--min-length", type=int, metavar="N", help="tokens before the end may come"
    )
    group.add_argument(
        "--max-length", type=positive_int, metavar="N", help="tokens at most"
    )
    group.add_argument(
        "--no-repeat", type=int, metavar="N", help="no N tokens in a row come twice"
    )
    group.add_argument(
        "--max-repeats",
        type=int,
        metavar="N",
        help="how often words may stand in a row, unless the source has them so; "
        "0: any number (default: 3 when translating, 0 when evaluating)",
    )
    group.add_argument(
        "--groups", type=positive_int, metavar="N", help="of a diverse beam search"
    )
    group.add_argument(
        "--diversity", type=float, metavar="X", help="how much the groups should differ"
    )
    group.add_argument(
        "--temperature", type=float, metavar="X", help="of sampling (default: 1)"
    )
    group.add_argument(
        "--top-k", type=int, metavar="N", help="sample among the N likeliest tokens"
    )
    group.add_argument(
        "--top-p", type=float, metavar="X", help="sample among those that make up X"
    )
    group.add_argument("--seed", type=int, metavar="N", help="of sampling (default: 1)")
    group.add_argument(
        "--samples", type=positive_int, metavar="N", help="for bayes-risk (default: 32)"
    )
    group.add_argument(
        "--shortlist",
        action="store_true",
        help="score only tokens that the source calls for (see `dragoman shortlist`)",
    )


def asked_for(own: "SearchOptions", options: argparse.Namespace) -> "SearchOptions":
    """Change a model's own search options into what was asked for."""

    def given(asked: Any, otherwise: Any) -> Any:  # noqa: ANN401 (of any plain type)
        return otherwise if asked is None else asked

    return replace(
        own,
        beam_size=given(options.beam, own.beam_size),
        method=given(options.search, own.method),
        length_penalty_kind=given(options.length_penalty, own.length_penalty_kind),
        length_penalty=given(options.alpha, own.length_penalty),
        min_length=given(options.min_length, own.min_length),
        max_length=given(options.max_length, own.max_length),
        no_repeat_ngram=given(options.no_repeat, own.no_repeat_ngram),
        max_repeats=given(options.max_repeats, own.max_repeats),
        groups=given(options.groups, own.groups),
        diversity=given(options.diversity, own.diversity),
        temperature=given(options.temperature, own.temperature),
        top_k=given(options.top_k, own.top_k),
        top_p=given(options.top_p, own.top_p),
        seed=given(options.seed, own.seed),
        samples=given(options.samples, own.samples),
        shortlist=options.shortlist,
    )
