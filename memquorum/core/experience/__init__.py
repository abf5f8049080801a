"""Experience: the memories that have been shown to help (SPEC E, SEDM 3.2 to 3.4). Read in this order:

1. `context`: a finished task as a record from which anybody can try again, the self-contained execution context;
   `oneform`: what has one form as bytes; `texts`: its words as one text, which is sealed; `ended`: which one a session
   is that came to something; `noting`: which of the memories that it was given its record names;
2. `similarity`: how near two vectors are, in whole numbers; `view`: what experience holds, and what of it a question is
   given, s = sim · w^¼;
3. `reward`: what a retrieval is worth to a finished task;
   `pointing`: which sentence of a memory it is that the reward goes by; `trial`: a candidate is tried on other tasks,
   without it and with it, and what travels of that;
4. `draw`: who verifies; `rounds`: as of which decision; `bench`: which tasks of many may judge; `ports`: what
   verifiers read; `admission`: what they agree in, and what follows; `checking`: what members hold a proposal to admit
   against;
5. `uses`: what came of giving it to tasks; `weights`: how the weight of what was admitted moves with that;
   `abstract`: the general form of a lesson.

All of it is pure, in integers where two machines have to agree, and the same on every machine:

    told = tried(Case(candidate, contexts, experience, position), Reach(), policy.experience)
    verdict(told, policy.experience)                     # admitted, rejected or provisional
    weight = admitted(told, first_weight_ppm(told, policy.experience))
    weight = moved(weight, uses, policy.experience)      # once a decision
"""
