// How votes are shown: the words of kinds and outcomes, and the quorum by count and by weight.
import {html} from "./base.js";
import {Bar} from "./parts.js";
import {count, ppm, share, spoken, weight} from "./words.js";

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

/** How far a vote reached what a decision needs, by number and by weight. */
export function Quorum({vote}) {
  if (vote.complaint) return html`<span class="note warn">the certificate proves nothing: ${vote.complaint}</span>`;
  const enough = vote.yes >= vote.quorum, heavy = vote.weight_ppm >= vote.needed_ppm;
  return html`<div class="quorum">
    <span class="quorum-name">members</span><${Bar} value=${vote.yes} whole=${vote.members} mark=${vote.quorum} tone=${enough ? "good" : ""} label=${`${vote.yes} of ${vote.members} members are for it, ${vote.quorum} are needed`} /><span>${count(vote.yes)} of ${count(vote.members)} <span class="muted">(${count(vote.quorum)})</span></span>
    <span class="quorum-name">weight</span><${Bar} value=${vote.weight_ppm} whole=${vote.total_ppm} mark=${vote.needed_ppm} tone=${heavy ? "good" : ""} label=${`Weight ${ppm(vote.weight_ppm)} of ${ppm(vote.total_ppm)}, ${ppm(vote.needed_ppm)} is needed`} /><span>${weight(vote.weight_ppm)} of ${weight(vote.total_ppm)} <span class="muted">(${weight(vote.needed_ppm)})</span></span>
  </div>`;
}

/** A member's terms, in rows of name and value. */
export function terms(opinion) {
  const profile = opinion.profile ? [["decay", ppm(opinion.profile.decay_ppm)]] : [];
  const shown = Object.entries(opinion.terms).map(([name, value]) => [spoken(name), name === "last_access" ? new Date(value).toISOString().slice(0, 19).replace("T", " ") : FLAGS.has(name) ? (value ? "yes" : "no") : ppm(value)]);
  return [["score", share(opinion.score_ppm / 1e6)], ...shown, ...profile.filter(([name]) => !(name in opinion.terms)), ["weight of the member", share(opinion.voice_ppm / 1e6)]];
}

const FLAGS = new Set(["holds", "contradicts", "corrects", "faithful", "same", "held", "made", "ground"]);
