"""Marian's models, and Firefox's: read to the number, and refused where damaged."""

import random
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import torch
from torch import Tensor

from dragoman.cli.main import main
from dragoman.errors import ImportedModelError
from dragoman.interchange.importing import Request, import_model, recognise
from dragoman.interchange.marian import POSITIONS, read_marian
from dragoman.interchange.marian_files import parse_settings, read_tensors
from dragoman.model_folder import load_model
from dragoman.special_tokens import BEGIN, END, PAD
from dragoman.translator import Translator

CONFIG = "special:model.yml"
FLOAT32, INT8, TEXT = 0x404, 0x4101, 0x101
Array = np.ndarray[Any, np.dtype[Any]]


def write_marian(
    path: Path,
    tensors: Mapping[str, Array],
    settings: Mapping[str, object],
    quantized: bool = False,
) -> None:
    text = "".join(f"{key}: {value}\n" for key, value in settings.items())
    config = np.frombuffer(text.encode() + b"\0", np.int8)
    if path.suffix == ".npz":
        arrays: dict[str, Any] = {CONFIG: config, **tensors}
        np.savez(path, **arrays)
        return
    items = [(name, FLOAT32, of.shape, of.tobytes()) for name, of in tensors.items()]
    if quantized:
        items = [_narrow(name, tensors[name]) for name, *_ in items]
    items.append((CONFIG, TEXT, config.shape, config.tobytes()))
    items = [(n, k, s, raw + b"\0" * (-len(raw) % 256)) for n, k, s, raw in items]
    names = [name.encode() + b"\0" for name, *_ in items]
    before = struct.pack("<2Q", 1, len(items))
    for name, (_, kind, shape, raw) in zip(names, items, strict=True):
        before += struct.pack("<4Q", len(name), kind, len(shape), len(raw))
    before += b"".join(names)
    before += b"".join(struct.pack(f"<{len(s)}i", *s) for _, _, s, _ in items)
    padding = -(len(before) + 8) % 256
    before += struct.pack("<Q", padding) + b"\0" * padding
    path.write_bytes(before + b"".join(raw for *_, raw in items))


def _narrow(name: str, tensor: Array) -> tuple[str, int, tuple[int, ...], bytes]:
    """Round a matrix to int8, transposed as products want it; vectors stay."""
    if min(tensor.shape) == 1:
        return name, FLOAT32, tensor.shape, tensor.tobytes()
    multiplier = 127 / float(np.abs(tensor).max())
    numbers = np.round(tensor * multiplier).astype(np.int8)
    stored = numbers if name.startswith("Wemb") else numbers.T
    raw = stored.tobytes() + struct.pack("<f", multiplier)
    return name, INT8, tensor.shape, raw


SETTINGS: dict[str, object] = {
    "type": "transformer",
    "dim-emb": 16,
    "enc-depth": 2,
    "dec-depth": 1,
    "transformer-heads": 2,
    "transformer-dim-ffn": 24,
    "transformer-ffn-activation": "relu",
    "transformer-postprocess": "dan",
    "transformer-preprocess": '""',
    "tied-embeddings-all": "true",
    "transformer-decoder-autoreg": "rnn",
    "dec-cell": "ssru",
}


@pytest.fixture(scope="module")
def spm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vocabulary as Marian has it: `</s>` is 0 and `<unk>` is 1."""
    folder = tmp_path_factory.mktemp("spm")
    (folder / "text").write_text(
        "The book is on the table.\nGood morning!\nWhere is the station?\n" * 9
    )
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"),
        model_prefix=str(folder / "vocab.enxx"),
        vocab_size=60,
        hard_vocab_limit=False,
        bos_id=-1,
        eos_id=0,
        unk_id=1,
        minloglevel=2,
    )
    (folder / "vocab.enxx.model").rename(folder / "vocab.enxx.spm")
    return folder / "vocab.enxx.spm"


def random_tensors(
    vocabulary: int, settings: dict[str, object] = SETTINGS
) -> dict[str, Array]:
    rng = np.random.default_rng(1)
    names: dict[str, tuple[int, int]] = {
        "Wemb": (vocabulary, 16),
        "decoder_ff_logit_out_b": (1, vocabulary),
    }
    ssru = settings["transformer-decoder-autoreg"] == "rnn"
    for layer in ("encoder_l1", "encoder_l2", "decoder_l1"):
        decodes = layer.startswith("decoder")
        attentions = ["self"] if not (decodes and ssru) else []
        attentions += ["context"] if decodes else []
        for attention in attentions:
            for part in "qkvo":
                names[f"{layer}_{attention}_W{part}"] = (16, 16)
                names[f"{layer}_{attention}_b{part}"] = (1, 16)
            for part in ("scale", "bias"):
                names[f"{layer}_{attention}_Wo_ln_{part}"] = (1, 16)
        if decodes and ssru:
            names |= {f"{layer}_rnn_W": (16, 16), f"{layer}_rnn_Wf": (16, 16)}
            names |= {f"{layer}_rnn_bf": (1, 16)}
            for part in ("scale", "bias"):
                names[f"{layer}_rnn_ffn_ln_{part}"] = (1, 16)
        names |= {f"{layer}_ffn_W1": (16, 24), f"{layer}_ffn_W2": (24, 16)}
        names |= {f"{layer}_ffn_b1": (1, 24), f"{layer}_ffn_b2": (1, 16)}
        for part in ("scale", "bias"):
            names[f"{layer}_ffn_ffn_ln_{part}"] = (1, 16)
    return {
        name: (0.4 * rng.standard_normal(shape)).astype(np.float32)
        for name, shape in names.items()
    }


def num_pieces(spm: Path) -> int:
    return int(sentencepiece.SentencePieceProcessor(str(spm)).vocab_size())


def write(
    folder: Path, spm: Path, name: str = "model.enxx.bin", **settings: object
) -> Path:
    own = SETTINGS | {key.replace("_", "-"): value for key, value in settings.items()}
    write_marian(folder / name, random_tensors(num_pieces(spm), own), own)
    return folder / name


def read(path: Path, spm: Path) -> Any:
    return read_marian(path, (spm, spm), ("en", "xx"))


class Reference:
    """Marian's SSRU Transformer once more, as its paper and its code have it."""

    def __init__(self, tensors: dict[str, Array]) -> None:
        self.of = {name: torch.from_numpy(t).double() for name, t in tensors.items()}

    def norm(self, x: Tensor, name: str) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        deviation = (centred.square().mean(-1, keepdim=True) + 1e-6).sqrt()
        scale, bias = self.of[f"{name}_ln_scale"], self.of[f"{name}_ln_bias"]
        return centred / deviation * scale + bias

    def attention(self, x: Tensor, to: Tensor, name: str) -> Tensor:
        q, k, v = (
            (side @ self.of[f"{name}_W{part}"] + self.of[f"{name}_b{part}"])
            .view(len(side), 2, 8)
            .transpose(0, 1)
            for part, side in (("q", x), ("k", to), ("v", to))
        )
        heads = (q @ k.transpose(1, 2) / 8**0.5).softmax(-1) @ v
        joined = heads.transpose(0, 1).flatten(1)
        written = joined @ self.of[f"{name}_Wo"] + self.of[f"{name}_bo"]
        return self.norm(x + written, f"{name}_Wo")

    def feed_forward(self, x: Tensor, layer: str) -> Tensor:
        inner = (x @ self.of[f"{layer}_ffn_W1"] + self.of[f"{layer}_ffn_b1"]).relu()
        written = inner @ self.of[f"{layer}_ffn_W2"] + self.of[f"{layer}_ffn_b2"]
        return self.norm(x + written, f"{layer}_ffn_ffn")

    def embed(self, rows: Tensor) -> Tensor:
        places = torch.arange(len(rows), dtype=torch.float64)[:, None]
        angles = places * torch.exp(
            -torch.arange(8, dtype=torch.float64) * np.log(10000.0) / 7
        )
        return rows * 4.0 + torch.cat([angles.sin(), angles.cos()], dim=1)

    def logits(self, source: list[int], target: list[int]) -> Tensor:
        table = self.of["Wemb"]
        x = self.embed(table[source])
        for layer in ("encoder_l1", "encoder_l2"):
            x = self.feed_forward(self.attention(x, x, f"{layer}_self"), layer)
        y = self.embed(torch.cat([torch.zeros(1, 16).double(), table[target]]))
        layer, cell, seen = "decoder_l1", torch.zeros(16).double(), []
        forget = (y @ self.of[f"{layer}_rnn_Wf"] + self.of[f"{layer}_rnn_bf"]).sigmoid()
        for f, offered in zip(forget, y @ self.of[f"{layer}_rnn_W"], strict=True):
            cell = f * cell + (1 - f) * offered
            seen.append(cell.relu())
        y = self.norm(y + torch.stack(seen), f"{layer}_rnn_ffn")
        y = self.feed_forward(self.attention(y, x, f"{layer}_context"), layer)
        return y @ table.T + self.of["decoder_ff_logit_out_b"]


@pytest.mark.parametrize("name", ["model.enxx.bin", "model.enxx.npz"])
def test_logits_are_marians(name: str, spm: Path, tmp_path: Path) -> None:
    path = write(tmp_path, spm, name)
    model = read(path, spm).saved().model.double()
    reference = Reference(random_tensors(num_pieces(spm)))
    # Ours are two later: PAD and BEGIN are ours alone; END comes after UNKNOWN.
    expected = reference.logits([5, 9, 7, 0], [3, 8])
    found = model(torch.tensor([[7, 11, 9, END]]), torch.tensor([[BEGIN, 5, 10]]))[0]
    torch.testing.assert_close(found[:, 4:], expected[:, 2:], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found[:, END], expected[:, 0], atol=1e-5, rtol=1e-5)
    assert found[:, [PAD, BEGIN]].max() < -1000


def test_int8_is_divided_by_its_multiplier(spm: Path, tmp_path: Path) -> None:
    tensors = random_tensors(num_pieces(spm))
    write_marian(tmp_path / "m.bin", tensors, SETTINGS, quantized=True)
    found, settings = read_tensors(tmp_path / "m.bin")
    assert settings["dec-cell"] == "ssru"
    for name, tensor in tensors.items():
        atol = float(np.abs(tensor).max()) / 250
        np.testing.assert_allclose(found[name], tensor, atol=atol)


@pytest.mark.parametrize("activation", ["relu", "swish", "gelu"])
def test_a_plain_transformer_keeps_its_self_attention(
    activation: str, spm: Path, tmp_path: Path
) -> None:
    plain = {
        "transformer_decoder_autoreg": "self-attention",
        "transformer_ffn_activation": activation,
    }
    foreign = read(write(tmp_path, spm, **plain), spm)
    assert foreign.config.model.kind == "transformer"
    ours = {"gelu": "quick_gelu"}.get(activation, activation)
    assert foreign.config.model.activation == ours
    assert foreign.config.model.max_positions == POSITIONS
    foreign.saved()


def test_an_import_needs_no_more_than_its_folder(spm: Path, tmp_path: Path) -> None:
    (tmp_path / "firefox").mkdir()
    path = write(tmp_path / "firefox", spm)
    (path.parent / spm.name).write_bytes(spm.read_bytes())
    (path.parent / "lex.bin").write_bytes(b"a shortlist")
    translator = Translator(read(path, spm).saved())
    known = [(s, translator.translate(s, beam_size=1)) for s in ("Good", "is the")]
    request = Request(path.parent, languages=("en", "xx"), known=known)
    proof = import_model(request, tmp_path / "ours")
    assert proof.describe() == "2 of 2 sentences are translated as by the known answers"
    saved = load_model(tmp_path / "ours")
    assert saved.config.model.kind == "ssru"
    assert Translator(saved).translate("Good", beam_size=1) == known[0][1]
    with pytest.raises(ImportedModelError, match="is there already"):
        import_model(request, tmp_path / "ours")


def test_the_command_imports_and_says_what_it_showed(
    spm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, spm)
    said = Translator(read(path, spm).saved()).translate("Good", beam_size=1)
    known = tmp_path / "known.tsv"
    known.write_text(f"Good\t{said}\n")
    asked = ["import", str(path), str(tmp_path / "ours"), "--vocabulary", str(spm)]
    assert main([*asked, "--self-test", str(known)]) == 0
    assert "1 of 1 sentences are translated as by" in capsys.readouterr().err
    assert load_model(tmp_path / "ours").languages == ("en", "xx")
    known.write_text("Good\n")
    assert main([*asked, "--self-test", str(known)]) == 1
    assert "known.tsv:1 is no known answer" in capsys.readouterr().err


def test_what_is_not_sure_of_its_words_is_not_written(
    spm: Path, tmp_path: Path
) -> None:
    path = write(tmp_path, spm)
    tensors, _ = read_tensors(path)
    tensors["Wemb"][:] = 0
    tensors["decoder_ff_logit_out_b"][:] = 0  # all words are equally likely
    write_marian(path, tensors, SETTINGS)
    request = Request(path, vocabularies=(spm,), languages=("en", "xx"))
    with pytest.raises(ImportedModelError, match="the model is not sure of it"):
        import_model(request, tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"type": "s2s"}, "only 'transformer' can"),
        ({"transformer_postprocess": "n"}, "this shape of Marian's Transformer"),
        ({"dec_cell": "gru"}, "this shape of Marian's Transformer"),
        ({"transformer_heads": "many"}, "transformer-heads: 'many', not a number"),
        ({"enc_depth": 3}, "the model has no encoder_l3"),
        ({"enc_depth": 1}, "have no place here"),
        ({"dim_emb": 18}, "and the model says dim-emb: 18"),
        ({"transformer_dim_ffn": 999999}, "the weights do not fit the model"),
        ({"transformer_heads": 3}, "cannot be divided among"),
    ],
)
def test_other_shapes_are_refused_in_one_line(
    settings: dict[str, object], message: str, spm: Path, tmp_path: Path
) -> None:
    path = write(tmp_path, spm)
    own = SETTINGS | {key.replace("_", "-"): value for key, value in settings.items()}
    write_marian(path, random_tensors(num_pieces(spm)), own)
    with pytest.raises(ImportedModelError) as caught:
        read(path, spm).saved()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_belongs_to_another_vocabulary_is_refused(
    spm: Path, tmp_path: Path
) -> None:
    path = tmp_path / "model.bin"
    write_marian(path, random_tensors(num_pieces(spm) + 1), SETTINGS)
    with pytest.raises(ImportedModelError, match="they do not belong together"):
        read(path, spm)
    with pytest.raises(ImportedModelError, match="not a SentencePiece vocabulary"):
        read(path, path)


@pytest.mark.parametrize(
    ("name", "message"),
    [("nothing", "there is no"), ("text.txt", "is not a model that can be imported")],
)
def test_what_is_no_model_is_said(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("text")
    with pytest.raises(ImportedModelError, match=message):
        recognise(tmp_path / name)


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Cut a file short, or turn some of its bytes, most often near its beginning."""
    if rng.random() < 0.3:
        return content[: rng.randrange(len(content))]
    changed = bytearray(content)
    reach = rng.choice([16, 2000, len(content)])
    for _ in range(rng.choice([1, 4, 64])):
        changed[rng.randrange(min(reach, len(content)))] = rng.choice(
            [0, 1, 127, 128, 255, rng.randrange(256)]
        )
    return bytes(changed)


def break_often(spm: Path, folder: Path, times: int) -> int:
    """Read damaged files; each is read as a model, or refused in one line."""
    rng, refused = random.Random(5), 0
    for name in ("model.enxx.bin", "model.enxx.npz"):
        whole = write(folder, spm, name).read_bytes()
        for _ in range(times // 2):
            (folder / name).write_bytes(damaged(whole, rng))
            refused += is_refused(folder / name, spm)
    return refused


def is_refused(path: Path, spm: Path) -> bool:
    try:
        read(path, spm).saved()
    except ImportedModelError as error:
        return "\n" not in str(error)
    return False


def test_damaged_files_are_refused_in_one_line(spm: Path, tmp_path: Path) -> None:
    assert break_often(spm, tmp_path, 60) > 20


@pytest.mark.faults
def test_a_thousand_damaged_files(spm: Path, tmp_path: Path) -> None:
    assert break_often(spm, tmp_path, 1000) > 300


def test_settings_are_plain_lines() -> None:
    text = b"type: transformer\ndim-vocabs:\n  - 32000\nversion: v1: x\n# no: t\n\0"
    assert parse_settings(text) == {
        "type": "transformer",
        "dim-vocabs": "",
        "version": "v1: x",
    }
