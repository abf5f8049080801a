"""Runs docker-compose.yml and Dockerfile in containers: `python -m tests.compose`."""
