"""The intake process judges what agents publish and writes the accepted stream (DESIGN 4)."""
