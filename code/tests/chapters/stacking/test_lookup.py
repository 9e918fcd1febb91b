"""Two-hop retrieval by hand: two heads in two layers, or many that bet on the first hop in one."""

import numpy as np
import pytest

from encoderlab.chapters.stacking.lookup import (
    ANSWER,
    HOP,
    QUERY,
    VALUE,
    look_up,
    read,
    two_hops_in_one_layer,
    with_empty_slots,
)
from encoderlab.model.attention import multi_head_attention
from encoderlab.training.tasks.retrieval import two_hop

N_SYMBOLS = 32


@pytest.fixture(scope="module")
def batch():
    return two_hop(8, N_SYMBOLS).draw(np.random.default_rng(0), 1000)


def attend(x, weights, n_heads=1):
    return multi_head_attention(x, weights, n_heads)[0]


def test_two_layers_of_one_head_are_right_every_time(batch):
    x = with_empty_slots(batch.features)
    x = x + attend(x, look_up(N_SYMBOLS, QUERY, HOP))
    x = x + attend(x, look_up(N_SYMBOLS, HOP, ANSWER))
    assert (read(x) == batch.target).all()
    logits = x[:, -1, -N_SYMBOLS:]
    np.testing.assert_allclose(logits, np.eye(N_SYMBOLS)[batch.target], atol=1e-12)


def test_one_layer_is_right_every_time_with_a_head_for_every_symbol(batch):
    x = with_empty_slots(batch.features)
    x = x + attend(x, two_hops_in_one_layer(N_SYMBOLS), N_SYMBOLS + 1)
    assert (read(x) == batch.target).all()
    logits = x[:, -1, -N_SYMBOLS:].copy()
    logits[np.arange(1000), batch.target] -= 1
    assert logits.max() < 1e-12  # only the answer is left, and less than nothing of the first hop


@pytest.mark.parametrize("heads", [8, 16, 24])
def test_every_head_that_is_missing_costs_one_symbol(batch, heads):
    x = with_empty_slots(batch.features)
    x = x + attend(x, two_hops_in_one_layer(N_SYMBOLS, np.eye(heads, N_SYMBOLS, dtype=bool)), heads + 1)
    logits = x[:, -1, -N_SYMBOLS:]
    entries = batch.features.reshape(1000, 9, 3, N_SYMBOLS)
    q = entries[:, -1, 2].argmax(axis=-1)
    row = (entries[:, :8, 0].argmax(axis=-1) == q[:, None]).argmax(axis=1)
    between = entries[np.arange(1000), row, 1].argmax(axis=-1)  # where the first hop ends
    np.testing.assert_array_equal(logits.max(axis=1) > 0.5, between < heads)
    assert (read(x) == batch.target)[between < heads].all()


def by_sets(watched, keys, values, q) -> np.ndarray:
    """Answer as heads that watch sets do, in whole numbers: who is looked at by the rules, not by softmax."""
    scores = np.zeros(watched.shape[1])
    first_hop = values[keys == q][0]
    for head in watched:
        logits = 4 * (keys == q) + head[keys].astype(int) - 4 * head[values].astype(int)
        best = logits == logits.max()
        np.add.at(scores, values[best], 1 / best.sum())
        scores[first_hop] -= 1
    return scores


@pytest.mark.parametrize("n_symbols", [16, 48])
def test_heads_that_watch_sets_follow_their_rules(rng, n_symbols):
    batch = two_hop(8, n_symbols).draw(rng, 40)
    watched = rng.random((20, n_symbols)) < 0.2
    x = with_empty_slots(batch.features)
    logits = (x + attend(x, two_hops_in_one_layer(n_symbols, watched), 21))[:, -1, -n_symbols:]
    slots = batch.features.reshape(40, 9, 3, n_symbols).argmax(axis=-1)
    for found, (keys, values, _), q in zip(
        logits, slots[:, :8].transpose(0, 2, 1), slots[:, 8, 2], strict=True
    ):
        np.testing.assert_allclose(found, by_sets(watched, keys, values, q), atol=1e-12)


def test_the_heads_it_takes_do_not_grow_with_the_symbols(rng):
    right = []
    for n_symbols in (16, 64):
        batch = two_hop(8, n_symbols).draw(rng, 200)
        x = with_empty_slots(batch.features)
        layer = two_hops_in_one_layer(n_symbols, rng.random((32, n_symbols)) < 0.2)
        right.append(np.mean(read(x + attend(x, layer, 33)) == batch.target))
    assert min(right) > 0.85
    with pytest.raises(ValueError, match=r"watched must have shape \(heads, 16\), got \(3, 15\)"):
        two_hops_in_one_layer(16, np.ones((3, 15), bool))


def test_three_hops_in_two_layers(batch):
    """Entries hop too: after one layer each of them knows the value of its value."""
    x = with_empty_slots(batch.features)
    x = x + attend(x, look_up(N_SYMBOLS, QUERY, HOP)) + attend(x, look_up(N_SYMBOLS, VALUE, HOP))
    x = x + attend(x, look_up(N_SYMBOLS, HOP, ANSWER, copies=HOP))
    keys, values = batch.features.reshape(1000, 9, 3, N_SYMBOLS)[:, :8, :2].argmax(axis=-1).transpose(2, 0, 1)
    third = values[keys == batch.target[:, None]]  # the value of the answer to two hops
    np.testing.assert_array_equal(read(x), third)
