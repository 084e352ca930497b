"""CTranslate2's models and Argos's packages come back as what they were."""

import json
import random
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import torch

from dragoman.config import load_preset
from dragoman.errors import ExportError, ImportedModelError
from dragoman.interchange.argos import export_argos, unpacked
from dragoman.interchange.ctranslate2 import build_specification, export_ctranslate2
from dragoman.interchange.ctranslate2_import import read_ctranslate2, read_variables
from dragoman.interchange.importing import Request, import_model
from dragoman.model_folder import SavedModel, build_for, load_model, save_model
from dragoman.special_tokens import BEGIN, END, PAD
from dragoman.text.tokenizer_pair import TokenizerPair

pytestmark = pytest.mark.usefixtures("ctranslate2")

SMALL: dict[str, Any] = {
    "model.d_model": 16,
    "model.d_ff": 24,
    "model.num_heads": 2,
    "model.num_encoder_layers": 2,
    "model.num_decoder_layers": 1,
    "data.placeholders": False,
}
SHAPES: dict[str, tuple[dict[str, Any], bool]] = {
    "post-norm": ({}, True),
    "pre-norm": ({"model.norm": "pre", "model.activation": "gelu"}, True),
    "separate": ({"model.activation": "swish"}, False),
    "untied": ({"model.tie_embeddings": False, "model.output_bias": True}, True),
    "norms": ({"model.last_norm": True, "model.embedding_norm": True}, True),
    "unended": ({"model.source_end": False, "model.attention_scale": False}, True),
}
SOURCE = torch.tensor([[5, 6, 7, 8, END], [9, END, PAD, PAD, PAD]])
TARGET_IN = torch.tensor([[BEGIN, 9, 10], [BEGIN, 4, 5]])


def make(toy: Path, folder: Path, settings: dict[str, Any], shared: bool) -> Path:
    torch.manual_seed(1)
    one = TokenizerPair.load(toy).source
    pair = TokenizerPair(one, one if shared else TokenizerPair.load(toy).source)
    config = load_preset("base").with_settings(SMALL | settings)
    model = build_for(config, pair)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    save_model(folder, model, pair, config, ("en", "es"), "")
    return folder


def pieces_of(folder: Path) -> tuple[Path, Path]:
    [first, *others] = sorted(folder.glob("tokenizer*.model"))
    return first, others[0] if others else first


def logits(saved: SavedModel) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = saved.model(SOURCE, TARGET_IN)
    return found


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_every_shape_comes_back(
    shape: tuple[dict[str, Any], bool], model_folder: Path, tmp_path: Path
) -> None:
    folder = make(model_folder, tmp_path / "ours", *shape)
    export = export_ctranslate2(folder, "float32", tmp_path / "en-es").folder
    foreign = read_ctranslate2(export, pieces_of(export), ("en", "es"))
    before, after = load_model(folder), foreign.saved()
    mine, theirs = before.tokenizers.source, after.tokenizers.source
    assert theirs.encode("A dog, 42!") == mine.encode("A dog, 42!")
    torch.testing.assert_close(
        logits(after)[..., 3:], logits(before)[..., 3:], atol=1e-5, rtol=1e-5
    )
    # The engine itself says the same, sentence by sentence.
    request = Request(export, languages=("en", "es"), vocabularies=pieces_of(export))
    proof = import_model(request, tmp_path / "again")
    assert "3 of 3 sentences are translated as by CTranslate2" in proof.describe()


@pytest.mark.parametrize("quantization", ["int8", "int16", "float16"])
def test_quantized_weights_become_numbers_again(
    quantization: str, model_folder: Path, tmp_path: Path
) -> None:
    folder = make(model_folder, tmp_path / "ours", {}, shared=True)
    read = []
    for kind in ("float32", quantization):
        export = export_ctranslate2(folder, kind, tmp_path / kind).folder
        foreign = read_ctranslate2(export, pieces_of(export), ("en", "es"))
        foreign.saved()
        read.append(foreign.weights)
    assert read[0].keys() == read[1].keys()
    for name, tensor in read[0].items():
        step = float(tensor.abs().max()) / 200
        torch.testing.assert_close(read[1][name], tensor, atol=step, rtol=2e-3)


def test_sinusoids_that_are_not_stored_are_those_of_the_engine(
    model_folder: Path, tmp_path: Path
) -> None:
    folder = make(model_folder, tmp_path / "ours", {}, shared=True)
    export = export_ctranslate2(folder, "float32", tmp_path / "en-es").folder
    specification = build_specification(load_model(folder))
    for side in (specification.encoder, specification.decoder):
        side.position_encodings.encodings = "__optional"
    specification.validate()
    specification.optimize("float32")
    for old in export.glob("*vocabulary*"):
        old.unlink()
    specification.save(str(export))
    request = Request(export, languages=("en", "es"), vocabularies=pieces_of(export))
    proof = import_model(request, tmp_path / "again")
    assert "as by CTranslate2" in proof.describe()


def test_a_package_goes_out_and_in(model_folder: Path, tmp_path: Path) -> None:
    folder = make(model_folder, tmp_path / "ours", {}, shared=True)
    package = export_argos(folder, tmp_path / "en_es.argosmodel", "float32")
    with zipfile.ZipFile(package) as archive:
        names = archive.namelist()
        [piece_file] = [name for name in names if name.endswith("sentencepiece.model")]
        content = archive.read(piece_file)
    sentencepiece.SentencePieceProcessor(model_proto=content)
    proof = import_model(Request(package), tmp_path / "again")
    assert "as by CTranslate2" in proof.describe()
    after = load_model(tmp_path / "again")
    assert after.languages == ("en", "es")
    before = load_model(folder)
    torch.testing.assert_close(
        logits(after)[..., 3:], logits(before)[..., 3:], atol=1e-5, rtol=1e-5
    )


def test_what_has_no_room_in_a_package_is_refused(
    model_folder: Path, tmp_path: Path
) -> None:
    folder = make(model_folder, tmp_path / "ours", {}, shared=False)
    with pytest.raises(ExportError, match="a model with two tokenizers"):
        export_argos(folder, tmp_path / "x.argosmodel")
    with pytest.raises(ExportError, match=r"ends in \.argosmodel"):
        export_argos(folder, tmp_path / "x.zip")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a/metadata.json": "{}", "b/x": ""}, "it does not hold one folder"),
        ({"a/metadata.json": "{}"}, "it has no sentencepiece.model"),
        ({"a/metadata.json": "{", "a/sentencepiece.model": ""}, "not a whole Argos"),
        ({"a/metadata.json": "{}", "a/sentencepiece.model": ""}, "from_code"),
        ({"a/sentencepiece.model": "\0" * 10**7}, "would swell to many times"),
    ],
)
def test_damaged_packages_are_refused(
    files: dict[str, str], message: str, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "x.argosmodel", "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    with (
        pytest.raises(ImportedModelError, match=message),
        unpacked(tmp_path / "x.argosmodel"),
    ):
        pass


def test_nothing_is_unpacked_outside(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.argosmodel", "w") as made:
        made.writestr("a/../../evil", "x")
        made.writestr("a/model/../../evil", "x")
        made.writestr("a/metadata.json", json.dumps({"from_code": "a", "to_code": "b"}))
        made.writestr("a/sentencepiece.model", "")
    with unpacked(tmp_path / "x.argosmodel") as (folder, languages):
        assert languages == ("a", "b")
        found = sorted(path.name for path in folder.rglob("*"))
        assert found == ["metadata.json", "sentencepiece.model"]
    assert [path.name for path in tmp_path.iterdir()] == ["x.argosmodel"]


def is_refused(folder: Path) -> bool:
    try:
        read_ctranslate2(folder, pieces_of(folder), ("en", "es")).saved()
    except ImportedModelError as error:
        return "\n" not in str(error)
    return False


def break_often(toy: Path, place: Path, times: int) -> int:
    folder = make(toy, place / "ours", {}, shared=True)
    export = export_ctranslate2(folder, "int8", place / "en-es").folder
    rng, refused = random.Random(2), 0
    for _ in range(times):
        name = rng.choice(["model.bin", "model.bin", "config.json"])
        whole = (export / name).read_bytes()
        broken = bytearray(whole)
        if rng.random() < 0.3:
            del broken[rng.randrange(len(broken)) :]
        reach = rng.choice([64, 4000, len(whole)])
        for _ in range(rng.choice([1, 8])):
            if broken:
                place_of = rng.randrange(min(reach, len(broken)))
                broken[place_of] = rng.choice([0, 1, 127, 255])
        (export / name).write_bytes(bytes(broken))
        refused += is_refused(export)
        (export / name).write_bytes(whole)
    return refused


def test_damaged_files_are_refused_in_one_line(
    model_folder: Path, tmp_path: Path
) -> None:
    assert break_often(model_folder, tmp_path, 60) > 15


@pytest.mark.faults
def test_a_thousand_damaged_files(model_folder: Path, tmp_path: Path) -> None:
    assert break_often(model_folder, tmp_path, 1000) > 300


def test_sizes_are_compared_before_anything_is_made(tmp_path: Path) -> None:
    name = b"TransformerSpec\0"
    head = struct.pack("<IH", 6, len(name)) + name + struct.pack("<II", 7, 1)
    huge = struct.pack("<H2sBIIBI", 2, b"a\0", 2, 2**31, 2**31, 0, 16)
    (tmp_path / "model.bin").write_bytes(head + huge + np.zeros(4, "f4").tobytes())
    with pytest.raises(ImportedModelError, match="a shape does not fit its data"):
        read_variables(tmp_path / "model.bin")
