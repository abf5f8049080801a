"""Restoring: what the members agreed to forget rests sealed for its grace time, and may be brought back by their vote.

Reading order: `orders` (who may ask for what), `uses` (late uses, which
ask too), `asking` (how a request is put to the vote), `recall` (where in the journal a sealed memory's strength and
content are told).

A request changes nothing by itself. It comes in by intake, stands in the accepted stream and in the journal, and is
voted on in an epoch of its own, of kind `restore`. An erasure is not to be taken back: its key is gone.
"""
