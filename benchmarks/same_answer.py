"""Translate sentences one by one, by sevens and by sixty-fours: the tokens must agree.

python benchmarks/same_answer.py MODEL SOURCE [--sentences 1000]
"""

import argparse
import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.engines.pytorch import PyTorchEngine
from dragoman.text.lines import read_lines
from dragoman.text.normalization import normalize
from dragoman.translator import Translator

if TYPE_CHECKING:
    from dragoman.decoding.hypothesis import Hypothesis

BATCHES = (1, 7, 64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--sentences", type=int, default=1000)
    options = parser.parse_args()
    translator = Translator.load(options.model)
    form = translator.config.data.normalization
    lines = list(read_lines(options.source))[: options.sentences]
    sources = translator.tokenizers.source.encode_many(
        [normalize(line, form) for line in lines]
    )
    order = list(range(len(sources)))
    for beam_size in (1, 4):
        search = replace(translator.options, beam_size=beam_size)
        settings = replace(translator.config.decoding, batch_tokens=10**9)
        engine = PyTorchEngine(translator.saved.model, settings)
        answers: dict[int, list[list[Hypothesis]]] = {}
        for batch in BATCHES:
            random.Random(batch).shuffle(order)  # other mates each time
            found: list[list[Hypothesis]] = [[] for _ in sources]
            for start in range(0, len(order), batch):
                places = order[start : start + batch]
                row = engine.translate([sources[place] for place in places], search)
                for place, hypotheses in zip(places, row, strict=True):
                    found[place] = hypotheses
            answers[batch] = found
        for batch in BATCHES[1:]:
            pairs = list(zip(answers[1], answers[batch], strict=True))
            different = sum(a[0].tokens != b[0].tokens for a, b in pairs)
            off = max(
                abs(a[0].log_probability - b[0].log_probability) for a, b in pairs
            )
            print(
                f"beam {beam_size}, batch {batch} against 1: {different} of "
                f"{len(pairs)} differ; "
                f"log-probabilities by at most {off:.1e}"
            )


if __name__ == "__main__":
    main()
