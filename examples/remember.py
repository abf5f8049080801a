"""Publishes a note, corrects one part of it, and asks: the rest of the note stays."""

from memquorum.client import Memory

with Memory(namespace="examples-remember", agent="planner") as memory:
    memory.add("Ada lives at Elm Road 5. Her phone is 555-0100.", subject="ada", wait=True)
    receipt = memory.add("Ada's phone is 555-0199 now.", subject="ada", wait=True)
    print(receipt.outcome)
    for question in ("What is Ada's phone number?", "Where does Ada live?"):
        best, *_ = memory.search(question)
        marks = [best.text[start:end] for mark in best.overtaken for start, end in mark.spans]
        print(f"{question} {best.text}" + (f" (overtaken: {marks})" if marks else ""))
