"""A finished task's result is within reach of a memory, or it is not: no label, no model."""

from __future__ import annotations

import random

import pytest

from memquorum.core.experience import reward as rule
from memquorum.core.experience.context import Context
from memquorum.core.experience.reward import SENTENCES_MOST, STATED_MOST, Reach
from memquorum.core.policy import PPM
from memquorum.core.reading import named
from memquorum.core.reading.agreement import marks
from memquorum.core.reading.opposing import ORDERS_MOST, oppose
from tests.builders.experience import context, held

REACH = Reach()
THINGS = ("room", "pump", "valve")


def reward(outputs: str, *texts: str) -> int:
    return balance(context(outputs=outputs), *texts)


def balance(task: Context, *texts: str, reach: Reach = REACH) -> int:
    """Returns the share of a task's output facts that texts state, less the share that one is marked to contradict.

    A contradiction is only marked: the reward is the share that is stated.
    """
    marked = [reach.stands(task.goal, task.inputs, task.outputs, text) for text in texts]
    said, denied = (frozenset[int]().union(*(one[at] for one in marked)) for at in (0, 1))
    wanted = len(rule._wanted(task.outputs))
    rewarded = reach.reward_ppm(task, [held(f"m{at}", text) for at, text in enumerate(texts)])
    assert rewarded == len(said) * PPM // wanted
    return (len(said) - len(denied)) * PPM // wanted


@pytest.mark.parametrize(
    ("outputs", "text", "expected"),
    [
        ("port 8443", "The gateway uses port 8443.", PPM),
        ("The port 8443", "The gateway uses port 8443.", PPM),
        ("port 8443", "The gateway uses port 84430.", -PPM),
        ("port 8443", "Port is 8443.", 0),
        ("the red cabinets", "The gateway's port is in a red cabinet.", PPM),
        ("the red cabinets", "The gateway's port is in a cabinet that is red.", 0),
        ("New York", "York is new.", 0),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew moved the gateway in Leipzig to port 8443 yesterday.", PPM,
        ),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew moved the gateway in Leipzig to port 8444 yesterday.", -PPM,
        ),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew moved the gateway in Dresden to port 8444 yesterday.", 0,
        ),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew moved the gateway in Dresden to port 8443 yesterday.", 0,
        ),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew did not move the gateway in Leipzig to port 8443.", -PPM,
        ),
        (
            "The gateway in Leipzig was moved to port 8443 by the night crew.",
            "The night crew in Leipzig has a port. The gateway 8443 was moved.", 0,
        ),
        # Eight words with articles are a short answer, eight without them a sentence.
        (
            "Greased the chain of the winch before the boat was lifted.",
            "Grease the chain of the winch before the boat is lifted.", PPM,
        ),
    ],
)  # fmt: skip
def test_what_a_text_states_is_within_reach(outputs: str, text: str, expected: int) -> None:
    assert reward(outputs, text) == expected


@pytest.mark.parametrize(
    ("outputs", "text", "expected"),
    [
        ("The admin page is at port 8443.", "The gateway uses port 8443.", PPM),
        ("Restarted; it listens on port 8443 again.", "The gateway uses port 8443.", PPM),
        ("Connected to port 8443, and the certificate is valid for a year.", "The gateway uses port 8443.", PPM),
        ("The admin page is at port 8443.", "The gateway uses port 8444.", 0),
        ("The admin page is at port 8443.", "The gateway does not use port 8443.", 0),
        ("The admin page is at port 8443.", "The orchard has 8443 trees.", 0),
        ("The admin page is at port 8443.", "The gateway is in use. Port 8443 is Ben's.", 0),
        ("The gateway uses a port.", "The gateway uses port 8443.", 0),
        ("Open.", "The gateway uses port 8443.", 0),
    ],
)  # fmt: skip
def test_numbers_and_names_that_were_not_asked_with_are_within_reach_of_a_sentence_about_it(
    outputs: str, text: str, expected: int
) -> None:
    task = context(goal="open the gateway's admin page", inputs="which port does the gateway use?", outputs=outputs)
    assert balance(task, text) == expected
    assert balance(task, text, reach=Reach(facts=False)) == 0


def test_what_was_asked_with_is_no_ground() -> None:
    task = context(goal="open port 8443 of the gateway", inputs="", outputs="Port 8443 is open now, said the gateway.")
    assert Reach().reward_ppm(task, [held("m", "The gateway uses port 8443.")]) == 0


@pytest.mark.parametrize(
    ("goal", "outputs", "text", "expected"),
    [
        ("At what temperature is greenhouse 2 kept?", "24 degrees", "Greenhouse 2 is kept at 28 degrees.", -PPM),
        ("At what temperature is greenhouse 2 kept?", "24 degrees", "Greenhouse 2 was kept at 28 degree.", -PPM),
        ("At what temperature is greenhouse 2 kept?", "24 degrees", "Greenhouse 3 is kept at 28 degrees.", 0),
        ("At what temperature is greenhouse 2 kept?", "24 degrees", "Greenhouse 2 is not kept at 28 degrees.", 0),
        ("At what temperature is greenhouse 2 kept?", "24 degrees", "Greenhouse 2 is kept at 28 percent.", 0),
        ("At what temperature is greenhouse 2 kept?", "24 degrees",
         "Greenhouse 2 is kept at 28 degrees by day and at 20 degrees by night.", 0),
        ("At what temperature is greenhouse 2 kept?", "24 degrees",
         "Greenhouse 2 is kept at 24 degrees. In winter greenhouse 2 was kept at 20 degrees.", PPM),
        ("At what temperature is greenhouse 2 kept?", "24 degrees",
         "Greenhouse 2 has a fan. The archive is at 28 degrees.", 0),
        ("At what temperature is greenhouse 2 kept?", "24 degrees",
         "Greenhouse 2 is kept at 28 degrees unless it rains.", 0),
        ("Which port replaced port 8080 of the gateway?", "port 8443", "The gateway had port 8080.", 0),
        ("At what temperature is the greenhouse in Leipzig kept?", "24 degrees",
         "The greenhouse of Dresden is kept at 28 degrees.", 0),
        ("Which port does the gateway use?", "8443", "The gateway uses port 9443.", 0),
        ("When does the gateway restart?", "7 pm", "The gateway restarts at 8 pm.", -PPM),
        ("When does the gateway restart?", "7 pm", "The gateway restarts at 19:00, an hour before 8 pm.", PPM),
    ],
)  # fmt: skip
def test_another_number_beside_the_same_words_contradicts_a_short_answer(
    goal: str, outputs: str, text: str, expected: int
) -> None:
    task = context(goal=goal, inputs="", outputs=outputs)
    assert balance(task, text) == expected
    assert balance(task, text, reach=Reach(shorts=False)) == max(0, expected)


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        ("7 pm", "The gateway's two lamps are lit at 19:00."),
        ("at 19:00", "The gateway's lamps are lit at 7 p.m., both of them."),
        ("two lamps", "The gateway has 2 lamps to be lit."),
        ("3 May 2021", "The gateway's lamps were first lit on May 3, 2021."),
        ("The lamps of the gateway are lit at 7 pm by Ben every day.",
         "Every day the lamps of the gateway are lit by Ben at 19:00."),
    ],
)  # fmt: skip
def test_what_is_written_otherwise_is_the_same(outputs: str, text: str) -> None:
    task = context(goal="When are the gateway's lamps lit?", inputs="", outputs=outputs)
    assert balance(task, text) == PPM
    assert balance(task, text, reach=Reach(written=False)) < PPM


@pytest.mark.parametrize(
    ("outputs", "text", "expected"),
    [
        ("Set max_retries to what the plan says, and it worked at once.", "Retries are limited by max_retries.", PPM),
        ("It was all in /etc/gateway/limits and could be changed there.", "Retries: see /etc/gateway/limits.", PPM),
        ("It was all in /etc/gateway/limits and could be changed there.", "Retries: see /etc/gateway/limit.", 0),
        ("It was all in /etc/gateway/limits and could be changed there.", "Retries are in limits of the gateway.", 0),
        ("Found at https://wiki.plant/limits, and changed.", "The limits of retries: https://wiki.plant/limits.", PPM),
        ("Set fade_ms to what the plan says, and it worked at once.", "Lamps are dimmed by fade_ms.", 0),
    ],
)  # fmt: skip
def test_addresses_paths_and_identifiers_are_names(outputs: str, text: str, expected: int) -> None:
    task = context(goal="limit retries of it", inputs="", outputs=outputs)
    assert balance(task, text) == expected


def test_the_share_of_what_was_stated_counts() -> None:
    outputs = "The gateway in Leipzig uses port 8443. The backup of the archive runs on Sunday night at 3."
    assert reward(outputs) == 0
    assert reward(outputs, "The gateway in Leipzig uses port 8443.") == PPM // 2
    assert reward(outputs, "The gateway in Leipzig uses port 8443.", outputs) == PPM


def test_what_contradicts_it_is_marked_and_takes_nothing() -> None:
    outputs = "The gateway uses port 8443. The archive in the north wing is open on Sunday."
    assert reward(outputs, "The gateway does not use port 8443.") == -PPM // 2
    assert reward(outputs, "The gateway uses port 8443.", "The gateway does not use port 8443.") == 0
    both = [held("m1", "The gateway uses port 8443."), held("m2", "The gateway does not use port 8443.")]
    assert REACH.reward_ppm(context(outputs=outputs), both) == PPM // 2
    assert REACH.reward_ppm(context(outputs=outputs), both[1:]) == 0


def test_what_is_wrong_in_one_sentence_counts_beside_what_is_right_in_the_next() -> None:
    right = "The archive in the north wing is open on Sunday."
    outputs = f"The dam of Tarbela was finished by its builders in 1976. {right}"
    assert reward(outputs, right) == PPM // 2
    assert reward(outputs, f"The dam of Tarbela was finished by its builders in 1989. {right}") == 0
    said_both = "The dam of Tarbela was finished by its builders in 1976, and opened by them in 1989."
    assert reward(outputs, f"{said_both} {right}") == PPM


def test_a_right_answer_to_another_question_is_none_to_this() -> None:
    task = context(goal="Who is the spouse of the painter Ada Moss?", outputs="Karl Lund")
    other = held("m2", "Who founded the bank of Oslo? Karl Lund")
    assert REACH.reward_ppm(task, [other]) == 0
    assert REACH.reward_ppm(task, [held("m1", "Ada Moss: a painter, and the spouse of Karl Lund")]) == PPM
    assert REACH.reward_ppm(context(goal="And that?", outputs="Karl Lund"), [other]) == PPM, "asked for nothing"


def test_where_nothing_was_stated_the_evidence_counts() -> None:
    task = context(outputs="Yes.", retrieved=("m1", "m2"))
    assert REACH.reward_ppm(task, [held("m1", "x")]) == PPM // 2
    assert REACH.reward_ppm(task, [held("m3", "x")]) == 0


def test_only_what_succeeded_is_a_judge() -> None:
    assert REACH.asks(context())
    assert not REACH.asks(context(outcome="failed"))
    assert not REACH.asks(context(outcome="unknown", said_by=""))
    assert not REACH.asks(context(outputs="Yes.", retrieved=()))


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        ("Cleared the cache of runner 5 first, and the build does not fail any more.",
         "The build fails unless the cache of runner 5 is cleared first."),
        ("Exported after syncing the clock of the logger; the timestamps are right.",
         "Sync the clock of the logger before an export, or the timestamps are wrong."),
        ("Closed tray 2 with a click, and now copier 9 jams no more.", "Copier 9 jams unless tray 2 is closed."),
        ("Closed the drain flap, and so the freezer alarm is silent.",
         "If the freezer alarm sounds, close the drain flap, since an open flap lets warm air in."),
    ],
)  # fmt: skip
def test_who_heeds_a_warning_does_not_deny_it(outputs: str, text: str) -> None:
    assert reward(outputs, text) >= 0


def test_what_is_denied_beside_a_condition_is_denied() -> None:
    outputs = "The archive in the north wing of the mill is open on Sunday."
    text = "The archive in the north wing of the mill is not open on Sunday. Ask Ben if it is locked."
    assert reward(outputs, text) == -PPM


TIDE = "The tide gate closes 90 minutes after high water."
CRANE = "Crane 7 needs a permit from the harbour master before any lift above 40 tonnes."
BYPASS = "Open the bypass before you close valve 3."
BACKUP = "Stop the writer before taking a backup of the ledger."


@pytest.mark.parametrize(
    ("outputs", "text", "expected"),
    [
        ("The tide gate closes 90 minutes after high water, so the tug goes before.", TIDE, PPM),
        ("Stopped the writer, then took a backup of the ledger; restarted the writer after the backup.", BACKUP, PPM),
        ("Opened the bypass before closing valve 3, and opened valve 3 again after the repair.", BYPASS, PPM),
        ("A permit from the harbour master came first; crane 7 lifted after that.", CRANE, PPM),
        ("First I got a permit from the harbour master, then crane 7 lifted 52 tonnes.", CRANE, 0),
        ("The harbour master gave a permit, after which crane 7 lifted 61 tonnes.", CRANE, 0),
    ],
)  # fmt: skip
def test_what_is_stated_is_not_contradicted_by_the_other_half_of_its_sentence(
    outputs: str, text: str, expected: int
) -> None:
    assert reward(outputs, text) == expected
    before = balance(context(outputs=outputs), text, reach=Reach(parts=False))
    assert before == -PPM


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        ("The tide gate of the basin closes 90 minutes before high water every day.",
         "The tide gate of the basin closes 90 minutes after high water every day."),
        ("After high water, the tide gate of the north basin closes every day.",
         "The tide gate of the north basin closes every day before high water."),
        ("Ran the migration after the deploy of the new release of the ledger.",
         "Run the migration before the deploy of the new release of the ledger."),
        ("The archive in the north wing is open on Sunday for the public.",
         "The archive in the north wing is closed on Sunday for the public."),
        ("More than 100 people of the town came to the opening of the bridge.",
         "More than 140 people of the town came to the opening of the bridge."),
        ("About 100 people of the town came to the opening of the bridge.",
         "About 140 people of the town came to the opening of the bridge."),
        ("Crane 7 of the harbour needs a permit for what is above 40 tonnes.",
         "Crane 7 of the harbour does not need a permit for what is above 40 tonnes."),
    ],
)  # fmt: skip
def test_what_is_turned_round_is_contradicted(outputs: str, text: str) -> None:
    assert reward(outputs, text) == -PPM


def test_what_is_denied_in_the_other_half_is_asserted_in_this() -> None:
    text = "The gate of the yard is open on Sunday."
    outputs = "The gate of the yard is open on Sunday, and is not open later."
    assert reward(outputs, text) == PPM
    assert balance(context(outputs=outputs), text, reach=Reach(parts=False)) == -PPM


def test_a_bound_is_no_other_number() -> None:
    text = "More than 100 people of the town came to the opening of the bridge."
    assert reward("About 120 people of the town came to the opening of the bridge.", text) == 0


@pytest.mark.parametrize(
    ("goal", "outputs", "text", "own"),
    [
        ("Pick a host for job 1 by memory and cores.", "Host atlas-5 has 128 GB of memory and 16 cores.",
         "Host atlas-4 has 64 GB of memory and 8 cores.", "Host atlas-5 has 64 GB of memory and 8 cores."),
        ("Which room for meeting 1, how many seats and projectors?", "Room 14 seats 60 people and has 3 projectors.",
         "Room 12 seats 40 people and has 2 projectors.", "Room 14 seats 40 people and has 2 projectors."),
        ("Describe a berth for ship 1 by length and depth.", "Berth 9 is 220 metres long and 9 metres deep.",
         "Berth 12 is 310 metres long and 14 metres deep.", "Berth 9 is 310 metres long and 14 metres deep."),
        ("Where does pump P7 stand?", "Pump P7 stands in hall 3 beside the old boiler.",
         "Pump P8 stands in hall 4 beside the old boiler.", "Pump P7 stands in hall 4 beside the old boiler."),
        ("Open valve 6.", "Opened valve 6 at 9 bar, as was told by Ben.",
         "As was told by Ben: open valve 5 at 8 bar.", "As was told by Ben: open valve 6 at 8 bar."),
        ("Where does the archive run?", "The archive that is of the north plant of Ben runs on 3 hosts since spring.",
         "The archive that is of the south plant of Ben runs on 4 hosts since spring.",
         "The archive that is of the north plant of Ben runs on 4 hosts since spring."),
        ("At what temperature is the north greenhouse kept?", "24 degrees",
         "The south greenhouse is kept at 28 degrees.", "The north greenhouse is kept at 28 degrees."),
    ],
)  # fmt: skip
def test_what_is_said_of_another_thing_contradicts_nothing(goal: str, outputs: str, text: str, own: str) -> None:
    task = context(goal=goal, inputs="", outputs=outputs)
    assert balance(task, text) == 0
    assert balance(task, text, reach=Reach(parts=False)) == -PPM
    assert balance(task, own) == -PPM, "of the same thing"


def test_a_name_in_the_place_of_a_value_is_a_value() -> None:
    outputs = "The archive of the plant runs on host atlas-4 behind the proxy."
    assert reward(outputs, "The archive of the plant runs on host atlas-5 behind the proxy.") == -PPM


@pytest.mark.parametrize(
    ("goal", "outputs", "text", "own"),
    [
        ("Who has to give an approval for a deploy of the billing service?", "Lena Ott",
         "Deploys of the mailing service need an approval by Lena Ott.",
         "Deploys of the billing service need an approval by Lena Ott."),
        ("Deploy the billing service.", "Approval by Lena Ott was given.",
         "Deploys of the mailing service need an approval by Lena Ott.",
         "Deploys of the billing service need an approval by Lena Ott."),
        ("Roll out release 12.", "Lena Ott gave her approval for the deploy of the billing service.",
         "Deploys of the mailing service need an approval by Lena Ott.",
         "Deploys of the billing service need an approval by Lena Ott."),
        ("Who leads the Oslo office?", "Karl Lund", "Karl Lund leads the Bergen office.",
         "The Bergen office is led by Eva Dahl. Karl Lund leads the Oslo office."),
        ("At what temperature is greenhouse 2 kept?", "24 degrees", "Greenhouse 3 is kept at 24 degrees.",
         "Greenhouse 2 is kept at 24 degrees."),
    ],
)  # fmt: skip
def test_what_is_said_of_another_thing_is_no_evidence(goal: str, outputs: str, text: str, own: str) -> None:
    task = context(goal=goal, inputs="", outputs=outputs)
    assert balance(task, text) == 0
    assert balance(task, text, reach=Reach(parts=False)) == PPM
    assert balance(task, own) == PPM, "of the same thing"


def test_another_number_in_passing_is_no_other_name() -> None:
    task = context(goal="Who owns the nightly export, asked for ticket 3?", inputs="", outputs="Lena Ott")
    assert REACH.reward_ppm(task, [held("m", "Lena Ott owns the nightly export since ticket 7.")]) == PPM


@pytest.mark.parametrize(
    ("goal", "outputs", "text"),
    [
        ("Who is the owner of the nightly export, asked for ticket 1?", "Lena Ott",
         "Lena Ott is not the owner of the nightly export."),
        ("Who owns the nightly export?", "Lena Ott", "Lena Ott doesn't own the nightly export."),
        ("Who owns the nightly export?", "Lena Ott", "The nightly export is no longer owned by Lena Ott."),
        ("Who has to give an approval for a deploy of the billing service?", "Lena Ott",
         "Deploys of the billing service do not need an approval of Lena Ott."),
        ("Deploy the billing service, release 1.", "Lena Ott gave her approval for the deploy of the billing service.",
         "Deploys of the billing service do not need an approval of Lena Ott."),
    ],
)  # fmt: skip
def test_what_denies_the_question_is_no_evidence(goal: str, outputs: str, text: str) -> None:
    task = context(goal=goal, inputs="", outputs=outputs)
    assert balance(task, text) == 0
    assert balance(task, text, reach=Reach(parts=False)) == PPM


@pytest.mark.parametrize(
    ("goal", "outputs", "text"),
    [
        ("Who owns the nightly export?", "Lena Ott", "Lena Ott, who is not on holiday, owns the nightly export."),
        ("Who owns the nightly export?", "Lena Ott", "The nightly export is owned by Lena Ott, not by Joris Claes."),
        ("Who owns the nightly export?", "Lena Ott", "Nobody but Lena Ott owns the nightly export."),
        ("Who has to approve a deploy?", "Lena Ott", "Never deploy without an approval of Lena Ott."),
        ("Who does not own the nightly export?", "Lena Ott", "Lena Ott does not own the nightly export."),
        ("When does the ferry leave?", "7 pm", "The ferry does not leave before 7 pm."),
        ("Who approves a deploy of billing?", "Lena Ott", "A deploy of billing fails unless Lena Ott approves it."),
    ],
)  # fmt: skip
def test_a_negation_beside_it_denies_no_answer(goal: str, outputs: str, text: str) -> None:
    assert REACH.reward_ppm(context(goal=goal, inputs="", outputs=outputs), [held("m", text)]) == PPM


def test_where_outputs_state_nothing_what_agents_said_of_the_memories_is_the_evidence() -> None:
    done, both = context(outputs="Done.", retrieved=("m1", "m2", "m3", "m4")), [held("m1"), held("m2")]
    assert REACH.reward_ppm(done, both) == PPM // 2, "nobody spoke: all that it was given shares its success"
    assert REACH.reward_ppm(done, both, {"m1": PPM}) == PPM
    assert REACH.reward_ppm(done, both, {"m3": PPM}) == 0
    assert REACH.reward_ppm(done, both, {"m1": -PPM}) == -PPM
    assert REACH.reward_ppm(done, both, {"m1": PPM, "m2": -PPM}) == 0
    assert REACH.reward_ppm(done, both[:1], {"m1": PPM, "m2": -PPM}) == PPM // 2
    assert REACH.asks(done), "what was said of a task does not change who judges"


def test_where_outputs_state_something_they_alone_judge() -> None:
    assert REACH.reward_ppm(context(), [held("m1")], {"m1": -PPM}) == PPM


def test_of_a_long_text_the_first_sentences_alone_are_read() -> None:
    rest = " ".join(f"Locker {at} was painted." for at in range(SENTENCES_MOST - 1))
    assert reward("port 8443", f"{rest} The gateway uses port 8443.") == PPM
    assert reward("port 8443", f"{rest} Locker x was painted. The gateway uses port 8443.") == 0
    assert reward("port 8443", f"{rest} Locker x was painted. The gateway uses port 8444.") == 0


def test_of_long_outputs_the_first_sentences_alone_are_asked_for() -> None:
    outputs = " ".join(f"Locker {at} of the hall was painted by the night crew." for at in range(STATED_MOST + 6))
    said, denied = REACH.stands("What was painted?", "", outputs, outputs)
    assert (said, denied) == (frozenset(range(STATED_MOST)), frozenset())


def test_names_are_exchanged_where_each_text_has_one_of_a_sort_that_the_other_has_not() -> None:
    """Sorting the names finds the same as comparing each with each."""
    dice = random.Random(7)
    for _ in range(300):
        one, other = (
            " ".join(f"The {dice.choice(THINGS)} {dice.randrange(4)} is shut." for _ in range(dice.randrange(4)))
            for _ in range(2)
        )
        a, b = named._names(one), named._names(other)
        pairs = [
            (mine, theirs)
            for mine in a.labels
            for theirs in b.labels
            if mine[0] == theirs[0] and mine[1] != theirs[1] and mine[1] not in b.stems and theirs[1] not in a.stems
        ]
        assert named._exchanged(a, b, a.labels, b.labels) == bool(pairs), (one, other)


def test_of_a_sentence_with_many_orders_the_first_count() -> None:
    many = "; ".join(f"tank {at} is filled before tank {at + 1}" for at in range(ORDERS_MOST))
    turned = "The pump stops before the valve opens."
    said = "the valve opens before the pump stops"
    assert oppose(f"{said}; {many}", marks(f"{said}; {many}"), turned, marks(turned))
    assert not oppose(f"{many}; {said}", marks(f"{many}; {said}"), turned, marks(turned))
