"""Which language a text is in, of those that are served; each text by itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

UNKNOWN = "und"
SURE = 0.5  # below this share nobody is believed


@dataclass(frozen=True)
class Detected:
    """A language and how sure it is, from 0 to 1."""

    language: str
    confidence: float


class Detector:
    """Tells languages apart; with a single one there is nothing to tell."""

    def __init__(self, languages: Iterable[str]) -> None:
        self.languages = sorted(set(languages))

    @cached_property
    def _identifier(self) -> Any:  # noqa: ANN401 (py3langid has no types)
        from py3langid import langid

        made = langid.LanguageIdentifier.from_model_file(
            langid.MODEL_FILE, norm_probs=True
        )
        known = [language for language in self.languages if language in made.labels]
        made.set_languages(known)
        return made

    def detect(self, text: str) -> Detected:
        """Give the likeliest language, or `und` where it could be any."""
        if not any(map(str.isalpha, text)):
            return Detected(UNKNOWN, 0.0)
        if len(self.languages) == 1:
            return Detected(self.languages[0], 1.0)
        language, confidence = self._identifier.rank(text)[0][:2]
        if float(confidence) < SURE:
            return Detected(UNKNOWN, float(confidence))
        return Detected(str(language), float(confidence))
