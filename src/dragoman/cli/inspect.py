"""`dragoman inspect`: one sentence, seen whole."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.parsers import (
    Subparsers,
    add_command,
    add_machine_options,
    positive_int,
)
from dragoman.errors import InspectionError

if TYPE_CHECKING:
    from dragoman.inspection.head_profile import HeadProfile
    from dragoman.inspection.observation import Observation
    from dragoman.translator import Translator

DESCRIPTION = """\
Look inside a translator or a language model while it works on one sentence.

Without a file to write, prints each token with its probability, what it attends to and
what else could have come. --html writes one page that needs no network: every head of
every layer, the whole beam search as a tree, the logit lens. Of a translator it begins
with the head that aligns best on the validation text that the model folder keeps. A
masked language model fills each [MASK] of the text."""

EXAMPLES = """\
examples:
  dragoman inspect MODEL "Let's go!"
  dragoman inspect MODEL "Let's go!" --html lets-go.html
  dragoman inspect MODEL "Let's go!" --target "¡Vamos!" --png lets-go.png
  dragoman inspect MODEL "Let's go!" --svg head.svg --kind encoder --layer 2 --head 1
  dragoman inspect MODEL "Let's go!" --json - --npz lets-go.npz
  dragoman inspect LM "It was a dark and stormy night" --html night.html
"""

PROFILED = 60  # validation pairs on which heads are measured
ALIGNED = 600  # and from which their alignment is learned


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "inspect", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument("sentence", metavar="SENTENCE", help="or a text")
    parser.add_argument(
        "--target", metavar="TEXT", help="look at this translation, not the model's own"
    )
    parser.add_argument(
        "--beam", type=positive_int, metavar="N", help="hypotheses kept; 1 is greedy"
    )
    files = parser.add_argument_group("what to write")
    files.add_argument("--html", type=Path, metavar="FILE", help="one page, offline")
    files.add_argument("--png", type=Path, metavar="FILE", help="a picture")
    files.add_argument("--svg", type=Path, metavar="FILE", help="the same for print")
    files.add_argument(
        "--json",
        metavar="FILE",
        help="tokens, search and weights; - is standard output",
    )
    files.add_argument(
        "--npz", type=Path, metavar="FILE", help="every tensor, for NumPy"
    )
    picture = parser.add_argument_group("which attention a picture shows large")
    picture.add_argument(
        "--kind",
        choices=("cross", "encoder", "decoder"),
        help="default: cross, from translation to source; of a language model, its own",
    )
    picture.add_argument(
        "--layer", type=positive_int, metavar="N", help="from 1; default: the sharpest"
    )
    picture.add_argument(
        "--head", type=positive_int, metavar="N", help="from 1; default: their mean"
    )
    picture.add_argument(
        "--pieces", action="store_true", help="name pieces instead of words"
    )
    add_machine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Inspect the sentence, and write or print what was asked for."""
    from dragoman.cli.threads import set_threads
    from dragoman.inspection.inspect import as_reader, inspect

    set_threads(options.threads)
    reader = as_reader(options.model, options.device)
    seen = inspect(reader, options.sentence, options.target, beam_size=options.beam)
    _draw(seen, options)
    if options.npz is not None:
        from dragoman.inspection.numbers import write_npz

        write_npz(seen, options.npz)
    if options.html is not None:
        profile = _profile(seen, options.model)
        page = seen.to_html(str(options.model), profile)
        options.html.write_text(page, "utf-8")
    if options.json is not None:
        _write_json(seen, options.json)
    files = (options.html, options.png, options.svg, options.json, options.npz)
    for path in files:
        if path not in (None, "-"):
            print(f"wrote {path}", file=sys.stderr)
    if all(path is None for path in files):
        from dragoman.inspection.summary import summary

        print(summary(seen))
    return 0


def _draw(seen: "Observation", options: argparse.Namespace) -> None:
    kind = options.kind or seen.first_kind
    layers, heads = seen.attention(kind).shape[:2]
    layer = _from_zero("layer", options.layer, layers, f"of {kind} attention")
    head = _from_zero("head", options.head, heads, "in each layer")
    words = not options.pieces
    for path in (options.png, options.svg):
        if path is not None:
            seen.draw(path, kind, layer=layer, head=head, words=words)


def _from_zero(what: str, number: int | None, count: int, where: str) -> int | None:
    """Count as Python does what people count from 1."""
    if number is None:
        return None
    if number > count:
        raise InspectionError(
            f"there is no {what} {number}: this model has {count} {where}"
        )
    return number - 1


def _profile(seen: "Observation", folder: Path) -> "HeadProfile | None":
    from dragoman.inspection.inspection import Inspection

    if not isinstance(seen, Inspection):
        return None  # without a source there is nothing to align
    return profile_heads(seen.translator, folder)


def profile_heads(translator: "Translator", folder: Path) -> "HeadProfile | None":
    """Measure the heads on the validation text, where the folder keeps one."""
    from tqdm import tqdm

    from dragoman.inspection.attention_modules import attention_modules
    from dragoman.inspection.head_profile import head_profile
    from dragoman.inspection.validation_pairs import validation_pairs

    pairs = validation_pairs(folder, ALIGNED)
    if not pairs or not attention_modules(translator.saved.model):
        return None
    with tqdm(desc="heads", leave=False, disable=not sys.stderr.isatty()) as bar:

        def tell(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return head_profile(
            translator,
            pairs[:PROFILED],
            aligned_on=pairs[PROFILED:],
            ablation=False,
            on_progress=tell,
        )


def _write_json(seen: "Observation", path: str) -> None:
    from dragoman.inspection.numbers import to_dict

    text = json.dumps(to_dict(seen), ensure_ascii=False)
    if path == "-":
        print(text)
    else:
        Path(path).write_text(text + "\n", "utf-8")
