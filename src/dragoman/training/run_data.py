"""The corpus of a run: prepared once, then opened, and never exchanged unnoticed."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman import durable
from dragoman.config import Config
from dragoman.errors import TokenizerError, TrainingError
from dragoman.text.corpus import Corpus
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.training.preparation import Prepared, open_prepared, prepare
from dragoman.training.progress import PreparationBar
from dragoman.training.run_record import RunRecord, other_data

PLACE, BESIDE, REPLACED = "prepared", "prepared.new", "prepared.old"


@dataclass(frozen=True)
class RunData:
    """Where the corpus of a run lies, and from what it is prepared."""

    folder: Path  # the run's own
    corpora: Sequence[Corpus]
    valid: Corpus | None
    config: Config
    given: TokenizerPair | None = None  # those of the model that the run begins from
    allow_dropped: bool = False  # even if that is more than a tenth

    def get(
        self, earlier: RunRecord | None, *, allow_changed: bool, quiet: bool
    ) -> Prepared:
        """Prepare the corpus, or open it; an earlier run's is never overwritten."""
        kept = None if earlier is None else self._tokenizers()
        found = self._open(self.given)
        if found is None and kept is not None:  # the corpus was exchanged on request
            found = self._open(kept)
        if found is not None:
            same = (
                earlier is None or found.store.fingerprint == earlier.data_fingerprint
            )
            if not same and not allow_changed:  # other shares of the same corpora
                raise other_data(self.folder)
            return found
        with PreparationBar(quiet=quiet) as bar:
            if earlier is None:
                return self._prepare(PLACE, self.given, bar)
            made = self._prepare(BESIDE, self.given, bar)
            changed = made.store.fingerprint != earlier.data_fingerprint
            if not changed:
                return self._exchange(self.given)
            if allow_changed and kept is not None:
                # The weights know the words of the tokenizers they were learned with.
                self._prepare(BESIDE, kept, bar)
                return self._exchange(kept)
        shutil.rmtree(self.folder / BESIDE)
        if allow_changed:
            raise TrainingError(
                f"the tokenizers in {self.folder / PLACE} are gone, and another corpus "
                "does not teach them again: give another folder for another run"
            )
        raise other_data(self.folder)

    def _open(self, tokenizers: TokenizerPair | None) -> Prepared | None:
        place = self.folder / PLACE
        return open_prepared(place, self.corpora, self.valid, self.config, tokenizers)

    def _prepare(
        self, name: str, tokenizers: TokenizerPair | None, bar: PreparationBar
    ) -> Prepared:
        return prepare(
            self.folder / name,
            self.corpora,
            self.valid,
            self.config,
            tokenizers=tokenizers,
            progress=bar.show,
            allow_dropped=self.allow_dropped,
        )

    def _exchange(self, tokenizers: TokenizerPair | None) -> Prepared:
        """Put what was prepared beside in its place, never leaving neither."""
        place, replaced = self.folder / PLACE, self.folder / REPLACED
        if place.exists():
            shutil.rmtree(replaced, ignore_errors=True)
            place.rename(replaced)
        durable.rename_folder(self.folder / BESIDE, place)
        shutil.rmtree(replaced, ignore_errors=True)
        moved = self._open(tokenizers)
        assert moved is not None, "what was just prepared can be opened"
        return moved

    def _tokenizers(self) -> TokenizerPair | None:
        for name in (PLACE, REPLACED):
            try:
                return TokenizerPair.load(self.folder / name)
            except TokenizerError:
                continue
        return None
