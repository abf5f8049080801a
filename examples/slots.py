"""Writes values under a key: each write replaces the one before, and a search finds the last alone."""

from memquorum.client import Memory

with Memory(namespace="examples-slots", agent="planner") as memory:
    for diet in ("Ada eats everything.", "Ada is vegetarian."):
        memory.add(diet, path="users/ada", key="diet", explicit=True, subject="ada", wait=True)
    print(memory.slot("diet", "users/ada").text)
    print([hit.text for hit in memory.search("What does Ada eat?")])
