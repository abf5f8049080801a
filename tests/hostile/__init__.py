"""Malicious processes on a real Kafka: `python -m tests.hostile --help`. Read member.py, then drive.py."""
