"""The pictures of chapter 5 show what was measured: each is read as a reader reads it."""

import numpy as np
import pytest
from artists import (
    axis_names,
    entry,
    image,
    lines,
    look,
    moving_texts,
    points,
    series,
    steer,
    ticks,
    titled,
    value_at,
    values,
)
from matplotlib.colors import same_color

from encoderlab.chapters.abstraction.data import ATLAS, SURGERY_MEASURES, reading, results
from encoderlab.chapters.abstraction.figures import atlas, bins, growing, lengths, probe_curves, surgery_room
from encoderlab.chapters.abstraction.length_data import LENGTH_MEASURES
from encoderlab.chapters.abstraction.likeness import HIDDEN_MEASURES
from encoderlab.chapters.abstraction.probe_data import GROWING, MOST_ADJECTIVES, RIVALS
from encoderlab.chapters.abstraction.probe_tasks import TASKS
from encoderlab.chapters.abstraction.probes import CONTROLS
from encoderlab.chapters.abstraction.prose import LENGTHS
from encoderlab.chapters.abstraction.reading import HEAD_MEASURES
from encoderlab.chapters.abstraction.surgery import FORMS, PARTS
from encoderlab.explorer.style import BLUE, DIVERGING, VERMILLION

LAYERS = np.arange(1, 7)


@pytest.fixture(scope="module")
def readings():
    return {text: reading(text) for text in ATLAS}


def shown_matrix(axes, tokens):
    """Read the cells between the names of tokens: rows at the left, columns above."""
    rows = [text for text in moving_texts(axes) if text.get_rotation() == 0]
    columns = [text for text in moving_texts(axes) if text.get_rotation() == 90]
    assert [text.get_text() for text in rows] == [text.get_text() for text in columns] == list(tokens)
    assert (image(axes).get_cmap().name, image(axes).get_clim()) == (DIVERGING, (-1, 1))
    places = [(column.get_position()[0], row.get_position()[1]) for row in rows for column in columns]
    return np.array([value_at(image(axes), *place) for place in places]).reshape(len(rows), -1)


def words_alone(pattern):
    inner = pattern[..., 1:-1, 1:-1]
    return inner / inner.sum(axis=-1, keepdims=True)


def reach(pattern):
    """Return the mean distance between query and key over what even attention would have."""
    far = np.abs(np.subtract.outer(*[np.arange(pattern.shape[-1])] * 2))
    return (pattern * far).sum(axis=(-2, -1)) / far.mean(axis=-1).sum()


@pytest.mark.parametrize(
    ("nth", "layer", "view"), [(1, 3, "attention"), (0, 6, "between words"), (3, 2, "cosines")]
)
def test_the_atlas_draws_cells_between_their_tokens(readings, nth, layer, view):
    figure, update = steer(atlas.atlas(readings))
    update(ATLAS[2], 1, "attention")
    says = update(ATLAS[nth], layer, view)
    tokens, attention, cosine = readings[ATLAS[nth]]
    heads, stored = attention.mean(axis=1), results()
    over_heads = stored["heads"][:, 1:].mean(axis=(1, 3))  # (measures, 6)
    if view == "attention":
        told, curve = heads[layer - 1], heads[:, 1:-1, 0].mean(axis=1)
        corpus, what = over_heads[list(HEAD_MEASURES).index("to [CLS]")], "from words to [CLS]"
    elif view == "between words":
        told = np.zeros_like(heads[0])
        told[1:-1, 1:-1] = words_alone(attention[layer - 1]).mean(axis=0)
        curve = [reach(words_alone(each)).mean() for each in attention]
        corpus, what = over_heads[list(HEAD_MEASURES).index("distance")], "reach, even attention = 1:"
    else:
        told, n = cosine[layer], len(tokens) - 2
        curve = [(each[1:-1, 1:-1].sum() - n) / (n * n - n) for each in cosine[1:]]
        corpus = stored["hidden"][HIDDEN_MEASURES.index("likeness of words"), 1:, 1:].mean(axis=0)
        what = "mean cosine of two words"
    np.testing.assert_allclose(shown_matrix(titled(figure, "One layer"), tokens), told, atol=1e-6)
    course = titled(figure, "All layers")
    np.testing.assert_allclose(
        points(series(course, "this sentence")), np.column_stack([LAYERS, curve]), rtol=1e-5
    )
    np.testing.assert_allclose(points(series(course, "the 64")), np.column_stack([LAYERS, corpus]), rtol=1e-5)
    (here,) = lines(course, "none", marker="o", style="None")
    np.testing.assert_allclose(points(here), [[layer, curve[layer - 1]]], rtol=1e-5)
    assert [text.get_text() for text in moving_texts(course)] == [what]
    assert says.endswith(f"{what} {curve[layer - 1]:.2f}.")
    assert axis_names(course)[0] == "layer"


@pytest.mark.parametrize(("layer", "head"), [(5, 12), (1, 3)])
def test_the_frame_stands_round_the_reach_of_the_head(readings, layer, head):
    figure, update = steer(atlas.heads(readings))
    update(ATLAS[1], 3, 1)
    says = update(ATLAS[0], layer, head)
    tokens, attention, _ = readings[ATLAS[0]]
    pattern = attention[layer - 1, head - 1]
    np.testing.assert_allclose(shown_matrix(titled(figure, "One head: from row to column"), tokens), pattern)
    table = titled(figure, "Reach of all 72, even attention = 1")
    (frame,) = [line for line in table.lines if line.get_animated()]
    assert len(points(frame)) == 5  # four corners, and back
    assert points(frame)[0].tolist() == points(frame)[-1].tolist()
    left, right = points(frame)[:, 0].min(), points(frame)[:, 0].max()
    low, high = points(frame)[:, 1].min(), points(frame)[:, 1].max()
    assert ((left + right) / 2, (low + high) / 2) == (
        ticks(table.xaxis)[str(head)],
        ticks(table.yaxis)[str(layer)],
    )
    measured = results()["heads"][list(HEAD_MEASURES).index("distance"), 1:, layer - 1, head - 1].mean()
    cell = image(table, moving=False).get_array()[int(low + 0.5), int(left + 0.5)]
    assert cell == pytest.approx(measured)
    assert f"its mean reach is {measured:.2f}" in says
    assert axis_names(table) == ("head", "layer")
    assert image(table, moving=False).get_clim() == (0, 2)  # white is even attention


def scale_of(axes, axis="y"):
    """Return what turns a place between 0 and 1 into the value that the moving labels say."""
    at = {"x": 0, "y": 1}[axis]
    labels = [t for t in moving_texts(axes) if t.get_position()[1 - at] == -0.025]
    places = [t.get_position()[at] for t in labels]
    told = [float(t.get_text().replace("−", "-")) for t in labels]
    assert len(labels) == 5
    slope, start = np.polyfit(places, told, 1)
    return lambda values: start + slope * np.asarray(values)


def loops_over_blocks(measure):
    """Return a bootstrap interval for the mean, drawing whole blocks of four, written as loops."""
    rng, blocks = np.random.default_rng(0), measure.reshape(16, 4, -1)
    drawn = [np.nanmean(blocks[rows].reshape(64, -1), axis=0) for rows in rng.integers(16, size=(2000, 16))]
    return np.sort(drawn, axis=0)[[49, 1949]]  # about 2.5 and 97.5 per cent


def stored(name):
    """Return a measure by sentence and layer, that of fresh networks, and each head's or sentence's."""
    found = results()
    if name in HEAD_MEASURES:
        k = list(HEAD_MEASURES).index(name)
        trained, fresh = found["heads"][k, 1:], found["untrained_heads"][:, k, 1:]
        return trained.mean(axis=-1), np.nanmean(fresh, axis=(0, 1)), np.nanmean(trained, axis=0)
    k, start = HIDDEN_MEASURES.index(name), int(name.startswith("step"))
    trained, fresh = found["hidden"][k, 1:, start:], found["untrained_hidden"][:, k, 1:, start:]
    return trained, fresh.mean(axis=(0, 1)), trained.T


@pytest.mark.parametrize(
    ("measure", "name", "second", "start"),
    [
        ("reach", "distance", "distance to others", 1),
        ("evenness", "entropy", None, 1),
        ("to [CLS]", "to [CLS]", None, 1),
        ("same word", "identical", "identical, same key", 1),
        ("likeness of words", "likeness of words", "with words of other sentences", 0),
        ("step", "step", "step, mean removed", 1),
        ("distance to rank one", "distance to rank one", None, 0),
    ],
)
def test_the_bins_show_mean_interval_and_scatter(measure, name, second, start):
    figure, update = steer(bins.bins())
    update("margin")
    update(measure)
    mean_axes, spread_axes = (
        titled(figure, "Mean, with 95 % interval"),
        titled(figure, "Each head, or each sentence"),
    )
    value, layers = scale_of(mean_axes), np.arange(start, 7)
    by_sentence, fresh, scatter = stored(name)
    fair = [] if second is None else np.nanmean(stored(second)[0], axis=0)
    for label, told in (
        ("trained", np.nanmean(by_sentence, axis=0)),
        ("never trained", fresh),
        ("trained, compared fairly", fair),
    ):
        line = series(mean_axes, label)
        np.testing.assert_allclose(value(values(line)), told, rtol=2e-5, atol=1e-5)
        assert points(line)[:, 0].tolist() == (layers.tolist() if len(told) else [])
    whiskers = [points(line) for line in lines(mean_axes, BLUE) if len(points(line))]
    assert [line[:, 0].tolist() for line in whiskers] == [[layer, layer] for layer in layers]
    ends = np.array([value(line[:, 1]) for line in whiskers]).T
    np.testing.assert_allclose(ends, loops_over_blocks(by_sentence), atol=0.02 * np.ptp(ends) + 1e-3)
    assert (ends[0] < np.nanmean(by_sentence, axis=0)).all()
    (dots,) = [line for line in spread_axes.lines if line.get_animated()]
    for layer, told in zip(layers, scatter, strict=True):
        x, y = points(dots).T
        np.testing.assert_allclose(
            scale_of(spread_axes)(y[np.abs(x - layer) < 0.5]), told, rtol=2e-5, atol=1e-5
        )
        assert x[np.abs(x - layer) < 0.5].mean() == pytest.approx(layer)  # they spread to both sides alike
    assert ticks(mean_axes.xaxis) == {"emb.": 0} | {str(k): k for k in LAYERS}
    orange = [text.get_text() for text in moving_texts(mean_axes) if text.get_text().startswith("orange")]
    assert orange == ([f"orange: {bins.MEASURES[measure].label}"] if second else [])
    assert same_color(entry(mean_axes, "trained, compared fairly").get_color(), VERMILLION)


@pytest.mark.parametrize("measure", ["likeness of sentences", "margin"])
def test_the_bins_show_sentences_beside_their_common_vector_removed(measure):
    figure, update = steer(bins.bins())
    update("reach")
    update(measure)
    axes, told = titled(figure, "Mean, with 95 % interval"), {"trained": [], "trained, compared fairly": []}
    middle = np.eye(64) - 1 / 64
    for cosine in results()["cosines"].astype(float):
        product = middle @ cosine @ middle
        removed = product / np.sqrt(np.outer(np.diag(product), np.diag(product)))
        for kept, each in ((told["trained"], cosine), (told["trained, compared fairly"], removed)):
            elsewhere = [np.delete(each[i], np.s_[i // 4 * 4 : i // 4 * 4 + 4]) for i in range(64)]
            others = np.mean(elsewhere, axis=1)
            margins = (np.array([each[i, i ^ 1] for i in range(64)]) - others) / np.std(elsewhere, axis=1)
            kept.append(np.mean(margins if measure == "margin" else others))
    for label, means in told.items():
        np.testing.assert_allclose(scale_of(axes)(values(series(axes, label))), means, atol=1e-4)


@pytest.mark.parametrize("task", ["phrase", "tense"])
def test_probes_stand_beside_the_lines_to_beat(task):
    figure, update = steer(probe_curves.probes())
    update("own token")
    update(task)
    k, found, axes = list(TASKS).index(task), results(), titled(figure, "Right answers")
    np.testing.assert_allclose(values(series(axes, "trained")), found["probes"][k].mean(axis=0))
    np.testing.assert_allclose(
        values(series(axes, "never trained")), found["untrained_probes"][k].mean(axis=0)
    )
    (seeds,) = lines(axes, BLUE, marker="o", style="None")
    for layer in range(7):
        x, y = points(seeds).T
        np.testing.assert_allclose(sorted(y[x == layer]), sorted(found["probes"][k, :, layer]))
    levels = {name: found["controls"][k, :, c].mean() for c, name in enumerate(CONTROLS)}
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    for name in labels[2:]:
        assert points(series(axes, name))[:, 0].tolist() == [0, 6]
        assert values(series(axes, name)) == pytest.approx([levels[name]] * 2)
    assert len(labels) == 7

    table = titled(figure, "All at a glance")
    (frame,) = [line for line in table.lines if line.get_animated()]
    assert points(frame)[:, 1].min() + 0.5 == ticks(table.yaxis)[task] == points(frame)[:, 1].max() - 0.5
    above = (found["probes"].mean(axis=1).T - found["controls"][:, :, 0].mean(axis=1)).T
    above = (above.T / (1 - found["controls"][:, :, 0].mean(axis=1))).T
    cells = image(table, moving=False)
    for row, name in enumerate(TASKS):
        assert ticks(table.yaxis)[name] == row
        np.testing.assert_allclose(cells.get_array()[row], above[row])
    assert (cells.get_cmap().name, cells.get_clim(), cells.origin) == (DIVERGING, (-1, 1), "upper")


@pytest.mark.parametrize(
    ("part", "measure"), [("FFN", "margin"), ("skip round attention", "likeness to the intact")]
)
def test_surgery_shows_every_form_of_every_part(part, measure):
    figure, update = steer(surgery_room.surgery())
    update("attention", "distance to rank one")
    update(part, measure)
    overview, course = titled(figure, "After six layers, without …"), titled(figure, "Layer by layer")
    m, row, found = SURGERY_MEASURES.index(measure), list(PARTS).index(part), results()
    up, across = scale_of(course), scale_of(overview, "x")
    np.testing.assert_allclose(up(values(series(course, "intact"))), found["intact"][m, :, 0], rtol=1e-5)
    (whole,) = lines(overview, "black")
    np.testing.assert_allclose(across(points(whole)[:, 0]), found["intact"][m, -1, 0], rtol=1e-5)
    (band,) = [line for line in overview.lines if line.get_linewidth() > 10]
    assert values(band).tolist() == [ticks(overview.yaxis)[part]] * 2
    for k, form in enumerate(FORMS):
        line = series(course, form)
        np.testing.assert_allclose(up(values(line)), found["surgery"][row, k, m, :, 0], rtol=1e-4, atol=1e-6)
        assert points(line)[:, 0].tolist() == list(range(7))
        (spots,) = [
            s
            for s in overview.lines
            if s.get_marker() == line.get_marker() and s.get_color() == line.get_color()
        ]
        assert look(spots)[1:] == look(line)[1:]
        for name in PARTS:
            (x,) = points(spots)[np.abs(values(spots) - ticks(overview.yaxis)[name]) < 0.5][:, 0]
            told = found["surgery"][list(PARTS).index(name), k, m, -1, 0]
            assert across(x) == pytest.approx(told, rel=1e-4, abs=1e-6)
    assert axis_names(course)[0] == "after layer"


@pytest.mark.parametrize(
    ("measure", "name", "beside", "order", "words"),
    [
        ("reach", "reach to others", "reach to others", 1, 40),
        ("to [CLS]", "to [CLS]", "[CLS] by length of vectors", 0, 10),
        ("neighbours", "neighbours", "neighbours", 1, 160),
    ],
)
def test_lengths_show_mean_interval_heads_and_what_to_compare(measure, name, beside, order, words):
    figure, update = steer(lengths.lengths())
    update("neighbours", 80)
    update(measure, words)
    mean_axes, spread_axes = titled(figure, "Mean, with 95 % interval"), titled(figure, "Each head")
    value, found, k = scale_of(mean_axes), results(), LENGTHS.index(words)
    m, other = LENGTH_MEASURES.index(name), LENGTH_MEASURES.index(beside)
    texts = found["by_length"][k, 0, :, m]  # (50, 6), five of each story
    for label, told in (
        ("trained", texts.mean(axis=0)),
        ("trained, to compare", found["by_length"][k, order, :, other].mean(axis=0)),
        ("never trained", found["by_length_untrained"][k, m]),
    ):
        line = series(mean_axes, label)
        np.testing.assert_allclose(value(values(line)), told, rtol=1e-4, atol=1e-5)
        assert points(line)[:, 0].tolist() == LAYERS.tolist()
    whiskers = [value(points(line)[:, 1]) for line in lines(mean_axes, BLUE)]
    by_story = texts.reshape(10, 5, 6).mean(axis=1)
    wide = 2 * 1.96 * by_story.std(axis=0) / 10**0.5
    np.testing.assert_allclose(np.ptp(whiskers, axis=1), wide, rtol=0.25)
    (dots,) = [line for line in spread_axes.lines if line.get_animated()]
    for layer, told in zip(LAYERS, found["by_length_heads"][k, m], strict=True):
        x, y = points(dots).T
        shown = scale_of(spread_axes)(y[np.abs(x - layer) < 0.5])
        np.testing.assert_allclose(shown, told, rtol=1e-4, atol=1e-4)
        assert x[np.abs(x - layer) < 0.5].mean() == pytest.approx(layer)
    (orange,) = [text.get_text() for text in moving_texts(mean_axes) if "orange" in text.get_text()]
    assert orange == f"orange: {lengths.SHOWN[measure].label}"
    assert axis_names(mean_axes)[0] == "after layer"


@pytest.mark.parametrize("task", GROWING)
def test_growing_shows_layer_3_beside_bare_embeddings(task):
    figure, update = steer(growing.growing())
    update("phrase")
    update(task)
    axes, found, k = titled(figure, "Right answers"), results(), list(GROWING).index(task)
    line = series(axes, "layer 3")
    np.testing.assert_allclose(values(line), found["growing"][k, :, :, 3].mean(axis=1))
    assert points(line)[:, 0].tolist() == list(MOST_ADJECTIVES)
    for name, (_, _, label) in growing.SHOWN.items():
        told = found["growing_rivals"][k, :, :, list(RIVALS).index(name)].mean(axis=1)
        np.testing.assert_allclose(values(series(axes, label)), told)
    (seeds,) = lines(axes, BLUE, marker="o", style="None")
    for a, most in enumerate(MOST_ADJECTIVES):
        x, y = points(seeds).T
        np.testing.assert_allclose(sorted(y[x == most]), sorted(found["growing"][k, a, :, 3]))
    assert axis_names(axes)[0] == "adjectives in a phrase, at most"
