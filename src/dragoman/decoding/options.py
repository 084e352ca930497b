"""What a person may ask of a search, in one object that goes all the way down."""

from dataclasses import dataclass
from typing import Self

from dragoman.arguments import check_choice, check_fields
from dragoman.config import DecodingConfig
from dragoman.decoding.length_penalty import LengthPenalty
from dragoman.errors import ConfigError
from dragoman.setting_rules import CHOICES

LENGTH_PENALTIES = CHOICES["decoding.length_penalty_kind"]
METHODS = ("beam", "sampling", "bayes-risk")


@dataclass(frozen=True)
class SearchOptions:
    """How translations are searched for.

    Those without a default here have theirs in the settings of the model, where
    `SearchOptions.of` takes them from; `dataclasses.replace` changes one.
    """

    beam_size: int  # hypotheses kept for each sentence; 1 is greedy
    length_penalty_kind: str  # "paper", "none" or "average"
    length_penalty: float  # α of "paper"
    max_extra_tokens: int  # a translation may be so much longer than its source
    method: str = "beam"  # "beam", "sampling" or "bayes-risk"
    nbest: int = 1  # translations of each sentence
    min_length: int = 0  # tokens before the end may come
    max_length: int | None = None  # tokens at most, the end counted; else as above
    max_repeats: int = 0  # of a run of tokens in a row; 0: as often as it likes
    no_repeat_ngram: int = 0  # no run of so many tokens comes twice; 0: it may
    groups: int = 1  # of a diverse beam search, which part the beam among them
    diversity: float = 0.5  # what a token costs that an earlier group has just chosen
    temperature: float = 1.0  # of sampling; below 1 the likely becomes likelier
    top_k: int = 0  # sample among so many tokens only; 0: among all
    top_p: float = 1.0  # sample among the likeliest that have this share together
    seed: int = 1  # of sampling
    samples: int = 32  # among which "bayes-risk" chooses
    shortlist: bool = False  # only tokens that the source calls for

    @classmethod
    def of(cls, settings: DecodingConfig) -> Self:
        """Take the settings of a model."""
        return cls(
            beam_size=settings.beam_size,
            length_penalty_kind=settings.length_penalty_kind,
            length_penalty=settings.length_penalty,
            max_extra_tokens=settings.max_extra_tokens,
        )

    def __post_init__(self) -> None:
        check_fields(self)
        self._check_choices()
        self._check_beam()
        self._check_numbers()

    def _check_choices(self) -> None:
        for what, value, allowed in (
            ("search", self.method, METHODS),
            ("length penalty", self.length_penalty_kind, LENGTH_PENALTIES),
        ):
            check_choice(what, value, allowed)

    def _check_beam(self) -> None:
        if self.beam_size < 1:
            raise ConfigError(
                f"a beam of {self.beam_size} searches nothing: choose at least 1"
            )
        held = max(self.num_rows, 1)
        if not 1 <= self.nbest <= held:
            held_by, more = "a beam", "a wider beam"
            if self.method == "bayes-risk":
                held_by, more = "a choice", "more samples"
            raise ConfigError(
                f"{held_by} of {held} cannot give the {self.nbest} best translations: "
                f"choose 1 to {held} of them, or {more}"
            )
        if self.groups < 1 or self.beam_size % self.groups:
            raise ConfigError(
                f"a beam of {self.beam_size} cannot be parted into {self.groups} "
                "groups: choose a number that divides it"
            )

    def _check_numbers(self) -> None:
        for name, value, allowed in (
            ("a length penalty", self.length_penalty, "0 (none) or more"),
            ("a diversity", self.diversity, "0 (none) or more"),
            ("a minimum length", self.min_length, "0 or more tokens"),
            ("a repeated run", self.no_repeat_ngram, "0 (any) or more tokens"),
            ("a number of repeats", self.max_repeats, "0 (any) or more"),
            ("a top-k", self.top_k, "0 (all) or more tokens"),
        ):
            if not value >= 0:
                raise ConfigError(
                    f"{name} of {value:g} is not allowed: choose {allowed}"
                )
        if not self.temperature > 0:
            raise ConfigError(
                f"a temperature of {self.temperature:g} is not allowed: choose more "
                "than 0, 1 being the model's own"
            )
        if not 0 < self.top_p <= 1:
            raise ConfigError(
                f"a top-p of {self.top_p:g} is not allowed: choose more than 0 and at "
                "most 1 (all)"
            )
        least = max(1, self.min_length)
        if self.max_length is not None and not self.max_length >= least:
            raise ConfigError(
                f"a maximum length of {self.max_length} tokens cannot be: choose at "
                f"least {least}, or no maximum"
            )

    @property
    def num_rows(self) -> int:
        """How many hypotheses of a sentence are worked on at once."""
        match self.method:
            case "beam":
                return self.beam_size
            case "sampling":
                return self.nbest
            case _:
                return self.samples

    @property
    def penalty(self) -> LengthPenalty:
        """What the log-probability of a translation is divided by."""
        return LengthPenalty(self.length_penalty_kind, self.length_penalty)

    def limit(self, source_length: int, prefix_length: int = 0) -> int:
        """Give the tokens at most, END included, for a source of so many."""
        limit = self.max_length
        if limit is None:
            limit = max(source_length + self.max_extra_tokens, self.min_length)
        return max(limit, prefix_length + 1)  # room to end what was begun for us
