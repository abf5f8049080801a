"""Encoders: texts to unit vectors, behind the port `memquorum.ports.Encoder`."""
