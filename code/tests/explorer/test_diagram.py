"""A figure that stands still: what a page gets, what a kernel gets, what is refused."""

import pytest
from bs4 import BeautifulSoup
from matplotlib.figure import Figure

from encoderlab.explorer import Diagram


def line():
    figure = Figure()
    figure.subplots().plot([0, 1], [0, 1])
    return figure


def test_a_page_gets_svg_with_its_sentence(monkeypatch):
    monkeypatch.setenv("ENCODERLAB_WORLD", "page")
    html = Diagram("rise", line(), "From 0 to 1 & on.")._repr_mimebundle_()["text/html"]
    soup = BeautifulSoup(html, "html.parser")
    image = soup.select_one("figure#rise.diagram svg[role=img]")
    assert soup.find(id=image["aria-labelledby"]).get_text() == "From 0 to 1 & on."
    assert len(image.find_all("path")) > 2
    assert not soup.find(["form", "script"])


def test_a_kernel_gets_a_png():
    bundle = Diagram("rise", line(), "From 0 to 1.")._repr_mimebundle_()
    assert bundle["image/png"].startswith(b"\x89PNG")
    assert bundle["text/plain"] == "From 0 to 1."


def test_what_does_not_fit_is_refused():
    figure = Figure()
    figure.subplots().plot([0, 1], [0, 1], animated=True)
    with pytest.raises(ValueError, match="expected no artist marked animated=True"):
        Diagram("rise", figure, "It rises.")
    with pytest.raises(ValueError, match="name: expected a-z"):
        Diagram("Rise", line(), "It rises.")
    with pytest.raises(ValueError, match="figure: expected a matplotlib Figure, got None"):
        Diagram("rise", None, "It rises.")
    with pytest.raises(ValueError, match="sentence: expected a sentence on what is seen, got ''"):
        Diagram("rise", line(), "")
