"""Recalls what memories are linked with, over two relations, and prints the way to each."""

from memquorum.client import Memory

with Memory(namespace="examples-walk", agent="planner") as memory:

    def tell(text: str, *links: tuple[str, str]) -> str:
        said = [{"kind": kind, "to": to} for kind, to in links]
        return memory.add(text, links=said, explicit=True, wait=True).memory_id

    yard = tell("The north yard has two cranes.")
    ada = tell("Ada runs the crane.", ("worksAt", yard))
    jon = tell("Jon repairs gearboxes.", ("colleagueOf", ada))
    crane = tell("Crane 2 lifts 5 tonnes.", ("partOf", yard))

    names = {yard: "yard", ada: "Ada", jon: "Jon", crane: "crane 2"}
    for one in memory.recall(yard, hops=2).items:
        way = [f"{names[step.of]} {step.kind} {names[step.to]}" for step in one.walk]
        print(one.text, "<-", "; ".join(way) or "it begins here")
