"""The residual stream: lengths, norms, and what it would say at each depth."""

from dataclasses import asdict
from typing import Any

from dragoman.inspection.logit_lens import logit_lens
from dragoman.inspection.stream import Norm, Sublayer
from dragoman.studio.asked import Asked
from dragoman.studio.desk import Desk, Question


def stream(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Give each sublayer's lengths and layer norm, and the logit lens."""
    inspection = desk.shown(Question.read(asked))
    return {
        "encoder": [_sublayer(one) for one in inspection.sublayers("encoder")],
        "decoder": [_sublayer(one) for one in inspection.sublayers("decoder")],
        "lens": [asdict(row) for row in logit_lens(inspection)],
    }


def _sublayer(one: Sublayer) -> dict[str, Any]:
    return {
        "layer": one.layer,
        "name": one.name,
        "lengths": one.lengths.tolist(),
        "written_lengths": one.written_lengths.tolist(),
        "norm": _norm(one.norm),
    }


def _norm(norm: Norm) -> dict[str, Any]:
    return {
        "mean": norm.mean.tolist(),
        "variance": norm.variance.tolist(),
        "output_mean": norm.output_mean.tolist(),
        "output_variance": norm.output_variance.tolist(),
        "gamma": norm.gamma.tolist(),
        "beta": norm.beta.tolist(),
    }
