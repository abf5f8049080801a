"""PBFT without input or output: messages, certificates, the tally, one transition table, one replica."""
