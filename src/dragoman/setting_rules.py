"""What each setting may be: its choices, its range, and the words that say so."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from dragoman.errors import ConfigError

CHOICES: Mapping[str, tuple[str, ...]] = {
    "model.kind": (
        *("transformer", "ssru", "recurrent"),
        *("language_model", "masked_language_model"),
    ),
    "model.norm": ("post", "pre"),
    "model.norm_kind": ("layer", "rms", "batch", "none"),
    "model.activation": ("relu", "gelu", "quick_gelu", "swish", "swiglu"),
    "model.positions": ("sinusoidal", "learned", "none", "rotary", "alibi"),
    "model.cell": ("elman", "gru", "lstm"),
    "model.attention": ("none", "dot", "general", "additive"),
    "tokenizer.kind": (
        *("bpe", "unigram", "characters", "words", "wordpiece"),
        "imported",
    ),
    "decoding.length_penalty_kind": ("paper", "none", "average"),
    "data.normalization": ("nfc", "nfkc", "none"),
    "training.optimizer": ("adam", "muon"),
    "training.schedule": ("paper", "linear", "cosine"),
    "training.averaging": ("checkpoints", "ema"),
    "training.average_weights": ("uniform", "linear"),
    "training.on_nonfinite": ("stop", "skip"),
    "training.on_divergence": ("warn", "stop"),
    "training.kernels": ("auto", "native", "plain"),
    "training.precision": ("float32", "bfloat16", "float16", "auto"),
    "training.sharding": ("none", "full"),
}

MINIMUM: Mapping[str, float] = {
    "model.d_model": 1,
    "model.d_ff": 1,
    "model.num_heads": 1,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "model.max_positions": 1,
    "model.window": 2,
    "data.max_tokens": 1,
    "data.max_characters": 1,
    "data.max_ratio": 1,
    "training.batch_tokens": 1,
    "training.batch_growth": 1,
    "training.accumulate": 1,
    "training.max_steps": 1,
    "training.save_every": 1,
    "training.valid_every": 1,
    "training.average_last": 1,
    "training.max_skipped": 1,
    "decoding.beam_size": 1,
    "decoding.batch_tokens": 1,
}
LARGEST = 2**31 - 1  # the most that the libraries beneath take
# Far more than anybody wants; a model folder from a stranger may ask for it.
MAXIMUM: Mapping[str, int] = {
    "model.num_encoder_layers": 1000,
    "model.num_decoder_layers": 1000,
    "data.max_tokens": 100_000,
    "decoding.beam_size": 1000,
    "decoding.max_extra_tokens": 100_000,
}

# Shares of what training drops at random: no weight's shape or meaning depends on them.
DROPPED_SHARES = (
    "model.dropout",
    "model.attention_dropout",
    "model.feed_forward_dropout",
    "model.word_dropout",
    "tokenizer.sampling",
)
SHARES = (
    *DROPPED_SHARES,
    "data.placeholder_share",
    "data.join_share",
    "training.warmup_share",
    "training.cooldown_share",
    "training.label_smoothing",
    "training.r_drop_from",
    "training.ema_decay",
)

# What says nothing to the other kinds of model: changed there, it is refused.
OF_RECURRENT = ("cell", "bidirectional", "attention")
OF_TRANSFORMER = (
    *("d_ff", "num_heads", "num_kv_heads", "d_head", "feed_forward_dropout"),
    *("norm", "norm_kind", "norm_epsilon", "last_norm", "embedding_norm"),
    *("activation", "attention_scale", "output_bias", "source_end"),
    *("positions", "max_positions"),
)


def checked(name: str, kind: Any, value: Any) -> Any:  # noqa: ANN401
    """Return the value as its declared type, or say what is allowed."""
    allowed = _describe(name, kind)
    if get_args(kind):  # a pair of numbers
        if not isinstance(value, list | tuple) or not (
            len(value) == len(get_args(kind)) and all(map(_is_share, value))
        ):
            raise ConfigError(f"{name} = {value!r} is not {allowed}")
        return tuple(float(part) for part in value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not kind:
        raise ConfigError(f"{name} = {value!r} is not {allowed}")
    if (
        (name in CHOICES and value not in CHOICES[name])
        or (name in MINIMUM and not value >= MINIMUM[name])
        or (name in SHARES and not 0 <= value < 1)
        or (kind in (int, float) and not value >= 0)
    ):
        raise ConfigError(f"{name} = {value!r} is not {allowed}")
    most = MAXIMUM.get(name, LARGEST)
    if kind in (int, float) and value > most:
        raise ConfigError(f"{name} = {value!r} is too large: give at most {most}")
    return value


def _is_share(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and 0 <= value < 1
    )


def _describe(name: str, kind: Any) -> str:  # noqa: ANN401
    if name in CHOICES:
        return "one of " + ", ".join(CHOICES[name])
    if name in SHARES:
        return "a number from 0 up to, not including, 1"
    if kind is bool:
        return "true or false"
    if kind in (int, float):
        noun = "a whole number" if kind is int else "a number"
        return f"{noun} of at least {MINIMUM.get(name, 0):g}"
    return "a pair of numbers from 0 up to 1" if get_args(kind) else "a text"


def refuse_unknown(
    names: Iterable[str], known: Iterable[str], what: str, prefix: str
) -> None:
    """Refuse a name that does not exist, and say which one comes nearest."""
    allowed = list(known)
    for name in names:
        if name not in allowed:
            near = difflib.get_close_matches(name, allowed, 1, cutoff=0)[0]
            raise ConfigError(
                f"there is no {what} {prefix + name!r}: did you mean {prefix + near!r}?"
            )


def refuse_foreign(model: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Refuse settings of the model that were changed although its kind has no use."""
    kind = model["kind"]
    for key in OF_TRANSFORMER if kind == "recurrent" else OF_RECURRENT:
        if model[key] != defaults[key]:
            raise ConfigError(
                f"model.{key} = {model[key]!r} says nothing to model.kind = {kind!r}: "
                f"leave it at {defaults[key]!r}, or begin from a preset of that kind"
            )
