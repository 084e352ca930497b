"""What translating gives: a text, how sure the model is, and what was carried over."""

from dataclasses import dataclass

from dragoman.text.carried import Carried
from dragoman.text.checks import Concern


@dataclass(frozen=True)
class Translation:
    """One translation of one sentence, and how sure the model is of it."""

    text: str
    score: float  # log-probability after the length penalty: higher is better
    log_probability: float
    pieces: tuple[str, ...]
    piece_log_probabilities: tuple[float, ...]  # the end of the sentence comes last
    report: tuple[Carried, ...] = ()  # what had to be carried over, and whether it was
    num_cuts: int = 0  # made because the source was too long for the model
    num_copied: int = 0  # characters in runs too long to be text, left as they were
    concerns: tuple[Concern, ...] = ()  # what still seems lost or invented
    mended: bool = False  # the first translation failed the checks, this one was found

    @property
    def verified(self) -> bool:
        """Whether every check was passed, and all that had to be there is."""
        return not self.concerns and all(carried.placed for carried in self.report)


@dataclass(frozen=True)
class Alternative:
    """What could come next after a prefix, and the translation that it leads to."""

    piece: str
    log_probability: float  # of this one piece
    translation: Translation


NOTHING = Translation("", 0.0, 0.0, (), ())


def follow(a: Translation, b: Translation, gap: str = "") -> Translation:
    """Put one after the other."""
    return Translation(
        text=f"{a.text}{gap}{b.text}",
        score=a.score + b.score,
        log_probability=a.log_probability + b.log_probability,
        pieces=a.pieces + b.pieces,
        piece_log_probabilities=a.piece_log_probabilities + b.piece_log_probabilities,
        report=a.report + b.report,
        num_cuts=a.num_cuts + b.num_cuts,
        num_copied=a.num_copied + b.num_copied,
        concerns=a.concerns + b.concerns,
        mended=a.mended or b.mended,
    )
