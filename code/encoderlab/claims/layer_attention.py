"""Claims 38, 40, 41, 43, 54 to 56, 65 and 66: where the layers of the published model look."""

from __future__ import annotations

import numpy as np

from encoderlab.abstraction import HEAD_MEASURES
from encoderlab.abstraction_results import results
from encoderlab.claims.layer_measurements import (
    head_mean,
    least,
    link,
    mean,
    probe_accuracy,
    untrained_accuracy,
)
from encoderlab.claims.model import Claim, Evidence, Finding
from encoderlab.relations import RELATIONS
from encoderlab.sentences import mean_and_interval


def check_38() -> Evidence:
    """Compare how far attention between words reaches, layer by layer."""
    reach = head_mean("distance")
    return Evidence(
        (
            Finding("for", "reach of layer 2, even attention = 1", mean(reach[:, 1]), "≤", 0.75),
            Finding(
                "for",
                "by how much layer 6 reaches farther, at least",
                least(reach[:, 5] - reach[:, 1]),
                "≥",
                0.2,
            ),
            Finding(
                "against",
                "layer 1 reaches farther than layer 3 by at least",
                least(reach[:, 0] - reach[:, 2]),
                "≥",
                0.05,
            ),
            Finding(
                "against",
                "weight of both neighbours together, layer 2",
                mean(head_mean("to neighbours")[:, 1]),
                "≤",
                0.4,
            ),
        )
    )


def check_40() -> Evidence:
    """Ask how far the top layers reach, and where a fact of the whole sentence can be read first."""
    reach, tense = head_mean("distance"), probe_accuracy("tense")
    return Evidence(
        (
            Finding("for", "reach of layer 6, even attention = 1", mean(reach[:, 5]), "≥", 0.9),
            Finding(
                "against",
                "layer 4 reaches farther than layer 5 by at least",
                least(reach[:, 3] - reach[:, 4]),
                "≥",
                0.02,
            ),
            Finding("against", "tense read from [CLS] after layer 2", float(tense[2]), "≥", 0.85),
            Finding("against", "what is lost of that by layer 6", float(tense[2] - tense[6]), "≥", 0.15),
            Finding(
                "support",
                "the same with layers never trained, at best",
                untrained_accuracy("tense"),
                "≥",
                0.7,
            ),
        )
    )


def check_41() -> Evidence:
    """Compare the reach of successive layers."""
    reach = head_mean("distance")
    low, high = reach[:, :3].mean(axis=1), reach[:, 3:].mean(axis=1)
    return Evidence(
        (
            Finding(
                "for", "layers 4 to 6 reach farther than 1 to 3 by at least", least(high - low), "≥", 0.1
            ),
            Finding(
                "against",
                "layer 1 reaches farther than layer 2 by at least",
                least(reach[:, 0] - reach[:, 1]),
                "≥",
                0.1,
            ),
            Finding(
                "against",
                "layer 4 reaches farther than layer 5 by at least",
                least(reach[:, 3] - reach[:, 4]),
                "≥",
                0.02,
            ),
        )
    )


def check_43() -> Evidence:
    """Let every head point from a verb to its subject and object, and back; judge heads on other clauses."""
    found, rules = results()["relations"], results()["relation_rules"][:, 1]
    names = list(RELATIONS)
    verbs = [k for k, name in enumerate(names) if "verb" in name]

    def over_rule(k: int, layers: slice) -> float:
        chosen, judged = found[k][:, layers].reshape(2, -1)
        return float(judged[chosen.argmax()] - rules[k])

    low, middle = slice(0, 2), slice(2, 4)
    noun, subject = names.index("noun → determiner"), names.index("subject → verb")
    average = results()["relations_mean"][verbs, 1, :2]
    return Evidence(
        (
            Finding(
                "for",
                "noun → determiner, best head of layers 1 and 2, over a fixed step",
                over_rule(noun, low),
                "≥",
                0.3,
            ),
            Finding(
                "for",
                "subject → verb, best head of layers 3 and 4, over a fixed step",
                over_rule(subject, middle),
                "≥",
                0.15,
            ),
            Finding(
                "against",
                "four verb relations, best heads of layers 1 and 2: most over a fixed step",
                max(over_rule(k, low) for k in verbs),
                "≤",
                0.1,
            ),
            Finding(
                "against",
                "the same, mean over heads: most over a fixed step",
                float((average - rules[verbs, None]).max()),
                "≤",
                0.05,
            ),
        )
    )


def check_54() -> Evidence:
    """Look at the note's own pairs in layer 1, on its sentence and on a hundred of the same form."""
    pairs = dict(zip(results()["pair_names"].tolist(), results()["pairs"], strict=True))
    neighbours = mean(head_mean("neighbours")[:, 0])
    verb, noun, back = (pairs[name][0] for name in ("sat → cat", "on → mat", "cat → sat"))
    return Evidence(
        (
            Finding(
                "for", "sat → cat, layer 1, strongest head, even attention = 1", float(verb.max()), "≥", 4
            ),
            Finding("for", "the same in the note's sentence", float(link("sat", "cat", 1).max()), "≥", 4),
            Finding(
                "against",
                "sat → cat, mean over heads, over what any neighbour gets",
                float(verb.mean()) / neighbours,
                "≤",
                1.15,
            ),
            Finding("against", "cat → sat, mean over heads", float(back.mean()), "≤", 1),
            Finding("against", "on → mat, mean over heads", float(noun.mean()), "≤", 0.9),
        )
    )


def check_55() -> Evidence:
    """Follow "the cat" through the layers, and the phrases of the probe."""
    pairs = dict(zip(results()["pair_names"].tolist(), results()["pairs"], strict=True))
    strongest = pairs["the → cat"].max(axis=1)
    return Evidence(
        (
            Finding(
                "for", "the → cat, layer 3, strongest head, even attention = 1", float(strongest[2]), "≥", 4
            ),
            Finding(
                "for",
                "layer from which a word's phrase is read best",
                int(probe_accuracy("phrase").argmax()),
                "=",
                3,
            ),
            Finding(
                "against",
                "the → cat, strongest head of layer 2 over that of layer 3",
                float(strongest[1] / strongest[2]),
                "≥",
                1,
            ),
            Finding(
                "against",
                "the → cat, mean over heads: layer 5 over layer 3",
                float(pairs["the → cat"][4].mean() / pairs["the → cat"][2].mean()),
                "≥",
                1.1,
            ),
        )
    )


def check_56() -> Evidence:
    """Look from cat to mat and back in layer 6."""
    pairs = dict(zip(results()["pair_names"].tolist(), results()["pairs"], strict=True))
    there, back = pairs["cat → mat"], pairs["mat → cat"]
    return Evidence(
        (
            Finding(
                "for",
                "cat → mat, mean over heads: layer 6 over layer 1",
                float(there[5].mean() / there[0].mean()),
                "≥",
                1.3,
            ),
            Finding(
                "for",
                "cat → mat, layer 6, strongest head, even attention = 1",
                float(there[5].max()),
                "≥",
                2.5,
            ),
            Finding("against", "mat → cat, layer 6, mean over heads", float(back[5].mean()), "≤", 1.15),
            Finding(
                "against",
                "mat → cat, mean over heads: layer 6 over layer 1",
                float(back[5].mean() / back[0].mean()),
                "≤",
                1.2,
            ),
        )
    )


def check_65() -> Evidence:
    """Weigh the words at distance one."""
    ratio, share = head_mean("neighbours"), head_mean("to neighbours")
    markers = (head_mean("to [CLS]") + head_mean("to [SEP]")).mean(axis=0)
    return Evidence(
        (
            Finding(
                "for",
                "a neighbour's weight over the mean, least of layers 1 to 3",
                float(ratio[:, :3].mean(axis=0).min()),
                "≥",
                1.4,
            ),
            Finding(
                "for", "the same, most of layers 4 to 6", float(ratio[:, 3:].mean(axis=0).max()), "≤", 1.3
            ),
            Finding(
                "against",
                "both neighbours together, most of all layers",
                float(share.mean(axis=0).max()),
                "≤",
                0.4,
            ),
            Finding(
                "against",
                "layer 2: share of attention that goes to no word but to the markers",
                float(markers[1]),
                "≥",
                0.5,
            ),
        )
    )


def check_66() -> Evidence:
    """Compare identical tokens with others as far apart; choose heads on one half, judge on the other."""
    same = results()["heads"][list(HEAD_MEASURES).index("identical"), 1:]  # (64, 6, 12), NaN without a copy
    chosen, judged = np.nanmean(same[:32], axis=0), np.nanmean(same[32:], axis=0)
    best = [float(judged[layer, chosen[layer].argmax()]) for layer in range(6)]
    high = mean_and_interval(same.mean(axis=-1), np.random.default_rng(0))[2]
    return Evidence(
        (
            Finding(
                "for",
                "preference for copies, 0 none and 1 nothing else: best head of layer 2",
                best[1],
                "≥",
                0.5,
            ),
            Finding(
                "against",
                "mean over heads, most of layers 2 and 3 (end of interval)",
                float(high[1:3].max()),
                "≤",
                -0.1,
            ),
            Finding("against", "mean over heads, layer 1 (end of interval)", float(high[0]), "≤", 0.1),
            Finding("against", "best head of layer 3", best[2], "≥", 0.5),
        )
    )


CLAIMS = (
    Claim(
        number=38,
        note=2,
        section="lower layers",
        says="Layers 1 and 2 capture local dependencies; attention there is on neighbouring words.",
        verdict="depends",
        holds=(
            "In the published model attention between words reaches least far in layer 2, and is wider in "
            "layer 1 than in layer 3, which the note counts among the middle ones. Everywhere most of the "
            "weight goes to words farther away than the neighbours."
        ),
        chapter="abstraction",
        check=check_38,
        references=("clark2019look",),
    ),
    Claim(
        number=40,
        note=2,
        section="upper layers",
        says="Layers 5 and 6 capture global semantics and long-range dependencies.",
        verdict="depends",
        holds=(
            "Layer 6 reaches about as far as even attention, but so does layer 4, and layer 5 does not. The "
            "tense of the whole sentence can be read off one token after layer 2, and less well after layer "
            "6."
        ),
        chapter="abstraction",
        check=check_40,
        references=("tenney2019pipeline",),
    ),
    Claim(
        number=41,
        note=2,
        section="middle layers",
        says="From layer to layer attention widens, from local to middle to any distance.",
        verdict="depends",
        holds=(
            "On the whole it does here, but not step by step: it narrows from layer 1 to 2 and from 4 to 5. "
            "In GPT-2 the deepest layers attend farthest."
        ),
        chapter="abstraction",
        check=check_41,
        references=("vig2019structure",),
    ),
    Claim(
        number=43,
        note=2,
        section="attention, lower layers",
        says="Lower-layer attention is driven by grammar: it links subject and verb, verb and object.",
        verdict="depends",
        holds=(
            "Heads of layer 2 link a noun to its determiner wherever it stands. For the four relations of "
            "verbs no head of layers 1 and 2 does better than always looking the same number of words away; "
            "a head of layer 3 does, from the subject to its verb. The mean over heads follows none."
        ),
        chapter="abstraction",
        check=check_43,
        references=("clark2019look",),
    ),
    Claim(
        number=54,
        note=2,
        section="worked example",
        says="In layer 1, “cat” is related to “sat”, and “on” to “the mat”.",
        verdict="depends",
        holds=(
            "One head of layer 1 gives almost all it has between words to the word before, so to “cat” from "
            "“sat”. The mean over heads gives the pair no more than other neighbours get, and “on” gives "
            "less than an even share to “mat”. The note says what is learnt, not what is attended to: this "
            "is one model and one way to look."
        ),
        chapter="abstraction",
        check=check_54,
    ),
    Claim(
        number=55,
        note=2,
        section="worked example",
        says="Layer 3 composes “the cat” into a noun phrase and “sat on the mat” into a verb phrase.",
        verdict="depends",
        holds=(
            "A head of layer 3 links “the” to “cat” strongly, and phrases are read best there. A head of "
            "layer 2 does so more strongly, and on average layer 5 links them most."
        ),
        chapter="abstraction",
        check=check_55,
    ),
    Claim(
        number=56,
        note=2,
        section="worked example",
        says="In layer 6, “cat” and “mat” are linked across the distance.",
        verdict="depends",
        holds=(
            "From “cat” to “mat” the link is stronger in layer 6 than before, above all in one head. From "
            "“mat” to “cat” it is at the level of even attention in layer 6 as in layer 1."
        ),
        chapter="abstraction",
        check=check_56,
    ),
    Claim(
        number=65,
        note=2,
        section="attention, lower layers",
        says="The lower layers attend mainly to neighbouring words.",
        verdict="depends",
        holds=(
            "More than the upper ones do, but not mainly: both neighbours together get about a third of the "
            "weight between words at most, and from layer 2 on most attention goes to no word at all but to "
            "[CLS]."
        ),
        chapter="abstraction",
        check=check_65,
        references=("clark2019look",),
    ),
    Claim(
        number=66,
        note=2,
        section="attention, lower layers",
        says="Lower-layer attention links words by their surface form.",
        verdict="depends",
        holds=(
            "A head of layer 2 does, and a head of layer 3 too, mostly between one “the” and the next. On "
            "average over heads a copy of the word gets no more than another word as far away in layer 1, "
            "and less above."
        ),
        chapter="abstraction",
        check=check_66,
    ),
)
