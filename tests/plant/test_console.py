"""The console in a real browser, against the fleet: each page by what a person sees and clicks."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from infra import genesis
from memquorum.core import access
from memquorum.core.access import Keys
from memquorum.encoders.hashing import HashingEncoder
from memquorum.schema_files import load_codec
from tests.support import browser
from tests.support.sessions import MINUTE, NOTES, Plant
from workers.retrieval.app import app
from workers.retrieval.door import Door

NAMESPACE, OTHER = "console", "console-of-others"
HOSTILE = (
    "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script> is what line 7 prints.",
    "Gate 4 is \u202elockednu\u202c since the storm of 9 May, says <b>Ines</b> & \x1b[31mTomas.",
    "{{constructor.constructor('alert(1)')()}} ${7*7} is written on the door of hall 5.",
)
LONG = "The log of press 12 on 9 May says: " + "valve B was open for 6 minutes. " * 2_000
PAGES = {
    "now": ("read", "audit"),
    "journal": ("read", "audit"),
    "memories": ("read",),
    "ask?q=inlet": ("read",),
    "decisions": ("read", "audit"),
    "decisions?by=epoch": ("read", "audit"),
    "conflicts": ("read",),
    "conflicts?tab=sessions": ("read",),
    "conflicts?tab=sessions&session=shift-1": ("read",),
    "conflicts?tab=rollups": ("read",),
    "experience?tab=": ("read",),
    "experience?tab=next": ("read",),
    "experience?tab=tasks": ("read",),
    "experience?tab=rewards": ("read", "audit"),
    "experience?tab=policy": ("read", "audit"),
    "members": ("read", "audit"),
    "keys": ("admin",),
    "api": tuple(access.RIGHTS),
    "orders": ("read", "forget", "erase", "audit"),
    "orders?tab=erase": ("erase",),
    "orders?tab=protected": ("read", "audit"),
    "orders?tab=letters": ("audit",),
    "orders?tab=evidence": ("audit",),
    "memory/{memory}": ("read", "audit"),
    "epoch/{epoch}": ("read", "audit"),
}
"""Each page, and the rights of which one opens it."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.started() as running:
        yield running


@pytest.fixture(scope="module")
def lived(fleet: Plant, chromium: Any) -> dict[str, str]:
    """A namespace with a session that was summed up by a vote: the places of its first memory and of that epoch."""
    with fleet.client(NAMESPACE) as memory, fleet.client(OTHER, "eve") as others:
        first, *_ = fleet.live(memory)
        others.add("The key of safe 3 is under the mat of gate 9.", wait=True)
        memory.end_session("shift-1")
        fleet.later(lambda: fleet.summaries(NAMESPACE))
        memory.add(f"The alarm code of pump 7 is 4821, set on {fleet.now // MINUTE}.", explicit=True, wait=True)
        (decision,) = memory.decisions(kinds=["consolidate"]).decisions
    return {"memory": first, "epoch": f"{decision.shard}/{decision.epoch}"}


@contextmanager
def tab(
    chromium: Any, fleet: Plant, place: str = "memories", ns: str = NAMESPACE, **how: str
) -> Iterator[browser.Look]:
    with browser.looking(chromium, fleet.line.retrieval_url, **how) as look:
        look.open(f"{place}{'&' if '?' in place else '?'}ns={ns}")
        yield look


def serves(url: str) -> bool:
    try:
        return httpx.get(f"{url}/livez").status_code == 200
    except httpx.HTTPError:
        return False


# What is seen ---------------------------------------------------------------------------------------------------------


def test_a_memory_is_followed_to_the_vote_that_summed_it_up_by_clicks(
    fleet: Plant, chromium: Any, lived: dict[str, str]
) -> None:
    with fleet.client(NAMESPACE) as memory:
        policy = memory.policy().sections["consolidate"]
        (decision,) = memory.decisions(kinds=["consolidate"]).decisions
    with tab(chromium, fleet) as look:
        page = look.page
        assert "The alarm code of pump 7" in look.text()
        page.get_by_label("Tier").select_option("sealed")
        page.get_by_text("no text: sealed").first.wait_for()
        look.there()
        assert "tier=sealed" in page.url, "the filter is in the address"
        assert page.get_by_role("row").count() == len(NOTES) + 1 and "no text: sealed" in look.text()
        page.get_by_role("link", name=lived["memory"][:8]).first.click()
        page.get_by_role("heading", name=f"Memory {lived['memory'][:8]}").wait_for()
        look.there()
        assert "the members voted to let a summary take the place of its sources" in look.text()
        page.locator(".timeline").get_by_role("link", name="Epoch").last.click()
        page.get_by_role("heading", name="Epoch").wait_for()
        look.there()
        grid = page.get_by_role("grid", name="Members and proposals")
        assert grid.get_by_role("button", name="for it").count() >= 3
        grid.get_by_role("button").first.focus()
        assert "score" in page.get_by_role("tooltip").inner_text()
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") != grid.get_by_role(
            "button"
        ).first.get_attribute("aria-label")
        said = look.text()
        assert "checked by the service" in said and f"({decision.vote['quorum']} needed)" in said
        assert f"yes from {policy['covered_ppm'] / 1e6:.2f}" in said, "the score is held against the policy in force"
        page.go_back()
        page.go_back()
        page.get_by_role("heading", name="Browse").wait_for()
        look.there()
        assert page.get_by_label("Tier").input_value() == "sealed", "Back leads to the same filters"


def test_a_question_is_answered_in_three_ways_and_keeps_nothing_alive(
    fleet: Plant, chromium: Any, lived: dict[str, str]
) -> None:
    with fleet.client(NAMESPACE) as memory, tab(chromium, fleet, "ask") as look:
        page = look.page
        page.get_by_label("Question", exact=True).last.fill("Who measured the inlet of pump 7?")
        page.get_by_role("button", name="Ask").click()
        page.get_by_role("region", name="Context").locator("li").first.wait_for()
        look.there()
        for way in ("Search", "Retrieve", "Context"):
            said = page.get_by_role("region", name=way).inner_text()
            assert "pump 7" in said and "no use counted" in said, way
        hits = [one.memory_id for one in memory.search("Who measured the inlet of pump 7?", peek=True)]
        shown = page.get_by_role("region", name="Search").locator(".hit-head a.id").all_inner_texts()
        assert shown == [one[:8] for one in hits]
        said = page.get_by_role("region", name="Retrieve").inner_text()
        assert "cosine" in said and "place by meaning 1" in said and "by words 1" in said
        assert re.search(r"q=Who", page.url)
        assert all(memory.get(one).accesses == 0 for one in hits)
        look.open(f"ask?q=Who measured the inlet of pump 7?&at=2025-06-14&ns={NAMESPACE}")
        assert page.get_by_label("As of the end of").input_value() == "2025-06-14"
        assert "0 memories" in page.get_by_role("region", name="Search").inner_text(), "the day before the first one"


def test_texts_of_agents_are_shown_as_data(fleet: Plant, chromium: Any) -> None:
    with fleet.client("console-hostile", "<i>mallory</i>") as memory:
        for text in (*HOSTILE, LONG):
            memory.add(text, explicit=True, wait=True, subject="<u>ada</u>")
        with tab(chromium, fleet, ns="console-hostile") as look:
            said = look.text()
            assert "<script>document.title='broken'</script>" in said and "${7*7}" in said
            assert "RLO" in said and "ESC" in said and "\u202e" not in said
            assert "<i>mallory</i>" in said and "more" in said
            assert look.page.title().startswith("Browse")
            assert look.page.locator("main").locator("img, script, i, u, b").count() == 0
            look.open("ask?ns=console-hostile&q=hall")
            assert "<b>Ines</b>" in look.text()
            found = memory.memories().memories
            look.open(f"memory/{found[0].memory_id}?ns=console-hostile")
            assert look.page.title().startswith("Memory")


def test_an_address_that_leads_nowhere_says_so(fleet: Plant, chromium: Any, lived: dict[str, str]) -> None:
    with tab(chromium, fleet, "memory/5f0c8f0e-0000-5000-8000-000000000009") as look:
        assert "Nothing is there" in look.text()
        look.open("nowhere")
        look.said.clear()  # the browser tells a 404 on its console
    with tab(chromium, fleet, "epoch/0/999999") as look:
        assert "had no vote on memories" in look.text()


def test_a_slow_answer_shows_that_it_is_awaited_and_an_error_what_to_do(
    fleet: Plant, chromium: Any, lived: dict[str, str]
) -> None:
    with tab(chromium, fleet, "members") as look:
        page, held = look.page, list[Any]()
        page.route("**/memories/list", lambda route: held.append(route))  # noqa: PLW0108 - of a built-in it keeps no note
        with page.expect_request("**/memories/list"):
            page.get_by_role("link", name="Browse").click()
        page.get_by_text("Waiting for the service").wait_for()
        busy = '{"error": "unavailable", "field": null, "detail": "the store does not answer; try again"}'
        held[0].fulfill(status=503, content_type="application/json", body=busy)
        page.get_by_role("alert").wait_for()
        assert "the store does not answer" in page.get_by_role("alert").inner_text()
        page.unroute("**/memories/list")
        page.get_by_role("button", name="Try again").click()
        page.get_by_text("The alarm code of pump 7").wait_for()
        look.said.clear()  # the browser tells the 503 on its console


def test_what_happens_appears_by_itself_and_goes_on_after_the_service_was_away(
    fleet: Plant, chromium: Any, lived: dict[str, str]
) -> None:
    with fleet.client("console-live") as memory, tab(chromium, fleet, "now", ns="console-live") as look:
        page = look.page
        page.get_by_text("live", exact=True).wait_for()
        memory.add("Gate 11 is painted green since 3 May.", explicit=True, wait=True)
        page.get_by_text("anna recorded a memory").wait_for()
        assert "intake" in look.text() and "commit" in look.text(), "the line is shown"
        fleet.kill("retrieval")
        page.get_by_text("away, comes again").wait_for()
        fleet.until(lambda: serves(fleet.line.retrieval_url))
        memory.add("Gate 12 is painted blue since 4 May.", explicit=True, wait=True)
        page.get_by_text("anna recorded a memory").nth(1).wait_for()
        look.said.clear()  # the browser tells on its console that the service was away


def test_what_members_vote_on_now_is_shown_as_ballots_come(fleet: Plant, chromium: Any, lived: dict[str, str]) -> None:
    said = {
        "namespace": NAMESPACE, "shard": 1, "epoch": 9, "as_of": fleet.now, "trigger": "interval", "opened_at": 1_000,
        "config": 0, "members": 4, "quorum": 3, "total_ppm": 4_000_000, "steps": [],
        "proposals": [{"position": 5, "memory_ids": [lived["memory"]], "kind": "forget", "proposed_because": "decayed",
                       "yes": 1, "quorum": 3, "weight_ppm": 1_000_000, "needed_ppm": 2_666_667}],
        "ballots": [{"member": at, "name": f"<b>{at}</b>", "voice_ppm": 1_000_000, "at": 2_500 if at < 1 else None,
                     "yes": [5]} for at in range(4)],
    }  # fmt: skip
    with tab(chromium, fleet, "decisions") as look:
        page = look.page
        page.get_by_text("Members vote on nothing here at this moment").wait_for()
        page.route("**/open", lambda route: route.fulfill(json=said))
        page.get_by_role("region", name="Voted on now").wait_for()
        page.get_by_text("1 of 4, the last").wait_for()
        assert "<b>0</b>" in look.text() and look.text().count("awaited") == 3
        said["ballots"][1]["at"] = 3_000
        said["steps"] = [{"step": "pre-prepare", "member": 2, "view": 0, "at": 4_000}]
        page.get_by_text("2 of 4, the last").wait_for()
        assert "1 member, the first" in look.text()
        page.unroute("**/open")
        page.get_by_text("was open a moment ago").wait_for()


def test_a_contradiction_is_listed_with_what_both_say(fleet: Plant, chromium: Any) -> None:
    with fleet.client("console-contradicted") as memory, fleet.client("console-contradicted", "bert") as other:
        memory.add("The alarm code of pump 7 is 4821.", wait=True)
        other.add("The alarm code of pump 7 is 1177.", wait=True)
        with tab(chromium, fleet, "conflicts", ns="console-contradicted") as look:
            table = look.page.get_by_role("table", name="Memories that contradict each other")
            assert "4821" in table.inner_text() and "1177" in table.inner_text()
            assert "disputed: the reader decides" in table.inner_text() and "by a rule" in table.inner_text()
            assert "1 contradiction, all of them" in look.text()
            look.open("memories?ns=console-contradicted")
            assert "disputed by" in look.text()
            assert look.page.locator("main s").count() == 0, "what may hold is not struck"
            memory.add("Correction: the alarm code of pump 7 is 9000.", wait=True)
            memory.add("Correction: the alarm code of pump 7 is 9001.", wait=True)
            look.open("memories?ns=console-contradicted")
            assert "overtaken by" in look.text() and look.page.locator("main s").count() > 0
            look.open("conflicts?ns=console-contradicted")
            assert look.page.get_by_role("row").count() == 2, "pairs about the same stand together"
            assert "9001" in table.inner_text() and "contradictions, all of them" in look.text()


def test_a_summary_that_waits_and_the_last_epoch_are_told(fleet: Plant, chromium: Any) -> None:
    ns = "console-waits"
    with fleet.client(ns) as memory:
        fleet.live(memory)
        memory.end_session("shift-1")
        fleet.until(lambda: fleet.summaries(ns, "draft"))
        for place in ("now", "decisions"):
            with tab(chromium, fleet, place, ns=ns) as look:
                look.page.get_by_role("link", name="1 summary waits for its vote").click()
                look.page.get_by_text("consolidator made a summary").wait_for()
        fleet.later(lambda: fleet.summaries(ns))
        fleet.turn(MINUTE)
        kept = memory.add("Valve 3 opens at 4 bar.", explicit=True, wait=True)
        memory.add("Valve 3 opens at 3 bar.", explicit=True, wait=True, supersedes=[str(kept.memory_id)])
        fleet.later(lambda: memory.get(str(kept.memory_id)).tier == "superseded", by=MINUTE)
        (decision,) = memory.decisions(kinds=["supersede"]).decisions
        state = memory.state()
        assert (state.last_epoch, state.last_epoch_at) == (decision.epoch, decision.as_of)
        with tab(chromium, fleet, f"epoch/{decision.shard}/{decision.epoch}", ns=ns) as look:
            look.page.get_by_text("supersede: how much speaks for the newer one").wait_for()
            look.page.get_by_text("weight × score").first.wait_for()


def test_a_process_that_does_not_answer_is_named(fleet: Plant, chromium: Any, lived: dict[str, str]) -> None:
    stopped = fleet.pid("replica-1")
    os.kill(stopped, signal.SIGSTOP)
    try:
        with tab(chromium, fleet, "now") as look:
            look.page.get_by_text("replica-1 (does not answer)").wait_for()
            assert look.page.get_by_role("region", name=f"In {NAMESPACE}").is_visible()
    finally:
        os.kill(stopped, signal.SIGCONT)


def test_an_address_without_a_namespace_offers_those_that_have_something(
    fleet: Plant, chromium: Any, lived: dict[str, str], keyed: tuple[str, dict[str, str]]
) -> None:
    address, keys = keyed
    with browser.looking(chromium, fleet.line.retrieval_url) as look:
        look.open("memories")
        look.page.locator(".others").get_by_role("link", name=NAMESPACE, exact=True).click()
        look.page.get_by_text("The alarm code of pump 7").wait_for()
    with browser.looking(chromium, address, key=keys["read"]) as look:
        look.open("memories")
        look.page.get_by_text("The alarm code of pump 7").wait_for()
        assert f"ns={NAMESPACE}" in look.page.url, "the only one is chosen"


def test_an_erasure_is_previewed_confirmed_and_its_receipt_verified(fleet: Plant, chromium: Any) -> None:
    with fleet.client("console-erased") as memory:
        kept = memory.add("Hall 5 has 12 lamps since 3 May.", explicit=True, wait=True)
        gone = memory.add("Ada's locker is number 77 in hall 5.", explicit=True, wait=True, subject="ada")
        with tab(chromium, fleet, "orders?tab=erase", ns="console-erased") as look:
            page = look.page
            page.locator("select[name=what]").select_option("subject")
            page.get_by_label("Its name or id").fill("ada")
            page.get_by_role("button", name="Preview").click()
            page.get_by_role("table", name="Would go").wait_for()
            assert str(gone.memory_id)[:8] in look.text() and str(kept.memory_id)[:8] not in look.text()
            order = page.get_by_role("button", name="Erase for good")
            page.get_by_label("Type ada").fill("Ada")
            assert order.is_disabled(), "the name has to be typed as it is"
            assert memory.get(str(gone.memory_id)).text is not None, "a preview orders nothing"
            page.get_by_label("Type ada").fill("ada")
            order.click()
            page.get_by_role("heading", name="Order").first.wait_for()
            page.get_by_text("Keep the receipt as a file").wait_for()
            page.get_by_text(f"--genesis {fleet.line.genesis_file}").wait_for()
            assert str(gone.memory_id) in look.text() and "by the shard's clock" in look.text()
            assert memory.get(str(gone.memory_id)).tier == "gone"
            page.locator("input[type=file]").set_input_files(str(fleet.line.genesis_file))
            page.get_by_text("The order is signed by who may give it").wait_for()
            checks = page.locator(".checks li")
            assert checks.count() == 8 and page.locator(".checks .fails").count() == 0, checks.all_inner_texts()
            altered = json.loads(fleet.line.genesis_file.read_text()) | {"shards": 9}
            file = {"name": "g.json", "mimeType": "application/json", "buffer": json.dumps(altered).encode()}
            page.locator("input[type=file]").set_input_files(files=[file])
            page.locator(".checks .fails").first.wait_for()


MOST_CLICKS = 5
Step = tuple[str, str]
"""The role of what is clicked, and its name: a link, a tab, a button or a folded part."""
TASKS: dict[str, tuple[str, list[Step], tuple[str, ...]]] = {
    "what is stuck": ("now", [], ("Processes", "intake", "commit")),
    "which member disagrees most": ("now", [("link", "Members")], ("Who disagreed", "Was for what was not done")),
    "what will be forgotten next": (
        "now", [("link", "Budgets and experience"), ("link", "What goes next")], (
            "voted on now", "by one decision", "memquorum admin policy whatif --namespace console --budget 3000",
        ),
    ),
    "is the journal whole": (
        "now", [("link", "Journal"), ("link", "Check the chain"), ("button", "Check all entries now")],
        ("Checked by the service", "whole", "up to entry", "memquorum admin audit verify"),
    ),
    "what did an agent learn today": (
        "now", [("summary", "agent"), ("dated", "")], ("The alarm code of pump 7", "anna")
    ),
    "what does the fleet believe about pump 7, and since when": (
        "now", [("link", "Ask"), ("question", "What is the alarm code of pump 7?"), ("button", "Ask")],
        ("The alarm code of pump 7 is 4821", "anna"),
    ),
    "who voted a memory away, and why": (
        "now", [("link", "Epochs and votes"), ("memory", "")], ("for it: ", "take the place of its sources", "Votes")
    ),
    "what did a session become": (
        "now", [("link", "Conflicts and consolidation"), ("summed", "")], ("consolidated", "to consolidate")
    ),
    "which sessions were there, and what became of one": (
        "now", [("link", "Conflicts and consolidation"), ("link", "Sessions"), ("link", "shift-1")],
        ("Rest behind a summary", "a summary of"),
    ),
}  # fmt: skip
"""What people ask: the page that they begin on, what they click, and what answers."""


@pytest.mark.parametrize("task", TASKS)
def test_a_question_of_people_is_answered_in_few_clicks(
    fleet: Plant, chromium: Any, lived: dict[str, str], task: str
) -> None:
    begin, steps, answer = TASKS[task]
    assert len(steps) <= MOST_CLICKS
    with tab(chromium, fleet, begin) as look:
        page, main = look.page, look.page.locator("main")
        for kind, name in steps:
            match kind:
                case "question":
                    page.get_by_label("Question", exact=True).last.fill(name)
                case "summary":
                    main.locator("summary").filter(has_text=name).first.click()
                case "dated":
                    main.get_by_role("table", name="Agents").locator("a:has(time)").first.click()
                case "memory":
                    main.get_by_role("table", name="Votes").locator("a.id[href*=memory]").first.click()
                case "summed":
                    main.get_by_role("link", name="consolidate").click()
                case _:
                    page.get_by_role(kind, name=name, exact=True).first.click()
            look.there()
        for words in answer:
            main.get_by_text(words).filter(visible=True).first.wait_for()


def test_the_strength_of_a_memory_is_drawn_until_it_may_be_voted_on(
    fleet: Plant, chromium: Any, lived: dict[str, str]
) -> None:
    with fleet.client(NAMESPACE) as memory, tab(chromium, fleet) as look:
        (living, *_) = memory.memories(tiers=["short-term"]).memories
        look.open(f"memory/{living.memory_id}?ns={NAMESPACE}")
        said = look.page.locator("svg.strength").get_attribute("aria-label")
        left = memory.explain(living.memory_id).account["profile"]["decay_ppm"] / 1e6
        assert said.startswith(f"It has {left:.3f} of its strength."), said
        assert look.page.locator("svg.strength polyline.next").count() == 1


# How it is seen -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", browser.SIZES)
def test_every_page_is_accessible_and_fits(
    fleet: Plant, chromium: Any, lived: dict[str, str], size: str, theme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with tab(chromium, fleet, size=size, theme=theme) as look:
        for place in PAGES:
            look.open(f"{place.format(**lived)}{'&' if '?' in place else '?'}ns={NAMESPACE}")
            found = Axe().run(look.page).response["violations"]
            serious = [one for one in found if one["impact"] in ("serious", "critical")]
            assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == [], place
            width = look.page.evaluate("document.documentElement.scrollWidth")
            assert width <= browser.SIZES[size][0], f"{place} is wider than the window"


def test_the_first_page_is_small_and_soon_usable(fleet: Plant, chromium: Any, lived: dict[str, str]) -> None:
    with tab(chromium, fleet) as look:
        sizes = [one.sizes() for one in look.requests]
        sent = sum(one["responseBodySize"] + one["responseHeadersSize"] for one in sizes)
        print(f"the first page: {sent} bytes in {len(sizes)} requests")
        assert sent <= 120_000 and len(sizes) <= 25


# With keys ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def keyed(fleet: Plant, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """A second service of the fleet that wants keys: its address, and a key for each right."""
    file, told = tmp_path_factory.mktemp("keys") / "keys.json", {}
    made = []
    for at, right in enumerate(access.RIGHTS):
        told[right], stored = access.make(
            bytes([at + 1] * 6), bytes([at + 1] * 32), name=right, namespaces=[NAMESPACE], rights=[right], now_ms=1
        )
        made.append(stored)
    told["both"], stored = access.make(
        bytes([9] * 6), bytes([9] * 32), name="both", namespaces=[NAMESPACE], rights=["read", "admin"], now_ms=1
    )
    made.append(stored)
    file.write_bytes(access.dump(Keys(made)))
    service = app(
        door=Door(file), memory_dsn=fleet.line.memory_dsn, bootstrap=fleet.line.bootstrap,
        genesis=genesis.read(fleet.line), codec=load_codec(), encoder=HashingEncoder(), cache_memories=0,
    )  # fmt: skip
    with browser.served(service) as address:
        yield address, told


def test_a_key_is_asked_for_once_and_goes_with_the_tab(
    fleet: Plant, chromium: Any, lived: dict[str, str], keyed: tuple[str, dict[str, str]]
) -> None:
    address, keys = keyed
    with browser.looking(chromium, address) as look:
        page = look.page
        page.goto(f"{address}/console/#/memories?ns={NAMESPACE}")
        page.get_by_label("API key").fill("mq_wrong")
        page.get_by_role("button", name="Open the console").click()
        page.get_by_role("alert").wait_for()
        page.get_by_label("API key").fill(keys["read"])
        page.get_by_role("button", name="Open the console").click()
        page.get_by_text("The alarm code of pump 7").wait_for()
        page.reload()
        page.get_by_text("The alarm code of pump 7").wait_for()
        assert page.evaluate("JSON.stringify([document.cookie, {...localStorage}])") == '["",{"memquorum.zone":"utc"}]'
        look.open(f"memories?ns={OTHER}")
        assert "Your key may not see this" in look.text() and "safe 3" not in look.text()
        page.get_by_text("Your key").first.click()
        page.get_by_role("button", name="Forget the key").click()
        page.get_by_label("API key").wait_for()
        look.said.clear()  # the browser tells 401 and 403 on its console
    with browser.looking(chromium, address) as look:
        look.page.goto(f"{address}/console/")
        look.page.get_by_label("API key").wait_for()
        look.said.clear()


@pytest.mark.parametrize("right", access.RIGHTS)
def test_each_right_shows_its_pages_alone(
    fleet: Plant, chromium: Any, lived: dict[str, str], keyed: tuple[str, dict[str, str]], right: str
) -> None:
    address, keys = keyed
    with browser.looking(chromium, address, key=keys[right]) as look:
        for place, rights in PAGES.items():
            look.open(f"{place.format(**lived)}{'&' if '?' in place else '?'}ns={NAMESPACE}")
            said = look.text()
            assert ("Your key may not see this" in said) is (right not in rights), place
            assert right == "read" or not any(note in said for note in NOTES), "a text without the right to read"


def test_a_key_is_made_shown_once_and_revoked_by_its_typed_name(
    fleet: Plant, chromium: Any, lived: dict[str, str], keyed: tuple[str, dict[str, str]]
) -> None:
    address, keys = keyed

    def opens(key: str) -> int:
        said = {"namespace": NAMESPACE, "limit": 1}
        return httpx.post(f"{address}/memories/list", json=said, headers={"Authorization": f"Bearer {key}"}).status_code

    with browser.looking(chromium, address, key=keys["both"]) as look:
        page = look.page
        look.open(f"keys?ns={NAMESPACE}")
        page.get_by_label("Owner").fill("<b>planner</b>")
        assert [one.input_value() for one in page.locator("input[name=right]").all()] == ["read", "admin"]
        page.get_by_role("button", name="Make the key").click()
        shown = page.get_by_role("region", name="The new key").locator("code")
        shown.wait_for()
        made = str(shown.inner_text())
        assert opens(made) == 200 and "<b>planner</b>" in look.text()
        page.get_by_role("button", name="I have it").click()
        page.reload()
        page.get_by_role("button", name="Revoke the key of <b>planner</b>").wait_for()
        assert made not in page.content(), "it is shown once"
        page.get_by_role("button", name="Revoke the key of <b>planner</b>").click()
        revoke = page.get_by_role("button", name="Revoke the key", exact=True)
        page.get_by_label("Type <b>planner</b>").fill("planner")
        assert revoke.is_disabled() and opens(made) == 200
        page.get_by_label("Type <b>planner</b>").fill("<b>planner</b>")
        revoke.click()
        page.get_by_role("table", name="API keys").get_by_text("revoked", exact=True).wait_for()
        assert opens(made) == 401
        page.get_by_label("Owner").fill("wide")
        page.get_by_label("Namespaces").fill("*")
        page.get_by_role("button", name="Make the key").click()
        page.get_by_text("nobody grants more than he has").wait_for()
        look.said.clear()  # the browser tells the 403 on its console
