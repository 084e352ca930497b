import functools
from dataclasses import replace

import pytest

from dragoman.decoding.options import SearchOptions
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.inspection.beam_tree import (
    BELOW,
    CUT,
    DONE,
    FINISHED,
    KEPT,
    BeamTree,
    record_search,
)
from dragoman.special_tokens import BEGIN, END, PAD
from dragoman.translator import Translator

SENTENCES = ["Good morning!", "Where is the train station?", "I like tea.", "x"]


def record(translator: Translator, sentence: str, beam_size: int) -> BeamTree:
    return record_search(
        translator.saved.model,
        translator.config.decoding,
        translator.tokenizers.target,
        translator.tokenizers.source.encode(sentence),
        beam_size,
    )


@pytest.mark.parametrize("beam_size", [1, 2, 5])
def test_the_watched_search_finds_what_the_engine_finds(
    toy: Translator, beam_size: int
) -> None:
    for sentence in SENTENCES:
        assert_equals_the_engine(toy, sentence, beam_size)


def test_so_it_does_with_every_kind_of_model(translator: Translator) -> None:
    assert_equals_the_engine(translator, SENTENCES[0], 3)


def assert_equals_the_engine(model: Translator, sentence: str, beam_size: int) -> None:
    engine = PyTorchEngine(model.saved.model, model.config.decoding)
    ids = model.tokenizers.source.encode(sentence)
    options = replace(
        SearchOptions.of(engine.settings), beam_size=beam_size, max_repeats=0
    )
    [[expected]] = engine.translate([ids], options)
    tree = record(model, sentence, beam_size)
    assert tree.result == expected
    path = tree.best_path
    tokens = tuple(node.token for node in path)
    assert tokens == (*expected.tokens, END)[: len(tokens)]
    last = tree.nodes[tree.best]
    assert last.fate == (FINISHED if expected.finished else CUT)
    # Where it was close, the search has weighed once more in double precision.
    nearly = functools.partial(pytest.approx, abs=1e-4)
    assert last.log_probability == nearly(expected.log_probability)
    assert last.score == nearly(expected.score)
    token_log_probabilities = tuple(node.token_log_probability for node in path)
    assert token_log_probabilities == nearly(expected.token_log_probabilities)


@pytest.fixture(scope="module")
def tree(toy: Translator) -> BeamTree:
    return record(toy, "Where is the train station?", 4)


def test_each_node_adds_up(tree: BeamTree) -> None:
    root = tree.nodes[0]
    assert (root.parent, root.step, root.token) == (None, 0, BEGIN)
    for number, node in enumerate(tree.nodes[1:], 1):
        assert node.number == number
        assert node.parent is not None
        parent = tree.nodes[node.parent]
        assert parent.step == node.step - 1
        assert parent.fate == KEPT
        assert node.token not in (PAD, BEGIN)
        total = parent.log_probability + node.token_log_probability
        assert node.log_probability == total
        assert node.score == total / tree.penalty(node.step)


def test_each_step_is_ranked_and_the_beam_is_full(tree: BeamTree) -> None:
    for step in range(1, tree.num_steps + 1):
        nodes = tree.at_step(step)
        assert [node.rank for node in nodes] == list(range(1, len(nodes) + 1))
        sums = [node.log_probability for node in nodes]
        assert sums == sorted(sums, reverse=True)
        kept = [node for node in nodes if node.fate == KEPT]
        assert len(kept) in (0, tree.beam_size)
        words = [node for node in nodes if node.token != END]
        assert kept == words[: len(kept)]
        for node in nodes:
            assert node.fate in (KEPT, FINISHED, BELOW, CUT, DONE)
            in_beam = node.rank <= tree.beam_size
            assert (node.fate == FINISHED) == (node.token == END and in_beam)
            assert node.fate not in (CUT, DONE) or in_beam
            assert (node.fate == KEPT) == (node.number in tree.children)


def test_the_search_is_done_when_a_full_beam_has_finished(toy: Translator) -> None:
    found = 0
    for sentence in SENTENCES:
        tree = record(toy, sentence, 3)
        finished = [node for node in tree.nodes if node.fate == FINISHED]
        done = [node for node in tree.nodes if node.fate == DONE]
        found += len(done)
        if done:
            assert len(finished) >= tree.beam_size
            assert {node.step for node in done} == {tree.num_steps}
        likeliest = sorted(finished, key=lambda node: -node.log_probability)
        best = tree.nodes[tree.best]
        if best.fate == FINISHED:
            competing = likeliest[: tree.beam_size]
            assert best in competing
            assert best.score == max(node.score for node in competing)
    assert found


def test_tokens_can_be_followed_through_the_tree(tree: BeamTree) -> None:
    tokens = [node.token for node in tree.best_path]
    assert tree.find(tokens) == tree.best_path
    assert tree.find([*tokens[:2], PAD, *tokens[2:]]) == tree.best_path[:2]
    assert tree.find([]) == ()
