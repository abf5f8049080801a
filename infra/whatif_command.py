"""Replays the recorded intake of this installation under another policy, budget or constants: which memories would have
been kept, and which of them were read later (docs/use/whatif.md). It only reads topics and keys."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from infra import genesis, policy_command, roles
from infra.operator_command import command
from infra.settings import Mendable, Settings, SettingsError, require_place
from memquorum import terminal, wholefiles
from memquorum.commands import JSON, flag, option, when
from memquorum.core.accounts.telling import moment as date
from memquorum.core.budgets.rules import SCORES
from memquorum.core.facets import TYPES
from memquorum.core.identity.membership import Genesis
from memquorum.core.policy import PPM, Policy
from memquorum.core.showing.plurals import many
from memquorum.core.whatif import chart, report
from memquorum.core.whatif.choosing import RANDOM, READS_LEAST, Lately, Suggestion
from memquorum.core.whatif.events import Course
from memquorum.core.whatif.leads import WINDOWS_LEAST, Lead
from memquorum.core.whatif.replaying import DAY_MS, Trial
from memquorum.core.whatif.report import CannotTry, TrialReport
from memquorum.ports import Encoder, Vault
from memquorum.schema_files import load_codec
from workers.audit import audited_configurations
from workers.upkeep.replay_data import Reading, Tell, spreading

_NAMED = 3


class NothingTried(Mendable):
    """The recorded history does not allow the requested trial."""


@command(
    "policy whatif",
    option("--policy", default="worth", metavar="NAME", help="the policy to try (default: worth)"),
    option("--budget", type=int, required=True, metavar="TOKENS", help="of each namespace"),
    option(
        "--against", default="lru,worth,random", metavar="NAMES", help="compared with it (default: lru,worth,random)"
    ),
    option("--from", dest="since", type=when, metavar="WHEN", help="tries them from then on; ISO 8601 or ms"),
    option("-n", "--namespace", help="this one alone (default: all)"),
    option("--horizon", type=float, default=30.0, metavar="DAYS", help="later reads count as no regret (default: 30)"),
    flag("--suggest", "say of each namespace which policy and shares its history suggests, and with which regret"),
    policy_command.SET,
    flag("--uncapped", "without the caps of an epoch and a day"),
    option("--chart", type=Path, metavar="FILE", help="draw it, as SVG"),
    JSON,
    kafka="operator",
    failed="nothing was tried",
    failing=(NothingTried,),
    example="policy whatif --policy hybrid --budget 50000 --against lru,random",
)
def whatif(settings: Settings, parsed: Namespace) -> int:
    """Replays intake and reads under another policy and budget, and shows which reads would have missed."""
    settings.require("bootstrap")
    policies = [parsed.policy, *filter(None, parsed.against.split(",")), RANDOM]
    _refuse(policies, parsed)
    made = genesis.read(settings)
    now = audited_configurations.read(settings.bootstrap, made, load_codec())
    judged = [policy_command.changed(one.policy, None, parsed.set) for one in now]
    with _progress() as tell:
        keys, encoder = _vault(settings, made), _encoder(settings)
        reading = Reading(settings.bootstrap, load_codec(), genesis.stamps_at_hand(settings), keys, encoder, tell)
        courses = [
            one for shard in range(made.shards) for one in reading.courses(shard, judged[shard], parsed.namespace)
        ]
        found = _tried(courses, policies, parsed, judged[0], tell)
    if parsed.chart is not None:
        wholefiles.write(parsed.chart, chart.draw(found).encode())
        print(f"drawn: {parsed.chart.resolve()}", file=sys.stderr)
    if parsed.json:
        print(json.dumps(report.plain(found)))
    else:
        told = [*lines(found), *in_order(policies, judged), *(suggested(found) if parsed.suggest else ())]
        terminal.console(soft_wrap=True).print("\n".join(told), markup=False, highlight=False)
    return 0


def lines(found: TrialReport) -> Iterator[str]:
    """Yields a report in words."""
    keyless = f", {found.keyless:,} of them without a key" if found.keyless else ""
    yield (
        f"{many(found.namespaces, 'namespace')}, {found.memories:,} memories{keyless}, {date(found.since)} to "
        f"{date(found.until)}; a budget of {found.tokens:,} tokens each"
    )
    yield f"reads: {found.again:,} by queries asked again, {found.logged:,} as logged{_why_logged(found)}"
    widths = (10, -11, -15, -15, -12, -9, -8, -6, -6)
    yield _row(
        widths, "", "tokens kept", "reads hit", "tokens hit", "oracle share", "regretted", "gone", "churn", "capped"
    )
    for one in found.lines:
        counts = one.counts
        yield _row(
            widths,
            one.policy,
            f"{counts['held_tokens']:,.0f}",
            _range(one.hit()),
            _range(one.hit(tokens=True)),
            "" if one.share_ppm is None else f"{one.share_ppm / PPM:.2f}",
            *(f"{counts[name]:,.0f}" for name in ("regretted", "gone")),
            f"{counts['gone_tokens'] / max(1.0, counts['came_tokens']):.0%}",
            f"{counts['capped']:,.0f}",
        )
    yield f"oracle: the best found of what knows every read; nothing could serve more than {found.ceiling:,.0f}"
    first = found.lines[0]
    for regret in first.regrets[:_NAMED]:
        yield (
            f"  {first.policy} would have forgotten {regret.memory_id} ({regret.tokens:,} tokens) on "
            f"{date(regret.gone_at)}: {regret.why}; it was read on {date(regret.wanted_at)}"
        )
    yield f"hash {found.hash.hex()}"


def in_order(policies: Iterable[str], judged: Iterable[Policy]) -> Iterator[str]:
    """Yields a limitation of the replay, in words: it lacks the secret under which near-ties are drawn."""
    if SCORES.intersection(policies) and any(one.budget.epsilon_ppm for one in judged):
        yield "near-ties stand in their order here; an epoch draws among them by lot (budget.epsilon_ppm)"


def suggested(found: TrialReport) -> Iterator[str]:
    """Yields the suggestion for each namespace, in words."""
    for one in found.suggestions:
        yield f"{one.namespace}: {_because(one)}"
        served = ", ".join(f"{name} {hits:,}" for name, hits in one.hits.items())
        yield f"  of the {one.reads:,} reads that are known: {served}, chance {one.chance:,.1f}"
        beyond = f"{abs(one.regret):,.1f} {'fewer' if one.regret >= 0 else 'more'}"
        yield (
            f"  followed window by window: {one.followed:,.0f}, {beyond} than {one.best}, the best of all the time "
            f"(at most {one.bound:,.0f} fewer)"
        )
        if one.lately is not None:
            yield f"  {_lately(one.lately, one.best)}"
        if one.shares_ppm:
            told = ", ".join(f"{name} {ppm / PPM:.0%}" for name, ppm in zip(TYPES, one.shares_ppm, strict=True))
            yield (
                f"  {one.policy or one.standing} with shares_ppm {list(one.shares_ppm)} ({told}), found on the first "
                f"half of the reads: {one.shared:,} of the {one.later:,} of the second half, without them "
                f"{one.unshared:,}"
            )
    silent = found.namespaces - len(found.suggestions)
    if silent:
        yield f"{many(silent, 'namespace')} had fewer than {READS_LEAST} reads: nothing is suggested"
    sure = [one for one in found.suggestions if one.policy is not None]
    if sure:
        wanted = " ".join(f"{one.namespace}={found.tokens}/{one.policy}" for one in sure)
        yield (
            "this sets all of budget.tokens, so add what is to stay; to put it to the members' vote: "
            f"memquorum admin policy set --set budget.tokens='\"{wanted}\"'"
        )


def _because(one: Suggestion) -> str:
    """The suggested policy, or the lack of one, with the differences behind it."""
    over = [f"{_ahead(one.over_chance)} than chance"]
    if one.over_standing is not None:
        over.append(f"{_ahead(one.over_standing)} than {one.standing}, which it would have anyway")
    served = f"served most reads, {' and '.join(over)}"
    if not one.over_chance.told:
        windows = f"{many(one.over_chance.windows, 'window')} of the history, and {WINDOWS_LEAST} are the least"
        return f"no policy is suggested, as the reads lie in {windows} that tell anything: {one.best} {served}"
    if one.policy is None:
        return f"no policy is suggested, as the reads do not suffice to tell: {one.best} {served}"
    return f"{one.policy} is suggested{', as it would have anyway' if one.policy == one.standing else ''}: it {served}"


def _ahead(of: Lead) -> str:
    bounds = f" ({of.low:,.1f} to {of.high:,.1f})" if of.told else ""
    return f"{of.more:,.1f}{bounds} more"


def _lately(of: Lately, best: str) -> str:
    """The policy that serves better at the end of the history, in words."""
    like = f"{'more' if of.more_came else 'less'} came and {'more' if of.more_read else 'less'} was read than mostly"
    return (
        f"in windows like the last one ({like}) {of.policy} served more: {of.hits:,} of {of.reads:,}, "
        f"{_ahead(of.lead)} than {best}; a budget has one policy for all of them"
    )


def _row(widths: Sequence[int], *cells: str) -> str:
    """Joins cells, each padded to its width; a negative width aligns right."""
    placed = (
        f"{cell:<{width}}" if width > 0 else f"{cell:>{-width}}" for width, cell in zip(widths, cells, strict=True)
    )
    return " ".join(placed).rstrip()


def _why_logged(found: TrialReport) -> str:
    if found.again or not found.logged:
        return ""
    return "; what had been forgotten was never read, so they favour what is like the policy that was in force"


def _range(bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return "no reads"
    low, high = bounds
    return f"{low:.1%}" if high - low < 0.0005 else f"{low:.1%} to {high:.1%}"


def _refuse(policies: list[str], parsed: Namespace) -> None:
    """Raises SettingsError for arguments that are invalid without reading anything."""
    try:
        report.settings(policies, parsed.budget)
    except CannotTry as error:
        raise SettingsError(str(error)) from None
    if parsed.chart is not None:
        require_place("--chart", parsed.chart)
    if parsed.horizon <= 0:
        raise SettingsError(f"--horizon {parsed.horizon:g}: must be more than 0 days")
    if parsed.since is not None and parsed.since > time.time() * 1000:
        raise SettingsError(f"--from {date(parsed.since)} lies in the future")


def _tried(courses: list[Course], policies: list[str], parsed: Namespace, judged: Policy, tell: Tell) -> TrialReport:
    """Replays the courses under each policy. Raises NothingTried."""
    if not courses and parsed.namespace is not None:
        raise NothingTried(f"--namespace {parsed.namespace}: there is no such namespace in the topics")
    trial = Trial(
        judged.budget,
        parsed.since or 0,
        horizon_ms=round(parsed.horizon * DAY_MS),
        caps=None if parsed.uncapped else judged.caps,
        proposals_most=None if parsed.uncapped else judged.epoch.proposals_max,
    )
    try:
        with spreading(courses) as spread:
            return report.compare(
                courses,
                policies,
                parsed.budget,
                trial,
                lambda done, total: tell("namespaces replayed", done, total),
                suggesting=parsed.suggest,
                spread=spread,
            )
    except CannotTry as error:
        raise NothingTried(str(error)) from None


def _vault(settings: Settings, made: Genesis) -> Vault | None:
    """Returns the vault if this machine holds the master key; without it no query is repeated."""
    if not (settings.vault_dsn and settings.master_key_file.exists()):
        return None
    told = roles.journals(settings, made, genesis.stamps_at_hand(settings))
    return roles.vault(settings, journals=told)


def _encoder(settings: Settings) -> Encoder | None:
    """The installation's encoder, for queries that were logged without a vector; None if it cannot be loaded."""
    try:
        return roles.encoder(settings)
    except SettingsError:
        return None


@contextmanager
def _progress() -> Iterator[Tell]:
    with terminal.console(stderr=True).status("reading") as line:
        yield lambda what, done, total: line.update(f"{what}: {done:,} of {total:,}")
