"""The read side. Read in this order:

1. `query` and `requests`: what may be asked, and what comes back; `filing`: what is asked of path and attributes;
   `bounds`: how much of it. `query.passes` says
   what may be read at all, as `$gates` of db/columns does in the store;
2. what `search` finds is decided by statements of db/queries.sql alone; `cache` keeps vectors of what is used most;
3. what `retrieve` finds: `wording` chooses the words that are looked for, `fusion` makes one ranking of two,
   `ranking` adds strength and tier, `diffusion` what of experience is at home elsewhere, `hops` what the first hits
   name, `packing` fits it into a budget, of summaries in `pieces`; `folding`: what is the same text is given once;
   `past`: what a question about a time gets first; `alike`: what says nearly the same comes behind the rest;
   `scoring`: how likely a hit answers; `recall`: what surrounds a memory;
   `conflicts`: what contradicts a memory is served with it, `overtaken`: in which statements;
   `rereading`: of the best hits that first which answers, by their `matter`; `supports`: a summary is not served
   beside what it was made of; `rollups`: what is said of one thing, now or as of a time; `listing`: all that pass,
   page by page, and as a `graph`; `using`: what a reader says that it used;
4. `buffer`, `working`: what an agent said last, and what goes into a prompt; `context`: how that is asked for;
   `redaction`: who is given texts masked;
5. orders as they are asked for over HTTP: `erasing`, `forgetting`, `restoring`, `rolling_back`, `pinning`; `ordered`:
   what became of one;
6. `explain`: why a memory is here or gone, from the rows and certificates that speak of it; `votes`: what the
   certificates tell; `decisions`: vote by vote, of a namespace; `holding`: for what it may be used; `sessions`: what
   comes of a session; `admitting`: what became of a memory on its way into experience; `pages`: what is listed for
   people beside that, with `seats`: who votes in a shard, and who did;
7. `accounts`: an account of one memory for people who know no formula: `fates` says what became of it and what can be
   done, `plainly` tells of votes and times; `telling` and `tail`: an account with all numbers, and the journal as it
   grows, in words.
"""
