import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from dragoman.config import load_preset
from dragoman.decoding.beam import beam_search
from dragoman.decoding.choices import next_log_probabilities
from dragoman.decoding.close_calls import Judge
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.length_penalty import LengthPenalty
from dragoman.decoding.options import SearchOptions
from dragoman.decoding.rules import Live
from dragoman.model.build import build_model
from dragoman.model.contract import TranslationModel
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END, PAD, UNKNOWN

Model = TranslationModel[Any, Any]
PENALTIES = [
    LengthPenalty("paper", 0.0),
    LengthPenalty("paper", 0.6),
    LengthPenalty("paper", 2.0),
    LengthPenalty("none", 0.6),
    LengthPenalty("average", 0.6),
]
SENTENCES = [[4, 9, 5, 6, 7, 12, 15], [5], [6, 6, 8], [7, 4, 10, 9, 13], [11, 14]]


def options(
    beam_size: int, penalty: float | LengthPenalty, **changes: Any
) -> SearchOptions:
    """Give the options of a search, those of the base preset but for some."""
    if not isinstance(penalty, LengthPenalty):
        penalty = LengthPenalty("paper", penalty)
    return replace(
        SearchOptions.of(load_preset("base").decoding),
        beam_size=beam_size,
        length_penalty_kind=penalty.kind,
        length_penalty=penalty.alpha,
        **changes,
    )


def log_probabilities(
    model: Model, source: Tensor, prefix: Sequence[int]
) -> list[float]:
    """The log-probability of each token after a prefix, one sentence, no cache."""
    logits = model.forward(source, torch.tensor([[BEGIN, *prefix]]))
    values: list[float] = logits[0, -1].log_softmax(dim=0).tolist()
    return values


def plain_beam_search(
    model: Model,
    source: Tensor,
    max_length: int,
    beam_size: int,
    penalty: LengthPenalty,
) -> list[tuple[float, list[int]]]:
    """The same search written for one sentence with lists, never stopping early."""
    beam: list[tuple[float, list[int]]] = [(0.0, [])]
    ended: list[tuple[float, list[int]]] = []
    best_ended = False
    for _ in range(max_length):
        grown = [
            (total + value, [*prefix, token])
            for total, prefix in beam
            for token, value in enumerate(log_probabilities(model, source, prefix))
            if token not in (PAD, BEGIN)
        ]
        grown.sort(key=lambda candidate: -candidate[0])
        best = grown[:beam_size]
        ended += [(total, path) for total, path in best if path[-1] == END]
        best_ended |= best[0][1][-1] == END
        if best_ended and len(ended) >= beam_size:
            cut = []
            break
        beam = [(total, path) for total, path in grown if path[-1] != END][:beam_size]
        cut = [(total, path) for total, path in best if path[-1] != END]
    likeliest = sorted(ended, key=lambda candidate: -candidate[0])[:beam_size]
    ended, cut = (
        [(total / penalty(len(path)), path) for total, path in group]
        for group in (likeliest, cut)
    )
    return sorted(ended, key=lambda candidate: -candidate[0]) + cut


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_an_exhaustive_beam_finds_the_true_best_sequences(
    recurrent: Callable[[int, int], Model], seed: int, penalty: LengthPenalty
) -> None:
    vocabulary, max_length = 6, 4
    model, source = recurrent(vocabulary, seed), torch.tensor([[4, 5, END]])
    words = [token for token in range(vocabulary) if token not in (PAD, BEGIN, END)]
    scores = {}
    for length in range(max_length):
        for tokens in itertools.product(words, repeat=length):
            path = [*tokens, END]
            logits = model.forward(source, torch.tensor([[BEGIN, *tokens]]))[0]
            chosen = logits.log_softmax(dim=1)[range(length + 1), path]
            scores[tokens] = chosen.sum().item() / penalty(length + 1)
    expected = sorted(scores.items(), key=lambda entry: -entry[1])[:5]
    [found] = beam_search(
        model,
        source,
        torch.tensor([max_length]),
        options(vocabulary**max_length, penalty, nbest=5),
    )
    assert [hypothesis.tokens for hypothesis in found] == [path for path, _ in expected]
    assert [hypothesis.score for hypothesis in found] == pytest.approx(
        [score for _, score in expected]
    )


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize(
    ("beam_size", "nbest"), [(1, 1), (2, 1), (4, 1), (5, 3), (6, 6)]
)
def test_stopping_early_and_batching_lose_nothing(
    recurrent: Callable[[int, int], Model],
    pad: Callable[..., Tensor],
    beam_size: int,
    nbest: int,
    penalty: LengthPenalty,
) -> None:
    sentences = [[4, 5, 6], [7], [5, 5, 8, 6], [8, 4]]
    lengths = [8, 5, 6, 1]
    for seed in range(5):
        model = recurrent(9, seed)
        found = beam_search(
            model,
            pad(sentences),
            torch.tensor(lengths),
            options(beam_size, penalty, nbest=nbest),
        )
        for sentence, length, row in zip(sentences, lengths, found, strict=True):
            expected = plain_beam_search(
                model, pad([sentence]), length, beam_size, penalty
            )[:nbest]
            assert [
                [*hypothesis.tokens, END]
                if hypothesis.finished
                else [*hypothesis.tokens]
                for hypothesis in row
            ] == [path for _, path in expected]
            assert [hypothesis.score for hypothesis in row] == pytest.approx(
                [score for score, _ in expected]
            )


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_a_beam_of_one_is_greedy_search(
    trained: TranslationNetwork, pad: Callable[..., Tensor], alpha: float
) -> None:
    source, lengths = pad(SENTENCES), torch.tensor([12, 9, 11, 3, 12])
    beam = beam_search(trained, source, lengths, options(1, alpha))
    greedy = greedy_search(trained, source, lengths, LengthPenalty("paper", alpha))
    assert beam == [[hypothesis] for hypothesis in greedy]


@pytest.mark.parametrize(("beam_size", "nbest"), [(2, 1), (4, 1), (4, 4), (30, 7)])
def test_padding_and_batch_mates_change_nothing(
    trained: TranslationNetwork, pad: Callable[..., Tensor], beam_size: int, nbest: int
) -> None:
    lengths = torch.tensor([12, 9, 11, 3, 12])
    settings = options(beam_size, 0.6, nbest=nbest)
    together = beam_search(trained, pad(SENTENCES, extra=3), lengths, settings)
    for sentence, length, found in zip(SENTENCES, lengths, together, strict=True):
        [alone] = beam_search(trained, pad([sentence]), length[None], settings)
        assert [a.tokens for a in alone] == [f.tokens for f in found]
        assert [a.finished for a in alone] == [f.finished for f in found]
        assert [a.score for a in alone] == pytest.approx([f.score for f in found])


def test_the_n_best_differ_and_come_best_first(
    trained: TranslationNetwork, pad: Callable[..., Tensor]
) -> None:
    found = beam_search(
        trained, pad(SENTENCES), torch.tensor([20] * 5), options(6, 0.6, nbest=6)
    )
    for row in found:
        assert (
            len({(hypothesis.tokens, hypothesis.finished) for hypothesis in row}) == 6
        )
        ranks = [(-hypothesis.finished, -hypothesis.score) for hypothesis in row]
        assert ranks == sorted(ranks)


def test_the_best_of_many_is_the_best_of_one(
    trained: TranslationNetwork, pad: Callable[..., Tensor]
) -> None:
    source, lengths = pad(SENTENCES), torch.tensor([20] * 5)
    many = beam_search(trained, source, lengths, options(6, 0.6, nbest=6))
    for nbest in range(1, 6):
        few = beam_search(trained, source, lengths, options(6, 0.6, nbest=nbest))
        assert [[h.tokens for h in row] for row in few] == [
            [h.tokens for h in row[:nbest]] for row in many
        ]


def test_token_log_probabilities_are_those_of_the_model(
    trained: TranslationNetwork, pad: Callable[..., Tensor]
) -> None:
    source = pad([SENTENCES[3]])
    [found] = beam_search(trained, source, torch.tensor([12]), options(4, 0.6, nbest=4))
    for hypothesis in found:
        said = [*hypothesis.tokens, END] if hypothesis.finished else hypothesis.tokens
        logits = trained(source, torch.tensor([[BEGIN, *said[:-1]]]))[0]
        expected = logits.log_softmax(dim=1)[range(len(said)), list(said)]
        assert hypothesis.token_log_probabilities == pytest.approx(
            expected.tolist(), abs=1e-5
        )
        assert hypothesis.log_probability == pytest.approx(
            sum(hypothesis.token_log_probabilities)
        )


def test_a_hypothesis_that_ended_comes_before_one_that_was_cut(
    constant: Callable[[Tensor], Any],
) -> None:
    model = constant(torch.tensor([0.0, 0.0, 0.0, 5.0, 9.0]))
    [found] = beam_search(
        model, torch.tensor([[END]]), torch.tensor([2]), options(3, 0.0, nbest=3)
    )
    assert [(h.tokens, h.finished) for h in found] == [
        ((), True),
        ((4,), True),
        ((4, 4), False),
    ]
    assert found[-1].score > found[0].score


def test_never_says_padding_or_begin(constant: Callable[[Tensor], Any]) -> None:
    logits = torch.zeros(6)
    logits[[PAD, BEGIN, UNKNOWN]] = 9.0
    [found] = beam_search(
        constant(logits),
        torch.tensor([[END]]),
        torch.tensor([3]),
        options(40, 0.0, nbest=40),
    )
    assert {token for h in found for token in h.tokens} == {UNKNOWN, 4, 5}


def test_of_equal_hypotheses_the_lower_tokens_win(
    constant: Callable[[Tensor], Any],
) -> None:
    logits = torch.zeros(700)
    logits[END] = -50.0
    [found] = beam_search(
        constant(logits),
        torch.tensor([[END]]),
        torch.tensor([2]),
        options(4, 0.0, nbest=4),
    )
    assert [h.tokens for h in found] == [(1, 1), (1, 4), (1, 5), (1, 6)]


def test_the_model_works_only_on_hypotheses_that_may_still_grow(
    constant: Callable[[Tensor], Any],
) -> None:
    model = constant(torch.tensor([0.0, 0.0, 0.0, 9.0, 5.0]))
    source = torch.tensor([[END]] * 3)
    found = beam_search(model, source, torch.tensor([9] * 3), options(1, 0.0))
    assert [row[0].tokens for row in found] == [()] * 3
    assert model.rows_seen == [3]
    beam_search(model, source, torch.tensor([9, 1, 1]), options(3, 0.0))
    assert model.rows_seen[1] == 3
    assert 2 < len(model.rows_seen) < 9
    assert all(rows <= 3 for rows in model.rows_seen[2:])


def test_a_slot_whose_hypothesis_ended_goes_to_the_next_best(
    constant: Callable[[Tensor], Any],
) -> None:
    model = constant(torch.tensor([-9.0, -9.0, -9.0, 4.0, 5.0, 3.0]))
    [found] = beam_search(
        model, torch.tensor([[END]]), torch.tensor([9]), options(2, 9.0, nbest=2)
    )
    # () ended at once; (5,), which was not among the first two, grew in its place.
    assert model.rows_seen[:2] == [1, 2]
    assert {h.tokens for h in found} == {(), (4,)}


def test_the_likeliest_hypothesis_is_followed_to_its_end(
    recurrent: Callable[[int, int], Model],
) -> None:
    """However many unlikely ones end before it."""

    class Sure(type(recurrent(9, 0))):  # type: ignore[misc]
        def step(self, last_tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
            said = torch.where(last_tokens == BEGIN, 4, last_tokens + 1)
            said = torch.where(last_tokens == 8, END, said.clamp(max=8))
            logits = torch.zeros(len(said), 9)
            logits[:, END] = 1.0
            return logits.scatter(1, said[:, None], 9.0), state

    [[best]] = beam_search(
        Sure(9, 0), torch.tensor([[END]]), torch.tensor([20]), options(3, 0.6)
    )
    assert best.tokens == (4, 5, 6, 7, 8)


def test_a_model_of_nothing_but_nan_still_comes_to_an_end(
    constant: Callable[[Tensor], Any],
) -> None:
    model = constant(torch.full((50,), torch.nan))
    source, lengths = torch.tensor([[END]] * 2), torch.tensor([4, 6])
    found = beam_search(model, source, lengths, options(3, 0.6))
    assert [len(row) for row in found] == [1, 1]
    assert len(greedy_search(model, source, lengths, LengthPenalty("none", 0.0))) == 2


class RoundedModel:
    """Its last digits depend on how many rows it is given, as those of a kernel do."""

    def __init__(self, model: Model, size: float) -> None:
        self.model, self.size = model, size
        self.encode, self.start = model.encode, model.start
        self.forward = model.forward

    def step(self, last_tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        logits, state = self.model.step(last_tokens, state)
        random = torch.Generator().manual_seed(len(last_tokens))
        noise = torch.randn(logits.shape, generator=random, dtype=logits.dtype)
        return logits + self.size * noise, state


@pytest.mark.parametrize(("beam_size", "nbest"), [(1, 1), (3, 1), (4, 4)])
def test_a_judge_settles_what_rounding_would_decide(
    recurrent: Callable[[int, int], Model],
    pad: Callable[..., Tensor],
    beam_size: int,
    nbest: int,
) -> None:
    settings = options(beam_size, 0.6, nbest=nbest)
    changed = 0
    torch.manual_seed(1)
    for seed in range(20):
        exact = recurrent(9, seed)
        exact.output_weight[4:] = exact.output_weight[4]
        shades = 2e-6 * torch.randn(5, 8, dtype=torch.float64)
        exact.output_weight[4:] += shades
        source = pad([[4, 5, 6], [7], [5, 5, 8, 6]])
        lengths = torch.tensor([6, 5, 6])
        rounded = RoundedModel(exact, 1e-6)

        def tokens(model: Any, judge: Judge | None) -> list[list[tuple[int, ...]]]:
            found = beam_search(model, source, lengths, settings, (), judge)  # noqa: B023
            return [[h.tokens for h in row] for row in found]

        expected = tokens(exact, None)
        judge = Judge(lambda model=exact: model, source)  # type: ignore[misc]
        assert tokens(rounded, judge) == expected
        changed += tokens(rounded, None) != expected
    assert changed  # without the judge it would not have been so


def test_what_is_close_grows_with_the_logits_and_with_the_length() -> None:
    judge = Judge(lambda: None, torch.zeros(1, 1))  # type: ignore[arg-type,return-value]
    first = judge.tolerance(1)
    assert judge.tolerance(9) == pytest.approx(2 * first)
    judge.see(torch.tensor([[1.0, 2.0]]))
    assert judge.tolerance(1) == first, "so small that it is of no account"
    judge.see(torch.tensor([[8.0, -90.0]]))
    assert judge.tolerance(1) == pytest.approx(2 * first)
    judge.see(torch.tensor([[3.0, 2.0]]))
    assert judge.tolerance(1) == pytest.approx(2 * first), "the sums are still there"
    judge.see(torch.tensor([[-1.0, -2.0]]))
    assert judge.tolerance(1) == pytest.approx(5 * first)


def test_a_judge_reads_each_source_once(pad: Callable[..., Tensor]) -> None:
    config = load_preset("tiny").with_settings({"model.d_model": 16, "model.d_ff": 16})
    model = build_model(config.model, 12).double().eval()
    source = pad([[4, 5, 6], [7], [5, 5, 8, 6]])
    live = Live(torch.tensor([2, 0, 2]), torch.tensor([[4, 5], [6, 7], [8, 9]]))
    found = Judge(lambda: model, source).log_probabilities(live)
    begun = torch.cat([torch.full((3, 1), BEGIN), live.tokens], dim=1)
    each = next_log_probabilities(model(source[live.sentences], begun))
    torch.testing.assert_close(found, each)
