"""The sensitivity of forgetting to its constants: one is moved at a time, and all others stay as they are shipped.

`votes`: of AMI's acts, one vote on each when it is due: a *false removal* is an act that people kept and the vote
forgets. `store`: the footprint's set-up, smaller. `salience`: how far a score moves where one of its four weights does.
These figures choose no value. A small part of the material is enough for them: one meeting in `EVERY`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from msgspec.structs import replace

from bench.forgetting import footprint, measures
from bench.forgetting.fleet import Numbers, genesis, turning
from bench.forgetting.meetings import Meeting
from bench.forgetting.said import BY_THE_PAPER, UNCAPPED, Said
from bench.forgetting.vectors import Vectors
from memquorum.core import decay
from memquorum.core.policy import PPM, Policy, SaliencePolicy
from memquorum.core.salience import Signals, salience_ppm
from memquorum.core.vote.kinds import FORGET

EVERY, EPOCHS, SEEDS, PACE_S = 5, 200, 2, 1
VALUES: Mapping[str, Sequence[float]] = {
    "δ": (0.1, 0.2, 0.3, 0.4, 0.5),
    "θ": (0.2, 0.3, 0.4, 0.5, 0.6),
    "ω of decay": (0.0, 0.2, 0.4, 0.6, 0.8),
    "α": (0.6, 2 / 3, 0.75, 0.9),
}
"""Constant → its values, the shipped one among them."""
WEIGHTS = ("novelty", "reward", "confidence", "worth")
MOVED = 0.1
"""As far as SPEC B moves a weight of salience (§4.2), which wants scores to move by less than `SHIFT` then."""
SHIFT = 0.08


def moved(policy: Policy, constant: str, value: float) -> Policy:
    """Returns the policy with one constant changed; the weight of relevance is what that of decay leaves."""
    ppm = round(value * PPM)
    match constant:
        case "δ":
            return replace(policy, decay=replace(policy.decay, delta=value))
        case "θ":
            return replace(policy, forget=replace(policy.forget, theta_ppm=ppm))
        case "ω of decay":
            weights = {"omega_decay_ppm": ppm, "omega_relevance_ppm": PPM - ppm}
            return replace(policy, forget=replace(policy.forget, **weights))
        case _:
            alpha = Fraction(value).limit_denominator(100)
            return replace(policy, forget=replace(policy.forget, alpha=alpha))


def shipped(constant: str) -> float:
    """Returns the value that a policy has by default."""
    policy = Policy()
    of = {"δ": policy.decay.delta, "θ": policy.forget.theta_ppm / PPM, "α": float(policy.forget.alpha)}
    return of.get(constant, policy.forget.omega_decay_ppm / PPM)


def measure(meetings: Sequence[Meeting], vectors: Vectors) -> dict[str, Any]:
    """All of it, on some of the meetings."""
    some = meetings[::EVERY]
    vectors.of([act.text for meeting in some for act in meeting.acts])  # all at once
    talks = [Said(one, vectors.of([act.text for act in one.acts]), BY_THE_PAPER) for one in some]
    scripts = [footprint.Script.of(seed, EPOCHS) for seed in range(SEEDS)]
    texts = [footprint.texts(some, vectors, at, footprint.FIRST + sum(one.new)) for at, one in enumerate(scripts)]
    rows = [
        {"constant": constant, "value": round(value, 4), **_votes(talks, moved(BY_THE_PAPER, constant, value)),
         **_store(scripts, texts, moved(UNCAPPED, constant, value))}
        for constant, values in VALUES.items()
        for value in values
    ]  # fmt: skip
    return {
        "meetings": len(some), "acts": sum(len(one.acts) for one in some), "epochs": EPOCHS, "seeds": SEEDS,
        "salience": list(salience(talks)), "rows": rows,
    }  # fmt: skip


def _votes(talks: Sequence[Said], policy: Policy) -> dict[str, float]:
    """One vote on each act when it is due by the policy, in the context of when it is due by default."""
    kept = np.concatenate([kept_by(said, policy) for said in talks])
    wanted = np.concatenate([said.meeting.wanted for said in talks])
    names = ("kept", "false removals", "balanced accuracy")
    told = (kept.mean(), 1 - kept[wanted].mean(), measures.balanced(kept, wanted))
    return dict(zip(names, measures.rounded(map(float, told)), strict=True))


def kept_by(said: Said, policy: Policy) -> measures.Flags:
    """Returns the acts that stay, each at the moment when it is due by the policy."""
    first, second = said.opinions.halves
    read, age = np.zeros(first.shape[1], np.int64), decay.span_ms(policy)
    scores = [FORGET.score(FORGET.fade(read, *row, age, policy), policy) for row in zip(first, second, strict=True)]
    turns: Numbers = turning(genesis(said.meeting.speakers, policy), np.stack(scores))
    return turns >= policy.forget.theta_ppm


def _store(scripts: Sequence[footprint.Script], texts: Sequence[footprint.Texts], policy: Policy) -> dict[str, float]:
    """The footprint's votes on the paper's set-up, at one pace."""
    runs = [footprint.run(one, said, "as it is", PACE_S, policy) for one, said in zip(scripts, texts, strict=True)]
    made = [int(one.made[-1]) for one in scripts]
    asked = [sum(map(len, one.asked)) for one in scripts]
    return {
        "smaller": round(float(np.mean([1 - run.alive[-1] / of for run, of in zip(runs, made, strict=True)])), 4),
        "reads found": round(float(np.mean([1 - run.vain.sum() / of for run, of in zip(runs, asked, strict=True)])), 4),
    }


def salience(talks: Sequence[Said]) -> Iterator[dict[str, Any]]:
    """Yields, for each weight and direction, how far scores move. Novelty and worth are those of the acts; they have
    no reward and no confidence, so these are drawn evenly, by a seed."""
    random = np.random.default_rng(0)
    signals = [
        Signals(one.signals.novelty_ppm, int(reward), int(sure), rank_ppm=int(rank))
        for said in talks
        for one, rank in zip(said.judged, said.opinions.ranks, strict=True)
        for reward, sure in [random.integers(0, PPM + 1, 2)]
        if one.signals.novelty_ppm is not None
    ]
    policy = SaliencePolicy()
    before = np.array([salience_ppm(policy, one) for one in signals])
    for weight in WEIGHTS:
        for by in (-MOVED, MOVED):
            other = replace(policy, **{weight: max(0.0, getattr(policy, weight) + by)})
            after = np.array([salience_ppm(other, one) for one in signals])
            least = policy.encode_threshold * PPM
            yield {
                "weight": weight,
                "by": by,
                "mean shift": round(float(np.abs(after - before).mean()) / PPM, 4),
                "largest": round(float(np.abs(after - before).max()) / PPM, 4),
                "judged otherwise": round(float(((after >= least) != (before >= least)).mean()), 4),
            }


def lines(part: Mapping[str, Any]) -> list[str]:
    """The section of the page."""
    found = [
        "## With other constants",
        "",
        "One constant is moved at a time; the bold value is the shipped one. Left: one vote on each of "
        f"{part['acts']:,} acts of {part['meetings']} meetings when it is due; a false removal is an act that people "
        f"kept. Right: the footprint after {part['epochs']} epochs of {part['seeds']} seeds at {PACE_S} s an "
        "interaction, caps off. This is a smaller run than the tables above.",
        "",
        "| | value | kept | false removals | balanced accuracy | footprint | reads that found it |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in part["rows"]:
        value = f"{row['value']:.3g}"
        value = f"**{value}**" if abs(row["value"] - shipped(row["constant"])) < 1e-3 else value
        found.append(
            f"| {row['constant']} | {value} | {row['kept']:.1%} | {row['false removals']:.1%} | "
            f"{row['balanced accuracy']:.3f} | −{row['smaller']:.0%} | {row['reads found']:.1%} |"
        )
    found += [
        "",
        f"SPEC B wants the score of salience to move by less than {SHIFT} on the mean where a weight moves by {MOVED}. "
        "Rewards and confidences are drawn evenly here, since the acts have none.",
        "",
        "| weight of | moved by | mean shift | largest | stored or not otherwise |",
        "|---|---:|---:|---:|---:|",
    ]
    return found + [
        f"| {row['weight']} | {row['by']:+.1f} | {row['mean shift']:.3f} | {row['largest']:.3f} | "
        f"{row['judged otherwise']:.1%} |"
        for row in part["salience"]
    ]
