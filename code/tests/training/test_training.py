"""Training: exact gradients, the paper's Adam, checkpoints that resume bit for bit, and runs that blow up."""

import numpy as np
import pytest
from autograd.misc.optimizers import adam as autograd_adam
from conftest import SMALL, SWITCHES, numerical_gradient

from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.training import Classification, train
from encoderlab.training.adam import Adam, flatten, warmed_up
from encoderlab.training.checkpoint import restore, save, write_atomically
from encoderlab.training.classifier import Classifier, Shape
from encoderlab.training.covariate_shift import covariate_shift
from encoderlab.training.distillation import Distillation, best_affine_error, random_teacher, relative_error
from encoderlab.training.loss import cross_entropy, squared_error
from encoderlab.training.tasks import parity, two_hop

SHAPE = Shape(n=4, n_features=5, n_classes=3, read_at=1)


def a_run(seed=0, dtype=np.float32):
    """Return a small objective and the generator of its batches."""
    weights_rng, batches_rng = np.random.default_rng(seed).spawn(2)
    config = EncoderConfig(d_model=8, n_heads=2, d_ff=8, depth=2, norm="pre")
    task = two_hop(5, 6)
    model = Classifier.random(task.shape, config, weights_rng, dtype=dtype)
    return Classification(model, task, batch=16), batches_rng


class Interrupted:
    """An objective that raises, or whose loss or gradient is not finite, at one step."""

    def __init__(self, inner, at, event):
        self.inner, self.at, self.event, self.calls = inner, at, event, 0

    @property
    def vector(self):
        """Return the inner one's."""
        return self.inner.vector

    def loss_and_gradient(self, rng):
        """Let the event happen at its step."""
        loss, grad = self.inner.loss_and_gradient(rng)
        self.calls += 1
        if self.calls - 1 == self.at:
            if isinstance(self.event, type):
                raise self.event
            loss, grad = self.event(loss, grad)
        return loss, grad


# Losses


def test_cross_entropy_against_its_definition(rng):
    logits, target = rng.normal(size=(6, 4)) * 3, rng.integers(4, size=6)
    loss, grad = cross_entropy(logits, target)
    weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert loss == pytest.approx(
        -np.mean([np.log(w[t]) for w, t in zip(weights, target, strict=True)]), rel=1e-12
    )
    expected = numerical_gradient(lambda s: cross_entropy(s, target)[0], logits)
    np.testing.assert_allclose(grad, expected, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cross_entropy_of_extreme_logits(dtype):
    loss, grad = cross_entropy(np.array([[1000.0, -1000.0], [-1000.0, 1000.0]], dtype), np.array([0, 0]))
    assert loss == 1000.0
    assert grad.dtype == dtype
    assert np.array_equal(grad, np.array([[0, 0], [-0.5, 0.5]]))


@pytest.mark.parametrize("target", [np.array([0, 3]), np.array([-1, 0]), np.array([0]), np.array([0.0, 1.0])])
def test_cross_entropy_refuses_targets_that_are_no_classes(target):
    with pytest.raises(ValueError, match=r"^target must"):
        cross_entropy(np.zeros((2, 3)), target)


def test_squared_error(rng):
    output, target = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3, 4))
    loss, grad = squared_error(output, target)
    assert loss == pytest.approx(np.linalg.norm(output - target) ** 2 / 24, rel=1e-12)
    np.testing.assert_allclose(
        grad, numerical_gradient(lambda o: squared_error(o, target)[0], output), atol=1e-9
    )


# The classifier


@pytest.mark.parametrize(("ffn", "residual", "norm"), SWITCHES)
@pytest.mark.parametrize("positions", ["none", "learned", "sinusoidal"])
def test_every_gradient_of_the_classifier_by_finite_differences(rng, ffn, residual, norm, positions):
    config = EncoderConfig(
        **{**SMALL, "depth": 2},
        ffn=ffn,
        residual=residual,
        norm=norm,
        activation="tanh",
        final_norm=norm == "pre",
    )
    model = Classifier.random(SHAPE, config, rng, positions, np.float64)
    model.vector += rng.normal(scale=0.3, size=model.vector.shape)
    features, target = rng.normal(size=(3, 4, 5)), rng.integers(3, size=3)
    loss, grads = model.gradients(features, target)
    assert loss == cross_entropy(model(features), target)[0]
    assert list(grads) == list(model.parameters)
    direction = rng.normal(size=model.vector.shape)
    before, h = model.vector.copy(), 1e-5
    along = []
    for sign in (1, -1):
        model.vector[:] = before + sign * h * direction
        along.append(cross_entropy(model(features), target)[0])
    model.vector[:] = before
    flat = np.concatenate([grad.ravel() for grad in grads.values()])
    assert flat @ direction == pytest.approx((along[0] - along[1]) / (2 * h), rel=1e-6, abs=1e-9)
    for name in ("embedding.W", "positions.P", "readout.W", "readout.b"):
        if name in grads:

            def loss_at(value, name=name):
                kept = model.parameters[name].copy()
                model.parameters[name][:] = value
                result = cross_entropy(model(features), target)[0]
                model.parameters[name][:] = kept
                return result

            expected = numerical_gradient(loss_at, model.parameters[name].copy())
            np.testing.assert_allclose(grads[name], expected, atol=1e-8, err_msg=name)


def test_the_classifier_is_its_parts(rng):
    config = EncoderConfig(**SMALL)
    model = Classifier.random(SHAPE, config, rng, "learned", np.float64)
    features, p = rng.normal(size=(3, 4, 5)), model.parameters
    tokens = np.einsum("bnf,fd->bnd", features, p["embedding.W"]) + p["positions.P"]
    encoder = Encoder.random(config, rng).with_parameters(
        {name: array for name, array in p.items() if name.startswith("layers.")}
    )
    expected = encoder(tokens)[:, 1] @ p["readout.W"] + p["readout.b"]
    np.testing.assert_allclose(model(features), expected, atol=1e-12)
    target = expected.argmax(axis=1)
    assert model.accuracy(features, target) == 1.0
    assert model.accuracy(features, (target + 1) % 3) == 0.0


def test_the_vector_moves_the_model(rng):
    model = Classifier.random(SHAPE, EncoderConfig(**SMALL), rng, "learned")
    features = rng.normal(size=(3, 4, 5)).astype(np.float32)
    assert model.vector.dtype == model(features).dtype == np.float32
    for name, array in model.parameters.items():
        assert np.shares_memory(array, model.vector), name
    before = model(features)
    model.vector *= 1.1
    assert not np.allclose(model(features), before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.pop("readout.b"), "readout.b"),
        (lambda p: p.update(more=np.zeros(1)), "more"),
        (lambda p: p.update({"embedding.W": np.zeros((4, 6))}), r"embedding.W.*shape \(5, 6\), got \(4, 6\)"),
        (lambda p: p["readout.W"].fill(np.nan), "readout.W.*finite"),
    ],
)
def test_the_classifier_refuses_parameters_that_do_not_fit(rng, change, message):
    config = EncoderConfig(**SMALL)
    parameters = {name: a.copy() for name, a in Classifier.random(SHAPE, config, rng).parameters.items()}
    change(parameters)
    with pytest.raises(ValueError, match=message):
        Classifier(SHAPE, config, parameters)


@pytest.mark.parametrize("shape", [(3, 5, 5), (3, 4, 4), (4, 5)])
def test_the_classifier_refuses_features_that_do_not_fit(rng, shape):
    with pytest.raises(ValueError, match=r"^features must"):
        Classifier.random(SHAPE, EncoderConfig(**SMALL), rng)(np.ones(shape, np.float32))


# Adam


def test_adam_against_autograd(rng):
    matrix = rng.normal(size=(6, 6))
    gradient = lambda x, i: matrix @ np.sin(x) + 0.1 * i  # noqa: E731
    start = rng.normal(size=6)
    expected = autograd_adam(gradient, start, num_iters=50, step_size=0.03, b1=0.9, b2=0.999, eps=1e-8)
    vector = start.copy()
    optimiser = Adam(vector)
    for i in range(50):
        optimiser.step(gradient(vector, i), lr=0.03)
    np.testing.assert_allclose(vector, expected, rtol=1e-12)


def test_warm_up_is_linear_and_then_over():
    rates = [warmed_up(step, 0.5, 10) for step in range(20)]
    np.testing.assert_allclose(rates, [0.5 * min(1, (i + 1) / 10) for i in range(20)])
    assert warmed_up(0, 0.5, 0) == 0.5


def test_flatten_keeps_order_shape_and_dtype(rng):
    arrays = {"b": rng.normal(size=(2, 3)).astype(np.float32), "a": rng.normal(size=4).astype(np.float32)}
    vector, views = flatten(arrays)
    assert vector.dtype == np.float32
    assert list(views) == ["b", "a"]
    assert np.array_equal(vector, np.concatenate([arrays["b"].ravel(), arrays["a"]]))
    assert all(np.array_equal(views[name], arrays[name]) for name in arrays)
    assert not any(np.shares_memory(views[name], arrays[name]) for name in arrays)


# The loop


def test_the_loop_is_adam_on_the_gradients_of_batches():
    objective, rng = a_run()
    training = train(objective, rng, steps=7, lr=0.01, warmup=3)
    other, other_rng = a_run()
    optimiser, losses = Adam(other.vector), []
    for step in range(7):
        features, target = other.task.draw(other_rng, 16)
        loss, grads = other.model.gradients(features, target)
        losses.append(loss)
        optimiser.step(np.concatenate([g.ravel() for g in grads.values()]), warmed_up(step, 0.01, 3))
    assert np.array_equal(training.losses, losses)
    assert np.array_equal(objective.vector, other.vector)
    assert training.diverged_at is None


def test_a_small_task_is_given_whole():
    task = parity(2)
    model = Classifier.random(task.shape, EncoderConfig(d_model=8, n_heads=2), np.random.default_rng(0))
    state = (rng := np.random.default_rng(0)).bit_generator.state
    assert np.array_equal(Classification(model, task, batch=4).draw(rng).target, task.every.target)
    assert rng.bit_generator.state == state
    assert len(Classification(model, task, batch=3).draw(rng).target) == 3


@pytest.mark.parametrize("stop", [1, 19, 20, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_resumed_run_is_bit_identical(tmp_path, stop, dtype):
    settings = {"lr": 0.01, "warmup": 25, "steps": 50}
    whole, whole_rng = a_run(dtype=dtype)
    training = train(whole, whole_rng, **settings)

    path = tmp_path / "run.npz"
    stopped, stopped_rng = a_run(dtype=dtype)
    with pytest.raises(KeyboardInterrupt):
        train(
            Interrupted(stopped, stop, KeyboardInterrupt), stopped_rng, **settings, checkpoint=path, every=10
        )
    assert path.exists() == (stop >= 10)

    resumed, resumed_rng = a_run(seed=0, dtype=dtype)
    counted = Interrupted(resumed, -1, None)
    again = train(counted, resumed_rng, **settings, checkpoint=path, every=10)
    assert counted.calls == 50 - stop // 10 * 10
    assert np.array_equal(resumed.vector, whole.vector)
    assert np.array_equal(again.losses, training.losses)
    assert resumed_rng.bit_generator.state == whole_rng.bit_generator.state
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.npz"]


def test_a_finished_checkpoint_leaves_nothing_to_do(tmp_path):
    objective, rng = a_run()
    first = train(objective, rng, steps=10, lr=0.01, checkpoint=tmp_path / "run.npz", every=5)
    other, other_rng = a_run(seed=1)
    again = train(other, other_rng, steps=10, lr=0.01, checkpoint=tmp_path / "run.npz", every=5)
    assert np.array_equal(other.vector, objective.vector)
    assert np.array_equal(first.losses, again.losses)


@pytest.mark.parametrize(
    "event",
    [
        lambda loss, grad: (np.nan, grad),
        lambda loss, grad: (np.inf, grad),
        lambda loss, grad: (loss, np.where(np.arange(grad.size) == 3, np.nan, grad)),
        lambda loss, grad: (loss, np.where(np.arange(grad.size) == 3, -np.inf, grad)),
    ],
)
def test_a_run_that_blows_up_stops_with_its_last_good_state(event):
    objective, rng = a_run()
    training = train(Interrupted(objective, 6, event), rng, steps=20, lr=0.01)
    assert training.diverged_at == 6
    good, good_rng = a_run()
    expected = train(
        good, good_rng, steps=5, lr=0.01
    )  # the parameters of the last finite loss, that of step 5
    assert np.array_equal(objective.vector, good.vector)
    assert np.array_equal(training.losses[:5], expected.losses)
    assert len(training.losses) == 6


def test_an_absurd_learning_rate_diverges_without_a_warning():
    objective, rng = a_run()
    training = train(objective, rng, steps=200, lr=1e18)
    assert training.diverged_at is not None
    assert np.isfinite(objective.vector).all()
    assert np.isfinite(training.losses).all()


@pytest.mark.parametrize(
    "wrong", [{"steps": -1}, {"warmup": -1}, {"every": 0}, {"lr": 0.0}, {"lr": np.inf}, {"lr": np.nan}]
)
def test_impossible_settings_are_refused(wrong):
    objective, rng = a_run()
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}.* must"):
        train(objective, rng, **{"steps": 1, "lr": 0.1, **wrong})


def test_the_progress_bar_says_what_is_trained(capsys):
    objective, rng = a_run()
    train(objective, rng, steps=3, lr=0.01, progress="cell 3")
    assert "cell 3" in capsys.readouterr().err


# Checkpoints


@pytest.fixture
def stored(tmp_path):
    """Return a checkpoint's path, and what it was made from."""
    path = tmp_path / "run.npz"
    adam, rng = Adam(np.arange(4.0)), np.random.default_rng(5)
    save(path, "the command", adam, rng, np.zeros(0))
    return path, adam, rng


def test_every_truncation_of_a_checkpoint_is_reported(stored):
    path, adam, rng = stored
    content = path.read_bytes()
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"run\.npz is damaged .* start again with the command"):
            restore(path, "the command", adam, rng)


def test_no_flipped_bit_escapes(stored):
    """Each of 400 bits, one at a time: what is read is what was stored, or the file is called damaged."""
    path, adam, rng = stored
    content, vector, state = path.read_bytes(), adam.vector.copy(), rng.bit_generator.state
    for place in np.random.default_rng(0).choice(8 * len(content), size=400, replace=False):
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << (place % 8)
        path.write_bytes(flipped)
        try:
            restore(path, "the command", adam, rng)
            good = True
        except ValueError as error:
            good = "run.npz is damaged" in str(error)
        assert good, place
        assert np.array_equal(adam.vector, vector)
        assert rng.bit_generator.state == state


def test_a_flipped_bit_is_reported(stored):
    path, adam, rng = stored
    content = bytearray(path.read_bytes())
    content[content.index(adam.vector.tobytes()) + 9] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="damaged"):
        restore(path, "the command", adam, rng)


def test_a_checkpoint_of_another_run_version_or_model_is_refused(stored, monkeypatch):
    path, adam, rng = stored
    with pytest.raises(ValueError, match=r"run\.npz is of 'the command', expected 'another'"):
        restore(path, "another", adam, rng)
    with pytest.raises(ValueError, match="other parameters"):
        restore(path, "the command", Adam(np.zeros(5)), rng)
    with pytest.raises(ValueError, match="other parameters"):
        restore(path, "the command", Adam(np.zeros(4, np.float32)), rng)
    monkeypatch.setattr("encoderlab.training.checkpoint.VERSION", 2)
    with pytest.raises(
        ValueError, match=r"run\.npz has version 1, expected 2.* start again with the command"
    ):
        restore(path, "the command", adam, rng)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


# Distillation and covariate shift

ATTENTION_ONLY = {"d_model": 6, "n_heads": 1, "ffn": False, "residual": False, "norm": "none"}


@pytest.mark.parametrize("scale", [0.5, 4.0])
def test_a_teacher_has_the_logits_it_is_said_to_have(scale):
    teacher = random_teacher(EncoderConfig(**ATTENTION_ONLY, depth=2), 5, scale, np.random.default_rng(0))
    x = np.random.default_rng(1).normal(size=(4000, 5, 6))
    trace = teacher.trace(x)
    for layer in trace.layers:
        logs = np.log(layer.attention_inner.pattern)  # the logits, up to a constant in each row
        assert (logs - logs.mean(axis=-1, keepdims=True)).std() == pytest.approx(
            scale, rel=0.15
        )  # heavy tails
    assert trace.output.std() == pytest.approx(1, rel=0.05)


def test_a_teacher_is_attention_only():
    with pytest.raises(ValueError, match=r"^config must be attention only"):
        random_teacher(EncoderConfig(d_model=6, n_heads=1), 5, 1.0, np.random.default_rng(0))


def test_the_gradient_of_distillation_by_finite_differences(rng):
    teacher = random_teacher(EncoderConfig(**ATTENTION_ONLY, depth=2), 3, 1.0, rng, sample=16)
    objective = Distillation.of(Encoder.random(EncoderConfig(**ATTENTION_ONLY, depth=1), rng), teacher, 3, 4)
    _, grad = objective.loss_and_gradient(np.random.default_rng(7))

    def loss(vector):
        kept = objective.vector.copy()
        objective.vector[:] = vector
        value, _ = objective.loss_and_gradient(np.random.default_rng(7))
        objective.vector[:] = kept
        return value

    np.testing.assert_allclose(grad, numerical_gradient(loss, objective.vector.copy()), atol=1e-8)


def test_relative_error_of_the_mean_is_one_and_of_the_truth_zero(rng):
    target = rng.normal(size=(50, 4, 3)) + 5
    assert relative_error(target, target) == 0
    mean = np.broadcast_to(target.mean(axis=(0, 1)), target.shape)
    assert relative_error(mean, target) == pytest.approx(1, rel=1e-12)
    assert relative_error(np.zeros_like(target), target) > 1


def test_an_affine_map_of_token_and_mean_is_found(rng):
    x = rng.normal(size=(200, 4, 3))
    target = x @ rng.normal(size=(3, 3)) + x.mean(axis=1, keepdims=True) @ rng.normal(size=(3, 3)) + 2.0
    assert best_affine_error(x, target) < 1e-20
    assert best_affine_error(x, x**2) == pytest.approx(1, abs=0.1)


def test_covariate_shift_against_its_definition(rng):
    objective, batches = a_run(dtype=np.float64)
    model, (features, target) = objective.model, objective.draw(batches)
    before = model.vector.copy()
    after = before + rng.normal(scale=0.01, size=before.shape)
    shift = covariate_shift(model, after, features, target)
    assert np.array_equal(model.vector, before)

    moved = Classifier(model.shape, model.config, model.parameters)  # a copy, changed by name
    late = Classifier(model.shape, model.config, model.parameters)
    late.vector[:] = after
    names = ["embedding.W", *(name for name in model.parameters if name.startswith("layers.0."))]
    for name in names:
        moved.parameters[name][:] = late.parameters[name]
    of_layer = [name for name in model.parameters if name.startswith("layers.1.")]
    G, G_moved = (
        np.concatenate([m.gradients(features, target)[1][name].ravel() for name in of_layer])
        for m in (model, moved)
    )
    assert shift.distance[1] == pytest.approx(np.linalg.norm(G - G_moved), rel=1e-12)
    assert shift.relative[1] == pytest.approx(np.linalg.norm(G - G_moved) / np.linalg.norm(G), rel=1e-12)
    assert shift.cosine[1] == pytest.approx(
        G @ G_moved / np.linalg.norm(G) / np.linalg.norm(G_moved), rel=1e-12
    )


def test_without_an_update_nothing_shifts():
    objective, rng = a_run(dtype=np.float64)
    shift = covariate_shift(objective.model, objective.vector.copy(), *objective.draw(rng))
    assert np.array_equal(shift.distance, np.zeros(2))
    np.testing.assert_allclose(shift.cosine, 1, atol=1e-12)
    with pytest.raises(ValueError, match=r"^after must have shape"):
        covariate_shift(objective.model, objective.vector[1:], *objective.draw(rng))
