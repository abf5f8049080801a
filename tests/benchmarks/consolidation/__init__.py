"""What consolidation leaves, measured: `make bench WHAT=consolidation DATA=FOLDER JSON=FILE`.

1. `sessions`: the sessions of the data sets, and the memories that the product stores of them;
2. `made`: their summaries, by the consolidator's own code, and the vote on each, by the members' own rules; `orders`:
   plain rules that stand beside them;
3. `shrinking`: how much is left, and what of the most important; `decisions`: what of a meeting's decisions;
   `evidence`: what a question finds; `beside`: what it costs the line;
4. `command`: all rows; `page`: docs/consolidation-measured.md, with words.md.

Nothing is fitted on what a row is measured on: what the summariser goes by knows no label and no question.
"""
