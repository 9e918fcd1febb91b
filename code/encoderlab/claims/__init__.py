"""What a claim and its evidence are, how they are written for readers, and the ledger."""

from encoderlab.claims.claim import Claim, Evidence, Finding, Findings, claim, declared_in

__all__ = ["Claim", "Evidence", "Finding", "Findings", "claim", "declared_in"]
