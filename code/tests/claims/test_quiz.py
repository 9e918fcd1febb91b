"""The quiz: one right answer each, the number that decided, and no claim that a reader could not read."""

import pytest
from bs4 import BeautifulSoup
from test_claims import some_claim, some_evidence

from encoderlab.claims.quiz import Quiz, right_answer


def test_verdicts_come_to_one_of_three_answers():
    assert right_answer(some_claim()) == "true"
    assert right_answer(some_claim(verdict="false")) == "false"
    assert right_answer(some_claim(verdict="conditional")) == "depends"


def test_every_question_has_three_answers_and_a_verdict(monkeypatch):
    monkeypatch.setenv("ENCODERLAB_WORLD", "page")
    claims = [some_claim(number=7, says="One & one."), some_claim(number=8)]
    soup = BeautifulSoup(Quiz(claims)._repr_html_(), "html.parser")
    assert [field["data-right"] for field in soup.find_all("fieldset")] == ["true", "true"]
    assert soup.legend.get_text() == "One & one."
    assert [i["value"] for i in soup.fieldset.find_all("input")] == ["true", "false", "depends"]
    assert len({i["name"] for i in soup.find_all("input")}) == 2
    assert soup.select_one(".quiz-verdict a")["href"] == "chapters/claims.html#claim-7"
    answers = [label.get_text().strip() for label in soup.fieldset.find_all("label")]
    assert answers == ["True", "False", "It depends"]
    assert soup.select_one(".claim-badge").get_text() == "claim 7 · exact"
    assert "claim-exact" in soup.select_one(".claim-badge")["class"]
    assert repr(Quiz(claims)) == "Quiz of 2 claims"
    assert "identity 0: 0 (≤ 1)" in soup.select_one(".quiz-verdict").get_text()
    monkeypatch.delenv("ENCODERLAB_WORLD")
    assert not BeautifulSoup(Quiz(claims)._repr_html_(), "html.parser").a


def test_mathematics_and_evidence_that_fails_are_refused():
    with pytest.raises(ValueError, match="claims must be put without mathematics, got 1"):
        Quiz([some_claim(says="$x$ is linear.")])
    with pytest.raises(ValueError, match="claim 1: identity 0: 2, expected ≤ 1"):
        Quiz([some_claim(check=lambda: some_evidence("identity", value=2.0))])
