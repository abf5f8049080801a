"""The demo's session, by the policy as it is shipped: a summary is made, little is lost by it, and something stays."""

from infra.demo.demo_command import SCENARIO
from infra.demo.inputs import Tally, read
from infra.demo.session_demo import MINUTE_MS, NOTES
from memquorum.core import worth
from memquorum.core.policy import Policy
from memquorum.core.reading.content import content
from memquorum.core.records import EpisodeRecorded, SessionClosed
from memquorum.ports import SessionMemory
from workers.consolidator import making
from workers.consolidator.extractive import Extractive

POLICY = Policy().consolidate


def test_of_its_notes_some_are_said_some_are_lost_and_one_stays():
    counts, ranks = worth.Counts(), worth.Ranks()

    def heard(text):
        said = content(text)
        told = worth.worth_ppm(said, counts.tell(said))
        rank_ppm = ranks.rank_ppm(told)
        ranks.add(told)
        counts.take(said.stems)
        return rank_ppm

    log = {one.event_id: one.content for one in read(SCENARIO, {}, "x", Tally()) if isinstance(one, EpisodeRecorded)}
    for text in filter(None, log.values()):
        heard(text)
    memories = [
        SessionMemory(str(at), note, at * MINUTE_MS, "juno", "juno", b"c", rank_ppm=heard(note))
        for at, note in enumerate(NOTES)
    ]
    closed = SessionClosed("e", 0, "glasshouse", "juno", "s", len(NOTES) * MINUTE_MS, "ended", 1)
    (part,) = making.divided(closed, memories, POLICY).parts
    text, quotes = Extractive().summarise(part.sources, POLICY.share_ppm)
    said = {quote.memory_id for quote in quotes}
    stays = [one for one in memories if one not in part.memories]
    assert len(said) >= 3 and "Decisions:" in text and "Follow-ups:" in text
    assert [one.text for one in stays] == [note for note in NOTES if "480 euros" in note]
    assert min(one.rank_ppm for one in stays) >= POLICY.lost_rank_ppm
    lost = [one for one in part.memories if one.memory_id not in said]
    assert len(lost) >= 5 and max(one.rank_ppm for one in lost) < POLICY.lost_rank_ppm
