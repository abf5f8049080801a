"""Encoders: texts to unit vectors, behind the port `memquorum.ports.Encoder`.

`onnx` is the default, `multilingual` knows 16 languages, `hashing` needs no model, `torch` runs any Hugging Face
encoder out of a folder, which `folder` reads. `each` takes many texts through any of them. `pinned` reads files of
packages; `pieces` makes a tokenizer and `graph` a model of what stands in them, both by `protobuf`. `contradiction` is
no encoder: an operator's model that says whether one text contradicts another, behind the port
`memquorum.ports.Contradiction`; nor is `names`, which finds persons and places to mask.
"""

import os

# ONNX Runtime (1.31) tells its maker of its use and keeps a queue for that in the home folder, unless this stands in
# the environment when it is loaded. Its own call `disable_telemetry_events` comes too late: the queue is there by then.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

DEVICES = r"^(auto|cpu|cuda(:[0-9]{1,2})?)$"
"""How the devices of the encoder `torch` are named, as a regular expression: `cuda:1` is the second card."""


class EncoderUnavailable(RuntimeError):
    """A model, a file of it, a package or a device is missing or not the right one; the message says what to do."""
