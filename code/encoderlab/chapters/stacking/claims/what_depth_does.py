"""Claims 10, 25 and 27: what a second layer of attention can do (note 1, section 8.2.2)."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.stacking.attention_only import attention_only
from encoderlab.chapters.stacking.lookup import (
    ANSWER,
    HOP,
    QUERY,
    look_up,
    share_right,
    two_hops_in_one_layer,
    with_empty_slots,
)
from encoderlab.chapters.stacking.orthogonal_tokens import after_layers
from encoderlab.chapters.stacking.rank_collapse import follow
from encoderlab.chapters.stacking.third_token import query_defect
from encoderlab.chapters.stacking.two_steps import accuracies
from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.experiments.kept_weights import load_model
from encoderlab.experiments.results import Results, load
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import causal_mask, multi_head_attention
from encoderlab.model.config import Norm
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.tokens import rank_one_residual
from encoderlab.training.tasks.retrieval import two_hop

N_SYMBOLS = 32


@claim(
    10,
    note=1,
    section="8.2",
    says=(
        "With multi-head attention alone, however many encoders or decoders are stacked, they are "
        "equivalent to one."
    ),
    verdict="false",
    holds=(
        "Without biases, masks and LayerNorm no single layer, of any number of heads, equals a stack of "
        "two with random weights on sequences of two tokens or more, with or without the skip. And two "
        "layers of one head each follow a pointer for two hops exactly. A single layer can do it too, "
        "with many heads: what depth buys is size. The proved lower bound is on heads × width × "
        "precision and grows with the length of the table."
    ),
    references=("sanford2024induction", "sanford2024logarithmic", "elhage2021mathematical"),
)
def claim_10() -> Findings:
    """Break an identity that all single layers obey, and do in two small ones what takes one large one."""
    rng = np.random.default_rng(10)
    encoder, x = attention_only(rng, depth=2, n_heads=4, residual=True), rng.normal(size=(5, 16))
    one_layer = max(
        query_defect(attention_only(rng, depth=1, n_heads=h, residual=True), x) for h in (1, 4, 16)
    )
    results = load("two_hop")
    found = accuracies(results)
    one_best = max(float(found[name].max()) for name in found if name.startswith("1"))
    eight = results.measure("accuracy", n_symbols=8, n_heads=4, ffn=True)
    longer = {n: load("longer").measure("accuracy", task="two_hop", n_symbols=n) for n in (12, 16)}
    findings = (
        Finding(
            "counterexample",
            "third-order term of two layers: the part that no single layer has",
            query_defect(encoder, x),
            "≥",
            0.1,
        ),
        Finding("support", "the same part, in single layers of 1, 4 and 16 heads", one_layer, "≤", 1e-6),
        Finding(
            "counterexample",
            "2-hop by hand, 32 symbols, two layers of 1 head: share right",
            _two_hop(),
            "=",
            1,
        ),
        Finding(
            "support", "one layer of 33 heads, one for each symbol", _two_hop(watched=np.eye(32)), "=", 1
        ),
        Finding("support", "17 such heads", _two_hop(watched=np.eye(32)[:16]), "≤", 0.6),
        Finding("support", "33 heads of random sets, 32 symbols", _two_hop_by_sets(32), "≥", 0.85),
        Finding("support", "33 heads of random sets, 64 symbols", _two_hop_by_sets(64), "≥", 0.85),
        Finding(
            "counterexample",
            "2-hop trained, 16 symbols, two layers of 1 head",
            float(found["2 layers"].min()),
            "≥",
            0.95,
        ),
        Finding("support", "16 symbols, one layer, FFN or not, 1 or 4 heads: best", one_best, "≤", 0.3),
        Finding(
            "support", "the largest of these, 16 symbols, thrice the steps", float(longer[16].max()), "≤", 0.3
        ),
        Finding("support", "12 symbols, twice the steps", float(longer[12].max()), "≤", 0.3),
        Finding("support", "8 symbols, all in every table: least", float(eight.min()), "≥", 0.9),
        Finding("support", "stored result less 1000 fresh examples", _stored_less_fresh(results), "≤", 0.02),
    )
    return findings


@claim(
    25,
    note=1,
    section="8.2.2",
    says="The output of two layers is a more complex weighted sum, not a new nonlinear pattern.",
    verdict="false",
    holds=(
        "A weighted sum of values it is. But whom the second layer looks at depends on what the first "
        "one found: it can follow a pointer. For long tables one layer that does the same must be "
        "larger in heads × width × precision."
    ),
    references=("sanford2024induction", "peng2024limitations", "olsson2022context"),
)
def claim_25() -> Findings:
    """Follow a pointer: the second layer reads the entry that the first one found, or another put there."""
    rng = np.random.default_rng(25)
    batch = two_hop(8, N_SYMBOLS).draw(rng, 500)
    x = with_empty_slots(batch.features)
    hopped = x + multi_head_attention(x, look_up(N_SYMBOLS, QUERY, HOP), 1)[0]
    keys = batch.features.reshape(500, 9, 3, N_SYMBOLS)[:, :8, 0].argmax(axis=-1)  # (500, 8)
    found = np.split(hopped[:, -1], 5, axis=-1)[HOP].argmax(axis=-1)  # (500,), what the first layer found
    planted = keys[np.arange(500), rng.integers(8, size=500)]  # any name of the same table instead
    misled = hopped.copy()
    misled[:, -1] = np.concatenate(
        [*np.split(hopped[:, -1], 5, axis=-1)[:HOP], np.eye(N_SYMBOLS)[planted], np.zeros((500, N_SYMBOLS))],
        axis=-1,
    )
    findings = [Finding("counterexample", "two-hop, two layers of one head: share right", _two_hop(), "=", 1)]
    for role, what, tokens, name in (
        ("counterexample", "layer 2 looks at the entry that layer 1 named", hopped, found),
        ("counterexample", "another name of the table is planted: it looks there", misled, planted),
    ):
        _, trace = multi_head_attention(tokens, look_up(N_SYMBOLS, HOP, ANSWER), 1)
        looks_at = trace.pattern[:, 0, -1, :-1].argmax(axis=-1)  # (500,)
        findings.append(Finding(role, what, np.mean(keys[np.arange(500), looks_at] == name).item(), "=", 1))
    return tuple(findings)


@claim(
    27,
    note=1,
    section="8.2.2",
    says=(
        "Without elementwise nonlinearities, stacked attention does not become much more expressive "
        "with depth as standard deep networks do; it recombines its input by repeated weighting."
    ),
    verdict="conditional",
    holds=(
        "At random initialisation with logits of order one, without skip, mask or relative positions, "
        "repeated weighting makes all tokens equal within a few layers: the part in which they differ "
        "is cubed at each. A causal mask, relative positions or a skip each turn that plunge into an "
        "exponential fall, a skip with pre-LN into one that ends about like $1/\\sqrt{\\text{depth}}$; "
        "some weights never collapse. And about expressiveness it does not hold: two small layers follow "
        "a pointer, for which a single one must be larger, at long tables provably so."
    ),
    references=("dong2021", "geshkovski2023emergence", "wu2024role", "alman2025large"),
)
def claim_27() -> Findings:
    """Send tokens through random stacks, mean and residual apart, and through one that never collapses."""
    draws = range(10)
    bare = [_distances(seed, 6) for seed in draws]
    skips: dict[Norm, FloatArray] = {
        norm: np.median([_distances(seed, 48, residual=True, norm=norm) for seed in draws], axis=0)
        for norm in ("none", "pre")
    }
    deep = np.median([_distances(seed, 96, residual=True, norm="pre") for seed in draws], axis=0)
    causal = [_distances(seed, 24, bias=np.where(causal_mask(12), 0, -np.inf)) for seed in draws]
    logs = np.log(np.median(bare, axis=0))
    exponent = float((logs[5] - logs[4]) / (logs[4] - logs[3]))
    rate = float(np.exp(np.mean([np.log(d[24] / d[4]) / 20 for d in causal])))
    apart = after_layers(np.random.default_rng(27).normal(size=(12, 32)), gain=1.5, layers=60)
    findings = (
        Finding(
            "inside",
            "random, no skip, no mask: distance to rank one after 4",
            float(np.median(bare, axis=0)[4]),
            "≤",
            1e-12,
        ),
        Finding("inside", "slope of its fall from layer to layer, off 3 by", abs(exponent - 3), "≤", 0.1),
        Finding(
            "outside", "causal mask: share left by each layer, off one half by", abs(rate - 0.5), "≤", 0.1
        ),
        Finding("outside", "with skip: distance after 4", float(skips["none"][4]), "≥", 0.5),
        Finding("support", "with skip: after 48", float(skips["none"][48]), "≤", 1e-4),
        Finding("outside", "with skip and pre-LN: after 48", float(skips["pre"][48]), "≥", 0.1),
        Finding(
            "support",
            "with skip and pre-LN: after 96 against after 48, off $1/\\sqrt2$ by",
            float(abs(deep[96] / deep[48] - 0.5**0.5)),
            "≤",
            0.05,
        ),
        Finding(
            "outside",
            "$W_Q = W_K = I$, $W_V = 1.5\\,I$: distance after 60",
            rank_one_residual(apart).item(),
            "≥",
            0.5,
        ),
        Finding("outside", "2-hop, two layers of 1 head: share right", _two_hop(), "=", 1),
    )
    return findings


def _two_hop(n_symbols: int = N_SYMBOLS, watched: FloatArray | None = None, examples: int = 200) -> float:
    """Return the share of right answers, of two layers of one head or one layer whose heads watch symbols."""
    batch = two_hop(8, n_symbols).draw(np.random.default_rng(0), examples)
    if watched is None:
        return share_right(batch, [look_up(n_symbols, QUERY, HOP), look_up(n_symbols, HOP, ANSWER)])
    return share_right(batch, [two_hops_in_one_layer(n_symbols, watched > 0)], len(watched) + 1)


def _two_hop_by_sets(n_symbols: int) -> float:
    """Return the share of right answers of one layer whose 32 heads watch a random fifth of all symbols."""
    watched = (np.random.default_rng(1).random((32, n_symbols)) < 0.2).astype(float)
    return _two_hop(n_symbols, watched, examples=100)


def _stored_less_fresh(results: Results) -> float:
    """Compare the stored accuracy of the plain two-layer model with its accuracy on new examples."""
    model, cell = load_model(results.experiment, "depth_2")
    features, target = cell.make_task().draw(np.random.default_rng(10), 1000)
    stored = results.select(**cell.settings)[0].measures["accuracy"]
    return abs(stored - model.accuracy(features, target))


def _distances(
    seed: int,
    depth: int,
    *,
    residual: bool = False,
    norm: Norm = "none",
    bias: FloatArray | None = None,
) -> list[float]:
    """Return the distance to rank one after each layer of a random attention-only stack."""
    rng = np.random.default_rng([27, seed])
    config = EncoderConfig(32, 4, 4, depth, ffn=False, residual=residual, norm=norm)
    return [state.distance for state in follow(Encoder.random(config, rng), rng.normal(size=(12, 32)), bias)]
