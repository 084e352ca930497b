"""The whole of a beam search as a tree: each continuation, its rank, and its fate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dragoman.config import DecodingConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.length_penalty import LengthPenalty
from dragoman.decoding.options import SearchOptions
from dragoman.engines.exact_copy import ExactCopy
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.inspection.predictions import readable_piece
from dragoman.inspection.tokens import BEGIN_SIGN
from dragoman.inspection.watched_model import ROOT, SearchLog, WatchedModel
from dragoman.inspection.wrapped_model import AnyModel
from dragoman.special_tokens import BEGIN, END
from dragoman.text.tokenizer import Tokenizer

KEPT = "kept"
FINISHED = "finished"
BELOW = "below the beam"
DONE = "not needed: enough had finished"
CUT = "cut at the maximum length"


@dataclass(frozen=True)
class BeamNode:
    """One continuation that the search weighed."""

    number: int  # its place in `BeamTree.nodes`; the root is 0
    parent: int | None  # the number of the hypothesis that it continues
    step: int  # how many tokens it has, END included; the root has none
    token: int
    piece: str
    token_log_probability: float
    log_probability: float  # of all its tokens together
    score: float  # the same after the length penalty
    rank: int  # among all continuations of its step, from 1
    fate: str  # kept, finished, or why it was given up


@dataclass(frozen=True)
class BeamTree:
    """A search for the translation of one sentence, complete."""

    nodes: tuple[BeamNode, ...]
    best: int  # the number of the last node of the translation
    beam_size: int
    penalty: LengthPenalty
    result: Hypothesis  # what the search itself gave

    @property
    def alpha(self) -> float:
        """The α of the paper's length penalty."""
        return self.penalty.alpha

    @cached_property
    def children(self) -> dict[int, tuple[BeamNode, ...]]:
        """The continuations of each node by its number, best first."""
        found: dict[int, list[BeamNode]] = {}
        for node in self.nodes[1:]:
            assert node.parent is not None
            found.setdefault(node.parent, []).append(node)
        return {number: tuple(nodes) for number, nodes in found.items()}

    @cached_property
    def best_path(self) -> tuple[BeamNode, ...]:
        """The nodes of the translation, first to last, without the root."""
        return self.path(self.best)

    @property
    def num_steps(self) -> int:
        """How many steps the search took."""
        return max(node.step for node in self.nodes)

    def path(self, number: int) -> tuple[BeamNode, ...]:
        """Give the nodes that lead to one, first to last, without the root."""
        path = []
        node = self.nodes[number]
        while node.parent is not None:
            path.append(node)
            node = self.nodes[node.parent]
        return tuple(reversed(path))

    def at_step(self, step: int) -> tuple[BeamNode, ...]:
        """Give what was weighed at one step, best first."""
        return tuple(node for node in self.nodes if node.step == step)

    def find(self, tokens: Sequence[int]) -> tuple[BeamNode, ...]:
        """Follow tokens from the root as far as the search went with them."""
        found: list[BeamNode] = []
        here = ROOT
        for token in tokens:
            at = [n for n in self.children.get(here, ()) if n.token == token]
            if not at:
                break
            found.append(at[0])
            here = at[0].number
        return tuple(found)


def record_search(
    model: AnyModel,
    settings: DecodingConfig,
    tokenizer: Tokenizer,
    source: Sequence[int],
    beam_size: int | None = None,
) -> BeamTree:
    """Translate one source (without END) as the engine does, and keep the search."""
    # One search is shown: the one that a guard against loops would begin with.
    options = replace(SearchOptions.of(settings), max_repeats=0)
    if beam_size is not None:
        options = replace(options, beam_size=beam_size)
    # One more than slots: where END is among the likeliest, another fills its slot.
    watched = WatchedModel(model, options.beam_size + 1)
    device = model.output_weight.device
    engine = PyTorchEngine(watched, settings, device, ExactCopy(model))
    [[result]] = engine.translate([source], options)
    grower = _Grower(watched.log, tokenizer, options)
    nodes = grower.nodes(options.limit(len(source)))
    tokens = (*result.tokens, END) if result.finished else result.tokens
    tree = BeamTree(nodes, ROOT, options.beam_size, options.penalty, result)
    best = tree.find(tokens)
    assert len(best) == len(tokens), "the search's own result is in its tree"
    last = best[-1].number if best else ROOT
    return replace(tree, best=last)


@dataclass(frozen=True)
class _Candidate:
    """A continuation before its fate is known; `grown` is its number in the log."""

    parent: int
    token: int
    token_log_probability: float
    log_probability: float
    grown: int | None


class _Grower:
    """Turns the log of a search into a tree."""

    def __init__(
        self, log: SearchLog, tokenizer: Tokenizer, options: SearchOptions
    ) -> None:
        self.log = log
        self.tokenizer = tokenizer
        self.beam_size = options.beam_size
        self.penalty = options.penalty
        self.grown = {
            (log.parents[entry], log.tokens[entry]): entry
            for entry in range(1, len(log.tokens))
        }

    def nodes(self, longest: int) -> tuple[BeamNode, ...]:
        """Give every node, step by step, best first."""
        nodes = [BeamNode(ROOT, None, 0, BEGIN, BEGIN_SIGN, 0.0, 0.0, 0.0, 1, KEPT)]
        growing = {ROOT: nodes[ROOT]}  # those that the search asked about, by log entry
        step = 0
        while growing:
            step += 1
            candidates = self._candidates(growing)
            growing = {}
            for rank, candidate in enumerate(candidates, 1):
                in_beam = rank <= self.beam_size
                fate = self._fate(candidate, in_beam, step >= longest)
                node = self._node(len(nodes), step, rank, candidate, fate)
                nodes.append(node)
                if candidate.grown is not None:
                    growing[candidate.grown] = node
        return tuple(nodes)

    def _candidates(self, growing: dict[int, BeamNode]) -> list[_Candidate]:
        """List what could follow the growing hypotheses, best first."""
        found = []
        for entry, node in growing.items():
            choices = self.log.choices[entry]
            for token, log_probability in zip(
                choices.tokens.tolist(), choices.log_probabilities.tolist(), strict=True
            ):
                if log_probability == float("-inf"):
                    continue
                total = node.log_probability + log_probability
                grown = self.grown.get((entry, token))
                found.append(
                    _Candidate(node.number, token, log_probability, total, grown)
                )
        return sorted(found, key=lambda candidate: -candidate.log_probability)

    def _fate(self, candidate: _Candidate, in_beam: bool, at_limit: bool) -> str:
        if candidate.grown is not None:
            return KEPT
        if not in_beam:
            return BELOW
        if candidate.token == END:
            return FINISHED
        return CUT if at_limit else DONE

    def _node(
        self, number: int, step: int, rank: int, candidate: _Candidate, fate: str
    ) -> BeamNode:
        return BeamNode(
            number=number,
            parent=candidate.parent,
            step=step,
            token=candidate.token,
            piece=readable_piece(self.tokenizer, candidate.token),
            token_log_probability=candidate.token_log_probability,
            log_probability=candidate.log_probability,
            score=candidate.log_probability / self.penalty(step),
            rank=rank,
            fate=fate,
        )
