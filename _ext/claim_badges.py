"""The role {claim}`4`: a badge with the verdict in word and colour, a link to the row in the ledger.

And {{ n_claims }}, how many rows the ledger has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxRole
from sphinx.util.nodes import make_refnode

from encoderlab.chapters.registry import CLAIMS
from encoderlab.claims.claim import VERDICT_NAMES

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

REFTYPE = "claim"


class ClaimRole(SphinxRole):
    """Cite a claim by its number; a number without a claim is a warning, so an error under ``-W``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make the badge; its link is resolved when all pages are read."""
        claim = CLAIMS.get(int(self.text)) if self.text.isdecimal() else None
        if claim is None:
            message = self.inliner.reporter.warning(
                f"no claim has the number {self.text!r}; the ledger has {', '.join(map(str, CLAIMS))}",
                line=self.lineno,
            )
            return [nodes.literal(self.rawtext, self.text)], [message]
        badge = nodes.inline(
            "",
            f"claim {claim.number} · {VERDICT_NAMES[claim.verdict]}",
            classes=["claim-badge", f"claim-{claim.verdict}"],
        )
        link = pending_xref(
            self.rawtext, badge, refdomain="", reftype=REFTYPE, reftarget=f"claim-{claim.number}"
        )
        link["refdoc"] = self.env.docname
        return [link], []


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.reference | None:
    """Point a badge at the label of its row, wherever the ledger stands."""
    if node["reftype"] != REFTYPE:
        return None
    docname, label = env.domains["std"].anonlabels.get(node["reftarget"], ("", ""))
    if not docname:
        return None
    return make_refnode(app.builder, node["refdoc"], docname, label, content)


def count(app: Sphinx, config: Config) -> None:
    """Tell MyST how many claims there are, so that no page has the number typed."""
    config.myst_substitutions = config.myst_substitutions | {"n_claims": str(len(CLAIMS))}


def setup(app: Sphinx) -> dict[str, object]:
    """Register the role, what resolves it, and the count, before MyST reads its settings."""
    app.connect("config-inited", count, priority=1)
    app.add_role("claim", ClaimRole())
    app.connect("missing-reference", resolve)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
