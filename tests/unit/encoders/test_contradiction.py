"""A model of contradictions is taken as the operator named it, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from memquorum.core.policy import PPM
from memquorum.encoders import EncoderUnavailable
from memquorum.encoders.contradiction import FILES, OnnxContradiction
from tests.builders import contradicting


def test_it_says_how_likely_a_text_contradicts_another(tmp_path: Path) -> None:
    found = OnnxContradiction(tmp_path, contradicting.written(tmp_path))
    assert found.contradicts_ppm("the shed is locked", "it is not so") > 980_000
    assert found.contradicts_ppm("the shed is locked", "it is so") < 10_000
    assert 0 <= found.contradicts_ppm("", "") <= PPM
    assert found.contradicts_ppm("a\ud800", "not") > 980_000


@pytest.mark.parametrize("name", FILES)
def test_another_file_than_that_of_the_digest_is_refused(tmp_path: Path, name: str) -> None:
    digest = contradicting.written(tmp_path)
    file = tmp_path / name
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(EncoderUnavailable, match=f"expected {digest}"):
        OnnxContradiction(tmp_path, digest)
    file.unlink()
    with pytest.raises(EncoderUnavailable, match=f"{name}: No such file"):
        OnnxContradiction(tmp_path, digest)


def test_what_names_no_contradiction_or_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="names no label"):
        OnnxContradiction(tmp_path, contradicting.written(tmp_path, ("yes", "no", "perhaps")))
    contradicting.written(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EncoderUnavailable) as caught:
        OnnxContradiction(tmp_path, "")
    with pytest.raises(EncoderUnavailable, match="holds no model"):
        OnnxContradiction(tmp_path, str(caught.value).split("sha256 ")[1][:64])
