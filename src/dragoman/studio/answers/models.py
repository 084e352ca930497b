"""The models on the shelf, and what each of them is."""

from typing import Any

from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk
from dragoman.studio.validation_text import first_sentences


def models(desk: Desk, asked: Asked) -> list[dict[str, Any]]:
    """List the models, those named on the command line before their checkpoints."""
    del asked
    return [_describe(desk, name) for name in desk.shelf.volumes]


def _describe(desk: Desk, name: str) -> dict[str, Any]:
    volume = desk.shelf.volume(name)
    saved = desk.shelf.saved(volume)
    shape = saved.config.model
    layered = shape.kind == "transformer"
    return {
        "name": name,
        "folder": str(volume.folder),
        "step": volume.step,
        "languages": list(saved.languages),
        "kind": shape.kind,
        "layered": layered,
        "encoder_layers": shape.num_encoder_layers,
        "decoder_layers": shape.num_decoder_layers,
        "heads": shape.num_heads,
        "pieces": saved.config.tokenizer.kind,
        "d_model": shape.d_model,
        "d_head": shape.head_size,
        "positions": shape.positions,
        "examples": first_sentences(volume.folder, 3),
        "beam_size": saved.config.decoding.beam_size,
    }
