"""Every task asks what it says, and no baseline is lower than the shortcut it stands for."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from encoderlab.training.tasks import (
    TASKS,
    copy_previous,
    facts,
    induction,
    modular_addition,
    parity,
    two_hop,
    xor_among,
)
from encoderlab.training.tasks.boolean import all_bits, best_halfspace
from encoderlab.training.tasks.tables import sum_of_look_ups, two_keys

DRAWN = {
    "copy_previous": copy_previous(6),
    "induction": induction(8, 10),
    "two_hop": two_hop(5, 9),
}


def best_answer_share(examples):
    """Return the accuracy of the best answer to each thing seen, all pairs (seen, answer) equally likely."""
    answers = defaultdict(Counter)
    for seen, answer in examples:
        answers[seen][answer] += 1
    total = sum(sum(counter.values()) for counter in answers.values())
    return Fraction(sum(max(counter.values()) for counter in answers.values()), total)


@pytest.mark.parametrize("name", TASKS)
def test_examples_fit_the_shape_and_come_from_the_generator_alone(name):
    task = TASKS[name](2) if name == "parity" else TASKS[name]()
    features, target = task.draw(np.random.default_rng(0), 50)
    assert features.shape == (50, task.shape.n, task.shape.n_features)
    assert features.dtype == np.float32
    assert target.shape == (50,)
    assert set(target) <= set(range(task.shape.n_classes))
    again = task.draw(np.random.default_rng(0), 50)
    assert np.array_equal(features, again.features)
    assert np.array_equal(target, again.target)
    assert not np.array_equal(target, task.draw(np.random.default_rng(1), 50).target)
    assert 0 < min(task.baselines.values()) <= task.line_to_beat < 1
    assert task.baselines["chance"] == 1 / task.shape.n_classes


@pytest.mark.parametrize("task", DRAWN.values(), ids=DRAWN)
def test_classes_are_equally_frequent(task):
    counts = np.bincount(task.draw(np.random.default_rng(0), 20_000).target, minlength=task.shape.n_classes)
    expected = 20_000 / task.shape.n_classes
    assert np.abs(counts - expected).max() < 5 * expected**0.5


def test_the_examination_is_fixed_and_is_everything_where_that_is_known():
    assert np.array_equal(two_hop().examination(64).features, two_hop().examination(64).features)
    assert len(parity(4).examination().target) == 16


@pytest.mark.parametrize("bos", [False, True])
def test_parity_asks_for_the_sum_of_bits(bos):
    features, target = parity(4, bos).every
    token = features[:, -1, :8].reshape(16, 4, 2)
    assert np.array_equal(token.sum(axis=-1), np.ones((16, 4)))
    assert np.array_equal(token[:, :, 1].sum(axis=1) % 2, target)
    assert len(np.unique(features, axis=0)) == 16
    if bos:
        assert features[:, 0, -1].all()
        assert not features[:, 0, :-1].any()


@pytest.mark.parametrize(("bits", "functions"), [(2, 14), (3, 104), (4, 1882)])
def test_weights_of_size_three_give_every_threshold_function(bits, functions):
    """OEIS A000609 counts them; so the search behind the baseline misses none."""
    weights = np.array(list(product(range(-3, 4), repeat=bits)))
    sums = weights @ all_bits(bits).T
    thresholds = np.arange(sums.min() - 0.5, sums.max() + 1)
    found = np.unique((sums[:, None] > thresholds[:, None]).reshape(-1, 2**bits), axis=0)
    assert len(found) == functions


def test_the_best_threshold_on_parity():
    assert best_halfspace(all_bits(2).sum(axis=1) % 2, 2) == 3 / 4
    assert best_halfspace(all_bits(4).sum(axis=1) % 2, 4) == 11 / 16
    assert best_halfspace(all_bits(4).max(axis=1), 4) == 1  # OR is a threshold


def test_xor_among_marks_two_and_asks_for_their_xor():
    task = xor_among(4)
    features, target = task.every
    symbols = features.argmax(axis=-1)
    assert len(np.unique(symbols, axis=0)) == len(symbols) == 6 * 16
    assert (symbols[:, -1] == 4).all()
    for row, answer in zip(symbols[:, :4], target, strict=True):
        marked = [symbol - 2 for symbol in row if symbol >= 2]
        assert len(marked) == 2
        assert answer == marked[0] ^ marked[1]
    ones = (symbols[:, :4] == 3).sum(axis=1)
    thresholds = [
        np.mean((sign * ones > sign * cut) == target) for sign in (1, -1) for cut in (-0.5, 0.5, 1.5)
    ]
    assert max(thresholds) == task.baselines["threshold on the number of marked ones"] == 0.75
    one_marked = [
        (symbols[i, position], target[i])
        for position in range(4)
        for i in np.flatnonzero(symbols[:, position] >= 2)
    ]
    assert best_answer_share(one_marked) == Fraction(1, 2)


def test_copy_previous_asks_for_the_last_but_one():
    features, target = copy_previous(6).draw(np.random.default_rng(0), 100)
    symbols = features.argmax(axis=-1)
    assert np.array_equal(symbols[:, 4], target)
    assert np.array_equal(np.sort(symbols, axis=1), np.tile(np.arange(6), (100, 1)))
    without_order = ((order[-1], order[-2]) for order in permutations(range(5)))
    assert best_answer_share(without_order) == Fraction(1, 4)
    assert copy_previous(5).baselines["any token but the last"] == 1 / 4


def test_induction_asks_for_the_successor():
    features, target = induction(8, 10).draw(np.random.default_rng(0), 500)
    for symbols, answer in zip(features.argmax(axis=-1).tolist(), target, strict=True):
        *earlier, query = symbols
        assert len(set(earlier)) == 7
        assert earlier[earlier.index(query) + 1] == answer
    copies = Counter(row[:-1].index(row[-1]) for row in features.argmax(axis=-1).tolist())
    assert set(copies) == set(range(6))


def test_shortcuts_of_induction_are_as_good_as_it_says():
    """All sequences of four symbols and their query, and every order of preference."""
    n, places = 5, 3
    sequences = [(order, copy) for order in permutations(range(n - 1)) for copy in range(places)]
    blind = ((order[copy], order[copy + 1]) for order, copy in sequences)
    baselines = induction(n, n - 1).baselines
    assert best_answer_share(blind) == Fraction(1, places)
    assert baselines["which tokens, not their order"] == 1 / places

    def accuracy(preference):
        first_choice = ((next(j for j in preference if j != copy), copy + 1) for _, copy in sequences)
        return Fraction(sum(guess == right for guess, right in first_choice), len(sequences))

    best = max(accuracy(preference) for preference in permutations(range(n - 1)))
    assert float(best) == baselines["one position"] == 2 / places


def test_two_hop_states_a_single_cycle_and_asks_two_steps_on():
    m, n_symbols = 5, 9
    features, target = two_hop(m, n_symbols).draw(np.random.default_rng(0), 500)
    for rows, answer in zip(features.reshape(500, m + 1, 3, n_symbols), target, strict=True):
        assert not rows[m, :2].any()
        assert not rows[:m, 2].any()
        sigma = dict(zip(rows[:m, 0].argmax(axis=-1), rows[:m, 1].argmax(axis=-1), strict=True))
        query = rows[m, 2].argmax()
        assert sigma[sigma[query]] == answer
        orbit = {query}
        while sigma[query] not in orbit:
            query = sigma[query]
            orbit.add(query)
        assert orbit == set(sigma)
        assert len(orbit) == m


def test_neighbours_on_a_cycle_tell_nothing_more_of_two_hops():
    """All cycles on six symbols, all queries: seen are the query, its image and its preimage."""
    cycles = [(0, *rest) for rest in permutations(range(1, 6))]
    seen = (
        ((cycle[i], cycle[(i + 1) % 6], cycle[i - 1]), cycle[(i + 2) % 6])
        for cycle in cycles
        for i in range(6)
    )
    assert best_answer_share(seen) == Fraction(1, 3)
    assert two_hop(6, 6).baselines["any but the query and its neighbours"] == 1 / 3


@pytest.mark.parametrize("p", [2, 3, 5, 11])
def test_modular_addition(p):
    task = modular_addition(p)
    symbols = task.every.features.argmax(axis=-1)
    assert len(np.unique(symbols, axis=0)) == p * p
    assert np.array_equal((symbols[:, 0] + symbols[:, 1]) % p, task.every.target)
    one_operand = best_answer_share(zip(symbols[:, 0], task.every.target, strict=True))
    assert one_operand == Fraction(1, p)
    assert task.baselines["one operand"] == 1 / p
    closed_form = (3 * p * p + p % 2) / (4 * p * p)  # the p middle sums of 2p − 1
    assert task.baselines["sum of two look-ups, at least"] == pytest.approx(closed_form, abs=1e-12)


def test_facts_are_a_table_with_its_own_baselines():
    task = facts(4, 3, 5, seed=2)
    symbols = task.every.features.argmax(axis=-1)
    assert len(np.unique(symbols, axis=0)) == 12
    assert set(symbols[:, 0]) == set(range(4))
    assert set(symbols[:, 1]) == set(range(4, 7))
    for name, seen in (
        ("most frequent value", np.zeros(12)),
        ("most frequent value of the subject", symbols[:, 0]),
        ("most frequent value of the relation", symbols[:, 1]),
    ):
        share = best_answer_share(zip(seen.tolist(), task.every.target.tolist(), strict=True))
        assert task.baselines[name] == pytest.approx(float(share), abs=1e-12)


def test_a_sum_of_look_ups_computes_or_and_not_xor():
    a, b = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    features = two_keys(a, 2 + b, 4)
    assert sum_of_look_ups(features, a | b, 2) == 1
    assert sum_of_look_ups(features, a ^ b, 2) <= 3 / 4
    baselines = dict(facts().baselines)
    assert baselines.pop("sum of two look-ups, at least") > max(baselines.values())


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: parity(0), "bits"),
        (lambda: parity(5), "bits"),
        (lambda: xor_among(1), "n"),
        (lambda: copy_previous(1), "n"),
        (lambda: induction(3), "n"),
        (lambda: induction(16, 14), "n_symbols"),
        (lambda: two_hop(3), "size_of_cycle"),
        (lambda: two_hop(8, 7), "n_symbols"),
        (lambda: modular_addition(1), "p"),
        (lambda: facts(n_values=0), "n_values"),
    ],
)
def test_impossible_sizes_are_refused(make, argument):
    with pytest.raises(ValueError, match=rf"^{argument} must be"):
        make()
