"""An imported model does what every model does: it is scored, tuned and sent on."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.cli.main import main
from dragoman.config import load_preset
from dragoman.interchange.huggingface import OWN
from dragoman.interchange.huggingface_export import export_huggingface
from dragoman.interchange.importing import Request, import_model
from dragoman.model.weights import get_weights
from dragoman.model_folder import build_for, load_model, save_model
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.translator import Translator

SMALL: dict[str, Any] = {
    "model.d_model": 16,
    "model.d_ff": 24,
    "model.num_heads": 2,
    "model.num_encoder_layers": 1,
    "model.num_decoder_layers": 1,
    "model.activation": "swish",
    "data.placeholders": False,
}
PAIRS = [("A dog runs.", "Un perro corre."), ("Two men.", "Dos hombres.")]


@pytest.fixture
def imported(model_folder: Path, tmp_path: Path) -> Path:
    """A model that went out and came in as if it were a stranger's."""
    torch.manual_seed(1)
    tokenizers = TokenizerPair.load(model_folder)
    config = load_preset("base").with_settings(SMALL)
    model = build_for(config, tokenizers)
    save_model(tmp_path / "ours", model, tokenizers, config, ("en", "es"), "")
    theirs = export_huggingface(tmp_path / "ours", tmp_path / "en-es")
    shutil.rmtree(theirs / OWN)
    said = Translator(load_model(tmp_path / "ours")).translate("A dog", beam_size=1)
    request = Request(theirs, known=[("A dog", said)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "dragoman.interchange.importing.original_transformers", lambda _: None
        )
        import_model(request, tmp_path / "imported")
    return tmp_path / "imported"


def test_it_is_tuned_scored_and_exported_again(
    imported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for side, lines in zip(("en", "es"), zip(*PAIRS, strict=True), strict=True):
        (tmp_path / f"text.{side}").write_text("\n".join(lines) + "\n")
    source, target = str(tmp_path / "text.en"), str(tmp_path / "text.es")
    tuned = tmp_path / "tuned"
    asked = ["--source", source, "--target", target]
    assert (
        main(["train", str(tuned), "--from", str(imported), "--steps", "2", *asked])
        == 0
    )
    before, after = load_model(imported), load_model(tuned)
    assert after.config.tokenizer.kind == "imported"
    assert after.tokenizers.source.serialize() == before.tokenizers.source.serialize()
    bias = get_weights(after.model)["output_bias"]
    assert not torch.equal(bias, get_weights(before.model)["output_bias"])
    capsys.readouterr()
    assert main(["score", str(tuned), *asked]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(PAIRS)
    assert (
        main(["evaluate", str(tuned), "--source", source, "--reference", target]) == 0
    )
    assert "BLEU" in capsys.readouterr().out
    again = export_huggingface(tuned, tmp_path / "again")
    assert (again / "model.safetensors").is_file()
