"""Shows texts: to people and to models.

1. To people: `plurals`, how many of something there are; `escaping` of what a terminal would obey;
2. To models: `quoting`, how memories stand in a prompt; `comparing`, what a model is asked of two memories, and how its
   answer is read.
"""
