"""The replica process is a member: it follows the streams, judges, votes and decides (DESIGN 10 to 14)."""
