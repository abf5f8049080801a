"""What an operator runs beside the processes.

`asked`: what agents asked; `dead_letters`: what intake refused; `learning`: what was used, out of the journals;
`orders`: the operator's own, and those of another membership; `prune`: consensus messages that are not needed any
more; `reencode`: all memories by another encoder; `whatif`: the topics, for a replay under another policy.
"""
