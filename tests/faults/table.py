"""The table of faults in docs/operate/faults.md: what protects, what an operator sees, how long it took in the last
soak.

`python -m tests.faults.table [FILE]` writes it anew from the newest file of tests/faults/results, or from FILE.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests import ROOT
from tests.faults.kept import write_between
from tests.faults.library import FAULTS
from tests.faults.rounds import LIMIT_S
from tests.faults.soak import RESULTS

PAGE = ROOT / "docs" / "operate" / "faults.md"
BEGIN, END = "<!-- made by python -m tests.faults.table -->", "<!-- end -->"

_AGAIN = '`status`: another pid, "started 2 times"'
_STILL = "`/livez` and `/readyz` do not answer"
# Fault → what protects, what an operator sees. A fault "kill replica-2" takes the words of "kill replica".
WORDS: dict[str, tuple[str, str]] = {
    "kill intake": ("offsets are committed after the broker has everything; ids follow from the origin", _AGAIN),
    "kill streams": ("a batch is acknowledged after its output; a static member of its group", _AGAIN),
    "kill replica": ("sign-state on disk before anything is said; the view follows the log", _AGAIN),
    "kill commit": ("offsets in the transaction that applies; the journal's tail is sent again", _AGAIN),
    "kill consolidator": ("its offset is committed after the summaries; the same summary is the same event", _AGAIN),
    "kill rehearsal": ("no state; a record that comes again is applied once, by the time that it was read at", _AGAIN),
    "kill verifier": ("no state; a trial that is made again is the same, and counts once", _AGAIN),
    "kill retrieval": ("no state; a caller gets 503 or is refused, and asks again", _AGAIN),
    "kill kafka": ("everyone retries without an end; idempotent producers; a broker session of 3 s", _AGAIN),
    "kill postgres": ("its WAL; every connection is made again; nothing is read on meanwhile", _AGAIN),
    "freeze intake": ("records wait in the outside topics; its group takes it in again", _STILL),
    "freeze streams": ("records wait in the accepted stream; its group takes it in again", _STILL),
    "freeze replica": ("three of four decide; where it is primary they replace it", _STILL),
    "freeze commit": ("the accepted stream is the queue, decisions wait beside it", _STILL),
    "freeze consolidator": ("sessions wait in their topic, their memories stay as they are", _STILL),
    "freeze rehearsal": ("nothing waits for it; its later records are stale, and passed over", _STILL),
    "freeze verifier": ("candidates wait; after two decisions the next ones that were drawn are asked", _STILL),
    "freeze retrieval": ("nothing waits for it", _STILL),
    "freeze kafka": ("everyone waits for its answers, none gives up",
                     "`status` tells no lag; every process unready after 8 s: brokers"),
    "freeze postgres": ("calls wait; searches are refused after 2 to 5 s",
                        "commit and intake unready after 8 s: a server does not answer; retrieval: store"),
    "full disk kafka": ("the broker ends and is started again until it can; unacknowledged records are sent again",
                        "`status`: kafka started 3 times; `No space left` in kafka.log; retrieval unready"),
    "full disk postgres": ("the transaction fails and is made again", "commit unready: store"),
    "kill several": ("as each alone", _AGAIN),
    "kill all workers": ("as each alone", _AGAIN),
    "second streams": ("the group hands over partitions; an epoch nominated twice is decided once", "a log of its own"),
    "second replica": ("a lease on the sign-state", "the second ends and says that the identity runs already"),
    "rules raise": ("a raising rule spoils its own answer alone: a neighbour is not compared, a member abstains",
                    "an alarm that names memories and rules; `memquorum_failed_rules_total`"),
    "second commit": ("each transaction asks whether the shard stands where it left it", "one of the two ends: fenced"),
}  # fmt: skip


def words(fault: str) -> tuple[str, str]:
    """Returns the protection against a fault, and what an operator sees."""
    return WORDS.get(fault) or WORDS[fault.rsplit("-", 1)[0]]


def rows(story: dict[str, Any]) -> list[tuple[str, ...]]:
    """Fault, what is done, what protects, what is seen, how often, median and longest recovery."""
    found: list[tuple[str, ...]] = []
    for name, fault in FAULTS.items():
        met = story["summary"].get(name)
        took = ("–", "–", "–")
        if met:
            longest = f"{met['recovered_s_max']:.1f} s" + (f" ({met['late']} late)" if met["late"] else "")
            took = (str(met["times"]), f"{met['recovered_s_median']:.1f} s", longest)
        found.append((name, fault.what, *words(name), *took))
    return found


def page(story: dict[str, Any], source: str) -> str:
    """The part of the page that is made."""
    m, load = story["machine"], story["load"]
    faults, checks, bad = story["faults"], story["checks"], story["problems"]
    sums = checks[-1].get("sums", {}) if checks else {}
    busiest = max((met["load"] for met in faults), default=0.0)
    told = [
        f"From `{source}`: {len(faults)} faults in {story['minutes']:g} minutes, seed {story['seed']}, "
        f"{story['began']}, commit {m['commit']}.",
        f"{m['cores']} cores of {m['cpu']}, {m['memory_gib']} GiB, kernel {m['kernel']}, Python {m['python']}, "
        f"Kafka {m['kafka']}, {m['postgres']}; nice {m.get('nice', 0)}; load average while it ran up to {busiest:.1f}.",
        f"Load: {load['episodes']:g} episodes, {load['accesses']:g} accesses and {load['bad']:g} bad records a second, "
        f"{load['ticks']:g} ticks of {load['step_ms'] / 1000:g} s, {load['searches']:g} searches a second, "
        f"encoder {load['encoder']}.",
        "",
        "| fault | what is done | what protects | what an operator sees | times | recovered, median | at most |",
        "|---|---|---|---|---|---|---|",
        *("| " + " | ".join(row) + " |" for row in rows(story)),
        "",
        f"At the end {sums.get('published', 0):,} records were published: "
        + ", ".join(f"{sums.get(key, 0):,} {key.replace('_', ' ')}" for key in
                    ("stored", "reinforced", "accessed", "below_threshold", "refused") if sums.get(key)) + ".",
        f"{len(checks)} times everything was checked: sums, `verify`, and the digest of a rebuild.",
        f"Problems: {len(bad)}." if bad else f"No problem was found, and nothing took longer than {LIMIT_S:g} s.",
        *(f"- {problem}" for problem in bad),
    ]  # fmt: skip
    return "\n".join(told)


def main() -> None:
    files = sorted(RESULTS.glob("soak-*.json"))
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else files[-1]
    made = page(json.loads(file.read_text()), f"tests/faults/results/{file.name}")
    write_between(PAGE, BEGIN, END, made)
    print(f"{PAGE}: from {file}")


if __name__ == "__main__":
    main()
