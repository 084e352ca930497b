"""Are numbers right? Sentences with digits, translated and looked at by other means.

    python benchmarks/number_accuracy.py MODEL SOURCE [--reference FILE] …

Prints how many translations have every digit sequence of their source (as it stands, in
the target's format, or a small number in words), how many are reported as not verified,
and how many are wrong in silence. The check here shares nothing with the translator's
own but the table of number words. `--translations` judges the lines of another program,
or of an earlier version, instead; these report nothing.
"""

import argparse
import re
import time
from collections import Counter
from pathlib import Path

from dragoman import Translator
from dragoman.evaluation.metrics import corpus_bleu
from dragoman.text.number_words import spelled_out, spelled_time

_THOUSANDS = re.compile(r"(?<=\d)[.,'’\u00a0\u202f ](?=\d{3}(?!\d))")

_WORD = re.compile(r"[\w-]+")


def digits(text: str) -> Counter[str]:
    """Count the digit sequences of a text, thousands joined."""
    return Counter(re.findall(r"\d+", _THOUSANDS.sub("", text)))


def is_right(source: str, text: str, language: str) -> bool:
    """Say whether every digit sequence of the source is in the translation."""
    folded = f" {' '.join(_WORD.findall(text.casefold()))} "
    times = re.findall(r"\b(\d{1,2}):(\d\d)\b", source)
    for hours, minutes in times:
        words = spelled_time(int(hours), int(minutes), language)
        if any(word.casefold() in folded for word in words):
            source = source.replace(f"{hours}:{minutes}", "", 1)
    for number, count in (digits(source) - digits(text)).items():
        words = spelled_out(int(number), language) if len(number) < 7 else ()
        if sum(folded.count(f" {word} ") for word in words) < count:
            return False
    return True


def main() -> None:
    """Translate, look, and print a line for each count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--translations", type=Path)
    parser.add_argument("--engine", default="auto")
    options = parser.parse_args()
    sources = options.source.read_text("utf-8").splitlines()
    translator = Translator.load(options.model, engine=options.engine, threads=1)
    language = translator.engine.described.languages[1]
    start = time.perf_counter()
    if options.translations:
        texts = options.translations.read_text("utf-8").splitlines()
        verified, mended = [True] * len(texts), 0
    else:
        found = [best for [best] in translator.translate_nbest(sources, 1)]
        texts = [best.text for best in found]
        verified = [best.verified for best in found]
        mended = sum(best.mended for best in found)
    seconds = time.perf_counter() - start
    right = [is_right(*pair, language) for pair in zip(sources, texts, strict=True)]
    count = len(sources)
    both = sum(r and v for r, v in zip(right, verified, strict=True))
    silent = sum(v and not r for r, v in zip(right, verified, strict=True))
    print(f"sentences with numbers   {count:,}")
    print(f"numbers right            {sum(right):,} ({sum(right) / count:.1%})")
    print(f"right and verified       {both:,} ({both / count:.1%})")
    print(f"reported                 {count - sum(verified):,}")
    print(f"mended                   {mended:,}")
    print(f"wrong in silence         {silent:,}")
    print(f"seconds                  {seconds:.1f}")
    if options.reference:
        references = options.reference.read_text("utf-8").splitlines()
        print(f"BLEU                     {corpus_bleu(texts, references):.1f}")
    for source, text, good in zip(sources, texts, right, strict=True):
        if not good:
            print(f"  wrong: {source} → {text}")


if __name__ == "__main__":
    main()
