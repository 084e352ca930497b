import pytest
import torch

from dragoman.errors import InspectionError
from dragoman.inspection.attention import KINDS, Kind
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.walk_through import walk_through


@pytest.mark.parametrize("kind", KINDS)
def test_each_number_follows_from_the_one_before(seen: Inspection, kind: Kind) -> None:
    walk = walk_through(seen, kind, layer=1, head=1, query=3, key=2)
    close = torch.testing.assert_close
    close(walk.products.sum(), walk.scores[2], rtol=1e-4, atol=1e-5)
    close(walk.scores / len(walk.query) ** 0.5, walk.scaled)
    close(walk.exponentials / walk.total, walk.weights)
    assert walk.exponentials[~walk.allowed].eq(0).all()
    assert walk.head_lengths.shape == (2,)
    close(walk.write.norm(), walk.head_lengths[1])
    assert walk.largest_error < 1e-5
    assert torch.equal(walk.query, seen.layers(kind)[1].queries[1, 3])


def test_a_query_that_is_not_there_is_said(seen: Inspection) -> None:
    with pytest.raises(InspectionError, match="there is no query 99 with key 0"):
        walk_through(seen, "cross", 0, 0, 99, 0)
