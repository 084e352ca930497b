"""Hugging Face opens what we export, and we open what it has, to the same numbers."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
from torch import nn

from dragoman.config import load_preset
from dragoman.errors import ExportError, ImportedModelError
from dragoman.interchange.huggingface import original_transformers, read_huggingface
from dragoman.interchange.huggingface_export import export_huggingface
from dragoman.interchange.importing import Request, import_model
from dragoman.model.weights import get_weights
from dragoman.model_folder import build_for, load_model, save_model
from dragoman.special_tokens import BEGIN, END, PAD
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.translator import Translator

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")

SMALL: dict[str, Any] = {
    "model.d_model": 16,
    "model.d_ff": 24,
    "model.num_heads": 2,
    "model.num_encoder_layers": 2,
    "model.num_decoder_layers": 1,
    "data.placeholders": False,
}
KINDS: dict[str, tuple[dict[str, Any], bool]] = {
    "post-norm": ({}, True),
    "separate": ({"model.activation": "gelu"}, False),
    "untied": ({"model.tie_embeddings": False, "model.activation": "swish"}, True),
    "untied separate": ({"model.tie_embeddings": False}, False),
    "bias": ({"model.output_bias": True, "model.activation": "quick_gelu"}, True),
    "pre-norm": ({"model.norm": "pre"}, True),
}
SENTENCES = ["A dog runs.", "Two men are here", "x", "It is 42 o'clock: ünïcödé 中"]


@pytest.fixture
def transformers(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return pytest.importorskip("transformers")


def unsettle(model: nn.Module) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))


def make(toy: Path, folder: Path, settings: dict[str, Any], shared: bool) -> Path:
    torch.manual_seed(1)
    one = TokenizerPair.load(toy).source
    pair = TokenizerPair(one, one if shared else TokenizerPair.load(toy).source)
    config = load_preset("base").with_settings(SMALL | settings)
    model = build_for(config, pair)
    unsettle(model)
    save_model(folder, model, pair, config, ("en", "es"), "")
    return folder


@pytest.fixture(params=KINDS.values(), ids=list(KINDS))
def exported(
    request: pytest.FixtureRequest, model_folder: Path, tmp_path: Path
) -> tuple[Path, Path]:
    """A model folder of ours, and what was exported of it."""
    folder = make(model_folder, tmp_path / "ours", *request.param)
    return folder, export_huggingface(folder, tmp_path / "theirs")


def open_theirs(transformers: Any, folder: Path) -> tuple[Any, Any]:
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    return model, transformers.MarianTokenizer.from_pretrained(folder)


def test_transformers_gives_our_logits(
    exported: tuple[Path, Path], transformers: Any
) -> None:
    ours = load_model(exported[0]).model
    theirs, _ = open_theirs(transformers, exported[1])
    source = torch.tensor([[5, 6, 7, 8, END], [9, END, PAD, PAD, PAD]])
    target_in = torch.tensor([[BEGIN, 9, 10], [BEGIN, 4, 5]])
    with torch.no_grad():
        found = theirs(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            decoder_input_ids=target_in,
        ).logits
        torch.testing.assert_close(found, ours(source, target_in), atol=3e-5, rtol=3e-5)


def test_transformers_reads_and_says_the_same_text(
    exported: tuple[Path, Path], transformers: Any
) -> None:
    translator = Translator(load_model(exported[0]))
    model, tokenizer = open_theirs(transformers, exported[1])
    for sentence in SENTENCES:
        ids = tokenizer(sentence).input_ids
        assert ids == [*translator.tokenizers.source.encode(sentence), END]
        with torch.no_grad():
            read = torch.tensor([ids])
            found = model.generate(read, num_beams=1, max_new_tokens=20)[0, 1:]
        ours = translator.engine.pytorch.translate([ids[:-1]], _greedy(translator))[0][
            0
        ]
        assert found.tolist()[: len(ours.tokens)] == list(ours.tokens)[:20]


def _greedy(translator: Translator) -> Any:
    from dataclasses import replace

    return replace(translator.options, beam_size=1, max_repeats=0)


def test_an_export_is_imported_as_the_very_same_model(
    exported: tuple[Path, Path], tmp_path: Path
) -> None:
    before = load_model(exported[0])
    after = read_huggingface(exported[1], ("xx", "yy")).saved()
    assert after.config == before.config
    assert after.languages == ("en", "es")
    theirs = get_weights(after.model)
    for name, tensor in get_weights(before.model).items():
        assert torch.equal(theirs[name], tensor), name


def opus(toy: Path, folder: Path, transformers: Any, **changes: Any) -> Path:
    """A random model with ids as no program assumes them, as OPUS-MT has them."""
    torch.manual_seed(3)
    content = TokenizerPair.load(toy).source.serialize()[1]
    processor = sentencepiece.SentencePieceProcessor(model_proto=content)
    pieces = [processor.id_to_piece(i) for i in range(4, processor.vocab_size())]
    del pieces[300:303]  # some pieces are not in the vocabulary
    pieces = [*pieces[:7], "</s>", ">>fra<<", *pieces[7:], "<unk>", "<pad>"]
    ids = {piece: number for number, piece in enumerate(pieces)}
    values = {
        "vocab_size": len(pieces),
        "decoder_vocab_size": len(pieces),
        "d_model": 16,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 24,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "activation_function": "swish",
        "scale_embedding": True,
        "pad_token_id": ids["<pad>"],
        "eos_token_id": ids["</s>"],
        "bos_token_id": 0,
        "forced_eos_token_id": None,
        "decoder_start_token_id": ids["<pad>"],
    }
    model = transformers.MarianMTModel(transformers.MarianConfig(**values | changes))
    unsettle(model)
    with torch.no_grad():
        model.final_logits_bias.normal_()
        model.final_logits_bias[0, ids["<pad>"]] = -50.0
    folder.mkdir()
    model.generation_config.bad_words_ids = [[ids["<pad>"]]]
    model.generation_config.max_length = 60
    model.save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps(ids))
    for side in ("source", "target"):
        (folder / f"{side}.spm").write_bytes(content)
    config = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": "en",
        "target_lang": "fr",
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize(
    "changes",
    [{}, {"scale_embedding": False}, {"tie_word_embeddings": False}],
    ids=["opus", "unscaled", "untied"],
)
def test_ids_are_never_assumed(
    changes: dict[str, Any], model_folder: Path, tmp_path: Path, transformers: Any
) -> None:
    folder = opus(model_folder, tmp_path / "opus-mt-en-fr", transformers, **changes)
    saved = read_huggingface(folder, ("en", "fr")).saved()
    theirs, tokenizer = open_theirs(transformers, folder)
    sentence = ">>fra<< Two dogs, 中 and a man."
    ids = tokenizer(sentence).input_ids
    ours = saved.tokenizers.source.encode(sentence)
    assert saved.tokenizers.source.pieces(ours) == tokenizer.convert_ids_to_tokens(
        ids[:-1]
    )
    assert ours[0] == saved.tokenizers.source.encode(">>fra<<")[0]
    vocabulary = json.loads((folder / "vocab.json").read_text())
    pieces = saved.tokenizers.target.pieces(range(4, len(vocabulary) + 1))
    rows = [vocabulary[piece] for piece in pieces]
    with torch.no_grad():
        start = theirs.config.decoder_start_token_id
        said = torch.tensor([[start, rows[3], rows[9]]])
        expected = theirs(input_ids=torch.tensor([ids]), decoder_input_ids=said).logits
        found = saved.model(
            torch.tensor([[*ours, END]]), torch.tensor([[BEGIN, 7, 13]])
        )
    torch.testing.assert_close(
        found[0, :, 4:], expected[0][:, rows], atol=3e-5, rtol=3e-5
    )
    assert found[..., [PAD, BEGIN]].max() < -1000


def test_an_import_is_compared_with_transformers_and_says_so(
    model_folder: Path, tmp_path: Path, transformers: Any
) -> None:
    folder = opus(model_folder, tmp_path / "opus-mt-en-fr", transformers)
    original = original_transformers(folder)
    assert original is not None
    proof = import_model(Request(folder), tmp_path / "ours")
    assert proof.describe() == f"3 of 3 sentences are translated as by {original.name}"
    assert proof.describe() in (tmp_path / "ours" / "README.md").read_text()
    assert load_model(tmp_path / "ours").languages == ("en", "fr")


def test_what_says_something_else_is_not_written(
    model_folder: Path, tmp_path: Path, transformers: Any
) -> None:
    folder = opus(model_folder, tmp_path / "opus-mt-en-fr", transformers)
    with pytest.raises(ImportedModelError, match="the self-test failed: 'Hi' became"):
        import_model(Request(folder, known=[("Hi", "Salut")]), tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model.positions": "rotary"}, 'model.positions="rotary" cannot be exported'),
        ({"model.norm_kind": "rms"}, 'model.norm_kind="rms" cannot be exported'),
        ({"model.activation": "swiglu"}, 'model.activation="swiglu" cannot'),
        ({"model.last_norm": True}, "model.last_norm=true cannot"),
        (
            {"model.norm": "pre", "model.tie_embeddings": False},
            "Pegasus has one embedding",
        ),
    ],
)
def test_what_has_no_place_there_is_refused(
    settings: dict[str, Any], message: str, model_folder: Path, tmp_path: Path
) -> None:
    folder = make(model_folder, tmp_path / "ours", settings, shared=True)
    with pytest.raises(ExportError) as caught:
        export_huggingface(folder, tmp_path / "theirs")
    assert message in str(caught.value)
    assert not (tmp_path / "theirs").exists()


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("opened",)


def test_a_pickle_that_can_run_is_refused(
    model_folder: Path,
    tmp_path: Path,
    transformers: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = opus(model_folder, tmp_path / "opus-mt-en-fr", transformers)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ImportedModelError, match=r"is not opened|cannot be read"):
        read_huggingface(folder, ("en", "fr"))
    torch.save({"weights": Evil()}, folder / "pytorch_model.bin")
    with pytest.raises(ImportedModelError, match="holds more than weights"):
        read_huggingface(folder, ("en", "fr"))
    assert "opened" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", "{", "is not JSON"),
        ("config.json", '{"model_type": "bert"}', "only 'marian'"),
        ("vocab.json", '{"a": 7}', "the id 7, of 1"),
        ("vocab.json", '{"a": 0}', "they do not belong together"),
        ("model.safetensors", "x", "cannot be read"),
        ("source.spm", None, "copy all files of the model"),
    ],
)
def test_damage_is_said_in_one_line(
    file: str,
    content: str | None,
    message: str,
    model_folder: Path,
    tmp_path: Path,
    transformers: Any,
) -> None:
    folder = opus(model_folder, tmp_path / "opus-mt-en-fr", transformers)
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content)
    with pytest.raises(ImportedModelError) as caught:
        read_huggingface(folder, ("en", "fr"))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
