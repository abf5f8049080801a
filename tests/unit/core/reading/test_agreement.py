"""Pairs of texts that are two memories, and the laws of gists."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memquorum.core.reading.agreement import LONGEST, ComparedText, gist, marks, personal
from tests import examples

# Two memories each, however near their vectors are.
DIFFERENT = [
    # numbers and their units
    ("The sync is at 3.", "The sync is at 4."),
    ("The sync is at 3 pm.", "The sync is at 3 am."),
    ("The sync takes 30 minutes.", "The sync takes 30 hours."),
    ("It takes two days.", "It takes three days."),
    ("The tank holds 1,000 litres.", "The tank holds 1,500 litres."),
    ("The tank holds twenty-five litres.", "The tank holds twenty-six litres."),
    ("pH was 6.5 in bed two.", "pH was 6.8 in bed two."),
    ("Raise the limit from 3 to 4.", "Raise the limit from 4 to 3."),
    ("The invoice is over $50.", "The invoice is over €50."),
    ("Memory use is at 80%.", "Memory use is at 90 percent."),
    ("The job runs twice a day.", "The job runs once a day."),
    ("She finished first.", "She finished third."),
    ("The temperature is -5 degrees.", "The temperature is 5 degrees."),
    ("Retry after half an hour.", "Retry after an hour."),
    ("It costs 2 million.", "It costs 2 thousand."),
    # dates, times, versions, identifiers, paths
    ("The release is on 2026-05-03.", "The release is on 2026-05-04."),
    ("The train leaves at 15:30.", "The train leaves at 15:45."),
    ("We run Python 3.10.", "We run Python 3.1."),
    ("Ticket ABC-123 is open.", "Ticket ABC-124 is open."),
    ("Pump P-101 leaks.", "Pump P-102 leaks."),
    ("The config is in /etc/app.conf", "The config is in /etc/db.conf"),
    ("Set retry_limit to the default.", "Set retry_delay to the default."),
    ("Call getUser with the key.", "Call getRole with the key."),
    ("Deploy v1.2.3 to staging.", "Deploy v1.2.4 to staging."),
    ("Mail it to ops@example.org", "Mail it to dev@example.org"),
    # names, wherever they stand
    ("The plan was approved by Alice.", "The plan was approved by Bob."),
    ("Alice approved the plan.", "Bob approved the plan."),
    ("Alice owes Bob a favour.", "Bob owes Alice a favour."),
    ("We meet on Monday.", "We meet on Tuesday."),
    ("we meet on monday", "we meet on tuesday"),
    ("The office moves to Berlin.", "The office moves to Munich."),
    ('The button says "save".', 'The button says "send".'),
    ("Use the `main` branch.", "Use the `next` branch."),
    ("The red valve sticks.", "The blue valve sticks."),
    ("The API is slow.", "The CLI is slow."),
    # negation
    ("The door opens at noon.", "The door does not open at noon."),
    ("The door opens at noon.", "The door doesn't open at noon."),
    ("The door opens at noon.", "The door never opens at noon."),
    ("The cache is available.", "The cache is no longer available."),
    ("The cache is available.", "The cache is unavailable."),
    ("The token is valid.", "The token is invalid."),
    ("The job ran with errors.", "The job ran without errors."),
    ("Retries are not the cause but timeouts.", "Retries are the cause, not timeouts."),
    ("The valve opens.", "The valve fails to open."),
    ("The service can connect.", "The service is unable to connect."),
    ("Das Ventil öffnet.", "Das Ventil öffnet nicht."),
    # opposites
    ("The shop is open.", "The shop is closed."),
    ("The nightly build passed.", "The nightly build failed."),
    ("Turn the pump on.", "Turn the pump off."),
    ("Check the seal before the test.", "Check the seal after the test."),
    ("The change was approved.", "The change was rejected."),
    ("Clients must retry.", "Clients may retry."),
    ("Yields increased in spring.", "Yields decreased in spring."),
    # who, and whether it is said or asked
    ("I will send the report.", "You will send the report."),
    ("The server is down.", "Is the server down?"),
    # the same words the other way round
    ("We need text to speech.", "We need speech to text."),
    ("the pump feeds the tank", "the tank feeds the pump"),
    # an ordinary word for another
    ("Alice drinks tea.", "Alice drinks coffee."),
    ("The depot is in the north.", "The depot is in the south."),
    ("The pump is noisy.", "The pump is silent."),
    ("The key is in the box.", "The key is on the box."),
    ("The flight from Rome is late.", "The flight to Rome is late."),
    ("The report is ready.", "The report is ready for print."),
    ("The server is down.", "The server was down."),
    ("Server down.", "Server was down."),
    ("The server is down.", "The server will be down."),
    ("The pump runs fast.", "The pump runs faster."),
    ("He has the key.", "She has the key."),
    ("This valve leaks.", "That valve leaks."),
    ("My desk is new.", "The desk is new."),
    ("Alice was hired by the clerk.", "Alice hired the clerk."),
    ("tea without milk", "milk without tea"),
    ("errors after a restart", "restart after errors"),
    ("Only admins may delete.", "Admins may delete."),
    ("The pump leaks. The valve does not leak.", "The pump does not leak. The valve leaks."),
    ("Set a < b.", "Set a > b."),
    ("What is the cause?", "Who is the cause?"),
    ("Wo ist das Werkzeug?", "Wer ist das Werkzeug?"),
    ("La pompe est rouge.", "La pompe est bleue."),
    # other scripts: only when equal
    ("会议在三点开始", "会议在四点开始"),
]


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_two_memories(a: str, b: str) -> None:
    assert not ComparedText(a).agrees(ComparedText(b))
    assert not ComparedText(b).agrees(ComparedText(a))


@pytest.mark.parametrize("head", ["", "The valve of the second line was replaced and tested. " * (LONGEST // 50)])
def test_of_texts_of_any_length_the_same_alone_agree(head: str) -> None:
    assert ComparedText(head + "It  holds.").agrees(ComparedText(head + "It holds"))
    assert not ComparedText(head + "It holds.").agrees(ComparedText(head + "it holds now."))
    assert not ComparedText(head + "It holds. It leaks.").agrees(ComparedText(head + "It leaks. It holds."))


@pytest.mark.parametrize(
    ("a", "b", "oppose"),
    [
        ("The sync takes two days.", "The sync takes 3 days.", True),
        ("The sync takes two days.", "Two days is what the sync takes.", False),
        ("The cache is available.", "The cache is unavailable.", True),
        ("The shop is open.", "The shop is closed.", True),
        ("The shop is open.", "The shop is in Ulm.", False),
    ],
)
def test_what_opposes_is_told_however_it_is_said(a: str, b: str, oppose: bool) -> None:
    assert marks(a).oppose(marks(b)) is oppose
    assert marks(b).oppose(marks(a)) is oppose


def test_the_gist_of_a_long_text_does_not_hold_it() -> None:
    long = "secret " * LONGEST
    assert "secret" not in gist(long)
    assert len(gist(long)) < 100


def test_who_speaks_matters_only_where_somebody_is_meant() -> None:
    assert personal("I have sent it")
    assert personal("Then you'll restart it")
    assert personal("It was our fault")
    assert not personal("The pump leaks in India")


# Words that the rules care about, so that generated texts are not merely ordinary.
MARKED = (
    'the pump valve Alice Bob Monday not never no without 3 4 3.5 1,000 two twenty-five "save" `x` P-101 v1.2 /etc/a '
    "opens open closed unavailable doesn't is? was. by I you one hundred couple of % $5 5ms fails to -"
)
WORDS = st.sampled_from(MARKED.split())
LINES = st.lists(WORDS, max_size=14).map(" ".join)
TEXTS = st.one_of(st.text(max_size=120), LINES, st.lists(LINES, max_size=4).map(". ".join))


@given(TEXTS)
@settings(max_examples=examples(300), deadline=None)
def test_a_gist_is_its_own_gist(text: str) -> None:
    assert gist(gist(text)) == gist(text)
    assert ComparedText(text).agrees(ComparedText(text))


@given(TEXTS, TEXTS)
@settings(max_examples=examples(300), deadline=None)
def test_to_oppose_is_symmetric(a: str, b: str) -> None:
    assert marks(a).oppose(marks(b)) == marks(b).oppose(marks(a))
    assert not marks(a).oppose(marks(a))


@given(st.integers(0, 10**6), st.integers(0, 10**6))
@settings(deadline=None)
def test_another_number_is_another_text_and_opposes(a: int, b: int) -> None:
    frame = "{} litres are in it"
    assert ComparedText(frame.format(a)).agrees(ComparedText(frame.format(b))) == (a == b)
    assert marks(frame.format(a)).oppose(marks(frame.format(f"{b:,}"))) == (a != b)
