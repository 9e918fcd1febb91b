"""The perceptron against its formula, its gradients against finite differences, and that it learns."""

import numpy as np
import pytest

from encoderlab.chapters.elementwise.affine import Affine, collapse, random_stack, stack
from encoderlab.chapters.elementwise.perceptron import fit, logistic_loss, perceptron, perceptron_vjp
from encoderlab.chapters.elementwise.propagation import propagate
from encoderlab.model.activations import ACTIVATIONS

RNG_SEED = 3


def net_and_input():
    rng = np.random.default_rng(RNG_SEED)
    return random_stack(rng, [3, 5, 4, 2], bias=0.5), rng.normal(size=(2, 6, 3)), rng


def test_it_is_affine_maps_with_activations_between():
    (first, second, last), x, _ = net_and_input()
    output, preactivations = perceptron(x, [first, second, last], "tanh")
    hidden = np.tanh(np.tanh(x @ first.W + first.b) @ second.W + second.b)
    np.testing.assert_allclose(output, hidden @ last.W + last.b, rtol=1e-13)
    assert [z.shape for z in preactivations] == [(2, 6, 5), (2, 6, 4)]


def test_with_the_identity_it_is_a_stack_that_collapses():
    layers, x, _ = net_and_input()
    np.testing.assert_allclose(
        perceptron(x, layers, "identity")[0], stack(x, [collapse(layers)]), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_are_those_of_finite_differences(activation):
    layers, x, rng = net_and_input()
    direction = rng.normal(size=(2, 6, 2))

    def loss(x, layers):
        return np.sum(direction * perceptron(x, layers, activation)[0])

    grad_x, grads = perceptron_vjp(direction, x, layers, perceptron(x, layers, activation)[1], activation)
    step = 1e-6
    for array, grad in [
        (x, grad_x),
        *((a, g) for layer, gs in zip(layers, grads, strict=True) for a, g in zip(layer, gs, strict=True)),
    ]:
        assert grad.shape == array.shape
        for index in rng.permutation(array.size)[:5]:
            place = np.unravel_index(index, array.shape)
            value = array[place]
            array[place] = value + step
            above = loss(x, layers)
            array[place] = value - step
            below = loss(x, layers)
            array[place] = value
            assert grad[place] == pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-7)


def test_logistic_loss_is_stable_and_its_gradient_right():
    output, labels = np.array([[-1000.0], [0.3], [1000.0]]), np.array([[1.0], [-1.0], [1.0]])
    loss, grad = logistic_loss(output, labels)
    assert loss == pytest.approx((1000 + np.log1p(np.exp(0.3)) + 0) / 3)
    assert grad[:, 0] == pytest.approx([-1 / 3, 1 / (1 + np.exp(-0.3)) / 3, 0])


def test_training_learns_and_leaves_its_start_alone():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(40, 2))
    labels = np.sign(x[:, 0] * x[:, 1])
    start = random_stack(rng, [2, 8, 1], gain=2**0.5, bias=0.3)
    copies = [Affine(W.copy(), b.copy()) for W, b in start]
    net, losses = fit(x, labels, start, "tanh", steps=400, rate=0.05)
    assert losses[0] > 0.5 > 0.05 > losses[-1]
    assert np.mean(np.sign(perceptron(x, net, "tanh")[0][:, 0]) == labels) == 1
    for layer, copy in zip(start, copies, strict=True):
        for array, before in zip(layer, copy, strict=True):
            assert np.array_equal(array, before)


def test_propagation_of_a_gradient_agrees_with_the_vjp():
    rng = np.random.default_rng(5)
    run = propagate(rng, "tanh", 1.5, depth=6, width=8, batch=4)
    rng = np.random.default_rng(5)  # the same draws again
    layers = random_stack(rng, [8] * 8, gain=1.5)
    x, grad = rng.normal(size=(2, 4, 8))
    layers[-1] = Affine(np.eye(8), np.zeros(8))  # what follows the last activation is not looked at
    output, preactivations = perceptron(x, layers, "tanh")
    grad_x, _ = perceptron_vjp(grad, x, layers, preactivations, "tanh")
    assert run.signal[[0, -1]] == pytest.approx([np.sqrt(np.mean(x**2)), np.sqrt(np.mean(output**2))])
    assert run.gradient[0] == pytest.approx(np.linalg.norm(grad_x) / np.linalg.norm(grad))
    assert run.gradient[-1] == 1
    assert len(run.signal) == len(run.gradient) == 7


def test_orthogonal_sigmoids_lose_at_least_three_quarters_of_a_gradient_a_layer():
    run = propagate(np.random.default_rng(6), "sigmoid", 1.0)
    assert np.all(run.gradient[:-1] < run.gradient[1:])
