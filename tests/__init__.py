"""The tests. `ROOT` is the checkout's folder, wherever a test stands."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
