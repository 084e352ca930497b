"""Strict, frozen settings; the presets in `presets/*.toml` are their one home."""

import dataclasses
import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Self, get_args, get_type_hints

from dragoman.errors import ConfigError

PRESETS = ("tiny", "small", "base", "big", "fast")

CHOICES: Mapping[str, tuple[str, ...]] = {
    "model.kind": ("transformer",),
    "model.norm": ("post", "pre"),
    "model.positions": ("sinusoidal", "learned", "none"),
    "tokenizer.kind": ("bpe", "unigram", "characters", "words", "wordpiece"),
    "decoding.length_penalty_kind": ("paper", "none", "average"),
    "data.normalization": ("nfc", "nfkc", "none"),
    "training.optimizer": ("adam", "muon"),
    "training.schedule": ("paper", "linear", "cosine"),
    "training.averaging": ("checkpoints", "ema"),
    "training.average_weights": ("uniform", "linear"),
    "training.on_nonfinite": ("stop", "skip"),
    "training.on_divergence": ("warn", "stop"),
    "training.precision": ("float32", "bfloat16", "float16"),
    "training.sharding": ("none", "full"),
}

MINIMUM: Mapping[str, float] = {
    "model.d_model": 1,
    "model.d_ff": 1,
    "model.num_heads": 1,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "model.max_positions": 1,
    "data.max_tokens": 1,
    "data.max_characters": 1,
    "data.max_ratio": 1,
    "training.batch_tokens": 1,
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

SHARES = (
    "model.dropout",
    "model.attention_dropout",
    "model.feed_forward_dropout",
    "tokenizer.sampling",
    "data.placeholder_share",
    "training.warmup_share",
    "training.cooldown_share",
    "training.label_smoothing",
    "training.ema_decay",
)


# Settings that older versions lacked, and what they did instead of today's default.
_BEFORE: Mapping[str, Mapping[str, Any]] = {"data": {"placeholders": False}}


@dataclass(frozen=True)
class ModelConfig:
    """The shape of the network, in the paper's words (Table 3)."""

    kind: str
    d_model: int
    d_ff: int
    num_heads: int
    d_head: int
    num_encoder_layers: int
    num_decoder_layers: int
    dropout: float
    attention_dropout: float
    feed_forward_dropout: float
    norm: str
    positions: str
    max_positions: int
    tie_embeddings: bool

    def __post_init__(self) -> None:
        if not self.d_head and self.d_model % self.num_heads:
            raise ConfigError(
                f"model.d_model = {self.d_model} cannot be divided among "
                f"model.num_heads = {self.num_heads}: choose a number of heads that "
                "divides d_model, or set model.d_head"
            )
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ConfigError(
                f"model.d_model = {self.d_model} is odd: sinusoidal positions pair "
                "each sine with a cosine, so choose an even d_model"
            )

    @property
    def head_size(self) -> int:
        """The width of one head: d_k, which the paper keeps equal to d_v."""
        return self.d_head or self.d_model // self.num_heads


@dataclass(frozen=True)
class TokenizerConfig:
    """How text becomes subwords."""

    kind: str
    vocabulary_size: int
    shared_vocabulary: bool
    sampling: float


@dataclass(frozen=True)
class DataConfig:
    """Which sentence pairs are fit to learn from."""

    normalization: str
    max_tokens: int
    max_characters: int
    max_ratio: float
    deduplicate: bool
    placeholders: bool
    placeholder_share: float


@dataclass(frozen=True)
class TrainingConfig:
    """How the weights are learned (§5)."""

    optimizer: str
    learning_rate: float
    adam_share: float
    adam_betas: tuple[float, float]
    adam_epsilon: float
    weight_decay: float
    schedule: str
    warmup_steps: int
    warmup_share: float
    cooldown_share: float
    dropout_growth: float
    label_smoothing: float
    r_drop: float
    clip_norm: float
    batch_tokens: int
    accumulate: int
    max_steps: int
    save_every: int
    valid_every: int
    patience: int
    valid_sentences: int
    averaging: str
    average_last: int
    average_weights: str
    ema_decay: float
    on_nonfinite: str
    max_skipped: int
    on_divergence: str
    divergence: float
    seed: int
    threads: int
    precision: str
    compile: bool
    sharding: str

    def __post_init__(self) -> None:
        if self.sharding == "full" and self.optimizer == "muon":
            raise ConfigError(
                "training.sharding = 'full' leaves no process a whole matrix, and "
                "training.optimizer = 'muon' needs them whole: choose adam, or no "
                "sharding"
            )
        if self.sharding == "full" and self.averaging == "ema":
            raise ConfigError(
                "training.sharding = 'full' does not go with training.averaging = "
                "'ema': choose checkpoints, or no sharding"
            )
        if self.compile and self.dropout_growth:
            raise ConfigError(
                "training.compile = true would compile anew at every update while "
                "dropout grows: set training.dropout_growth=0 with it"
            )


@dataclass(frozen=True)
class DecodingConfig:
    """How a translation is searched for (§6.1)."""

    beam_size: int
    length_penalty_kind: str
    length_penalty: float
    max_extra_tokens: int
    max_repeats: int
    batch_tokens: int


@dataclass(frozen=True)
class Config:
    """All settings of a translator, section by section."""

    model: ModelConfig
    tokenizer: TokenizerConfig
    data: DataConfig
    training: TrainingConfig
    decoding: DecodingConfig

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build from nested plain data; whatever does not fit raises."""
        sections = get_type_hints(cls)
        _refuse_unknown(values, sections, "section", "")
        missing = [name for name in sections if name not in values]
        if missing:
            raise ConfigError(f"configuration lacks the section {missing[0]!r}")
        return cls(
            **{
                name: _section(section, name, values[name])
                for name, section in sections.items()
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Give nested plain data that `from_dict` and JSON understand."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return plain

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return a copy with some `section.key` settings changed."""
        values = self.to_dict()
        sections = get_type_hints(type(self))
        for name, value in settings.items():
            section, _, key = name.partition(".")
            _refuse_unknown([section], sections, "section", "")
            known = [field.name for field in dataclasses.fields(sections[section])]
            _refuse_unknown([key], known, "setting", f"{section}.")
            values[section][key] = value
        return self.from_dict(values)


def load_preset(name: str) -> Config:
    """Load a preset: the base values, with the preset's own on top."""
    if name not in PRESETS:
        raise ConfigError(
            f"there is no preset {name!r}: choose one of {', '.join(PRESETS)}"
        )
    values = _read_preset("base")
    if name != "base":
        for section, settings in _read_preset(name).items():
            values.setdefault(section, {}).update(settings)
    return Config.from_dict(values)


def read_saved(values: Mapping[str, Any]) -> Config:
    """Read settings that were saved; what an older version lacked is as in base.

    Where today's default would make another model, it is as it was then.
    """
    defaults = _read_preset("base")
    filled = {
        section: defaults.get(section, {}) | _BEFORE.get(section, {}) | settings
        for section, settings in values.items()
    }
    return Config.from_dict(filled)


def parse_settings(assignments: Iterable[str]) -> dict[str, Any]:
    """Read `section.key=value` texts, the value written as in TOML or bare."""
    settings: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or "." not in name:
            raise ConfigError(
                f"cannot read the setting {assignment!r}: write section.key=value, "
                "for example model.dropout=0.2"
            )
        settings[name.strip()] = _parse_value(text.strip())
    return settings


def _parse_value(text: str) -> Any:  # noqa: ANN401 (a setting may be of any plain type)
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _read_preset(name: str) -> dict[str, Any]:
    text = (resources.files("dragoman") / "presets" / f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


def _section(section: type, name: str, values: Mapping[str, Any]) -> Any:  # noqa: ANN401
    hints = get_type_hints(section)
    _refuse_unknown(values, hints, "setting", f"{name}.")
    missing = [key for key in hints if key not in values]
    if missing:
        raise ConfigError(f"configuration lacks the setting '{name}.{missing[0]}'")
    return section(
        **{key: _checked(f"{name}.{key}", hints[key], values[key]) for key in hints}
    )


def _checked(name: str, kind: Any, value: Any) -> Any:  # noqa: ANN401
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
    if kind in (int, float) and value > LARGEST:
        raise ConfigError(f"{name} = {value!r} is too large: give at most {LARGEST}")
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


def _refuse_unknown(
    names: Iterable[str], known: Iterable[str], what: str, prefix: str
) -> None:
    allowed = list(known)
    for name in names:
        if name not in allowed:
            near = difflib.get_close_matches(name, allowed, 1, cutoff=0)[0]
            raise ConfigError(
                f"there is no {what} {prefix + name!r}: did you mean {prefix + near!r}?"
            )
