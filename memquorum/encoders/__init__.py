"""Encoders: texts to unit vectors, behind the port `memquorum.ports.Encoder`.

`onnx.py` is the default, `hashing.py` needs no model, `torch.py` runs any Hugging Face encoder out of a folder, which
`folder.py` reads. `each.py` takes many texts through any of them.
"""


class EncoderUnavailable(RuntimeError):
    """A model, a file of it, a package or a device is missing or not the right one; the message says what to do."""
