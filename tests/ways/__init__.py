"""Every way in, held against every other: what is written through one is read through each, and nobody comes through
any to what is another namespace's, or stands beside the place that it was made for.

Inside: `table` names the ways; `way` says what is asked of each; `plain` and each `of_` are the ways,
each in the environment that has its framework, where `child` does what the parent asks.
"""
