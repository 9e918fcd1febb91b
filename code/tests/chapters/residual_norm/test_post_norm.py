"""The stored references of claim 35, against formulas written out here."""

import json

import numpy as np
import pytest
from conftest import written_out

from encoderlab.chapters.residual_norm import post_norm


def test_six_layers_of_pytorch_by_the_textbook_formulas():
    encoder, x, y = post_norm.torch_case()
    assert (encoder.config.depth, encoder.config.norm) == (6, "post")
    np.testing.assert_allclose(encoder(x), y, atol=1e-12)
    np.testing.assert_allclose(written_out(encoder.config, encoder.parameters(), x), y, atol=1e-12)


def test_the_published_token_obeys_the_formula_in_every_sublayer():
    token = post_norm.published_token()
    assert token.skip.shape == (13, 384)
    assert token.branch.shape == (12, 384)
    for x, y, w, after in zip(token.skip[:-1], token.branch, token.norms, token.skip[1:], strict=True):
        u = x + y
        ours = (u - np.mean(u)) / np.sqrt(np.var(u) + token.eps) * w.gamma + w.beta
        np.testing.assert_allclose(ours, after, atol=1e-13)
    assert 0 < token.gap < 1e-12


def test_provenance_names_command_seed_and_versions():
    told = json.loads(post_norm.provenance())
    assert told["command"] == post_norm.COMMAND
    assert {"seed", "text", "versions"} <= told.keys()


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 cut short"])
def test_a_file_that_is_missing_or_cut_short_is_named_with_its_command(tmp_path, monkeypatch, content):
    monkeypatch.setattr(post_norm, "FILE", tmp_path / "post_norm.npz")
    if content is not None:
        post_norm.FILE.write_bytes(content)
    post_norm._stored.cache_clear()
    with pytest.raises(ValueError, match=r"post_norm.npz cannot be read .*make_post_norm.py"):
        post_norm.torch_case()
