"""Learns SentencePiece tokenizers, quietly and the same way each time."""

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import sentencepiece

from dragoman.errors import TokenizerError
from dragoman.special_tokens import BEGIN, END, PAD, UNKNOWN
from dragoman.text.sentencepiece_tokenizer import SPACE, SentencePieceTokenizer
from dragoman.text.wordwise import learnable

SMALLEST_VOCABULARY = 300

_NUM_FIXED = 4 + 256  # special tokens and bytes
# Learning is repeatable only with a fixed number of threads.
_THREADS = 4
# "▁" and "▅" have a meaning of their own while learning, and so have the controls.
_RESERVED = re.compile("[\0\t\r\n▁▅]+")
# Characters seen so often have pieces of their own; bytes are for the others.
_SEEN_ENOUGH = 3
# These always do, in whatever script the sentences are.
_ALWAYS = "".join(map(chr, range(0x21, 0x7F)))
_MODEL_TYPES = {
    "bpe": "bpe",
    "unigram": "unigram",
    "characters": "char",
    "words": "word",
}


def learn_sentencepiece(
    kind: str,
    sentences: Iterable[str],
    vocabulary_size: int,
    seed: int,
    reserved: Sequence[str] = (),
) -> SentencePieceTokenizer:
    """Learn a tokenizer of at most `vocabulary_size` pieces."""
    if vocabulary_size < SMALLEST_VOCABULARY:
        raise TokenizerError(
            f"a vocabulary of {vocabulary_size} is too small: {_NUM_FIXED} ids go to "
            f"special tokens and bytes, so give at least {SMALLEST_VOCABULARY}"
        )
    prepared = [_RESERVED.sub(" ", text).strip(" ") for text in learnable(sentences)]
    # So many characters could leave no room for longer pieces; rare ones go as bytes.
    room = (vocabulary_size - _NUM_FIXED - len(reserved)) // 2
    common = _with_common(prepared, room)
    sentencepiece.set_random_generator_seed(seed)
    try:
        content = _learn(kind, common, vocabulary_size, reserved)
    except RuntimeError as error:
        raise TokenizerError(
            f"SentencePiece could not learn ({' '.join(str(error).split())}): "
            "try another tokenizer.vocabulary_size"
        ) from error
    return SentencePieceTokenizer(content)


def _learn(
    kind: str, sentences: Iterable[str], vocabulary_size: int, reserved: Sequence[str]
) -> bytes:
    content = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_writer=content,
        model_type=_MODEL_TYPES[kind],
        vocab_size=vocabulary_size,
        hard_vocab_limit=False,
        byte_fallback=True,
        character_coverage=1.0,  # what is too rare was blanked out before
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        pad_id=PAD,
        unk_id=UNKNOWN,
        bos_id=BEGIN,
        eos_id=END,
        user_defined_symbols=[SPACE + word for word in reserved],
        num_threads=_THREADS,
        minloglevel=2,
    )
    return content.getvalue()


def _always(counts: Counter[str]) -> list[str]:
    """Give ASCII, and each letter that was seen in its other case too."""
    letters = [c for c, count in counts.items() if count >= _SEEN_ENOUGH]
    cases = [case for c in letters for case in (c.lower(), c.upper()) if case != c]
    return list(dict.fromkeys([*_ALWAYS, *(c for c in cases if len(c) == 1)]))


def _with_common(sentences: list[str], room: int) -> Iterator[str]:
    """Blank out the rare characters, and show each that must have a piece."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence)
    del counts[" "]
    always = _always(counts)
    seen = [c for c, count in counts.most_common() if count >= _SEEN_ENOUGH]
    # Where there is no room for all, half of it is for what stands most often.
    kept = list(dict.fromkeys([*seen[: room // 2], *always, *seen]))
    blank = dict.fromkeys(map(ord, counts), " ")
    for character in kept[:room]:
        blank.pop(ord(character), None)
    for sentence in sentences:
        shown = sentence.translate(blank)
        yield sentence if shown == sentence else " ".join(shown.split())
    yield " ".join(c for c in kept[:room] if counts[c] < _SEEN_ENOUGH)
