"""What the check of every line catches and mends, and what it costs.

    python benchmarks/line_checks.py MODEL SOURCE [--reference FILE] [--engine NAME]

Translates the lines with all checks off and on, in turns, and prints how many lines the
first search got wrong, how many of them were mended, and the shares of time.
"""

import argparse
import time
from collections import Counter
from pathlib import Path

from dragoman import Translator
from dragoman.evaluation.metrics import corpus_bleu
from dragoman.translation import Translation

ROUNDS = 3


def translate(
    translator: Translator, sources: list[str], *, check: bool
) -> tuple[list[Translation], float]:
    """Give the best translation of each line, and the seconds that it took."""
    start = time.perf_counter()
    found = translator.translate_nbest(sources, 1, token_scores=False, check=check)
    return [best for [best] in found], time.perf_counter() - start


def main() -> None:
    """Translate, count and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    sources = options.source.read_text("utf-8").splitlines()
    translator = Translator.load(options.model, engine=options.engine, threads=1)
    translate(translator, sources[:50], check=True)  # everything is loaded
    seconds: dict[bool, list[float]] = {False: [], True: []}
    found: dict[bool, list[Translation]] = {}
    for _ in range(options.rounds):
        for check in (False, True):
            found[check], took = translate(translator, sources, check=check)
            seconds[check].append(took)
    checked = found[True]
    mended = sum(one.mended for one in checked)
    failing = [one for one in checked if not one.verified]
    kinds = Counter(concern.kind for one in failing for concern in one.concerns)
    kinds.update(c.outcome for one in failing for c in one.report if not c.placed)
    without, with_checks = (min(seconds[check]) for check in (False, True))
    print(f"engine           {translator.engine}")
    print(f"lines            {len(sources):,}")
    print(f"caught           {mended + len(failing):,}")
    print(f"mended           {mended:,}")
    print(f"still reported   {len(failing):,} {dict(kinds)}")
    print(f"seconds          {without:.2f} without checks, {with_checks:.2f} with them")
    print(f"cost             {with_checks / without - 1:+.1%}")
    if options.reference:
        references = options.reference.read_text("utf-8").splitlines()
        for check, name in ((False, "without"), (True, "with")):
            texts = [one.text for one in found[check]]
            print(f"BLEU {name:<12}{corpus_bleu(texts, references):.2f}")


if __name__ == "__main__":
    main()
