"""Loops of clusters: build classes of near units, and move units between them while that saves.

A class costs its records times the price of the nodes that its units have in common. Trees are
`NodeTrees`, clusters `ClusterState`; the change of the sum over classes is exact for every move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from divulge.engines import kernel
from divulge.work.arrays import Array

if TYPE_CHECKING:
    from divulge.protection.recoding.local.clusters import ClusterState
    from divulge.protection.recoding.local.node_trees import NodeTrees

LEAST_GAIN = 1e-6
"""Moves that save less are not worth making, in records at their tops."""

OUT_OF_REACH = 1e8
"""Prices from here on are of nodes that have nothing in common."""


@kernel
def climb_to_join(trees: NodeTrees, node: int, leaf: int) -> int:
    """The lowest common ancestor of a node and a leaf of a wide attribute, both by their places.

    Invariant: `x` and `y` are at or above the node and the leaf, and at or below their ancestor.
    """
    x, y = node, leaf
    while x != y:
        if trees.levels[x] <= trees.levels[y]:
            x = trees.parents[x]
        else:
            y = trees.parents[y]
    return x


@kernel
def price_with(trees: NodeTrees, nodes: Array, unit: int) -> float:
    """What a record costs at nodes, once they also cover a unit.

    Invariant: `total` is right for the attributes before a.
    """
    total = 0.0
    leaves, join_prices = trees.leaves, trees.join_prices
    for a in range(nodes.size):
        node = nodes[a]
        if node >= 0:
            total += join_prices[node + leaves[unit, a]]
        else:
            total += trees.prices[climb_to_join(trees, -1 - node, -1 - trees.leaf_nodes[unit, a])]
    return total


@kernel
def cover_unit(trees: NodeTrees, nodes: Array, unit: int) -> float:
    """Raise nodes until they cover a unit too; return what a record then costs.

    Invariant: the attributes before a cover it, and `total` is right for them.
    """
    total = 0.0
    for a in range(nodes.size):
        node = nodes[a]
        if node >= 0:
            place = node + trees.leaves[unit, a]
            total += trees.join_prices[place]
            nodes[a] = trees.joins[place]
        else:
            place = climb_to_join(trees, -1 - node, -1 - trees.leaf_nodes[unit, a])
            total += trees.prices[place]
            nodes[a] = -1 - place
    return total


@kernel
def cover_others(
    trees: NodeTrees, clusters: ClusterState, cluster: int, unit: int, nodes: Array
) -> float:
    """The nodes that a class has without one of its units (-1 for all); what a record costs there.

    Invariant: `nodes` cover the members before `member`, at `price`.
    """
    price, is_first = 0.0, True
    member = clusters.heads[cluster]
    while member >= 0:
        if member != unit:
            if is_first:
                is_first = False
                for a in range(nodes.size):
                    nodes[a] = trees.leaf_nodes[member, a]
            price = cover_unit(trees, nodes, member)
        member = clusters.nexts[member]
    return price


@kernel
def link_unit(clusters: ClusterState, unit: int, cluster: int) -> None:
    """Put a unit into the list of a class.

    Invariant: `heads`, `nexts` and `previous` are lists without end or hole.
    """
    head = clusters.heads[cluster]
    clusters.nexts[unit] = head
    clusters.previous[unit] = -1
    if head >= 0:
        clusters.previous[head] = unit
    clusters.heads[cluster] = unit
    clusters.cluster_of_unit[unit] = cluster
    clusters.members[cluster] += 1


@kernel
def add_unit(trees: NodeTrees, clusters: ClusterState, unit: int, cluster: int) -> float:
    """Put a unit into a class, which may be empty; return what that costs.

    Invariant: nodes, sizes and prices are those of the members.
    """
    before = clusters.sizes[cluster] * clusters.prices[cluster]
    nodes = clusters.nodes[cluster]
    if clusters.heads[cluster] < 0:
        for a in range(nodes.size):
            nodes[a] = trees.leaf_nodes[unit, a]
    clusters.prices[cluster] = cover_unit(trees, nodes, unit)
    clusters.changes[cluster] = clusters.clock[0]
    link_unit(clusters, unit, cluster)
    clusters.sizes[cluster] += clusters.counts[unit]
    return float(clusters.sizes[cluster] * clusters.prices[cluster] - before)


@kernel
def take_unit(trees: NodeTrees, clusters: ClusterState, unit: int) -> float:
    """Take a unit out of its class; return what that costs (less than nothing: it saves).

    Invariant: nodes, sizes and prices are those of the members.
    """
    cluster = clusters.cluster_of_unit[unit]
    before = clusters.sizes[cluster] * clusters.prices[cluster]
    one, other = clusters.previous[unit], clusters.nexts[unit]
    if one >= 0:
        clusters.nexts[one] = other
    else:
        clusters.heads[cluster] = other
    if other >= 0:
        clusters.previous[other] = one
    clusters.cluster_of_unit[unit] = -1
    clusters.changes[cluster] = clusters.clock[0]
    clusters.members[cluster] -= 1
    clusters.sizes[cluster] -= clusters.counts[unit]
    clusters.prices[cluster] = cover_others(trees, clusters, cluster, -1, clusters.nodes[cluster])
    return float(clusters.sizes[cluster] * clusters.prices[cluster] - before)


@kernel
def transfer_unit(
    trees: NodeTrees, clusters: ClusterState, unit: int, cluster: int, batch: int, group: int
) -> float:
    """Move a unit to another class; return the change of the sum. In a batch, note how to undo it.

    Invariant: the journal holds all transfers of the batch, each group's in their order.
    """
    origin = clusters.cluster_of_unit[unit]
    if batch > 0:
        clusters.locks[origin] = batch
        clusters.locks[cluster] = batch
        place = clusters.journal_size[0]
        clusters.journal[place, 0] = unit
        clusters.journal[place, 1] = origin
        clusters.journal[place, 2] = cluster
        clusters.journal[place, 3] = group
        clusters.journal_size[0] = place + 1
    return take_unit(trees, clusters, unit) + add_unit(trees, clusters, unit, cluster)


@kernel
def find_empty_cluster(clusters: ClusterState, batch: int) -> int:
    """A class without units that is not part of the batch; there are more places than units.

    Invariant: places before `next_empty` were looked at since the last round.
    """
    place = clusters.next_empty[0]
    for _ in range(clusters.heads.size):
        place = place + 1 if place + 1 < clusters.heads.size else 0
        if clusters.heads[place] < 0 and (batch == 0 or clusters.locks[place] != batch):
            clusters.next_empty[0] = place
            return place
    return -1


@kernel
def gather_clusters(trees: NodeTrees, clusters: ClusterState, cluster_of_unit: Array) -> None:
    """Begin with given classes.

    Invariant: units before u are in their classes.
    """
    for u in range(cluster_of_unit.size):
        if cluster_of_unit[u] >= 0:
            add_unit(trees, clusters, u, cluster_of_unit[u])


@kernel
def build_clusters(
    trees: NodeTrees, clusters: ClusterState, neighbours: Array, order: Array, least: int
) -> None:
    """Classes of near units, in an order: units that are enough alone; others with their nearest.

    Invariant: a unit that has a class has one of at least `least` records.
    """
    for i in range(order.size):
        if clusters.counts[order[i]] >= least:
            add_unit(trees, clusters, order[i], find_empty_cluster(clusters, 0))
    for i in range(order.size):
        r = order[i]
        if clusters.cluster_of_unit[r] >= 0:
            continue
        cluster = find_empty_cluster(clusters, 0)
        add_unit(trees, clusters, r, cluster)
        while clusters.sizes[cluster] < least:
            best, best_price = -1, OUT_OF_REACH
            member = clusters.heads[cluster]
            while member >= 0:
                for place in range(neighbours.shape[1]):
                    s = neighbours[member, place]
                    if s < 0:
                        break
                    if clusters.cluster_of_unit[s] < 0:
                        price = price_with(trees, clusters.nodes[cluster], s)
                        if price < best_price:
                            best, best_price = s, price
                member = clusters.nexts[member]
            if best < 0:
                break
            add_unit(trees, clusters, best, cluster)
        if clusters.sizes[cluster] < least:
            while clusters.heads[cluster] >= 0:
                take_unit(trees, clusters, clusters.heads[cluster])
    for i in range(order.size):
        r = order[i]
        if clusters.cluster_of_unit[r] >= 0:
            continue
        best, best_cost = -1, np.inf
        for place in range(neighbours.shape[1]):
            s = neighbours[r, place]
            if s < 0:
                break
            b = clusters.cluster_of_unit[s]
            if b >= 0:
                cost = price_insertion(trees, clusters, r, b)
                if cost < best_cost:
                    best, best_cost = b, cost
        if best < 0:
            for b in range(clusters.heads.size):
                if clusters.heads[b] >= 0:
                    price = price_with(trees, clusters.nodes[b], r)
                    if price < OUT_OF_REACH:
                        size = clusters.sizes[b]
                        cost = (size + clusters.counts[r]) * price - size * clusters.prices[b]
                        if cost < best_cost:
                            best, best_cost = b, cost
        if best >= 0:
            add_unit(trees, clusters, r, best)
            continue
        # Nobody within reach has a class: all of them together are one.
        best = find_empty_cluster(clusters, 0)
        add_unit(trees, clusters, r, best)
        for j in range(i + 1, order.size):
            s = order[j]
            if clusters.cluster_of_unit[s] >= 0:
                continue
            if price_with(trees, clusters.nodes[best], s) < OUT_OF_REACH:
                add_unit(trees, clusters, s, best)


@kernel
def price_insertion(trees: NodeTrees, clusters: ClusterState, unit: int, cluster: int) -> float:
    """What it costs all to take a unit into a class.

    Invariant: nothing is changed.
    """
    size = clusters.sizes[cluster]
    price = price_with(trees, clusters.nodes[cluster], unit)
    return float((size + clusters.counts[unit]) * price - size * clusters.prices[cluster])


@kernel
def improve_clusters(
    trees: NodeTrees,
    clusters: ClusterState,
    neighbours: Array,
    units: Array,
    least: int,
    nearest_classes: int,
    batch: int,
    visit: int,
    only_exchanges: bool,
    deferred: Array,
) -> float:
    """Let each unit make the move that saves most; return the change of the sum.

    A unit moves away from a class that keeps enough; is replaced there by a unit that its class can
    spare; changes places with a unit of one of its nearest classes; or, once in a visit of each
    class, the class is dissolved, or a class is founded of units that theirs can spare. In a batch
    (`batch` > 0) no class is part of two moves; units that would have to wait are marked. With
    `only_exchanges` no class gives a unit without taking another.
    Invariant: every class has at least `least` records, or no unit.
    """
    attributes = trees.leaves.shape[1]
    rest = np.empty(attributes, trees.leaves.dtype)
    other = np.empty(attributes, trees.leaves.dtype)
    near = np.empty(nearest_classes, np.int64)
    near_costs = np.empty(nearest_classes, np.float64)
    moved = np.empty(max(2, least) + 1, np.int64)
    origins = np.empty_like(moved)
    total = 0.0
    for i in range(units.size):
        r = units[i]
        a = clusters.cluster_of_unit[r]
        if a < 0 or clusters.members[a] < 2:
            continue
        if batch > 0 and clusters.locks[a] == batch:
            deferred[i] = True
            continue
        # Where nothing has changed since the last look, there is nothing to gain.
        last = clusters.looks[r]
        is_new = clusters.changes[a] >= last
        for place in range(neighbours.shape[1]):
            v = neighbours[r, place]
            if is_new or v < 0:
                break
            is_new = clusters.changes[clusters.cluster_of_unit[v]] >= last
        if not is_new:
            continue
        clusters.clock[0] += 1
        clusters.looks[r] = clusters.clock[0]
        w = clusters.counts[r]
        stay = clusters.sizes[a] * clusters.prices[a]
        left = clusters.sizes[a] - w
        rest_price = cover_others(trees, clusters, a, r, rest)
        # The nearest classes, by what it costs to take the unit in.
        found = 0
        for place in range(neighbours.shape[1]):
            v = neighbours[r, place]
            if v < 0:
                break
            b = clusters.cluster_of_unit[v]
            if b == a or b < 0 or clusters.marks[b] == r:
                continue
            clusters.marks[b] = r
            if batch > 0 and clusters.locks[b] == batch:
                continue
            cost = price_insertion(trees, clusters, r, b)
            if found < nearest_classes or cost < near_costs[found - 1]:
                if found < nearest_classes:
                    found += 1
                slot = found - 1
                while slot > 0 and near_costs[slot - 1] > cost:
                    near_costs[slot], near[slot] = near_costs[slot - 1], near[slot - 1]
                    slot -= 1
                near_costs[slot], near[slot] = cost, b
        for place in range(neighbours.shape[1]):
            v = neighbours[r, place]
            if v < 0:
                break
            b = clusters.cluster_of_unit[v]
            if b >= 0:
                clusters.marks[b] = -1
        if found == 0:
            continue
        best_change, best_class, best_unit = -LEAST_GAIN, -1, -1
        is_spare = left >= least and not only_exchanges
        if is_spare:
            change = near_costs[0] + left * rest_price - stay
            if change < best_change:
                best_change, best_class = change, near[0]
        else:
            member = clusters.heads[a]
            while member >= 0:
                for place in range(neighbours.shape[1]):
                    s = neighbours[member, place]
                    if s < 0:
                        break
                    c = clusters.cluster_of_unit[s]
                    if c < 0 or c == a or left + clusters.counts[s] < least:
                        continue
                    if clusters.sizes[c] - clusters.counts[s] < least:
                        continue
                    if batch > 0 and clusters.locks[c] == batch:
                        continue
                    slot = 0
                    while slot < found and near[slot] == c:
                        slot += 1
                    if slot == found:
                        continue
                    held = clusters.sizes[c] * clusters.prices[c]
                    size = left + clusters.counts[s]
                    if size * rest_price + near_costs[slot] - stay - held >= best_change:
                        continue
                    change = size * price_with(trees, rest, s) + near_costs[slot] - stay - held
                    if change >= best_change:
                        continue
                    kept = clusters.sizes[c] - clusters.counts[s]
                    change += kept * cover_others(trees, clusters, c, s, other)
                    if change < best_change:
                        best_change, best_class, best_unit = change, near[slot], s
                member = clusters.nexts[member]
        for slot in range(found):
            b = near[slot]
            held = clusters.sizes[b] * clusters.prices[b]
            s = clusters.heads[b]
            while s >= 0:
                size, their = left + clusters.counts[s], clusters.sizes[b] - clusters.counts[s] + w
                if size >= least and their >= least:
                    change = size * rest_price - stay - held
                    if change < best_change:
                        change = size * price_with(trees, rest, s) - stay - held
                    if change < best_change:
                        cover_others(trees, clusters, b, s, other)
                        if clusters.members[b] == 1:
                            for x in range(attributes):
                                other[x] = trees.leaf_nodes[r, x]
                        change += their * price_with(trees, other, r)
                        if change < best_change:
                            best_change, best_class, best_unit = change, b, s
                s = clusters.nexts[s]
        group = clusters.journal_size[0]
        if best_class >= 0:
            if best_unit >= 0:
                total += transfer_unit(trees, clusters, best_unit, a, batch, group)
            total += transfer_unit(trees, clusters, r, best_class, batch, group)
            continue
        if is_spare:
            total += found_cluster(trees, clusters, neighbours, r, least, batch, moved, rest, other)
        elif clusters.visits[a] != visit and clusters.members[a] < moved.size:
            clusters.visits[a] = visit
            total += dissolve_cluster(trees, clusters, neighbours, a, batch, moved, origins)
    return total


@kernel
def undo_moves(
    trees: NodeTrees, clusters: ClusterState, moved: Array, origins: Array, count: int, begin: int
) -> float:
    """Put units back where they came from, the last first; return the change of the sum.

    Invariant: those after `place` are back.
    """
    change = 0.0
    for i in range(count):
        place = count - 1 - i
        change += take_unit(trees, clusters, moved[place])
        change += add_unit(trees, clusters, moved[place], origins[place])
    clusters.journal_size[0] = begin
    return change


@kernel
def found_cluster(
    trees: NodeTrees,
    clusters: ClusterState,
    neighbours: Array,
    unit: int,
    least: int,
    batch: int,
    moved: Array,
    nodes: Array,
    other: Array,
) -> float:
    """A new class of a unit and its nearest that their classes can spare, if that saves.

    Each class gives one unit: `saved` is then exact.
    Invariant: `moved` are the units of the new class so far.
    """
    a = clusters.cluster_of_unit[unit]
    for x in range(nodes.size):
        nodes[x] = trees.leaf_nodes[unit, x]
    left = clusters.sizes[a] - clusters.counts[unit]
    saved = clusters.sizes[a] * clusters.prices[a]
    saved -= left * cover_others(trees, clusters, a, unit, other)
    size, count, price = clusters.counts[unit], 1, 0.0
    moved[0] = unit
    clusters.marks[a] = unit
    for place in range(neighbours.shape[1]):
        if size >= least or count == moved.size:
            break
        s = neighbours[unit, place]
        if s < 0:
            break
        c = clusters.cluster_of_unit[s]
        if c < 0 or clusters.marks[c] == unit:
            continue
        if clusters.sizes[c] - clusters.counts[s] < least:
            continue
        if batch > 0 and clusters.locks[c] == batch:
            continue
        clusters.marks[c] = unit
        saved += clusters.sizes[c] * clusters.prices[c]
        left = clusters.sizes[c] - clusters.counts[s]
        saved -= left * cover_others(trees, clusters, c, s, other)
        price = cover_unit(trees, nodes, s)
        size += clusters.counts[s]
        moved[count] = s
        count += 1
    for i in range(count):
        clusters.marks[clusters.cluster_of_unit[moved[i]]] = -1
    if size < least or size * price - saved >= -LEAST_GAIN:
        return 0.0
    cluster = find_empty_cluster(clusters, batch)
    if cluster < 0:
        return 0.0
    begin, change = clusters.journal_size[0], 0.0
    for i in range(count):
        change += transfer_unit(trees, clusters, moved[i], cluster, batch, begin)
    return change


@kernel
def dissolve_cluster(
    trees: NodeTrees,
    clusters: ClusterState,
    neighbours: Array,
    cluster: int,
    batch: int,
    moved: Array,
    origins: Array,
) -> float:
    """Send each unit of a class to its nearest class, if that saves.

    Invariant: the first `count` of `moved` are gone, and `change` is what that has cost.
    """
    held = clusters.sizes[cluster] * clusters.prices[cluster]
    estimate = 0.0  # each as if it went alone
    member = clusters.heads[cluster]
    while member >= 0 and estimate < held:
        _, cost = find_nearest_cluster(trees, clusters, neighbours, member, batch, -1)
        estimate += cost
        member = clusters.nexts[member]
    if estimate >= held - LEAST_GAIN:
        return 0.0
    begin, change, count, spent = clusters.journal_size[0], 0.0, 0, 0.0
    while clusters.heads[cluster] >= 0:
        r = clusters.heads[cluster]
        best, cost = find_nearest_cluster(trees, clusters, neighbours, r, batch, begin)
        spent += cost  # all that it costs, while it saves what the class has cost in all
        if best < 0 or spent >= held - LEAST_GAIN:
            return change + undo_moves(trees, clusters, moved, origins, count, begin)
        moved[count], origins[count] = r, cluster
        count += 1
        change += transfer_unit(trees, clusters, r, best, batch, begin)
    return change


@kernel
def find_nearest_cluster(
    trees: NodeTrees, clusters: ClusterState, neighbours: Array, unit: int, batch: int, begin: int
) -> tuple[int, float]:
    """The other class of near units that takes a unit in at the least cost, and that cost.

    In a batch, only classes that no other group of moves is about.
    Invariant: `best` is the cheapest of those before `place`.
    """
    own = clusters.cluster_of_unit[unit]
    best, best_cost = -1, np.inf
    for place in range(neighbours.shape[1]):
        s = neighbours[unit, place]
        if s < 0:
            break
        b = clusters.cluster_of_unit[s]
        if b < 0 or b == own:
            continue
        is_locked = batch > 0 and clusters.locks[b] == batch
        if is_locked and (begin < 0 or not is_of_group(clusters, b, begin)):
            continue
        cost = price_insertion(trees, clusters, unit, b)
        if cost < best_cost:
            best, best_cost = b, cost
    return best, best_cost


@kernel
def is_of_group(clusters: ClusterState, cluster: int, begin: int) -> bool:
    """Whether a class was locked by the group of moves that is under way.

    Invariant: the journal from `begin` on is that group.
    """
    for place in range(begin, clusters.journal_size[0]):
        if clusters.journal[place, 1] == cluster or clusters.journal[place, 2] == cluster:
            return True
    return False


@kernel
def revert_groups(trees: NodeTrees, clusters: ClusterState, failing: Array) -> float:
    """Undo all groups of moves of the journal that touch a class that fails; empty the journal.

    Invariant: groups after `place` that touch one are undone; no two groups touch the same class.
    """
    change = 0.0
    end = clusters.journal_size[0]
    while end > 0:
        group = clusters.journal[end - 1, 3]
        begin = end
        fails = False
        while begin > 0 and clusters.journal[begin - 1, 3] == group:
            begin -= 1
            fails |= failing[clusters.journal[begin, 1]] or failing[clusters.journal[begin, 2]]
        if fails:
            for i in range(begin, end):
                place = end - 1 - (i - begin)
                unit = clusters.journal[place, 0]
                change += take_unit(trees, clusters, unit)
                change += add_unit(trees, clusters, unit, clusters.journal[place, 1])
        end = begin
    clusters.journal_size[0] = 0
    return change
