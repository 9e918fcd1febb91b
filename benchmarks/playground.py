"""Time a step of training in the page beside NumPy's, in the same run, and what a reader waits for.

    make test-code browser
    OPENBLAS_NUM_THREADS=1 .venv/bin/python benchmarks/playground.py

Both sides train the same model on batches of the same size, and take turns, so that a busy machine slows
both. Then rings with an FFN and two look-ups are trained to 98 % as the worker does it, without drawing, and
the plane is computed as it is for a frame. An idle core should reach 98 % within 2 s and 20 s, and draw ten
planes a second with time to spare.
"""

from __future__ import annotations

import shutil
import statistics
import time
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from encoderlab.chapters.playground.script import TRAINER, bundle
from encoderlab.model.encoder import EncoderConfig
from encoderlab.training.adam import Adam
from encoderlab.training.classifier import Classifier, Shape

TURNS, STEPS = 5, 30
POINT, HOPS, LETTERS = Shape(1, 4, 2, -1), Shape(7, 36, 12, -1), Shape(8, 8, 8, -1)
CASES: list[tuple[str, Shape, dict[str, Any], int]] = [
    ("task=rings", POINT, {"ffn": False, "depth": 1, "n_heads": 2}, 200),
    ("task=rings&ffn=on&depth=2", POINT, {"depth": 2, "n_heads": 2}, 200),
    (
        "task=rings&ffn=on&norm=post&depth=8",
        Shape(1, 4, 2, -1),
        {"depth": 8, "n_heads": 2, "norm": "post"},
        200,
    ),
    ("task=two_hop&depth=2", HOPS, {"ffn": False, "depth": 2, "n_heads": 1}, 64),
    ("task=induction&depth=2", LETTERS, {"ffn": False, "depth": 2, "n_heads": 1}, 64),
]
TIME = """({ query, steps }) => {
    const trainer = (window.kept[query] ??= new lab.Trainer(lab.fromQuery(query).state));
    const start = performance.now();
    for (let k = 0; k < steps; k++) trainer.step();
    return (performance.now() - start) / steps;
}"""
SOLVE = """(query) => {
    const trainer = new lab.Trainer(lab.fromQuery(query).state), start = performance.now();
    while (trainer.solvedAt === null && trainer.steps < 3000) trainer.step();
    return [trainer.solvedAt, (performance.now() - start) / 1000];
}"""
PLANE = """(query) => {
    const trainer = new lab.Trainer(lab.fromQuery(query).state);
    trainer.maps(40);
    const start = performance.now();
    for (let k = 0; k < 10; k++) trainer.maps(40);
    return (performance.now() - start) / 10;
}"""


def numpy_step(shape: Shape, switches: dict[str, Any], batch: int) -> float:
    """Return the milliseconds of a step with NumPy, in float64."""
    rng = np.random.default_rng(0)
    config = EncoderConfig(**({"d_model": 16, "d_ff": 32, "norm": "none"} | switches))
    positions = "learned" if shape == LETTERS else "none"
    model = Classifier.random(shape, config, rng, positions, np.float64)
    features = rng.normal(size=(batch, shape.n, shape.n_features))
    target, adam = rng.integers(shape.n_classes, size=batch), Adam(model.vector)
    start = time.perf_counter()
    for _ in range(STEPS):
        _, gradients = model.gradients(features, target)
        adam.step(np.concatenate([gradient.ravel() for gradient in gradients.values()]), 0.01)
    return 1000 * (time.perf_counter() - start) / STEPS


def compare(page: Page) -> None:
    """Print steps a second of both sides."""
    print(f"{'steps a second':40} {'page':>8} {'NumPy':>8} {'ratio':>6}")
    for query, shape, switches, batch in CASES:
        pairs = [
            (page.evaluate(TIME, {"query": query, "steps": STEPS}), numpy_step(shape, switches, batch))
            for _ in range(TURNS)
        ]
        mine, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
        ratio = statistics.median(theirs / mine for mine, theirs in pairs)
        print(f"{query:40} {1000 / mine:8.0f} {1000 / theirs:8.0f} {ratio:6.2f}")


def main() -> None:
    """Print all figures."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        lab = f"(() => {{ {bundle(TRAINER)} return {{ Trainer, fromQuery }}; }})()"
        page.add_script_tag(content=f"window.kept = {{}}; window.lab = {lab};")
        compare(page)
        for query in ("task=rings&ffn=on&depth=2", "task=two_hop&depth=2"):
            steps, seconds = page.evaluate(SOLVE, query)
            print(f"{query}: 98 % after {steps} steps, {seconds:.1f} s")
        for query in ("task=rings&ffn=on&depth=2", "task=rings&ffn=on&depth=8"):
            print(f"{query}: a plane of 40 × 40 points takes {page.evaluate(PLANE, query):.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()
