"""Figure of chapter 2 on order: which tokens notice that two of them have changed places."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.explorer.controls import SWITCH
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREY, RC, log_ticks, panels
from encoderlab.model.attention import causal_mask
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.positions import sinusoidal_positions
from encoderlab.numerals import scientific

SWAPS = {"1 and 2": [1, 0, 2, 3, 4, 5], "3 and 5": [0, 1, 4, 3, 2, 5]}
ROUNDING = 1e-12


def order() -> tuple[Figure, Update]:
    """Show by how much each token's output changes when two tokens of a sequence change places.

    Returns
    -------
    figure : Figure
    update : callable
        Of `mask`, "none" or "causal", `positions`, a boolean, `depth`, and `swap`, a key of `SWAPS`.
    """
    n, d, floor = 6, 16, 1e-17
    rng = np.random.default_rng(2)
    encoder = Encoder.random(EncoderConfig(d_model=d, n_heads=4, d_ff=32, depth=4), rng)
    x, places = rng.normal(size=(n, d)), sinusoidal_positions(n, d)
    with mpl.rc_context(RC):
        figure, (axes,) = panels(1, height=3.6)
        axes.set(title="Change of each token's output", xlabel="token", yscale="log", ylim=(floor, 10))
        axes.set_xlim(-3.4, n - 0.4)
        axes.set_xticks(range(n), [str(k + 1) for k in range(n)])
        log_ticks(axes.yaxis, (-15, -10, -5, 0))
        axes.axhspan(floor, 1e-15, color=GREY, alpha=0.15, linewidth=0)
        axes.text(-3.3, 1e-16, "rounding error", va="center")
        bars = axes.bar(range(n), 1, bottom=floor, color=BLUE, width=0.6, animated=True)

    def update(mask: str, positions: bool, depth: int, swap: str) -> str:
        net, allowed = encoder.switch(depth=depth), causal_mask(n) if mask == "causal" else None
        moved, added = SWAPS[swap], places if positions else 0
        before, after = net(x + added, allowed), net(x[moved] + added, allowed)[moved]
        change = np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1)
        for bar, height in zip(bars, np.maximum(change, floor), strict=True):
            bar.set_height(height - floor)
        noticed = [str(k + 1) for k in range(n) if change[k] > ROUNDING]
        blind = "no token notices" if not noticed else f"the tokens that notice are {', '.join(noticed)}"
        if len(noticed) == n:
            blind = "every token notices"
        last = "by rounding alone" if change[-1] <= ROUNDING else f"by {scientific(change[-1])} of its size"
        return (
            f"Tokens {swap} change places; mask: {mask}, positions {SWITCH[positions]}, {depth} "
            f"layer{'s' * (depth > 1)}: {blind}; the last token changes {last}."
        )

    return figure, update
