"""The proof of an import: it says what the original says, or it is not written.

The best proof is the original program beside it, the next best are answers that are
known; where there is neither, a model that was taken over rightly is at least sure of
what it says, and ends its sentences.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.options import SearchOptions
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.errors import ImportedModelError
from dragoman.model_folder import SavedModel
from dragoman.text.lines import capped_lines

# A trained model's own words are likelier than this, each; those of a broken one not.
LEAST_SURE = -2.5

SENTENCES = {
    "de": ("Guten Morgen!", "Wo ist der Bahnhof?", "Das Buch liegt auf dem Tisch."),
    "en": ("Good morning!", "Where is the station?", "The book is on the table."),
    "es": ("¡Buenos días!", "¿Dónde está la estación?", "El libro está en la mesa."),
    "fr": ("Bonjour !", "Où est la gare ?", "Le livre est sur la table."),
    "it": ("Buongiorno!", "Dov'è la stazione?", "Il libro è sul tavolo."),
    "nl": ("Goedemorgen!", "Waar is het station?", "Het boek ligt op de tafel."),
    "pt": ("Bom dia!", "Onde fica a estação?", "O livro está na mesa."),
    "ru": ("Доброе утро!", "Где вокзал?", "Книга лежит на столе."),
}


@dataclass(frozen=True)
class Original:
    """The program that a model comes from, where it is installed."""

    name: str
    # Sentences, and the most tokens that each translation may have.
    translate: Callable[[Sequence[str], Sequence[int]], list[str]]


@dataclass(frozen=True)
class Proof:
    """What an import said in its self-test, and what it was compared with."""

    against: str
    sentences: tuple[str, ...]
    translations: tuple[str, ...]

    def describe(self) -> str:
        """Say for the card and the screen what was shown."""
        count = len(self.sentences)
        return f"{count} of {count} sentences {self.against}"


def prove(
    saved: SavedModel,
    known: Sequence[tuple[str, str]] = (),
    original: Original | None = None,
) -> Proof:
    """Translate and compare; a model that says something else raises."""
    language = saved.languages[0].partition("_")[0].partition("-")[0]
    sentences = [source for source, _ in known] or list(SENTENCES.get(language, ()))
    if not sentences:
        raise ImportedModelError(
            f"there is no self-test for the language {saved.languages[0]!r}: give "
            "sentences with their known translations, source and target with a tab "
            "between, in a file with --self-test"
        )
    # The model alone, without what translating does around it.
    options = replace(
        SearchOptions.of(saved.config.decoding), beam_size=1, max_repeats=0
    )
    sources = [saved.tokenizers.source.encode(sentence) for sentence in sentences]
    engine = PyTorchEngine(saved.model, saved.config.decoding)
    found = [best for [best] in engine.translate(sources, options)]
    said = [saved.tokenizers.target.decode(best.tokens) for best in found]
    if known:
        _compare(sentences, said, [target for _, target in known], "the known answer")
    if original is not None:
        limits = [options.limit(len(source)) for source in sources]
        theirs = original.translate(sentences, limits)
        _compare(sentences, said, theirs, original.name)
    if not known and original is None:
        _refuse_gibberish(sentences, said, found)
        against = "are translated surely and to their end (nothing to compare with)"
    else:
        with_what = ["the known answers"] if known else []
        with_what += [original.name] if original is not None else []
        against = f"are translated as by {' and '.join(with_what)}"
    return Proof(against, tuple(sentences), tuple(said))


def _compare(
    sentences: Sequence[str], said: Sequence[str], wanted: Sequence[str], by: str
) -> None:
    for sentence, ours, theirs in zip(sentences, said, wanted, strict=True):
        if ours != theirs:
            raise ImportedModelError(
                f"the self-test failed: {sentence!r} became {ours!r}, and {by} says "
                f"{theirs!r}; nothing was written"
            )


def _refuse_gibberish(
    sentences: Sequence[str], said: Sequence[str], found: Sequence[Hypothesis]
) -> None:
    for sentence, text, hypothesis in zip(sentences, said, found, strict=True):
        sure = hypothesis.log_probability / max(1, len(hypothesis.tokens))
        if sure < LEAST_SURE or not text.strip() or not hypothesis.finished:
            raise ImportedModelError(
                f"the self-test failed: {sentence!r} became {text!r}, and the model is "
                f"not sure of it ({sure:.1f} a word); nothing was written"
            )


def read_known(path: Path) -> list[tuple[str, str]]:
    """Read known answers: source and target with a tab between, line by line."""
    pairs = []
    for number, line in enumerate(capped_lines(path), 1):
        source, tab, target = line.decode("utf-8", "replace").partition("\t")
        if not tab or not source.strip():
            raise ImportedModelError(
                f"{path}:{number} is no known answer: write a sentence, a tab and its "
                "translation"
            )
        pairs.append((source, target))
    if not pairs:
        raise ImportedModelError(f"{path} holds no known answers: it is empty")
    return pairs
