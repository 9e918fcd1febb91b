"""How a measured number and its bound are written for a reader."""

from __future__ import annotations

import math

from encoderlab.claims.claim import Finding
from encoderlab.numerals import power_of_ten


def number(value: float, digits: int = 3) -> str:
    """Write a number with few digits, and a power of ten where it is very small or large.

    Parameters
    ----------
    value : float
        Any number; whole ones below a million are written in full.
    digits : int
        Significant digits kept of any other.

    Returns
    -------
    str

    Examples
    --------
    >>> number(2.22e-16), number(1e-12), number(0.25), number(-1234.5), number(128)
    ('2.22 × 10⁻¹⁶', '10⁻¹²', '0.25', '−1234', '128')
    """
    if not math.isfinite(value):
        return str(value).replace("inf", "∞").replace("-", "−")
    if value == int(value) and abs(value) < 1e6:
        return str(int(value)).replace("-", "−")
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    exponent = int(power)
    if -4 < exponent < 6:
        text = f"{value:.{max(digits - 1 - exponent, 0)}f}"
    else:
        text = f"{_without_zeros(mantissa)} × {power_of_ten(exponent)}".removeprefix("1 × ")
    return _without_zeros(text).replace("-", "−")


def measured_and_bound(finding: Finding) -> tuple[str, str]:
    """Write both sides of a finding, with as many digits as it takes to tell them apart.

    Parameters
    ----------
    finding : Finding
        Any finding.

    Returns
    -------
    measured, bound : str
        The value, and the relation with the bound.

    Examples
    --------
    >>> measured_and_bound(Finding("identity", "tanh(3)", 0.995054, "<", 1.0))
    ('0.995', '< 1')
    >>> measured_and_bound(Finding("identity", "tanh(9)", 0.99999997, "<", 1.0))
    ('0.99999997', '< 1')
    """
    value = bound = ""
    for digits in range(3, 18):
        value, bound = number(finding.value, digits), number(finding.bound, digits)
        if value != bound or finding.value == finding.bound:
            break
    return value, f"{finding.relation} {bound}"


def _without_zeros(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal and "×" not in decimal else decimal
