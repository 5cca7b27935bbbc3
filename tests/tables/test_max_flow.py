"""Maximum flow stands twice, on arrays and on patterns of bits: both give the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from divulge.tables.candidate_tables import pattern_kernels
from divulge.tables.candidate_tables.small_network import MOST_CELLS, BitNetwork
from divulge.tables.feasibility import network_kernels
from divulge.tables.feasibility.network import UNBOUNDED, Network


@st.composite
def random_networks(draw: st.DrawFn) -> Network:
    """Any cells between any sums; a cell may also lead from a sum to itself."""
    nodes = draw(st.integers(1, 8))
    ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1))
    tail, head = np.array(draw(st.lists(ends, min_size=1, max_size=MOST_CELLS)), np.int64).T
    return Network(cells=np.arange(len(tail)), tail=tail.copy(), head=head.copy(), nodes=nodes)


def flow_by_arrays(
    network: Network, values: np.ndarray, pattern: np.ndarray, cell: int, falling: int, limit: int
) -> tuple[int, set[int] | None]:
    """How far a cell moves, and the cut where it cannot move as far as it is asked."""
    rise = np.where(pattern, UNBOUNDED, 0)
    capacity = np.column_stack([rise, np.where(pattern, values, 0)]).ravel()
    asked = np.array([cell]), np.array([falling]), np.array([limit])
    [flow], [reached] = network_kernels.max_flows(*network.arcs, capacity, *asked, 0)
    return int(flow), None if flow == limit else set(np.flatnonzero(reached).tolist())


def flow_by_bits(
    network: Network, values: np.ndarray, pattern: np.ndarray, cell: int, falling: int, limit: int
) -> tuple[int, set[int] | None]:
    bits = BitNetwork(network, len(values)).to_bits(pattern)
    residual = np.full(2 * len(values), -1)  # what an earlier call left there must not matter
    came_by, queue = np.full(network.nodes, 7), np.full(network.nodes, 7)
    flow = pattern_kernels._max_flow(
        *network.arcs, values, bits, cell, falling, limit, residual, came_by, queue
    )
    assert (residual >= 0).all()
    return flow, None if flow == limit else set(np.flatnonzero(came_by != -1).tolist())


@given(random_networks(), st.data())
def test_a_cell_moves_as_far_by_bits_as_by_arrays_and_the_same_cut_bounds_it(
    network: Network, data: st.DataObject
) -> None:
    cells = len(network.cells)
    values = np.array(data.draw(st.lists(st.integers(0, 12), min_size=cells, max_size=cells)))
    pattern = np.array(data.draw(st.lists(st.booleans(), min_size=cells, max_size=cells)))
    cell = data.draw(st.integers(0, cells - 1))
    limit = data.draw(st.integers(1, 30))
    for falling in (0, 1):
        by_bits = flow_by_bits(network, values, pattern, cell, falling, limit)
        assert by_bits == flow_by_arrays(network, values, pattern, cell, falling, limit)


def test_the_last_of_64_cells_is_a_cell_like_others() -> None:
    """Its bit is the sign of the number."""
    two_sums = Network(
        cells=np.arange(MOST_CELLS),
        tail=np.zeros(MOST_CELLS, np.int64),
        head=np.ones(MOST_CELLS, np.int64),
        nodes=2,
    )
    values, pattern = np.arange(MOST_CELLS), np.zeros(MOST_CELLS, bool)
    pattern[[0, MOST_CELLS - 1]] = True
    assert flow_by_bits(two_sums, values, pattern, 0, 0, 99) == (MOST_CELLS - 1, {1})
    assert flow_by_arrays(two_sums, values, pattern, 0, 0, 99) == (MOST_CELLS - 1, {1})
