"""Builds a prompt: what the agent said last in its session, and what answers the question, in 200 tokens."""

from memquorum.client import Memory

with Memory(namespace="examples-prompt", agent="planner") as memory:
    memory.add("Pump 7 runs at 3.8 bar.", session="shift 1", wait=True)
    memory.add("The cover of pump 7 is kept in hall 3.", session="shift 1", wait=True)
    memory.add("Lena is on call this week.", session="shift 2", wait=True)
    question = "Where do I find the cover of pump 7?"
    context = memory.context(question, budget_tokens=200, session="shift 2")
    messages = [
        {"role": "system", "content": f"Answer from these memories; quote their ids.\n{context}"},
        {"role": "user", "content": question},
    ]
    print(messages[0]["content"])
