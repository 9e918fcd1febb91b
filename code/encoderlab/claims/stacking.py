"""Claims 10, 20 to 25, 27 and 62, on stacked attention (note 1, section 8.2), each with its check."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from encoderlab.attention import AttentionWeights, causal_mask, multi_head_attention
from encoderlab.claims.model import Claim, Evidence, Finding
from encoderlab.composition import accuracies
from encoderlab.encoder import Encoder, EncoderConfig
from encoderlab.experiments.weights import load_model
from encoderlab.impersonation import matching_layer, two_layers
from encoderlab.interpolation import layer_through
from encoderlab.linearity import additivity_defect, attend
from encoderlab.lone_token import lone_token_map
from encoderlab.lookup import ANSWER, HOP, QUERY, look_up, read, two_hops_in_one_layer, with_empty_slots
from encoderlab.rank_collapse import follow
from encoderlab.results import Results, load
from encoderlab.tasks.retrieval import two_hop
from encoderlab.third_token import log_odds, moved_query_gap, third_order
from encoderlab.validation import BoolArray, FloatArray
from encoderlab.virtual_heads import operator_rank, operator_singular_values, paths

N_SYMBOLS = 32


def check_10() -> Evidence:
    """Break an identity that all single layers obey, and do in two small ones what takes one large one."""
    rng = np.random.default_rng(10)
    encoder, x = _attention_only(rng, depth=2, n_heads=4, residual=True), rng.normal(size=(5, 16))
    one_layer = max(
        _query_defect(_attention_only(rng, depth=1, n_heads=h, residual=True), x) for h in (1, 4, 16)
    )
    results = load("two_hop")
    found = accuracies(results)
    one_best = max(float(found[name].max()) for name in found if name.startswith("1"))
    findings = (
        Finding(
            "counterexample",
            "two layers: moving the query is not moving all",
            _query_defect(encoder, x),
            "≥",
            0.1,
        ),
        Finding("support", "one layer of 1, 4 or 16 heads: the same", one_layer, "≤", 1e-6),
        Finding("counterexample", "2-hop by hand, two layers of 1 head: share right", _two_hop(), "=", 1),
        Finding("support", "2-hop by hand, one layer of 33 heads", _two_hop(heads=32), "=", 1),
        Finding("support", "2-hop by hand, one layer of 17 heads", _two_hop(heads=16), "≤", 0.6),
        Finding(
            "counterexample",
            "2-hop trained, two layers of 1 head",
            float(found["2 layers"].mean()),
            "≥",
            0.95,
        ),
        Finding("support", "2-hop trained, one layer, FFN or not, up to 4 heads", one_best, "≤", 0.3),
        Finding("support", "stored result less 1000 fresh examples", _stored_less_fresh(results), "≤", 0.02),
    )
    return Evidence(findings)


def check_20() -> Evidence:
    """Multiply stacks out, by the note's formula and over all paths; then take A₂ from the wrong tokens."""
    rng = np.random.default_rng(20)
    x = rng.normal(size=(6, 16))
    findings = []
    for depth in (2, 5):
        encoder = _attention_only(rng, depth=depth)
        trace, product = encoder.trace(x), x
        for layer, pattern in zip(encoder.weights.layers, trace.attention, strict=True):
            product = pattern[0] @ product @ layer.attention.W_V @ layer.attention.W_O
        what = f"one head, {depth} layers, against $A_{depth} \\cdots A_1 X W_1 \\cdots W_{depth}$"
        findings.append(Finding("identity", what, _gap(trace.output, product), "≤", 1e-12))
    for residual, base in ((False, "$4^2$"), (True, "$5^2$")):
        encoder = _attention_only(rng, depth=2, n_heads=4, residual=residual)
        trace = encoder.trace(x)
        total = np.sum([path.pattern @ x @ path.map for path in paths(encoder, trace)], axis=0)
        what = f"four heads{', with skip' * residual}, against the sum of {base} paths"
        findings.append(Finding("identity", what, _gap(trace.output, total), "≤", 1e-12))
    encoder = _attention_only(rng, depth=2)
    first, second = (layer.attention for layer in encoder.weights.layers)
    wrong = attend(
        multi_head_attention(x, first, 1)[0], multi_head_attention(x, second, 1)[1].pattern, second
    )
    findings.append(
        Finding("support", "with $A_2$ taken from $X$: off by", _gap(wrong, encoder(x)), "≥", 0.1)
    )
    return Evidence(tuple(findings))


def check_21() -> Evidence:
    """Add two inputs before the stack and after it, with patterns live and frozen."""
    rng = np.random.default_rng(21)
    encoder = _attention_only(rng, depth=2)
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
    first, second = (_random_head(rng, 16) for _ in range(2))
    tokens = rng.normal(size=(24, 16))
    match = matching_layer(tokens[:8], first, second)
    biased = matching_layer(tokens[:17], first, second, query_bias=True)
    narrow = matching_layer(tokens[:8], first, second, d_qk=2, best_fit=True)
    dependent = matching_layer(tokens, first, second, best_fit=True)
    new = rng.normal(size=(200, 8, 16))
    goal = two_layers(new, first, second)
    average = match.layer._replace(W_Q=0 * match.layer.W_Q)
    of_layer, of_mean = (_gaps(multi_head_attention(new, w, 1)[0], goal) for w in (match.layer, average))
    target = rng.normal(size=(8, 16))
    hit = multi_head_attention(tokens[:8], layer_through(tokens[:8], target), 1)[0]
    findings = (
        Finding("inside", "8 tokens of width 16, $d_{qk} = 7$: output off by", match.error, "≤", 1e-10),
        Finding("inside", "17 tokens, and a query bias", biased.error, "≤", 1e-10),
        Finding("outside", "8 tokens, $d_{qk} = 2$ where 7 are needed", narrow.error, "≥", 0.05),
        Finding("outside", "24 tokens of width 16", dependent.error, "≥", 0.1),
        Finding("outside", "200 new inputs: median", float(np.median(of_layer)), "≥", 0.5),
        Finding(
            "support", "new inputs that averaging does better on", np.sum(of_layer > of_mean).item(), "≥", 100
        ),
        Finding(
            "support", "new inputs that the layer does better on", np.sum(of_layer < of_mean).item(), ">", 0
        ),
        Finding("support", "a layer through a random target: off by", _gap(hit, target), "≤", 1e-10),
    )
    return Evidence(findings)


def check_23() -> Evidence:
    """Move a token that is neither query nor key; move all tokens, for any number of heads; count ranks."""
    rng = np.random.default_rng(23)
    encoder = _attention_only(rng, depth=2)
    x = rng.normal(size=(100, 3, 16))
    x[:, :2] = x[0, :2]  # a hundred third tokens beside the same two
    A_1, A_2 = (pattern[:, 0] for pattern in encoder.trace(x).attention)
    one, two = (float(np.ptp(log_odds(pattern, 0, 0, 1))) for pattern in (A_1, A_2 @ A_1))
    wide = _attention_only(rng, depth=2, n_heads=4)
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
            "four heads: moving the query is not moving all",
            _query_defect(wide, tokens),
            "≥",
            0.1,
        ),
        Finding("support", "in one layer of four", _query_defect(shallow, tokens), "≤", 1e-6),
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
    encoder = _attention_only(rng, depth=6, n_heads=4, residual=True)
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
        Finding("support", "one token against one matrix", _gap(encoder(x[:1]), x[:1] @ W + b), "≤", 1e-12),
        Finding("support", "six equal tokens", _gap(encoder(equal), equal @ W + b), "≤", 1e-12),
        Finding(
            "support", "first token of a causal model", _gap(encoder(x, causal)[0], x[0] @ W + b), "≤", 1e-12
        ),
    )
    return Evidence(findings)


def check_25() -> Evidence:
    """Follow a pointer: which entry the second layer reads is what the first one found."""
    batch = two_hop(8, N_SYMBOLS).draw(np.random.default_rng(25), 500)
    x = with_empty_slots(batch.features)
    hopped = x + multi_head_attention(x, look_up(N_SYMBOLS, QUERY, HOP), 1)[0]
    _, trace = multi_head_attention(hopped, look_up(N_SYMBOLS, HOP, ANSWER), 1)
    moved = np.roll(hopped[:, -1:], 1, axis=0)  # another sequence's query, with what it found
    _, misled = multi_head_attention(
        np.concatenate([hopped[:, :-1], moved], axis=1), look_up(N_SYMBOLS, HOP, ANSWER), 1
    )
    looks_at, misled_to = (t.pattern[:, 0, -1, :-1].argmax(axis=-1) for t in (trace, misled))  # (500,)
    keys = batch.features.reshape(500, 9, 3, N_SYMBOLS)[:, :, 0].argmax(axis=-1)  # (500, 9)
    named = np.split(hopped[:, -1], 5, axis=-1)[HOP].argmax(axis=-1)  # (500,), what the first layer found
    follows = float(np.mean(keys[np.arange(500), looks_at] == named))
    findings = (
        Finding("counterexample", "two-hop, two layers of one head: share right", _two_hop(), "=", 1),
        Finding("counterexample", "layer 2 looks at the entry that layer 1 named", follows, "=", 1),
        Finding("support", "best shortcut", two_hop(8, N_SYMBOLS).line_to_beat, "≤", 0.2),
        Finding(
            "support",
            "same table, another name: looks elsewhere",
            float(np.mean(looks_at != misled_to)),
            "≥",
            0.5,
        ),
    )
    return Evidence(findings)


def check_27() -> Evidence:
    """Send tokens through random stacks, mean and residual apart, and through one that never collapses."""
    draws = range(10)
    bare = [_distances(seed, 6) for seed in draws]
    skip = [_distances(seed, 24, residual=True) for seed in draws]
    causal = [_distances(seed, 24, bias=np.where(causal_mask(12), 0, -np.inf)) for seed in draws]
    logs = np.log(np.median(bare, axis=0))
    exponent = float((logs[5] - logs[4]) / (logs[4] - logs[3]))
    rate = float(np.exp(np.mean([np.log(d[24] / d[4]) / 20 for d in causal])))
    x: FloatArray = np.random.default_rng(27).normal(size=(12, 32))
    growing = AttentionWeights(np.eye(32), np.eye(32), 1.5 * np.eye(32), np.eye(32))
    for _ in range(60):
        x = multi_head_attention(x, growing, 1)[0]
    remains = float(np.linalg.norm(x - x.mean(axis=0)) / np.linalg.norm(x))
    findings = (
        Finding(
            "inside",
            "random, no skip, no mask: distance to rank one after 4",
            float(np.median(bare, axis=0)[4]),
            "≤",
            1e-12,
        ),
        Finding("inside", "slope of its fall from layer to layer", abs(exponent - 3), "≤", 0.1),
        Finding("outside", "causal mask: share left by each layer", rate, "≥", 0.4),
        Finding("outside", "with skip: distance after 4", float(np.median(skip, axis=0)[4]), "≥", 0.5),
        Finding("outside", "$W_Q = W_K = I$, $W_V = 1.5\\,I$: distance after 60", remains, "≥", 0.5),
        Finding("outside", "2-hop, two layers of 1 head: share right", _two_hop(), "=", 1),
    )
    return Evidence(findings)


def check_62() -> Evidence:
    """Ask how much of two layers one pattern with one map can hold, once heads or a skip join in."""
    rng = np.random.default_rng(62)
    x = rng.normal(size=(8, 16))
    cases = {
        "four heads": _attention_only(rng, depth=2, n_heads=4),
        "one head and a skip": _attention_only(rng, depth=2, residual=True),
    }
    alone = _attention_only(rng, depth=2)
    findings = [
        Finding(
            "counterexample", f"{name}: what the best $A X W$ misses", _beyond_rank_one(model, x), "≥", 0.1
        )
        for name, model in cases.items()
    ]
    findings.append(Finding("support", "one head, no skip: the same", _beyond_rank_one(alone, x), "≤", 1e-7))
    return Evidence(tuple(findings))


def _attention_only(
    rng: np.random.Generator, *, depth: int, n_heads: int = 1, residual: bool = False
) -> Encoder:
    config = EncoderConfig(16, n_heads, 4, depth, ffn=False, residual=residual, norm="none")
    return Encoder.random(config, rng)


def _random_head(rng: np.random.Generator, d: int) -> AttentionWeights:
    """Draw one head whose logits have a standard deviation of about 3."""
    W_Q, W_K, W_V, W_O = rng.normal(size=(4, d, d)) / d**0.5
    return AttentionWeights(3 * W_Q, W_K, W_V, W_O)


def _gap(actual: FloatArray, expected: FloatArray) -> float:
    return float(np.linalg.norm(actual - expected) / np.linalg.norm(expected))


def _gaps(actual: FloatArray, expected: FloatArray) -> FloatArray:
    """Return the gap of every sequence of a batch."""
    ratio: FloatArray = np.linalg.norm(actual - expected, axis=(1, 2)) / np.linalg.norm(expected, axis=(1, 2))
    return ratio


def _query_defect(f: Callable[[FloatArray], FloatArray], x: FloatArray) -> float:
    """Compare, to third order, a query moved by v with all tokens moved by v: to one layer it is the same."""
    return float(np.linalg.norm(moved_query_gap(f, x)) / np.linalg.norm(third_order(f, x)))


def _two_hop(heads: int | None = None) -> float:
    """Return the share of right answers, of two layers of one head or one layer of `heads` + 1."""
    batch = two_hop(8, N_SYMBOLS).draw(np.random.default_rng(0), 500)
    x = with_empty_slots(batch.features)
    if heads is None:
        x = x + multi_head_attention(x, look_up(N_SYMBOLS, QUERY, HOP), 1)[0]
        x = x + multi_head_attention(x, look_up(N_SYMBOLS, HOP, ANSWER), 1)[0]
    else:
        x = x + multi_head_attention(x, two_hops_in_one_layer(N_SYMBOLS, heads), heads + 1)[0]
    return float(np.mean(read(x) == batch.target))


def _stored_less_fresh(results: Results) -> float:
    """Compare the stored accuracy of the plain two-layer model with its accuracy on new examples."""
    model, cell = load_model(results.experiment, "depth_2")
    features, target = cell.make_task().draw(np.random.default_rng(10), 1000)
    stored = results.select(**cell.settings)[0].measures["accuracy"]
    return abs(stored - model.accuracy(features, target))


def _causal_defect(encoder: Encoder, x: FloatArray, y: FloatArray, t: int, mask: BoolArray) -> float:
    return additivity_defect(lambda z: encoder(z, mask)[t], x, y)


def _distances(
    seed: int, depth: int, *, residual: bool = False, bias: FloatArray | None = None
) -> list[float]:
    """Return the distance to rank one after each layer of a random attention-only stack."""
    rng = np.random.default_rng([27, seed])
    config = EncoderConfig(32, 4, 4, depth, ffn=False, residual=residual, norm="none")
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
            "Without biases and masks no single layer, of any number of heads, equals a generic stack of two "
            "on sequences of three tokens or more, with or without the skip. Nor is it only a matter of "
            "principle: two layers of one head each follow a pointer for two hops, for which one layer needs "
            "a head for every symbol. What depth buys there is size, not possibility; lower bounds are on "
            "heads × width × precision."
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
        says="$A_2 A_1$ only stands in the place of one layer's weights, computed in a more complex way.",
        verdict="conditional",
        holds=(
            "On one input whose tokens are independent, a single head reproduces $A_2 A_1$ exactly if and "
            "only if $d_{qk}$ is at least the rank of its centred logarithm, as a rule $n - 1$. With a query "
            "bias one token more is allowed. On other inputs the same head is off by the size of the output. "
            "And on one input a single layer can be put through any target at all."
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
            "In one head, a query's log-odds between two keys depend on no third token; in $A_2 A_1$ they "
            "do. For any number of heads: to third order in the input, one layer multiplies only the query "
            "by a function of the tokens' covariance, two layers their mean as well. With patterns frozen, "
            "a layer of $h$ heads has rank at most $h$ and two layers at most $h^2$, within $n^2 - n + 1$ "
            "and $d^2$."
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
            "one found: it can follow a pointer. One layer that computes the same must be much larger."
        ),
        chapter="stacking",
        check=check_25,
        references=("peng2024limitations", "olsson2022context"),
    ),
    Claim(
        number=27,
        note=1,
        section="8.2.2",
        says=(
            "Without elementwise nonlinearities, stacked attention does not become more expressive with "
            "depth as standard deep networks do; it recombines its input by repeated weighting."
        ),
        verdict="conditional",
        holds=(
            "At random initialisation, without skip, mask or relative positions, repeated weighting makes "
            "all tokens equal within a few layers: the part in which they differ is cubed at each. A causal "
            "mask makes that exponential, a skip slower still, some weights never collapse, and depth does "
            "solve tasks that as small a single layer does not."
        ),
        chapter="stacking",
        check=check_27,
        references=("dong2021", "geshkovski2023emergence", "wu2024role"),
    ),
    Claim(
        number=62,
        note=1,
        section="8.2",
        says="The derivation holds for stacks of multi-head encoders and decoders.",
        verdict="false",
        holds=(
            "It is for one head, without $W_O$, skip, LayerNorm or mask. With heads or a skip, two layers "
            "are a sum of many terms and not $A X W$. A decoder also reads a second sequence."
        ),
        chapter="stacking",
        check=check_62,
        references=("vaswani2017attention",),
    ),
)
