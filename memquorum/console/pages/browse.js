// Browse: the memories of a namespace that pass the filters, page by page.
import {html} from "../lib/base.js";
import {post} from "../lib/api.js";
import {day, href, listed, namespace, place} from "../lib/place.js";
import {Answer, Choice, Field, Filters, Head, Nothing, Pages, Table, useAnswer} from "../lib/parts.js";
import {count, many, MemoryLink, share, Tier, Time, Words} from "../lib/words.js";

const FIELDS = ["agent", "subject", "session", "path", "key", "type", "tier", "since", "until", "redact"];
const TYPES = ["episodic", "semantic", "social", "task"];
const TIERS = [["short-term,long-term", "in use"], "short-term", "long-term", "sealed", "superseded", ["short-term,long-term,sealed,superseded", "all that are kept"]];
const PAGE = 50;

/** What the address asks for, as the body of a request. @param {Record<string, string>} query */
export function filters(query) {
  const one = (value) => (value ? [value] : undefined);
  return {
    agents: one(query.agent), subjects: one(query.subject), sessions: one(query.session), path: query.path,
    keys: one(query.key), types: listed(query.type), tiers: listed(query.tier), since: day(query.since),
    until: day(query.until), redact: query.redact ? true : undefined,
  };
}

export default function Browse() {
  const {query} = place.value, ns = namespace.value;
  const found = useAnswer((signal) => post("memories/list", {namespace: ns, ...filters(query), limit: PAGE, cursor: query.cursor}, signal), [JSON.stringify(query), ns]);
  return html`<${Head} title="Browse" about="The memories of a namespace, in the order in which they were said last. To look at them is no use of them.">
      <a href=${href("ask", {...query, cursor: "", back: ""})}>Ask with these filters</a>
    <//>
    <${Filters} fields=${FIELDS}><${Given} /><button>Apply</button> <a href=${href("memories")}>Clear</a><//>
    <${Answer} of=${found} show=${(/** @type {Api.Page} */ page) => html`<${List} memories=${page.memories} /><${Pages} next=${page.next} shown=${many(page.memories.length, "memory", "memories")} />`} />`;
}

/** The fields of the filters, which Browse and Ask share. */
export function Given({tiers = true}) {
  return html`<${Field} name="agent" label="Agent" /><${Field} name="subject" label="Subject" /><${Field} name="session" label="Session" />
    <${Field} name="path" label="Path" placeholder="users/ada" about="Filed there or below" /><${Field} name="key" label="Key" />
    <${Choice} name="type" label="Type" values=${TYPES} />
    ${tiers && html`<${Choice} name="tier" label="Tier" any="in use" values=${TIERS} />`}
    <${Field} name="since" label="Said since" type="date" about="By UTC" /><${Field} name="until" label="Said before" type="date" about="By UTC" />
    <${Choice} name="redact" label="Personal data" any="shown" values=${[["1", "masked"]]} about="Masks personal data and secrets by kind" />`;
}

function List({memories}) {
  if (!memories.length) return html`<${Nothing}>No memory passes these filters in <b>${namespace.value}</b>. Without filters the list has all that are in use there; <a href=${href("memories")}>clear them</a>.<//>`;
  return html`<${Table} caption="Memories" rows=${memories} keyed=${(one) => one.memory_id} columns=${COLUMNS} />`;
}

/** @type {import("../lib/parts.js").Column<Api.Listed>[]} */
const COLUMNS = [
  {name: "Said", about: "When it was said last, as the agent told", of: (one) => html`<${Time} ms=${one.occurred_at} clock="agent" />`},
  {name: "Memory", of: (one) => html`<${MemoryLink} id=${one.memory_id} />`},
  {name: "Text", kind: "words", of: (one) => html`<${Told} one=${one} />`},
  {name: "Agent", of: (one) => html`<a href=${href("memories", {agent: one.agent})}><${Words} text=${one.agent} /></a>`},
  {name: "Tier", of: (one) => html`<${Tier} tier=${one.tier} />`},
  {name: "Uses", kind: "number", about: "How often it was read or said again", of: (one) => (one.accesses === null ? "–" : html`<a href=${href(`memory/${one.memory_id}`)}>${count(one.accesses + (one.reinforced ?? 0))}</a>`)},
  {name: "Salience", kind: "number", about: "How much it matters, in [0, 1]", of: (one) => share(one.salience)},
];

/** A text of a list, with what contradicts it and where it is filed. @param {{one: Api.Listed, cut?: number}} props */
export function Told({one, cut = 400}) {
  const marked = struck(one);
  return html`${one.text === null ? html`<span class="none">no text: ${one.superseded_by ? html`superseded by <${MemoryLink} id=${one.superseded_by} />` : one.tier}</span>` : html`<${Words} text=${one.text} cut=${cut} marked=${marked} />`}
    <${Marks} one=${one} />`;
}

/** The characters to strike: what was overtaken. What is only disputed may hold, so it is left as it is. */
export const struck = (one) => (one.overtaken ?? []).filter((mark) => !mark.disputed).flatMap((mark) => mark.spans);

/** By what a memory is overtaken, or disputed, and since when. */
function Marked({marks, said}) {
  if (!marks.length) return null;
  const by = [...new Set(marks.map((one) => one.by).filter(Boolean))];
  return html`<span class="note warn">${said}${by.length > 0 && html` by ${by.map((id) => html`<${MemoryLink} id=${id} /> `)}`} ${marks.length > 1 && "since "}<${Time} ms=${Math.min(...marks.map((one) => one.since))} clock="agent" /></span>`;
}

export function Marks({one}) {
  const filed = [one.path, one.key].filter(Boolean).join(" › ");
  const shown = html`${[false, true].map((disputed) => html`<${Marked} marks=${(one.overtaken ?? []).filter((mark) => mark.disputed === disputed)} said=${disputed ? "disputed" : "overtaken"} />`)}
    ${one.contradicts?.length > 0 && html`<span class="note">contradicts ${one.contradicts.map((id) => html`<${MemoryLink} id=${id} /> `)}</span>`}
    ${filed && html`<span class="note">filed at <${Words} text=${filed} /></span>`}
    ${(one.goals ?? []).map((goal) => html`<span class="note">needed for <${Words} text=${goal} /></span>`)}
    ${one.made_by && html`<span class="note">made by ${one.made_by}</span>`}`;
  return html`<span class="notes">${shown}</span>`;
}
