"""The real consensus core under a seeded scheduler: liars, faults, crashes. Read in this order:

1. `plan`: what can happen in a simulation, drawn from its seed; `dice`: how it is drawn;
2. `world`: the scheduler, the two phases, and what stands around the members; `ordered`: what is ordered in it;
3. `node`, `disk`, `broker`, `faults`: a member's process, what it writes to, and what can break;
4. `liars`, `behaviours`, `mutations`: members that lie;
5. `invariants`: what must hold after every event;
   `memories`, `rehearsing`, `recount`: in some worlds, the memories that are voted on and rehearsed, who rehearses
   them, and what must hold of that; `admitting`: fleets in which memories are tried and admitted;
6. `runs`, `shrink`, `story`: many seeds, and a failing one made short and told in words.

`python -m tests.simulation --help`, or `make simulate SEEDS=2000`.
"""
