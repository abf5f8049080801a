"""Two agents share a namespace: what one publishes the other finds, and a stranger's word is marked as disputed."""

from memquorum.client import Memory

NAMESPACE = "examples-two-agents"

with Memory(namespace=NAMESPACE, agent="mira") as mira, Memory(namespace=NAMESPACE, agent="jon") as jon:
    mira.add("The gate code of the north yard is 4411.", subject="north yard", wait=True)
    print("jon reads:", jon.search("What is the gate code of the north yard?")[0].text)
    jon.add("The gate code of the north yard is 9023 now.", subject="north yard", wait=True)
    for hit in mira.search("What is the gate code of the north yard?"):
        disputed = [mark.agent for mark in hit.overtaken if mark.disputed]
        print(f"{hit.agent}: {hit.text}" + (f" (disputed by {', '.join(disputed)})" if disputed else ""))
