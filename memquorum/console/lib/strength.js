// The strength of a memory over time: the sum of its scales' decay since its last use, as memquorum/core/decay.py has it.

/**
 * @typedef {{scales_s: number[], weights: number[], delta: number, long_term: number}} Decay
 * @typedef {{at: number, long: boolean, used: boolean}} Turn a use, or a change of tier
 * @typedef {{points: [number, number][], uses: [number, string][], falls: number | null, from: number, now: number, to: number, ended: boolean}} Curve
 */

const DAY = 86_400_000, STEPS = 160;

/**
 * Returns what is left so long after the last use, in [0, 1].
 * @param {number} age in milliseconds
 * @param {boolean} long whether it is in long-term memory
 * @param {Decay} decay
 */
export function left(age, long, decay) {
  const slower = long ? decay.long_term : 1;
  return decay.scales_s.reduce((sum, scale, at) => sum + decay.weights[at] * Math.exp(-Math.max(0, age) / 1000 / (scale * slower)), 0);
}

/**
 * Returns how long after its last use a memory falls under the threshold.
 * @param {boolean} long
 * @param {Decay} decay
 */
export function span(long, decay) {
  let low = 0, high = 1000;
  while (left(high, long, decay) >= decay.delta) {
    if (high > 1e15) return Infinity;
    [low, high] = [high, high * 2];
  }
  while (high - low > 1000) {
    const middle = (low + high) / 2;
    if (left(middle, long, decay) < decay.delta) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * Returns the course of a memory's strength from its birth, and what comes next if nobody uses it; null where its account
 * does not tell when it began.
 * @param {Api.Explained["account"]} account
 * @param {Decay} decay
 * @returns {Curve | null}
 */
export function curve(account, decay) {
  const from = account.born?.occurred_at ?? account.changed, now = account.as_of;
  if (!from || from >= now) return null;
  const alive = account.tier === "short-term" || account.tier === "long-term";
  const end = alive ? now : Math.max(from, Math.min(now, account.erased?.accepted_at ?? account.changed ?? now));
  const uses = account.uses.filter((/** @type {any} */ use) => use.at > from && use.at <= end).map((/** @type {any} */ use) => [use.at, `${use.agent} ${use.how === "accessed" ? "read it" : "said it again"}`]);
  const touched = [from, ...uses.map((/** @type {[number, string]} */ [at]) => at), ...(account.last_access > from && account.last_access <= end ? [account.last_access] : [])].sort((one, other) => one - other);
  const tiers = account.votes.filter((/** @type {any} */ vote) => vote.outcome === "promoted" || vote.outcome === "demoted").map((/** @type {any} */ vote) => [vote.as_of, vote.outcome === "promoted"]).sort((/** @type {any} */ one, /** @type {any} */ other) => one[0] - other[0]);
  const long = (/** @type {number} */ at) => tiers.filter(([when]) => when <= at).at(-1)?.[1] ?? false;
  const last = touched[touched.length - 1], falls = alive ? last + span(account.tier === "long-term", decay) : null;
  const reach = Math.max(end, Math.min(falls ?? end, end + 3 * (end - from) + 7 * DAY));
  const to = reach + (reach - from) * 0.06;
  const value = (/** @type {number} */ at) => left(at - (touched.filter((one) => one <= at).at(-1) ?? from), at > now ? account.tier === "long-term" : long(at), decay);
  const stop = alive ? to : end, times = Array.from({length: STEPS + 1}, (_, step) => from + ((stop - from) * step) / STEPS);
  // Just before and at each use and each change of tier, where the course jumps; and now, where what comes begins.
  const turns = [...touched.slice(1), ...tiers.map(([when]) => when).filter((/** @type {number} */ at) => at > from)].flatMap((at) => [at - 1, at]);
  const points = [...times, ...turns, ...(alive ? [now] : [])].filter((at) => at <= stop).sort((one, other) => one - other).map((at) => /** @type {[number, number]} */ ([at, value(at)]));
  return {points, uses, falls: falls !== null && Number.isFinite(falls) ? falls : null, from, now: end, to, ended: !alive};
}
