"""Orders and requests: who may give which, how one is made, and the checks of each.

1. `envelope`: their common fields, and the differences of their kinds (`OrderKind`);
2. `erase`: erases memories at once by a person's right, and keeps the proof (DESIGN 15, SPEC D); `aged`: selects
   memories by types and age, for an order or for a standing rule of the policy;
3. `protect`: protects memories from decay and votes. A *pin* keeps a memory alive until it is unpinned; a *goal* keeps
   the memories that it needs until it ends. A *hold* keeps a memory for as long as a law requires: it also keeps the
   key of a sealed memory, and an order to erase a held memory is not carried out;
4. `restore`: asks the members to restore memories that rest sealed for their grace time, or to forget others. `uses`:
   late uses, which ask to restore as well; `turns`: the order of open requests;
5. `patch`: the consolidator's changes to the sentences of roll-ups; only it may give these; `disclose`: its notice of
   texts that it is about to send to a recipient outside, which is only recorded; `compare`: a model's answers about
   pairs of memories; `profile`: what a subject wants stored about it, for how long and for which purposes, and what is
   never kept; `reclassify`: how sensitive a stored memory is, for which purposes and under whose law;
6. `table`: all of these kinds, and how intake accepts them;
7. `configuration`: how one configuration follows from another, by an order about members or the policy.

Members do not vote on whether to carry out an order. The commit worker carries it out and journals that; afterwards the
members vote on whether it was genuine, and on its place (`core.vote`). A request changes nothing by itself: it is voted
on in an epoch of its own. An erasure cannot be undone: its key is gone.
"""
