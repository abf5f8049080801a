"""Which pairs of texts contradict each other, and which both stand."""

from __future__ import annotations

import pytest

from memquorum.core.text.conflict import between, read

CONTRADICT = [
    ("The door code is 4821.", "The door code was changed to 9930."),
    ("The door code is 4821.", "The door code is now 9930."),
    ("The sync is at 3 pm.", "The sync was moved to 4 pm."),
    ("The sync was moved to 4 pm.", "The sync is cancelled."),
    ("The sync is at 3 pm", "The sync has been cancelled."),
    ("Alice prefers tea.", "Alice now prefers coffee."),
    ("The weekly review is on Monday.", "The weekly review moved to Thursday."),
    ("The staging database runs on port 5432.", "Correction: the staging database runs on port 5433."),
    ("The budget for the offsite is $5,000.", "The budget for the offsite was raised to $6,500."),
    ("Use port 8080 for the proxy.", "Use port 8443 for the proxy instead of 8080."),
    ("The project lead is Alice.", "The project lead is now Bob."),
    ("The API supports batching.", "The API no longer supports batching."),
    ("The release is planned for May 12.", "Actually, the release is planned for June 2."),
    ("The valve is open.", "The valve is now closed."),
    ("The deadline is Friday.", "The deadline is Monday, not Friday."),
    ("The office is in Berlin.", "The office moved to Hamburg."),
    ("The retention period is 30 days.", "The retention period is 90 days."),
    ("Backups run at 2 am.", "Backups now run at 4 am."),
    ("The venue is the old library.", "The venue was changed to the town hall."),
    ("I prefer window seats.", "I now prefer aisle seats."),
    ("We moved the launch to Tuesday.", "We moved the launch to Wednesday."),
    ("The door opens at 8:00.", "The door opens at 9:00."),
    ("The wifi password is sunflower.", "The wifi password was changed to marigold."),
    ("The standup starts at 9:30.", "The standup starts at 10:00 instead of 9:30."),
    ("The contact for billing is Carol.", "The contact for billing is Dave now."),
    ("The server is in rack 12.", "The server was moved to rack 14."),
    ("Max is allergic to nuts.", "Max is not allergic to nuts."),
    ("The max batch size is 64.", "Update: the max batch size is 128."),
    ("The rate limit is 100 requests per minute.", "The rate limit was raised to 250 requests per minute."),
]

BOTH_STAND = [
    ("Valve 3 opens at 4 bar.", "Valve 5 opens at 6 bar."),
    ("Alice approved.", "Bob approved."),
    ("Alice approved the budget.", "Bob approved the budget."),
    ("The front door code is 4821.", "The back door code is 9930."),
    ("The team deployed 3 services.", "The team deployed 5 services."),
    ("A man is playing a guitar.", "A man is playing a flute."),
    ("Alice likes tea.", "Alice likes coffee."),
    ("The sync is at 3 pm.", "The retro is at 4 pm."),
    ("The API limit is 100 requests per minute.", "The API limit is 5000 requests per day."),
    ("The meeting in Berlin is on Monday.", "The meeting in Paris is on Tuesday."),
    ("The build took 12 minutes.", "The build took 15 minutes."),
    ("Server A runs at 80 %.", "Server B runs at 40 %."),
    ("The pump is red.", "The pump is heavy."),
    ("Is the sync at 3 pm?", "The sync is at 4 pm."),
    ("The sync might be at 3 pm.", "The sync is at 4 pm."),
    ("I live in Paris.", "Bob lives in Berlin."),
    ("The dog is running in the park.", "The dog is sleeping on the couch."),
    ("Dollar falls 3%", "Dollar falls 5%"),
    ("The backup finished at 2 am.", "The backup finished at 3 am."),
    ("It is 3 pm.", "It is 4 pm."),
    ("The sync is on Monday.", "The sync is at 3 pm."),
    ("The door code is 4821.", "The garage door code is 9930."),
    ("Alice met Bob on Monday.", "Alice met Bob on Friday."),
    ("Order 17 costs $40.", "Order 18 costs $45."),
    ("The budget for marketing is $500.", "The budget for sales is $300."),
    ("Alice works on the parser.", "Alice works on the lexer."),
    ("Sensor 4 reads 21 degrees.", "Sensor 4 reads 23 degrees."),
]


@pytest.mark.parametrize(("older", "newer"), CONTRADICT)
def test_another_value_of_the_same_slot_contradicts(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is not None


@pytest.mark.parametrize(("older", "newer"), BOTH_STAND)
def test_what_speaks_of_something_else_or_of_what_happened_stands_beside_it(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is None


@pytest.mark.parametrize(("text", "_"), CONTRADICT)
def test_no_text_contradicts_itself(text: str, _: str) -> None:
    assert between(read(text), read(text), same_agent=True) is None


def test_i_of_two_agents_are_two() -> None:
    older, newer = read("I prefer tea."), read("I now prefer coffee.")
    assert between(older, newer, same_agent=True) is not None
    assert between(older, newer, same_agent=False) is None


def test_a_correction_says_that_it_is_one() -> None:
    plain = between(read("The door code is 4821."), read("The door code is 9930."), same_agent=True)
    said = between(read("The door code is 4821."), read("Correction: the door code is 9930."), same_agent=True)
    assert plain is not None and not plain.cue
    assert said is not None and said.cue


def test_what_is_said_to_hold_no_more_has_to_be_what_was_said() -> None:
    older, other = read("The proxy listens on port 8080."), read("The proxy listens on port 9090.")
    newer = read("The proxy now listens on port 8443 instead of 8080.")
    assert between(older, newer, same_agent=True) is not None
    assert between(other, newer, same_agent=True) is None
