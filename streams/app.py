"""The Faust app: its settings, its three processors, and `run`, which a composition root calls."""

from __future__ import annotations
