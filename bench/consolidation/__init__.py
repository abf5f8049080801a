"""Measures the results of consolidation: `make bench WHAT=consolidation DATA=FOLDER JSON=FILE`.

1. `sessions`: the sessions of the data sets, and the memories that the product stores of them;
2. `made`: their summaries, by the consolidator's own code, and the vote on each, by the members' own rules; `orders`:
   plain rules that stand beside them;
3. `shrinking`: how much is left, also of the most important; `decisions`: how much of a meeting's decisions;
   `evidence`: how much of it a question finds; `beside`: its cost for the fleet;
4. `command`: all rows; `page`: docs/measured/consolidation-measured.md, with words.md.

No parameter is fitted on the data of a row: the summariser uses no label and no question.
"""
