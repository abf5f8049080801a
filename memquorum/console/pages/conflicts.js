// Conflicts and consolidation: memories that say otherwise, what sessions became, and what is said of one thing.
import {html} from "../lib/base.js";
import {get, post, segment} from "../lib/api.js";
import {filter, href, namespace, place} from "../lib/place.js";
import {Answer, Facts, Field, Filters, Head, Nothing, Part, Table, useAnswer} from "../lib/parts.js";
import {count, many, MemoryLink, spoken, Time, Words} from "../lib/words.js";
import {Told} from "./browse.js";

const TABS = {"": "Contradictions", sessions: "A session", rollups: "Roll-ups"};
const VOTES = ["supersede", "overrule", "consolidate", "merge"];
const LOOKED_AT = 1000;

export default function Conflicts() {
  const {query} = place.value, tab = query.tab ?? "";
  return html`<${Head} title="Conflicts and consolidation" about="Nothing is removed because words seem to contradict each other: it is marked, and members vote where somebody means it.">
      <div class="tabs" role="group" aria-label="Shown">${Object.entries(TABS).map(([name, title]) => html`<a href=${href("conflicts", {tab: name})} aria-current=${tab === name ? "true" : undefined}>${title}</a>`)}</div><//>
    ${tab === "sessions" ? html`<${Session} />` : tab === "rollups" ? html`<${Rollups} />` : html`<${Contradictions} />`}`;
}

function Contradictions() {
  const {query} = place.value, ns = namespace.value;
  const found = useAnswer((signal) => post("memories/list", {namespace: ns, limit: LOOKED_AT, cursor: query.cursor}, signal), [ns, query.cursor]);
  return html`<p class="muted">See also the votes: ${VOTES.map((kind) => html`<a href=${href("decisions", {kind, by: "all"})}>${kind}</a> `)}</p>
    <${Answer} of=${found} show=${(page) => {
      const told = page.memories.filter((one) => one.overtaken.length || one.contradicts.length || one.superseded_by);
      return html`${told.length ? html`<${Table} caption="Memories that contradict each other" rows=${told} keyed=${(one) => one.memory_id} columns=${PAIRS} />` : html`<${Nothing}>None of the ${many(page.memories.length, "memory", "memories")} looked at contradicts another.<//>`}
        <p class="pages muted">Looked at ${many(page.memories.length, "memory", "memories")}${page.next ? html`; <button type="button" onClick=${() => filter({cursor: page.next})}>look at the next ones</button>` : ", all of them"}${query.cursor && html` <button type="button" onClick=${() => filter({cursor: ""})}>from the beginning</button>`}</p>`;
    }} />`;
}

const PAIRS = [
  {name: "Said", about: "As the agent said it", of: (one) => html`<${Time} ms=${one.occurred_at} clock="agent" />`},
  {name: "Memory", of: (one) => html`<${MemoryLink} id=${one.memory_id} />`},
  {name: "Text", kind: "words", of: (one) => html`<${Told} one=${one} />`},
  {name: "Agent", of: (one) => html`<${Words} text=${one.agent} />`},
  {name: "Which holds", of: (one) => (one.overtaken.some((mark) => !mark.disputed) ? html`<span class="badge warn">the newer one</span>` : one.overtaken.length ? html`<span class="badge warn">disputed: the reader decides</span>` : html`<span class="badge good">this one, as it is newer</span>`)},
];

// Sessions -------------------------------------------------------------------------------------------------------------

const STAYS = {
  wanted: "stored on purpose", protected: "protected", promoted: "promoted", contradicted: "contradicted", few: "too few for a summary",
  talk: "small talk", worth: "worth more than a summary would keep", saves: "so short that a summary saves nothing",
};

function Session() {
  const {query} = place.value, ns = namespace.value;
  const found = useAnswer(query.session ? (signal) => get(`sessions/${segment(ns)}/${segment(query.session)}`, {}, signal) : null, [ns, query.session]);
  return html`<${Filters} fields=${["session"]} label="Session"><${Field} name="session" label="Session" placeholder="shift-1" grow /><button>Show</button><//>
    <${Answer} of=${found} idle=${html`<${Nothing}>Name a session. What it became is told by agents: summaries, those that wait for their vote, and why other memories stay as they are.<//>`} show=${(session) => html`<${State} session=${session} />`} />`;
}

function State({session}) {
  if (!session.parts.length) return html`<${Nothing}>Nothing was recorded in this session that is known here.<//>`;
  return html`<${Facts} rows=${[["The shard's clock", html`<${Time} ms=${session.as_of} />`], ["Next epoch", count(session.epoch)], ["It opens at the latest", html`<${Time} ms=${session.opens_at} />`], ["Or after", many(session.interactions, "interaction")]]} />
    ${session.parts.map((part) => html`<${Part} title=${part.agent} tools=${html`<a href=${href("memories", {session: session.session, agent: part.agent})}>its memories</a>`}>
      <${Facts} rows=${[["In use", count(part.memories)], ["Rest behind a summary", count(part.sealed)], ["Said last", html`<${Time} ms=${part.said_at} clock="agent" />`], ["Ends by itself at", part.ends_at && html`<${Time} ms=${part.ends_at} />`], ["Summaries to come, of so many memories each", part.coming.join(", ")]]} />
      ${part.summaries.map((one) => html`<p><${MemoryLink} id=${one.memory_id} /> <span class="badge">${one.status}</span> a summary of ${many(one.memories, "memory", "memories")}${one.into && html`, merged into <${MemoryLink} id=${one.into} />`}${one.until && html`; they can be restored until <${Time} ms=${one.until} />`}</p>`)}
      ${part.waiting.map((one) => html`<p><${MemoryLink} id=${one.memory_id} /> <span class="badge warn">waits for its vote</span> a summary of ${many(one.memories, "memory", "memories")}${one.kept_in && html`; members kept it out in epoch ${one.kept_in}`}</p>`)}
      ${Object.keys(part.staying).length > 0 && html`<p class="muted">Stay as they are: ${Object.entries(part.staying).map(([why, number]) => `${count(number)} ${STAYS[why] ?? spoken(why)}`).join("; ")}.</p>`}<//>`)}`;
}

// Roll-ups -------------------------------------------------------------------------------------------------------------

function Rollups() {
  const {query} = place.value, ns = namespace.value, as_of = query.at ? Date.parse(`${query.at}T23:59:59Z`) : undefined;
  const found = useAnswer((signal) => get(`rollups/${segment(ns)}`, {as_of}, signal), [ns, as_of]);
  const one = useAnswer(query.topic ? (signal) => get(`rollups/${segment(ns)}/${segment(query.topic)}`, {as_of}, signal) : null, [ns, query.topic, as_of]);
  return html`<${Filters} fields=${["topic", "at"]} label="Roll-up"><${Field} name="topic" label="About" grow /><${Field} name="at" label="As of the end of" type="date" about="UTC; empty for now" /><button>Show</button><//>
    <div class="beside-list"><div><${Answer} of=${found} show=${(all) => (all.topics.length ? html`<ul class="topics">${all.topics.map((topic) => html`<li><a href=${href("conflicts", {tab: "rollups", topic: topic.topic, at: query.at})} aria-current=${topic.topic === query.topic ? "true" : undefined}><${Words} text=${topic.topic} /></a> <span class="muted">${count(topic.sentences)}</span></li>`)}</ul>${all.more && html`<p class="muted">There are more; name one above.</p>`}` : html`<${Nothing}>No roll-up was made in <b>${ns}</b>.<//>`)} /></div>
    <div><${Answer} of=${one} idle=${html`<${Nothing}>Choose a topic to read what is said of it across sessions, word for word, now or as of a day.<//>`} show=${(rollup) => html`
      <ol class="sentences">${rollup.sentences.map((sentence) => html`<li><${Words} text=${sentence.text} /><p class="by"><${Words} text=${sentence.agent} />, <${Time} ms=${sentence.said_at} clock="agent" />, from <${MemoryLink} id=${sentence.read_from} /></p></li>`)}</ol>
      <p class="muted">${many(rollup.sentences.length, "sentence")}${rollup.unreadable ? `; ${count(rollup.unreadable)} more cannot be read any more` : ""}${rollup.more ? `; ${count(rollup.more)} earlier ones are left out` : ""}</p>`} /></div></div>`;
}
