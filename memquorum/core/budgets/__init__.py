"""What goes first where a namespace holds more tokens than its budget (SPEC D, MaRS 3.2.6 to 3.4). Read in this order:

1. `items`: a living memory as a policy sees it; its features ψ, utility Û and score;
2. `orders`: the data structures, each an order of what goes next that is kept up to date; `lots`: how near-ties are
   drawn, and who pays for that;
3. `rules`: the policies by name, each made of orders;
4. `ledger`: a namespace's memories, its weight, and the plan of what goes until it fits its budget;
5. `limits`: the budget of a namespace; `weighing`: from what a store knows of a memory to an item;
6. `claims`: what a proposal says of all this, and whether that follows;
7. `least`: where a member finds memories in its own order; `at_once`: that order, of all that there is at one time.

A policy nominates; members vote. Nothing here knows who asks: a nomination, a preview, a replay of one's own topics
and a benchmark use the same Ledger:

    ledger = Ledger("worth", policy.budget)
    ledger.put(Item("a", "episodic", tokens=12, created=0, last_access=0))
    plan = ledger.plan(50_000, as_of, most=100)  # looks; evict(…) is the same and takes out what goes
    plan.goes, plan.replaces, plan.held, plan.over, plan.excess

Put again what was read, kept by a vote (protected=RESTING) or changed in any other way; remove what is gone. All of it
is pure, in integers, and the same on every machine.
"""
