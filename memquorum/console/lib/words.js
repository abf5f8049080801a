// How texts, times, numbers and names are shown.
import {html} from "./base.js";
import {zone} from "./session.js";
import {href} from "./place.js";

// The same characters as in memquorum/core/showing/escaping.py, without line breaks and tabs: a text that holds them would
// be read in another order than it is written, or hides what it says.
const HIDDEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ud800-\\udfff\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f" +
  "\\u0890\\u0891\\u08e2\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{110bd}\\u{110cd}" +
  "\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}]", "gu");
const NAMED = {
  0x202a: "LRE", 0x202b: "RLE", 0x202c: "PDF", 0x202d: "LRO", 0x202e: "RLO", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI",
  0x2069: "PDI", 0x200e: "LRM", 0x200f: "RLM", 0x061c: "ALM", 0x200b: "ZWSP", 0xfeff: "BOM", 0x00ad: "SHY", 0x001b: "ESC",
};
const CUT = 2000;

/** Splits a text into pieces: strings, and {code} for a character that would not be seen. */
export function pieces(text) {
  const found = [];
  let from = 0;
  for (const hit of text.matchAll(HIDDEN)) {
    if (hit.index > from) found.push(text.slice(from, hit.index));
    found.push({code: hit[0].codePointAt(0)});
    from = hit.index + hit[0].length;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

/** Words that an agent wrote: text nodes alone, with hidden characters as marks. `cut`: shows the beginning alone. */
export function Words({text, cut = CUT, marked = []}) {
  if (text === null || text === undefined) return null;
  const shown = text.length > cut ? text.slice(0, cut) : text;
  const body = marked.length ? spanned(shown, marked) : marks(shown);
  return html`<bdi class="words" dir="auto">${body}</bdi>${text.length > cut && html`<span class="cut" title="The text has ${count(text.length)} characters">… ${count(text.length - cut)} more</span>`}`;
}

function marks(text) {
  return pieces(text).map((one) => (typeof one === "string" ? one : html`<span class="hidden-character" title=${`The character U+${hex(one.code)}, which is not seen and may reorder the text`}>${NAMED[one.code] ?? `U+${hex(one.code)}`}</span>`));
}

/** A text with some of its characters struck, as [from, to). */
function spanned(text, spans) {
  const found = [];
  let at = 0;
  for (const [from, to] of [...spans].sort((one, other) => one[0] - other[0])) {
    if (from < at) continue;
    found.push(marks(text.slice(at, from)), html`<s>${marks(text.slice(from, to))}</s>`);
    at = to;
  }
  return [...found, marks(text.slice(at))];
}

const hex = (code) => code.toString(16).toUpperCase().padStart(4, "0");

// Numbers --------------------------------------------------------------------------------------------------------------

const WHOLE = new Intl.NumberFormat("en-GB");
/** A whole number, in groups of three. */
export const count = (value) => (value === null || value === undefined ? "–" : WHOLE.format(value));
/** "1 memory", "2 memories". */
export const many = (value, one, more = `${one}s`) => `${count(value)} ${value === 1 ? one : more}`;
/** A share in [0, 1] with three digits. */
export const share = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
/** Millionths as a share. */
export const ppm = (value) => (value === null || value === undefined ? "–" : share(value / 1e6));
/** A weight in millionths, with two digits. */
export const weight = (value) => (value / 1e6).toFixed(2);
/** A name of a code: "below_threshold" as "below threshold". */
export const spoken = (code) => (code ?? "").replaceAll("_", " ");

/** @type {[string, number][]} */
const UNITS = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1000]];
/** A span of time in one or two units. */
export function span(ms) {
  const at = UNITS.findIndex(([, size]) => Math.abs(ms) >= size);
  if (at < 0) return `${Math.round(ms)} ms`;
  const [unit, size] = UNITS[at], whole = Math.trunc(ms / size), next = UNITS[at + 1];
  const rest = next && whole < 10 ? Math.trunc((ms - whole * size) / next[1]) : 0;
  return `${whole} ${unit}${rest ? ` ${Math.abs(rest)} ${next[0]}` : ""}`;
}

// Times ----------------------------------------------------------------------------------------------------------------

const OWN = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
const FORMATS = {utc: format("UTC"), own: format(OWN)};

function format(timeZone) {
  return new Intl.DateTimeFormat("en-GB", {
    timeZone, day: "2-digit", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
  });
}

/** The name of the zone that times are shown in. */
export const zoned = () => (zone.value === "own" ? OWN : "UTC");

/** A moment in the reader's choice of zone. */
export const moment = (ms) => `${FORMATS[zone.value].format(new Date(ms)).replace(",", "")}`;

/**
 * A time. `clock`: whose it is: "shard" for the clock of a shard, which the fleet drives; "agent" for what an agent said;
 * "wall" for the clock of a process.
 */
export function Time({ms, clock = "shard"}) {
  if (ms === null || ms === undefined) return html`<span class="none">–</span>`;
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return html`<span class="none">${String(ms)}</span>`;
  const both = `${CLOCKS[clock]}. ${FORMATS.utc.format(at)} UTC; for you ${FORMATS.own.format(at)} (${OWN}); ${ms} ms`;
  return html`<time datetime=${at.toISOString()} title=${both}>${moment(ms)}</time>`;
}

const CLOCKS = {
  shard: "By the shard's clock", agent: "As the agent said it", wall: "By the clock of the service",
};

// Names ----------------------------------------------------------------------------------------------------------------

/** A link to a memory, by the beginning of its id. */
export function MemoryLink({id, full = false}) {
  if (!id) return html`<span class="none">–</span>`;
  return html`<a class="id" href=${href(`memory/${id}`)} title=${`Memory ${id}`}>${full ? id : id.slice(0, 8)}</a>`;
}

/** A link to an epoch. */
export function EpochLink({shard, epoch, children}) {
  return html`<a class="id" href=${href(`epoch/${shard}/${epoch}`)} title=${`Epoch ${epoch} of shard ${shard}`}>${children ?? epoch}</a>`;
}

/** What each tier means, for who does not know the word. */
export const TIERS = {
  "short-term": "In use. It decays unless it is used.",
  "long-term": "In use. Members promoted it.",
  sealed: "Forgotten by a vote, or summed up. It rests until its key is destroyed; a vote can bring it back.",
  superseded: "Replaced by a newer memory. A vote can bring it back.",
  gone: "Its key is destroyed. Nobody can read it.",
  draft: "A summary that waits for the members' vote.",
  erased: "Erased by an order. Its key is destroyed.",
  finished: "A finished task.",
  "never stored": "The episode became no memory.",
};

/** The tier of a memory, as a badge. */
export function Tier({tier, said = tier}) {
  return html`<span class=${`badge tier-${(tier ?? "").replace(/\W+/g, "-")}`} title=${TIERS[tier] ?? ""}>${said}</span>`;
}
