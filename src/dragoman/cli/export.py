"""`dragoman export`: a trained model for other engines."""

import argparse
import sys
from pathlib import Path

from dragoman.cli.parsers import Subparsers, add_command
from dragoman.errors import ConfigError

DESCRIPTION = """\
Export a model for another program.

--to ctranslate2 is for an engine that translates faster on a CPU. The export lies in
MODEL/ctranslate2-QUANTIZATION, where `translate` and `evaluate` find it by themselves,
or in DIR; any CTranslate2 can use it. int8 is the smallest and fastest and costs a
little quality; float32 gives what PyTorch gives. Where a processor does not compute in
what was chosen, the next best is taken and said. Export again after training again: an
old export is noticed and not used.

--to huggingface writes a folder that `transformers` opens: Marian, or Pegasus where
norms come first. `dragoman import` makes the same model of it again.

--to argos writes a package that Argos Translate and LibreTranslate install."""

EXAMPLES = """\
examples:
  dragoman export MODEL --to ctranslate2
  dragoman export MODEL --to ctranslate2 --quantization float32
  dragoman export MODEL --to ctranslate2 --output DIR
  dragoman export MODEL --to huggingface --output DIR
  dragoman export MODEL --to argos --output FILE.argosmodel
"""

FORMATS = ("ctranslate2", "huggingface", "argos")
QUANTIZATIONS = ("int8", "int16", "float16", "float32")


def add_parser(subparsers: Subparsers) -> None:
    """Declare the command and its options."""
    parser = add_command(subparsers, "export", DESCRIPTION, EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model folder")
    parser.add_argument("--to", choices=FORMATS, required=True, help="the format")
    parser.add_argument(
        "--quantization",
        choices=QUANTIZATIONS,
        help="how weights are stored by ctranslate2 (default: int8)",
    )
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="another place for the export"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Export, and say where the export lies."""
    match options.to:
        case "huggingface":
            from dragoman.interchange.huggingface_export import export_huggingface

            if options.output is None or options.quantization is not None:
                raise ConfigError(
                    "exporting to huggingface needs --output DIR and takes no "
                    "--quantization: its weights are float32"
                )
            place = export_huggingface(options.model, options.output)
            print(f"the export is in {place}", file=sys.stderr)
        case "argos":
            from dragoman.interchange.argos import export_argos

            if options.output is None:
                raise ConfigError("exporting to argos needs --output FILE.argosmodel")
            quantization = options.quantization or "int8"
            place = export_argos(options.model, options.output, quantization)
            print(f"the export is in {place}", file=sys.stderr)
        case _:
            _export_ctranslate2(options)
    return 0


def _export_ctranslate2(options: argparse.Namespace) -> None:
    """Export for CTranslate2, and say what it will compute in if that is another."""
    from dragoman.engines.ctranslate2 import CTranslate2Engine
    from dragoman.interchange.ctranslate2 import export_ctranslate2
    from dragoman.model_files import ModelDescription

    quantization = options.quantization or "int8"
    export = export_ctranslate2(options.model, quantization, options.output)
    print(f"the export is in {export.folder}", file=sys.stderr)
    settings = ModelDescription.read(options.model).config.decoding
    really = CTranslate2Engine(export, settings, workers=1).computes_in
    if really != export.quantization:
        print(
            f"dragoman: this processor does not compute in {export.quantization}: "
            f"translating with this export, it computes in {really}",
            file=sys.stderr,
        )
