"""Honours a request to erase: shows what would go, orders it, and keeps the receipt."""

import json
from pathlib import Path
from tempfile import gettempdir

from memquorum.client import Memory

with Memory(namespace="examples-erase", agent="planner") as memory:
    memory.add("Tom is allergic to nuts.", subject="tom", wait=True)
    memory.add("Tom's locker is number 12.", subject="tom", wait=True)
    would = memory.erase(subject="tom")
    print(f"{would.memories} memories would go")
    done = memory.erase(subject="tom", dry_run=False, reference="request of 29 November")
    receipt = memory.erasure_receipt(done.order_id)
    file = Path(gettempdir(), "memquorum-receipt.json")
    file.write_text(json.dumps(receipt, default=str))
    print(f"{done.memories} went; the receipt is in {file.name}; `memquorum receipt verify` checks it")
    print([hit.text for hit in memory.search("What is Tom allergic to?")])
