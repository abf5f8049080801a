"""Summarizes sessions, and checks that a summary says what its sources say (SPEC C). Read in this order:

1. `sections`: what each sentence is (`reading.sentences`), a fact or a decision;
2. `importance`: what an episode weighs by when, how often and how it ended; `weighing`: what of a session is worth
   keeping, and which three are the most important;
   `covering`: whether a summary says enough of a source; `extractive`: which sentences are chosen;
3. `leaving`: whose text may be sent to a model; `paraphrase`: whether a sentence that a model wrote may stand for its
   sources; `composing`: a summary of those that may;
4. `rendering`: the text of a summary, made of its sentences; `faithful`: what it says that no source does; `losing`:
   what of their worth it loses, and which of them it may take the place of; `parting`: the parts of a session of which
   one is made;
   `condensing`: which episodes of a namespace over its budget get a summary together, and how far it is from them;
5. `rollups`: what is said of one thing across sessions, revised by patches;
6. `alike`: which summaries say the same, and may become one; `twins`: which memories of experience do.

All of it is pure and the same on every machine: members check what a consolidator has made by the same rules.
"""
