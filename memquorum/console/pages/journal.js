// Journal: what happened in a namespace, in sentences, page by page.
import {html} from "../lib/base.js";
import {post} from "../lib/api.js";
import {day, href, listed, namespace, place} from "../lib/place.js";
import {Answer, Choice, Field, Filters, Head, Nothing, Pages, Table, useAnswer} from "../lib/parts.js";
import {EpochLink, many, MemoryLink, spoken, Time, Words} from "../lib/words.js";

const EFFECTS = [
  ["stored", "recorded"], ["reinforced", "said again"], ["dropped", "not kept"], ["accessed", "used"], ["decided", "decided by a vote"],
  ["drafted", "a summary waits"], ["cleared", "a slot cleared"], ["erased", "erased"], ["withheld", "an erasure withheld"],
  ["protected", "pins, holds, goals"], ["lapsed", "a goal lapsed"], ["requested", "requests to vote on"], ["declined", "requests with nothing to vote on"],
  ["finished", "tasks"], ["assessed", "feedback"], ["tried", "trials"], ["rehearsed", "checks of old memories"], ["reencoded", "encoded anew"],
  ["patched", "roll-ups"], ["compared", "compared by a model"], ["disclosed", "sent to a model"],
  ["profiled", "profiles of subjects"], ["reclassified", "other limits of use"],
];

export default function Journal() {
  const {query} = place.value, ns = namespace.value;
  const body = {namespace: ns, effects: listed(query.effect), memory_id: query.memory, since: day(query.since), until: day(query.until), cursor: query.cursor, limit: 50};
  const found = useAnswer((signal) => post("journal/list", body, signal), [JSON.stringify(body)]);
  return html`<${Head} title="Journal" about="What happened in this namespace, the latest first."><a href=${href("orders", {tab: "evidence"})}>Check the chain</a><a href=${href("now")}>Live</a><//>
    <${Filters} fields=${["effect", "memory", "since", "until"]}><${Choice} name="effect" label="Only" any="everything" values=${EFFECTS} />
      <${Field} name="memory" label="Memory" placeholder="its id" /><${Field} name="since" label="Since" type="date" about="By the shard's clock, UTC" />
      <${Field} name="until" label="Before" type="date" about="By the shard's clock, UTC" /><button>Apply</button> <a href=${href("journal")}>Clear</a><//>
    <${Answer} of=${found} show=${(/** @type {Api.Journal} */ page) => html`${page.entries.length ? html`<${Entries} entries=${page.entries} />` : html`<${Nothing}>Nothing like that happened in <b>${ns}</b>.<//>`}
      <${Pages} next=${page.next} shown=${many(page.entries.length, "entry", "entries")} />`} />`;
}

/** Entries as a table. */
export const Entries = ({entries}) => html`<${Table} caption="Journal" rows=${entries} keyed=${(one) => one.cursor} columns=${COLUMNS} />`;

/** Effects whose event is an order. */
const ORDERED = new Set(["erased", "withheld"]);
const TONES = {decided: "changed", erased: "bad", withheld: "warn", dropped: "", stored: "good", protected: "warn"};
/** @type {import("../lib/parts.js").Column<Api.JournalLine>[]} */
const COLUMNS = [
  {name: "When", about: "By the shard's clock", of: (one) => html`<${Time} ms=${one.at} />`},
  {name: "Effect", of: (one) => html`<a class=${`badge ${TONES[one.effect] ?? ""}`} href=${href("journal", {effect: one.effect})}>${spoken(one.effect)}</a>`},
  {name: "What", kind: "words", of: (one) => html`<${Words} text=${one.words} />`},
  {name: "Where", of: (one) => html`${one.epoch !== null && html`<${EpochLink} shard=${one.shard} epoch=${one.epoch}>epoch ${one.epoch}<//>`}${ORDERED.has(one.effect) && html`<a class="id" href=${href(`orders/${one.event_id}`)}>order ${one.event_id.slice(0, 8)}</a> `}${one.memory_ids.slice(0, 3).map((id) => html`<${MemoryLink} id=${id} /> `)}${one.memory_ids.length > 3 && html`<span class="muted">and more</span>`}`},
];
