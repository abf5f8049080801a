"""The pure core: no input or output, no clock, no randomness, no environment. All of these are arguments."""
