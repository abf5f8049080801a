"""Stream processors (Faust): decode, call the core, encode."""
