"""Encoders: texts to unit vectors, behind the port `memquorum.ports.Encoder`.

`onnx` is the default, `multilingual` knows 16 languages, `hashing` needs no model, `torch` runs any Hugging Face
encoder in a folder, which `folder` reads. `each` encodes many texts with any of them. `pinned` reads files of packages;
`minilm` makes the model of `onnx` of them at setup; `graph` writes a model, with `protobuf`. `contradiction` is no
encoder, but an operator's model that tells whether one text contradicts another, behind the port
`memquorum.ports.Contradiction`; `names` is no encoder either: it finds persons and places to mask;
`recognising` has what intake judges sensitivity by beside the rules.
"""

import os

# ONNX Runtime (1.31) reports its use to its maker and keeps a queue for that in the home folder, unless this is in the
# environment when it is loaded. Its own call `disable_telemetry_events` comes too late: the queue exists by then.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

DEVICES = r"^(auto|cpu|cuda(:[0-9]{1,2})?)$"
"""The names of devices of the encoder `torch`, as a regular expression: `cuda:1` is the second card."""


class EncoderUnavailable(RuntimeError):
    """A model, a file of it, a package or a device is missing or a wrong one; the message says what to do."""
