"""What a forced term does to a translation: BLEU and length, free and with the term.

    python benchmarks/glossary.py runs/demo --source test.en --reference test.es

For each sentence whose free translation lacks a word of its reference, a glossary asks
for that word in place of a word of the source. If the sentence stays fluent around it,
BLEU rises and the length stays what it was. Prints a Markdown table.
"""

import argparse
import random
import re
from dataclasses import dataclass
from pathlib import Path

import sacrebleu
from tqdm import tqdm

import dragoman
from dragoman.text.glossary import Glossary

SHORTEST_TERM = 5  # letters: words that carry a meaning of their own
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Asked:
    """A sentence, its reference and free translation, and a term that this lacks."""

    source: str
    reference: str
    free: str
    term: tuple[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=500)
    options = parser.parse_args()
    sources, references = (
        path.read_text("utf-8").splitlines()[: options.sentences]
        for path in (options.source, options.reference)
    )
    translator = dragoman.load(options.model)
    free = translator.translate(sources)
    asked = choose_terms(sources, references, free)
    forced = [
        translator.translate([one.source], glossary=Glossary.of(dict([one.term])))[0]
        for one in tqdm(asked, desc="forced")
    ]
    wanted = [one.reference for one in asked]
    print(f"{len(asked)} of {len(sources)} sentences lack a word of their reference\n")
    print("| translation | BLEU | length beside the reference's | has the term |")
    print("|---|--:|--:|--:|")
    print(row("free", [one.free for one in asked], wanted, asked))
    print(row("with the term", forced, wanted, asked))


def choose_terms(
    sources: list[str], references: list[str], free: list[str]
) -> list[Asked]:
    """Choose a term for each sentence that can have one, always the same."""
    chance = random.Random(1)
    asked = []
    for source, reference, said in zip(sources, references, free, strict=True):
        lacking = [
            word
            for word in WORD.findall(reference)
            if len(word) >= SHORTEST_TERM and word.lower() not in said.lower()
        ]
        words = [word for word in WORD.findall(source) if len(word) > 3]
        if lacking and words:
            term = chance.choice(words), chance.choice(lacking)
            asked.append(Asked(source, reference, said, term))
    return asked


def row(
    name: str, translations: list[str], references: list[str], asked: list[Asked]
) -> str:
    """Score one way of translating."""
    bleu = sacrebleu.corpus_bleu(translations, [references])
    kept = sum(
        one.term[1].lower() in text.lower()
        for one, text in zip(asked, translations, strict=True)
    )
    return f"| {name} | {bleu.score:.1f} | {bleu.ratio:.2f} | {kept} |"


if __name__ == "__main__":
    main()
