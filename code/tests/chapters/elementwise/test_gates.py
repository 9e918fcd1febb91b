"""The LSTM cell and the gated layer against their formulas, written out number by number."""

import math

import numpy as np
import pytest

from encoderlab.chapters.elementwise.gates import gated_feed_forward, lstm_cell
from encoderlab.model.activations import gelu


def test_a_step_is_the_formula_written_out():
    rng = np.random.default_rng(0)
    d_in, d = 3, 4
    x, h, c = rng.normal(size=d_in), rng.normal(size=d), rng.normal(size=d)
    W, b = rng.normal(size=(d_in + d, 4 * d)), rng.normal(size=4 * d)
    h_new, c_new, gates = lstm_cell(x, h, c, W, b)
    seen = [*x, *h]
    for k in range(d):
        i, f, o, g = (
            sum(s * W[r, block * d + k] for r, s in enumerate(seen)) + b[block * d + k] for block in range(4)
        )
        i, f, o = (1 / (1 + math.exp(-z)) for z in (i, f, o))
        memory = f * c[k] + i * math.tanh(g)
        assert c_new[k] == pytest.approx(memory, rel=1e-13)
        assert h_new[k] == pytest.approx(o * math.tanh(memory), rel=1e-13)
        assert [gate[k] for gate in gates] == pytest.approx([i, f, o, math.tanh(g)], rel=1e-13)


def test_batches_pass_and_gates_stay_between_zero_and_one():
    rng = np.random.default_rng(1)
    x, h = rng.normal(size=(5, 7, 3)), np.zeros((5, 7, 4))
    h_new, c_new, gates = lstm_cell(x, h, h, rng.normal(size=(7, 16)), np.zeros(16))
    assert h_new.shape == c_new.shape == (5, 7, 4)
    for gate in gates[:3]:
        assert 0 < gate.min() < gate.max() < 1


def test_an_open_forget_gate_and_a_shut_input_gate_keep_the_memory():
    c = np.array([0.3, -0.7])
    bias = np.repeat([-1000.0, 1000.0, 0.0, 0.0], 2)  # input, forget, output, candidate
    _, kept, _ = lstm_cell(np.zeros(1), np.zeros(2), c, np.zeros((3, 8)), bias)
    assert kept.tolist() == c.tolist()


def test_the_gated_layer_is_its_formula_and_float32_stays():
    rng = np.random.default_rng(2)
    x, W, V, W_2 = rng.normal(size=(3, 4)), *rng.normal(size=(2, 4, 6)), rng.normal(size=(6, 4))
    np.testing.assert_allclose(gated_feed_forward(x, W, V, W_2), (gelu(x @ W) * (x @ V)) @ W_2, rtol=1e-13)
    single = gated_feed_forward(*(a.astype(np.float32) for a in (x, W, V, W_2)))
    assert single.dtype == np.float32
