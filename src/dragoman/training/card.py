"""The model card: what a model was made from, how, and how good it is."""

from dataclasses import dataclass

from dragoman.config import Config, ModelConfig
from dragoman.text.corpus import Corpus


@dataclass(frozen=True)
class Card:
    """What goes into a model folder's README.md."""

    name: str
    languages: tuple[str, str]
    config: Config
    parameters: int
    corpora: tuple[Corpus, ...]
    report: str
    command: str
    training: str
    validation: str | None

    def text(self) -> str:
        """Write the card as Markdown."""
        what, use, measure = self._purpose()
        return f"""# {self.name}

{what}, trained with Dragoman.

```
{use}
```

## The model

{_shape(self.config.model)}:
{self.parameters:,} parameters.

## The data

{self._corpora()}

```
{self.report}
```

## The training

```
{self.command}
```

{self.training}

## How good it is

{self.validation or "No validation text was given."}

This was measured on the validation text while training. {measure[0]}:

```
{measure[1]}
```
"""

    def _purpose(self) -> tuple[str, str, tuple[str, str]]:
        """Say what the model is, how to use it and how to measure it."""
        source, target = self.languages
        match self.config.model.kind:
            case "language_model":
                return (
                    "A language model",
                    f'dragoman generate {self.name} "How a text begins"',
                    (
                        "For its perplexity on a text of your own",
                        f"dragoman evaluate {self.name} --text test.txt",
                    ),
                )
            case "masked_language_model":
                return (
                    "A masked language model",
                    f'dragoman fill {self.name} "A [MASK] with a gap."',
                    (
                        "What it takes to be alike",
                        f"dragoman neighbours {self.name} word",
                    ),
                )
            case _:
                return (
                    f"A translator from `{source}` to `{target}`",
                    f'dragoman translate {self.name} "A sentence to translate."',
                    (
                        "For scores with signatures and\n"
                        "confidence intervals on a test set of your own",
                        f"dragoman evaluate {self.name} --source test.{source} "
                        f"--reference test.{target}",
                    ),
                )

    def _corpora(self) -> str:
        return "\n".join(map(_describe, self.corpora))


def _shape(model: ModelConfig) -> str:
    match model.kind:
        case "language_model":
            layers = f"Decoder alone, {model.num_decoder_layers} layers"
        case "masked_language_model":
            layers = f"Encoder alone, {model.num_encoder_layers} layers"
        case kind:
            both = f"{model.num_encoder_layers}+{model.num_decoder_layers}"
            name = "SSRU" if kind == "ssru" else kind.capitalize()
            layers = f"{name}, {both} layers"
    start = f"{layers},\nd_model {model.d_model}"
    match model.kind:
        case "recurrent":
            ways = "bidirectional" if model.bidirectional else "one-way"
            look = {"none": "no attention"}.get(
                model.attention, f"{model.attention} attention"
            )
            return f"{start}, {model.cell} cells, {ways} encoder, {look}"
        case _:
            heads = f"{model.num_heads} heads, {model.norm}-norm"
            return f"{start}, d_ff {model.d_ff}, {heads}"


def _describe(corpus: Corpus) -> str:
    files = (corpus.source, corpus.target)
    named = " with ".join(f"`{file}`" for file in files if file is not None)
    return f"- {named}" + (f", weight {corpus.weight:g}" if corpus.weight else "")
