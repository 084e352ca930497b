"""One query of one head, step by step: from its input row to the residual stream."""

from dataclasses import dataclass

from torch import Tensor

from dragoman.errors import InspectionError
from dragoman.inspection.attention import Kind
from dragoman.inspection.interventions import check_head
from dragoman.inspection.observation import Observation


@dataclass(frozen=True)
class WalkThrough:
    """The numbers of softmax(QKᵀ / √d_k) V for one query, one key in close-up (§3.2).

    Those of one position are (d_model) or (d_head); those of all keys are (key). With
    rotary positions, query and key of self-attention are shown turned by their place.
    """

    query_input: Tensor  # what W_Q reads
    key_input: Tensor  # what W_K and W_V read at the chosen key
    query: Tensor
    key: Tensor
    value: Tensor
    products: Tensor  # query · key, one product per dimension: their sum is the score
    scores: Tensor  # q·k for every key
    scaled: Tensor  # ÷ √d_k
    allowed: Tensor  # True where the query may attend
    masked: Tensor  # −∞ where it may not
    exponentials: Tensor  # exp(masked − the largest)
    total: Tensor  # their sum
    weights: Tensor  # each divided by the sum
    output: Tensor  # the values, weighted and summed
    write: Tensor  # what this head adds to the stream, through its part of W_O
    head_lengths: Tensor  # (head): how long the write of every head is
    written: Tensor  # what all heads together write, with the bias of W_O
    before: Tensor  # the residual stream as it came
    after: Tensor  # and as it left
    largest_error: float  # the largest |shown − model| over this attention


def walk_through(
    seen: Observation, kind: Kind, layer: int, head: int, query: int, key: int
) -> WalkThrough:
    """Follow one query of one head, with one key in close-up; all count from 0."""
    check_head(seen.model, kind, layer, head)
    attention = seen.layers(kind)[layer]
    rows, columns = attention.mask.shape
    if not (0 <= query < rows and 0 <= key < columns):
        raise InspectionError(
            f"there is no query {query} with key {key}: this attention has {rows} "
            f"queries and {columns} keys, counted from 0"
        )
    masked = attention.masked[head, query]
    exponentials = (masked - masked.max()).exp()
    name = "cross-attention" if kind == "cross" else "self-attention"
    (sublayer,) = (
        sublayer
        for sublayer in seen.sublayers("encoder" if kind == "encoder" else "decoder")
        if (sublayer.layer, sublayer.name) == (layer, name)
    )
    return WalkThrough(
        query_input=attention.read[query],
        key_input=attention.attended[key],
        query=attention.queries[head, query],
        key=attention.keys[head, key],
        value=attention.values[head, key],
        products=attention.queries[head, query] * attention.keys[head, key],
        scores=attention.scores[head, query],
        scaled=attention.scaled[head, query],
        allowed=attention.mask[query],
        masked=masked,
        exponentials=exponentials,
        total=exponentials.sum(),
        weights=attention.weights[head, query],
        output=attention.outputs[head, query],
        write=attention.head_writes[head, query],
        head_lengths=attention.head_writes[:, query].norm(dim=-1),
        written=attention.written[query],
        before=sublayer.before[query],
        after=sublayer.after[query],
        largest_error=attention.largest_error,
    )
