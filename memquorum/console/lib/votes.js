// How votes are shown: the words of kinds and outcomes, and the quorum by count and by weight.
import {html} from "./base.js";
import {Bar} from "./parts.js";
import {href} from "./place.js";
import {count, many, ppm, share, spoken, Time, weight} from "./words.js";

/** The kinds of votes on memories, each with what is asked. */
export const KINDS = {
  forget: "to forget it", evict: "to forget it, for want of room or for its age", promote: "to promote it to long-term memory",
  demote: "to demote it to short-term memory", supersede: "to let a newer memory take its place",
  overrule: "to let a newer memory take the place of a promoted one", consolidate: "to let a summary take the place of its sources",
  merge: "to let one summary stand for others", admit: "to admit it to experience", unite: "to let one stand for others in experience",
  generalise: "to take its general form into experience", restore: "to restore it", rollback: "to roll its weight back",
};
export const OUTCOMES = [
  "forgotten", "promoted", "demoted", "superseded", "consolidated", "merged", "admitted", "united", "generalised", "restored",
  "rolled back", "kept", "voided",
];
/** The outcomes by which something changed. */
export const CHANGES = OUTCOMES.filter((one) => one !== "kept" && one !== "voided");
/** Why an epoch was opened, by its trigger. */
export const TRIGGERS = {
  interactions: "enough interactions", interval: "the interval was over", pressure: "memory pressure", triage: "something had expired",
  budget: "a namespace was over its budget", contradiction: "a memory said otherwise than another", anew: "a summary was made anew",
};

export const triggered = (trigger) => TRIGGERS[trigger] ?? (trigger.includes("/") ? `request ${trigger}` : spoken(trigger));

/** The outcome of a vote, as a badge. */
export function Outcome({outcome}) {
  const tone = outcome === "kept" || outcome === "voided" ? "" : "changed";
  return html`<span class=${`badge ${tone}`}>${outcome}</span>`;
}

/**
 * What a member's score says in each kind of vote, and from where on it is for it: the number of the policy that says so,
 * or one that is fixed.
 * @type {Record<string, {says: string, by: "below" | "from" | "above", at: [string, string] | number}>}
 */
const SCORES = {
  forget: {says: "what it is still worth", by: "below", at: ["forget", "theta_ppm"]},
  demote: {says: "what it is still worth", by: "below", at: ["forget", "theta_ppm"]},
  restore: {says: "what it is still worth", by: "from", at: ["forget", "theta_ppm"]},
  evict: {says: "how much is worth less, 1 if it need not go", by: "below", at: 1_000_000},
  promote: {says: "how well it is borne out", by: "from", at: ["promote", "yes_ppm"]},
  supersede: {says: "how much speaks for the newer one", by: "above", at: 500_000},
  overrule: {says: "how much speaks for the newer one", by: "above", at: 500_000},
  consolidate: {says: "how much of its sources the summary keeps", by: "from", at: ["consolidate", "covered_ppm"]},
  merge: {says: "how alike they are", by: "from", at: ["consolidate", "merge_alike_ppm"]},
  admit: {says: "how much it helped in tasks", by: "from", at: ["experience", "eta_ppm"]},
  unite: {says: "how alike they are", by: "from", at: ["experience", "merge_ppm"]},
  generalise: {says: "whether its rules make the same", by: "from", at: 1_000_000},
  rollback: {says: "whether it may be done", by: "from", at: 1_000_000},
};

/** From which score on a member votes yes, by the kinds of some votes and a policy. @param {string[]} kinds @param {Api.PolicyInForce["sections"]} policy */
export function thresholds(kinds, policy) {
  const told = [...new Set(kinds)].filter((kind) => kind in SCORES).map((kind) => {
    const {says, by, at} = SCORES[kind];
    return `${kind}: ${says}; yes ${by} ${weight(Array.isArray(at) ? policy[at[0]][at[1]] : at)}`;
  });
  return told;
}

/** The kinds in which a member counts with its weight times its score. */
const WEIGHED = new Set(["supersede", "overrule"]);

/** Summaries that wait for the members' vote, and until when. @param {{state: Api.NamespaceState}} props */
export function Waits({state}) {
  const {draft} = state.tiers;
  return draft ? html`<p class="note warn block"><a href=${href("journal", {effect: "drafted"})}>${many(draft, "summary", "summaries")} ${draft === 1 ? "waits for its vote" : "wait for their vote"}</a>, ${state.next_epoch_at > state.as_of ? html`by <${Time} ms=${state.next_epoch_at} />` : "at the next tick"}</p>` : null;
}

/** How far a vote reached what a decision needs, by number and by weight. */
export function Quorum({vote, kind}) {
  if (vote.complaint) return html`<span class="note warn">the certificate proves nothing: ${vote.complaint}</span>`;
  const enough = vote.yes >= vote.quorum, heavy = vote.weight_ppm >= vote.needed_ppm, weighed = WEIGHED.has(kind) ? "weight × score" : "weight";
  return html`<div class="quorum">
    <span class="quorum-name">members</span><${Bar} value=${vote.yes} whole=${vote.members} mark=${vote.quorum} tone=${enough ? "good" : ""} label=${`${vote.yes} of ${vote.members} members are for it, ${vote.quorum} are needed`} /><span>${count(vote.yes)} of ${count(vote.members)} <span class="muted">(${count(vote.quorum)} needed)</span></span>
    <span class="quorum-name" title=${WEIGHED.has(kind) ? "Each member for it counts with its weight times its score" : "Each member for it counts with its weight"}>${weighed}</span><${Bar} value=${vote.weight_ppm} whole=${vote.total_ppm} mark=${vote.needed_ppm} tone=${heavy ? "good" : ""} label=${`${WEIGHED.has(kind) ? "Weight times score" : "Weight"} ${ppm(vote.weight_ppm)} of ${ppm(vote.total_ppm)}, ${ppm(vote.needed_ppm)} is needed`} /><span>${weight(vote.weight_ppm)} of ${weight(vote.total_ppm)} <span class="muted">(${weight(vote.needed_ppm)} needed)</span></span>
  </div>`;
}

/** A member's terms, in rows of name and value. */
export function terms(opinion) {
  const profile = opinion.profile ? [["decay", ppm(opinion.profile.decay_ppm)]] : [];
  const shown = Object.entries(opinion.terms).map(([name, value]) => [spoken(name), name === "last_access" ? new Date(value).toISOString().slice(0, 19).replace("T", " ") : FLAGS.has(name) ? (value ? "yes" : "no") : ppm(value)]);
  return [["score", share(opinion.score_ppm / 1e6)], ...shown, ...profile.filter(([name]) => !(name in opinion.terms)), ["weight of the member", share(opinion.voice_ppm / 1e6)]];
}

const FLAGS = new Set(["holds", "contradicts", "corrects", "faithful", "same", "held", "made", "ground"]);
