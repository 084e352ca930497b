"""Spells what a translation must contain in tokens, for a constrained search."""

from collections.abc import Iterable, Sequence

from dragoman.decoding.constraints import (
    NONE,
    Constraints,
    Phrase,
    Spelling,
    Vocabulary,
)
from dragoman.text.demands import Demands
from dragoman.text.placeholders import MARKS, placeholder_ids
from dragoman.text.spans import Kind, has_tag, tag_pairs
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.words import inside_words, is_in_word

# What a phrase may stand against within a sentence, and be spelled otherwise for it.
_OPENING = "(¿¡\"«“'-"
_CLOSING = ".,;:!?)"


class PhraseSpeller:
    """Spells demands in the target language's tokens."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.mark_ids = dict(zip(MARKS, placeholder_ids(tokenizer), strict=False))
        begins, ends, blank = inside_words(tokenizer)
        # What is behind a placeholder may end in a letter.
        ends |= frozenset(self.mark_ids.values())
        self._vocabulary = Vocabulary(begins, ends, blank)

    def constraints(self, demands: Demands) -> Constraints:
        """Give what a translation must contain, and the placeholders it may not."""
        phrases = self._hidden(demands)
        used = {hidden.mark for hidden in demands.hidden}
        phrases += [
            self._phrase(demands.forms_of(span), whole=span.kind is Kind.NUMBER)
            for span in demands.left
        ]
        phrases += [self._phrase(term.targets, whole=True) for term in demands.terms]
        forbidden = {i for mark, i in self.mark_ids.items() if mark not in used}
        return Constraints(phrases, self._vocabulary, frozenset(forbidden))

    def _hidden(self, demands: Demands) -> list[Phrase]:
        """Give a phrase for each placeholder; tags keep the order of the source."""
        texts = [hidden.text for hidden in demands.hidden]
        apart = set(tag_pairs(texts))
        phrases, last_tag = [], NONE
        for place, hidden in enumerate(demands.hidden):
            is_tag = has_tag(hidden.text)
            after = last_tag if is_tag else NONE
            phrases.append(
                Phrase(
                    ((self.mark_ids[hidden.mark],),),
                    only_once=True,
                    after=after,
                    apart=(after, place) in apart,
                )
            )
            last_tag = place if is_tag else last_tag
        return phrases

    def _phrase(self, forms: Sequence[str], *, whole: bool) -> Phrase:
        spellings = _distinct(s for form in forms for s in self._spell(form))
        inside = _distinct(s for form in forms for s in self._spell_inside(form))
        return Phrase(
            spellings,
            tuple(spelling for spelling in inside if spelling not in spellings),
            whole_word=whole and any(is_in_word(form[-1]) for form in forms),
        )

    def _spell(self, form: str) -> Iterable[Spelling]:
        """Spell a form, and again where a sign after it would change its spelling."""
        plain = tuple(self._tokenizer.encode(form))
        yield plain
        for sign in _CLOSING:
            spelling = tuple(self._tokenizer.encode(form + sign))
            if spelling[: len(plain)] != plain:
                yield spelling

    def _spell_inside(self, form: str) -> Iterable[Spelling]:
        """Spell a form as it is after a sign without a space between."""
        for sign in _OPENING:
            spelling = self._tokenizer.encode(sign + form)
            for size in range(1, len(spelling)):
                if self._tokenizer.decode(spelling[:size]) == sign:
                    yield tuple(spelling[size:])


def _distinct(spellings: Iterable[Spelling]) -> tuple[Spelling, ...]:
    return tuple(dict.fromkeys(spellings))
