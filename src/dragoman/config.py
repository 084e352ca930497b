"""Strict, frozen settings; the presets in `presets/*.toml` are their one home."""

import dataclasses
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Self, get_type_hints

from dragoman.arguments import check_choice, check_is, check_text
from dragoman.errors import ConfigError
from dragoman.setting_rules import checked, refuse_foreign, refuse_unknown

PRESETS = (
    *("tiny", "small", "base", "big", "fast"),
    *("rnn", "gru", "lstm", "lstm-attention"),
)

TRANSLATOR_KINDS = ("transformer", "ssru", "recurrent")
TEXT_KINDS = ("language_model", "masked_language_model")

# Settings that older versions lacked, and what they did instead of today's default.
_BEFORE: Mapping[str, Mapping[str, Any]] = {
    "data": {"placeholders": False, "join_share": 0.0}
}


@dataclass(frozen=True)
class ModelConfig:
    """The shape of the network, in the paper's words (Table 3)."""

    kind: str
    d_model: int
    d_ff: int
    num_heads: int
    num_kv_heads: int
    d_head: int
    num_encoder_layers: int
    num_decoder_layers: int
    dropout: float
    attention_dropout: float
    feed_forward_dropout: float
    word_dropout: float
    norm: str
    norm_kind: str
    norm_epsilon: float
    last_norm: bool
    embedding_norm: bool
    activation: str
    attention_scale: bool
    positions: str
    max_positions: int
    window: int
    tie_embeddings: bool
    output_bias: bool
    source_end: bool
    cell: str
    bidirectional: bool
    attention: str

    def __post_init__(self) -> None:
        if self.kind == "recurrent":
            if self.bidirectional and self.d_model % 2:
                raise ConfigError(
                    f"model.d_model = {self.d_model} is odd: each direction of a "
                    "bidirectional encoder gets half of it, so choose an even "
                    "d_model, or set model.bidirectional=false"
                )
            return
        if not self.d_head and self.d_model % self.num_heads:
            raise ConfigError(
                f"model.d_model = {self.d_model} cannot be divided among "
                f"model.num_heads = {self.num_heads}: choose a number of heads that "
                "divides d_model, or set model.d_head"
            )
        if self.num_kv_heads and self.num_heads % self.num_kv_heads:
            raise ConfigError(
                f"model.num_kv_heads = {self.num_kv_heads} cannot be shared by "
                f"model.num_heads = {self.num_heads}: choose a number that divides "
                "num_heads, or 0 for as many"
            )
        if self.reads_text and self.positions == "learned":
            self._refuse_few_positions()
        if self.positions == "rotary" and self.head_size % 2:
            raise ConfigError(
                f"heads of width {self.head_size} are odd: rotary positions turn pairs "
                "of dimensions, so choose an even model.d_head, or set "
                'model.positions="sinusoidal"'
            )
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ConfigError(
                f"model.d_model = {self.d_model} is odd: sinusoidal positions pair "
                "each sine with a cosine, so choose an even d_model"
            )

    def _refuse_few_positions(self) -> None:
        if self.max_positions < self.window:
            raise ConfigError(
                f"model.max_positions = {self.max_positions} learned positions are "
                f"too few for model.window = {self.window}: set as many, or a smaller "
                "window"
            )

    @property
    def reads_text(self) -> bool:
        """Whether it learns from running text, and not from sentence pairs."""
        return self.kind in TEXT_KINDS

    @property
    def head_size(self) -> int:
        """The width of one head: d_k, which the paper keeps equal to d_v."""
        return self.d_head or self.d_model // self.num_heads

    @property
    def shared_heads(self) -> int:
        """How many heads have keys and values of their own."""
        return self.num_kv_heads or self.num_heads

    @property
    def feed_forward_width(self) -> int:
        """The inner width: d_ff, and for SwiGLU two thirds of it (a multiple of 8).

        Its three matrices then cost what the two others do.
        """
        if self.activation != "swiglu":
            return self.d_ff
        return -(-2 * self.d_ff // 24) * 8


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
    join_share: float


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
    r_drop_from: float
    clip_norm: float
    truncate: int
    batch_tokens: int
    batch_growth: int
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
    kernels: str
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

    def __post_init__(self) -> None:
        kind, training = self.model.kind, self.training
        if kind != "recurrent" and training.truncate:
            raise ConfigError(
                f"training.truncate = {training.truncate} cuts the past of "
                f"recurrent models, and model.kind = {kind!r} reads all words at "
                "once: set training.truncate=0"
            )
        if self.model.reads_text and self.tokenizer.sampling:
            raise ConfigError(
                f"tokenizer.sampling = {self.tokenizer.sampling} spells sentence pairs "
                f"anew, and model.kind = {kind!r} reads running text: set "
                "tokenizer.sampling=0"
            )
        if kind == "transformer":
            return
        for name, off in (("compile", False), ("sharding", "none")):
            value = getattr(training, name)
            if value != off:
                raise ConfigError(
                    f"training.{name} = {value!r} knows the layers of a Transformer "
                    f"only, and model.kind is {kind!r}: set training.{name}="
                    f"{json.dumps(off)}"
                )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build from nested plain data; whatever does not fit raises."""
        sections = get_type_hints(cls)
        refuse_unknown(values, sections, "section", "")
        missing = [name for name in sections if name not in values]
        if missing:
            raise ConfigError(f"configuration lacks the section {missing[0]!r}")
        built = {
            name: _section(section, name, values[name])
            for name, section in sections.items()
        }
        refuse_foreign(vars(built["model"]), _read_preset("base")["model"])
        return cls(**built)

    def to_dict(self) -> dict[str, Any]:
        """Give nested plain data that `from_dict` and JSON understand."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return plain

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return a copy with some `section.key` settings changed."""
        check_is("settings", settings, Mapping, "a mapping of section.key to value")
        values = self.to_dict()
        sections = get_type_hints(type(self))
        for name, value in settings.items():
            check_text("the name of a setting", name)
            section, _, key = name.partition(".")
            refuse_unknown([section], sections, "section", "")
            known = [field.name for field in dataclasses.fields(sections[section])]
            refuse_unknown([key], known, "setting", f"{section}.")
            values[section][key] = value
        return self.from_dict(values)


def load_preset(name: str) -> Config:
    """Load a preset: the base values, with the preset's own on top."""
    check_choice("preset", name, PRESETS)
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
    refuse_unknown(values, hints, "setting", f"{name}.")
    missing = [key for key in hints if key not in values]
    if missing:
        raise ConfigError(f"configuration lacks the setting '{name}.{missing[0]}'")
    return section(
        **{key: checked(f"{name}.{key}", hints[key], values[key]) for key in hints}
    )
