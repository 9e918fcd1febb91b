"""How numbers are written for readers, in figures and in the ledger."""

from __future__ import annotations


def power_of_ten(exponent: int) -> str:
    """Return 10 to an integer power in plain characters; mathtext is slow, and no text in a page.

    Examples
    --------
    >>> power_of_ten(-15)
    '10⁻¹⁵'
    """
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def scientific(value: float) -> str:
    """Write a number to two digits, with a power of ten only where it is far from one.

    Examples
    --------
    >>> scientific(0.034), scientific(1.4e-5), scientific(0.0), scientific(-52000.0)
    ('0.034', '1.4 × 10⁻⁵', '0', '−5.2 × 10⁴')
    """
    sign = "−" if value < 0 else ""
    size = abs(value)
    if size == 0 or 0.01 <= size < 1000:
        return f"{sign}{size:.2g}" if size < 100 else f"{sign}{size:.0f}"
    digits, exponent = f"{size:.1e}".split("e")
    return f"{sign}{digits} × {power_of_ten(int(exponent))}"
