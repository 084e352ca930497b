"""Tensors on the wire: raw little-endian numbers, their shape in the header."""

from typing import Literal

import numpy as np
from starlette.responses import Response
from torch import Tensor

Type = Literal["float16", "float32"]


def tensor_response(tensor: Tensor, type_: Type = "float32") -> Response:
    """Send a tensor; in float16 where it is only painted, not read."""
    numbers = np.ascontiguousarray(tensor.numpy(), dtype=np.dtype(type_))
    little = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False)
    return Response(
        little.tobytes(),
        media_type="application/octet-stream",
        headers={"X-Shape": ",".join(map(str, tensor.shape)), "X-Type": type_},
    )
