"""Orders and requests: who may give which, how one is made, and what is wrong with one that does not hold.

1. `envelope`: what they have in common, and what a kind of them says of itself (`OrderKind`);
2. `erase`: what somebody has a right to have forgotten goes at once, and the proof of it stays (DESIGN 15, SPEC D);
   `aged`: what is named by its types and its age, by an order or by the rule of a policy that stands for good;
3. `protect`: what is not to be forgotten, whatever decays and whoever votes. A *pin* keeps a memory alive until it
   is unpinned; a *goal* keeps what it needs until it ends. A *hold* does too, for as long as a law asks for it: it
   also keeps the key of what is sealed already, and an order to erase that names what is held is not carried out;
4. `restore`: what the members agreed to forget rests sealed for its grace time, and may be brought back by their
   vote; or others are to be forgotten. `uses`: late uses, which ask too; `turns`: which open requests come first;
5. `patch`: the consolidator says which sentences come into which roll-up, and which go; it alone may;
   `disclose`: what it is about to send out of the house, which is noted and no more; `compare`: what a model answered
   that it asked of pairs of memories;
6. `table`: all of these kinds, and how intake lets them into the accepted stream;
7. `configuration`: how one configuration follows from another, by an order about members or the policy.

An order is no matter of opinion. The commit worker carries it out and journals that, and what the members vote on
afterwards (`core.vote`) is whether it was genuine and where it stands. A request changes nothing by itself: it is
voted on in an epoch of its own. An erasure is not to be taken back: its key is gone.
"""
