"""Claims 10, 20 to 25, 27 and 62, on stacked attention (note 1, section 8.2), each with its check."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from encoderlab.attention import causal_mask, multi_head_attention
from encoderlab.claims.model import Claim, Evidence, Finding
from encoderlab.depth.composition import accuracies
from encoderlab.depth.impersonation import averaging, errors, matching_layer, random_head
from encoderlab.depth.interpolation import layer_through
from encoderlab.depth.lookup import (
    ANSWER,
    HOP,
    QUERY,
    look_up,
    share_right,
    two_hops_in_one_layer,
    with_empty_slots,
)
from encoderlab.depth.orthogonal_tokens import after_layers
from encoderlab.depth.rank_collapse import follow
from encoderlab.depth.third_token import log_odds, moved_query_gap, third_order
from encoderlab.depth.virtual_heads import operator_rank, operator_singular_values, paths
from encoderlab.distance import gap
from encoderlab.encoder import Encoder, EncoderConfig
from encoderlab.experiments.weights import load_model
from encoderlab.mixing.linearity import additivity_defect, attend
from encoderlab.mixing.lone_token import lone_token_map
from encoderlab.residual_norm import Norm
from encoderlab.results import Results, load
from encoderlab.stacking import attention_only, rank_one_residual
from encoderlab.training.tasks.retrieval import two_hop
from encoderlab.validation import BoolArray, FloatArray

N_SYMBOLS = 32


def check_10() -> Evidence:
    """Break an identity that all single layers obey, and do in two small ones what takes one large one."""
    rng = np.random.default_rng(10)
    encoder, x = attention_only(rng, depth=2, n_heads=4, residual=True), rng.normal(size=(5, 16))
    one_layer = max(
        _query_defect(attention_only(rng, depth=1, n_heads=h, residual=True), x) for h in (1, 4, 16)
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
            _query_defect(encoder, x),
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
    return Evidence(findings)


def check_20() -> Evidence:
    """Multiply stacks out, by the note's formula and over all paths; then take A₂ from the wrong tokens."""
    rng = np.random.default_rng(20)
    x = rng.normal(size=(6, 16))
    findings = []
    for depth in (2, 5):
        encoder = attention_only(rng, depth=depth)
        trace, product = encoder.trace(x), x
        for layer, pattern in zip(encoder.weights.layers, trace.attention, strict=True):
            product = pattern[0] @ product @ layer.attention.W_V @ layer.attention.W_O
        what = f"one head, {depth} layers, against $A_{depth} \\cdots A_1 X W_1 \\cdots W_{depth}$"
        findings.append(Finding("identity", what, gap(trace.output, product), "≤", 1e-12))
    for residual, base in ((False, "$4^2$"), (True, "$5^2$")):
        encoder = attention_only(rng, depth=2, n_heads=4, residual=residual)
        trace = encoder.trace(x)
        total = np.sum([path.pattern @ x @ path.map for path in paths(encoder, trace)], axis=0)
        what = f"four heads{', with skip' * residual}, against the sum of {base} paths"
        findings.append(Finding("identity", what, gap(trace.output, total), "≤", 1e-12))
    encoder = attention_only(rng, depth=2)
    first, second = (layer.attention for layer in encoder.weights.layers)
    wrong = attend(
        multi_head_attention(x, first, 1)[0], multi_head_attention(x, second, 1)[1].pattern, second
    )
    findings.append(Finding("support", "with $A_2$ taken from $X$: off by", gap(wrong, encoder(x)), "≥", 0.1))
    return Evidence(tuple(findings))


def check_21() -> Evidence:
    """Add two inputs before the stack and after it, with patterns live and frozen."""
    rng = np.random.default_rng(21)
    encoder = attention_only(rng, depth=2)
    x, y = rng.normal(size=(2, 6, 16))
    (path,) = paths(encoder, encoder.trace(x))

    def frozen(z: FloatArray) -> FloatArray:
        return path.pattern @ z @ path.map

    findings = (
        Finding("counterexample", "live: additivity defect", additivity_defect(encoder, x, y), "≥", 0.3),
        Finding("support", "both patterns frozen: the same", additivity_defect(frozen, x, y), "≤", 1e-14),
        Finding(
            "support", "live, input of a hundredth", additivity_defect(encoder, x / 100, y / 100), "≤", 1e-3
        ),
    )
    return Evidence(findings)


def check_22() -> Evidence:
    """Build the single layer; break its conditions one by one; show it other inputs and another target."""
    rng = np.random.default_rng(22)
    first, second = (random_head(rng) for _ in range(2))
    tokens = rng.normal(size=(24, 16))
    match = matching_layer(tokens[:8], first, second)
    biased = matching_layer(tokens[:17], first, second, query_bias=True)
    narrow = matching_layer(tokens[:8], first, second, d_qk=2, best_fit=True)
    dependent = matching_layer(tokens, first, second, best_fit=True)
    new = rng.normal(size=(200, 8, 16))
    of_layer, of_mean = (errors(w, new, first, second) for w in (match.layer, averaging(match.layer)))
    target = rng.normal(size=(8, 16))
    hit = multi_head_attention(tokens[:8], layer_through(tokens[:8], target), 1)[0]
    findings = (
        Finding("inside", "8 tokens of width 16, $d_{qk} = 7$: logits off by", match.misfit, "≤", 1e-10),
        Finding("inside", "17 tokens, and a query bias: logits off by", biased.misfit, "≤", 1e-10),
        Finding("outside", "8 tokens, $d_{qk} = 2$ where 7 are needed", narrow.misfit, "≥", 0.05),
        Finding("outside", "24 tokens of width 16: logits off by", dependent.misfit, "≥", 0.1),
        Finding("outside", "200 new inputs: output off by, median", float(np.median(of_layer)), "≥", 0.5),
        Finding(
            "support", "new inputs that averaging does better on", np.sum(of_layer > of_mean).item(), "≥", 100
        ),
        Finding(
            "support", "new inputs that the layer does better on", np.sum(of_layer < of_mean).item(), ">", 0
        ),
        Finding("support", "$d_{qk} = 1$, through a random target: off by", gap(hit, target), "≤", 1e-10),
    )
    return Evidence(findings)


def check_23() -> Evidence:
    """Move a token that is neither query nor key; move all tokens, for any number of heads; count ranks."""
    rng = np.random.default_rng(23)
    encoder = attention_only(rng, depth=2)
    x = rng.normal(size=(100, 3, 16))
    x[:, :2] = x[0, :2]  # a hundred third tokens beside the same two
    A_1, A_2 = (pattern[:, 0] for pattern in encoder.trace(x).attention)
    one, two = (float(np.ptp(log_odds(pattern, 0, 0, 1))) for pattern in (A_1, A_2 @ A_1))
    wide = attention_only(rng, depth=2, n_heads=4)
    tokens = rng.normal(size=(8, 16))
    shallow = wide.switch(depth=1)
    taught = load("student")
    errors = {
        depth: taught.measure("relative error", n=4, logit_scale=2.0, depth=depth, n_heads=1)
        for depth in (1, 2)
    }
    ranks = [operator_rank(paths(model, model.trace(tokens))) for model in (shallow, wide)]
    findings = (
        Finding("counterexample", "log-odds in $A_2A_1$ over 100 third tokens: range", two, "≥", 0.1),
        Finding("support", "in one head: range", one, "≤", 1e-12),
        Finding(
            "counterexample",
            "third-order term of two layers of four heads: the part that no single layer has",
            _query_defect(wide, tokens),
            "≥",
            0.1,
        ),
        Finding("support", "the same part, in one layer of four", _query_defect(shallow, tokens), "≤", 1e-6),
        Finding(
            "support", "trained student of 1 layer, teacher of 2: error", errors[1].min().item(), "≥", 0.1
        ),
        Finding("support", "trained student of 2 layers: the same", errors[2].max().item(), "≤", 0.01),
        Finding("support", "rank of two layers of four heads, frozen", ranks[1], "=", 16),
        Finding("support", "rank of one layer, frozen", ranks[0], "=", 4),
    )
    return Evidence(findings)


def check_24() -> Evidence:
    """Ask the same six layers about one token, equal tokens, the first and the second of a causal model."""
    rng = np.random.default_rng(24)
    encoder = attention_only(rng, depth=6, n_heads=4, residual=True)
    W, b = lone_token_map(encoder)
    x, y = rng.normal(size=(2, 6, 16))
    equal = np.broadcast_to(x[:1], x.shape).copy()
    causal = causal_mask(6)
    findings = (
        Finding(
            "counterexample",
            "six different tokens: additivity defect",
            additivity_defect(encoder, x, y),
            "≥",
            0.1,
        ),
        Finding(
            "counterexample",
            "second token of a causal model",
            _causal_defect(encoder, x, y, 1, causal),
            "≥",
            0.05,
        ),
        Finding("support", "one token against one matrix", gap(encoder(x[:1]), x[:1] @ W + b), "≤", 1e-12),
        Finding("support", "six equal tokens", gap(encoder(equal), equal @ W + b), "≤", 1e-12),
        Finding(
            "support", "first token of a causal model", gap(encoder(x, causal)[0], x[0] @ W + b), "≤", 1e-12
        ),
    )
    return Evidence(findings)


def check_25() -> Evidence:
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
    return Evidence(tuple(findings))


def check_27() -> Evidence:
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
    return Evidence(findings)


def check_62() -> Evidence:
    """Ask how much of two layers one pattern with one map can hold, once heads or a skip join in."""
    rng = np.random.default_rng(62)
    x = rng.normal(size=(8, 16))
    cases = {
        "four heads": attention_only(rng, depth=2, n_heads=4),
        "one head and a skip": attention_only(rng, depth=2, residual=True),
    }
    alone = attention_only(rng, depth=2)
    findings = [
        Finding(
            "counterexample", f"{name}: what the best $A X W$ misses", _beyond_rank_one(model, x), "≥", 0.1
        )
        for name, model in cases.items()
    ]
    findings.append(Finding("support", "one head, no skip: the same", _beyond_rank_one(alone, x), "≤", 1e-7))
    return Evidence(tuple(findings))


def _query_defect(f: Callable[[FloatArray], FloatArray], x: FloatArray) -> float:
    """Compare, to third order, two queries v apart with one before and after all tokens move by v."""
    return float(np.linalg.norm(moved_query_gap(f, x)) / np.linalg.norm(third_order(f, x)))


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


def _causal_defect(encoder: Encoder, x: FloatArray, y: FloatArray, t: int, mask: BoolArray) -> float:
    return additivity_defect(lambda z: encoder(z, mask)[t], x, y)


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


def _beyond_rank_one(encoder: Encoder, x: FloatArray) -> float:
    """Return the share of the frozen operator's norm that its best single term A X W misses."""
    values = operator_singular_values(paths(encoder, encoder.trace(x)))
    return float(np.linalg.norm(values[1:]) / np.linalg.norm(values))


CLAIMS = (
    Claim(
        number=10,
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
        chapter="stacking",
        check=check_10,
        references=("sanford2024induction", "sanford2024logarithmic", "elhage2021mathematical"),
    ),
    Claim(
        number=20,
        note=1,
        section="8.2.2",
        says="Two layers, written out, give $H_2 = A_2 A_1 (X W_{V_1} W_{V_2})$.",
        verdict="exact",
        holds=(
            "Exactly so for one head without bias or skip, at any depth, with $A_2$ computed from $H_1$. "
            "With $h$ heads it is a sum of $h^2$ such terms, with a skip of $(1 + h)^2$."
        ),
        chapter="stacking",
        check=check_20,
        references=("elhage2021mathematical",),
    ),
    Claim(
        number=21,
        note=1,
        section="8.2.2",
        says="$H_2$ is a linear transformation of $X$, combined with two matrices of attention weights.",
        verdict="false",
        holds=(
            "Linear only with both patterns frozen. They depend on $X$, $A_2$ through $A_1$ as well; nearly "
            "linear near $X = 0$, where all weights are nearly equal."
        ),
        chapter="stacking",
        check=check_21,
    ),
    Claim(
        number=22,
        note=1,
        section="8.2.2",
        says=(
            "The form is very similar to that of a single layer: only the weights, now $A_2 A_1$, are "
            "computed in a more complex way."
        ),
        verdict="conditional",
        holds=(
            "On one input whose tokens are independent, a single head reproduces the pattern $A_2 A_1$ "
            "exactly if and only if $d_{qk}$ is at least the rank of its row-centred logarithm, as a rule "
            "$n - 1$. With a query bias one token more is allowed. On other inputs the same head is off by "
            "about the size of the output. And on one input a single layer with $d_{qk} = 1$ can be put "
            "through any target at all."
        ),
        chapter="stacking",
        check=check_22,
    ),
    Claim(
        number=23,
        note=1,
        section="8.2.2",
        says="So a stack of self-attention layers is in essence equivalent to a single attention layer.",
        verdict="false",
        holds=(
            "In one head, a query's log-odds between two keys depend on no third token; in $A_2 A_1$, for "
            "random weights, they do. For any number of heads, without mask and LayerNorm: to third order "
            "in the input, one layer multiplies only the query by a function of the tokens' covariance, two "
            "layers their mean as well. With patterns frozen, a layer of $h$ heads has rank at most $h$ and "
            "two layers at most $h^2$, within $n^2 - n + 1$ and $d^2$."
        ),
        chapter="stacking",
        check=check_23,
        references=("elhage2021mathematical",),
    ),
    Claim(
        number=24,
        note=1,
        section="8.2.2",
        says="Without elementwise nonlinearities between the layers the stack stays linear.",
        verdict="false",
        holds=(
            "It is exactly affine for a lone token, for equal tokens, and for the first token of a causal "
            "model, at any depth, without LayerNorm. Two different tokens are enough to end it."
        ),
        chapter="stacking",
        check=check_24,
    ),
    Claim(
        number=25,
        note=1,
        section="8.2.2",
        says="The output of two layers is a more complex weighted sum, not a new nonlinear pattern.",
        verdict="false",
        holds=(
            "A weighted sum of values it is. But whom the second layer looks at depends on what the first "
            "one found: it can follow a pointer. For long tables one layer that does the same must be "
            "larger in heads × width × precision."
        ),
        chapter="stacking",
        check=check_25,
        references=("sanford2024induction", "peng2024limitations", "olsson2022context"),
    ),
    Claim(
        number=27,
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
        chapter="stacking",
        check=check_27,
        references=("dong2021", "geshkovski2023emergence", "wu2024role", "alman2025large"),
    ),
    Claim(
        number=62,
        note=1,
        section="8.2",
        says=(
            "What is derived for one head is stated for multi-head attention, in encoders and decoders alike."
        ),
        verdict="false",
        holds=(
            "The derivation has one head and no $W_O$, skip, LayerNorm or mask. With several heads or a "
            "skip, two layers are a sum of many terms, which no single $A X W$ equals even with the "
            "patterns frozen. A decoder also reads a second sequence."
        ),
        chapter="stacking",
        check=check_62,
        references=("vaswani2017attention",),
    ),
)
