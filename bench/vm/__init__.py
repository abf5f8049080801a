"""The validation table of SPEC B: its metrics VM-7 to VM-11 and its bounds P39 to P42, measured by one command.

1. `fleet`: four members who vote by the product's rules on what agents said;
2. `claims`: what the fleet promotes of claims that a knowledge base knows better (VM-8), of claims that are wrong
   (P39), and of two that contradict each other (P40);
3. `rehearsed`: how much of a rehearsal is old (P42); `lasting`: what is found of old knowledge after many (VM-10);
   `beside`: the cost of rehearsals for readers (T16); `apart`: ways to make members vote less alike (VM-11);
4. `command`: all rows; `page`: docs/measured/validation.md, with words.md about risks and open problems.
"""
