// Conflicts and consolidation: memories that say otherwise, what sessions became, and what is said of one thing.
import {html} from "../lib/base.js";
import {get, post, segment} from "../lib/api.js";
import {day, href, namespace, place} from "../lib/place.js";
import {Answer, Facts, Field, Filters, Head, Nothing, Pages, Part, Table, useAnswer} from "../lib/parts.js";
import {count, many, MemoryLink, spoken, Tier, Time, Words} from "../lib/words.js";

const TABS = {"": "Contradictions", sessions: "Sessions", rollups: "Roll-ups"};
const VOTES = ["supersede", "overrule", "consolidate", "merge"];

export default function Conflicts() {
  const {query} = place.value, tab = query.tab ?? "";
  return html`<${Head} title="Conflicts and consolidation" about="Nothing is removed because words seem to contradict each other: it is marked, and members vote where somebody means it.">
      <div class="tabs" role="group" aria-label="Shown">${Object.entries(TABS).map(([name, title]) => html`<a href=${href("conflicts", {tab: name})} aria-current=${tab === name ? "true" : undefined}>${title}</a>`)}</div><//>
    ${tab === "sessions" ? html`<${Session} />` : tab === "rollups" ? html`<${Rollups} />` : html`<${Contradictions} />`}`;
}

function Contradictions() {
  const {query} = place.value, ns = namespace.value;
  const body = {namespace: ns, cursor: query.cursor, limit: 50};
  const found = useAnswer((signal) => post("conflicts/list", body, signal), [JSON.stringify(body)]);
  return html`<p class="muted apart">See also the votes: ${VOTES.map((kind, at) => html`${at > 0 && " · "}<a href=${href("decisions", {kind, by: "all"})}>${kind}</a>`)}</p>
    <${Answer} of=${found} show=${(page) => html`${page.conflicts.length ? html`<${Table} caption="Memories that contradict each other" rows=${gathered(page.conflicts)} keyed=${(/** @type {Api.Conflict[]} */ [one]) => `${one.newer}${one.older}`} columns=${PAIRS} />` : html`<${Nothing}>No memory in service in <b>${ns}</b> is contradicted by another one.<//>`}
      <${Pages} next=${page.next} shown=${many(page.conflicts.length, "contradiction")} />`} />`;
}

const side = (id, text, agent, at, tier) => html`<span class="named"><${MemoryLink} id=${id} /> <${Tier} tier=${tier} /></span> ${text === null ? html`<span class="none">no text: it is not in service</span>` : html`<${Words} text=${text} cut=${400} />`}<span class="note below">by <${Words} text=${agent} />, <${Time} ms=${at} clock="agent" /></span>`;

/**
 * The pairs of a page, those together that are about the same: a level that changes contradicts each of its former ones.
 * In each group the pairs of the newest memory come first, with the latest of what it contradicts.
 * @param {Api.Conflict[]} pairs
 */
function gathered(pairs) {
  const of = /** @type {Map<string, Api.Conflict[]>} */ (new Map());
  for (const pair of pairs) {
    const both = [...new Set([of.get(pair.newer), of.get(pair.older)])].filter((one) => one !== undefined);
    const group = [...both.flat(), pair];
    for (const one of group) for (const id of [one.newer, one.older]) of.set(id, group);
  }
  return [...new Set(of.values())].map((group) => group.sort((one, other) => other.newer_at - one.newer_at || other.older_at - one.older_at));
}

/** What no memory of a group contradicts: each of these, by one pair, the newest first. @param {Api.Conflict[]} group */
function newest(group) {
  const contradicted = new Set(group.map((one) => one.older)), found = once(group, "newer").filter((one) => !contradicted.has(one.newer));
  return found.length ? found : group.slice(0, 1);
}

/** The pairs by which each older memory of a group stands against the newest ones. @param {Api.Conflict[]} group */
function against(group) {
  const first = new Set(newest(group).map((one) => one.newer));
  return once(group, "older").flatMap((older) => {
    const those = group.filter((one) => one.older === older.older && first.has(one.newer));
    return those.length ? those : [older];
  });
}

/** Of pairs the first with each value of a field. @param {Api.Conflict[]} group @param {"newer" | "older"} field */
const once = (group, field) => group.filter((one, at) => group.findIndex((other) => other[field] === one[field]) === at);

/** Shows the first ones of some; the others are folded. @param {unknown[]} shown @param {number} most */
const folded = (shown, most) => (shown.length > most ? html`${shown.slice(0, most)}<details><summary>${many(shown.length - most, "more", "more")}</summary>${shown.slice(most)}</details>` : shown);

const holds = (one) => (one.disputed ? html`<span class="badge warn">disputed: the reader decides</span>` : html`<span class="badge good">the ${one.first === one.newer ? "newer" : "older"} one</span>`);
const by = (one) => (one.stated ? "said on purpose" : one.compared ? "by a model" : "by a rule");
/** What is told of the pairs of a group, once where it is the same of all. @param {Api.Conflict[]} group @param {(one: Api.Conflict) => string} key @param {(one: Api.Conflict) => unknown} tell */
function alike(group, key, tell) {
  const all = against(group), kinds = [...new Set(all.map(key))], field = newest(group).length > 1 ? "newer" : "older";
  return kinds.map((kind) => {
    const those = all.filter((one) => key(one) === kind);
    return html`<div>${tell(those[0])}${kinds.length > 1 && html` <span class="note">${once(those, field).map((one) => one[field].slice(0, 8)).join(", ")}</span>`}</div>`;
  });
}

/** @type {import("../lib/parts.js").Column<Api.Conflict[]>[]} */
const PAIRS = [
  {name: "Older", kind: "words", of: (group) => folded(once(group, "older").filter((one) => !newest(group).some((other) => other.newer === one.older)).map((one) => html`<div class="one-of">${side(one.older, one.older_text, one.older_agent, one.older_at, one.older_tier)}</div>`), 3)},
  {name: "Newer", kind: "words", of: (group) => folded(newest(group).map((one) => html`<div class="one-of">${side(one.newer, one.newer_text, one.agent, one.newer_at, one.newer_tier)}</div>`), 3)},
  {name: "Which holds", of: (group) => alike(group, (one) => (one.disputed ? "" : one.first === one.newer ? "newer" : "older"), holds)},
  {name: "Found", about: "Who says that they contradict each other", of: (group) => alike(group, by, by)},
];

// Sessions -------------------------------------------------------------------------------------------------------------

const STAYS = {
  wanted: "stored on purpose", protected: "protected", promoted: "promoted", contradicted: "contradicted", few: "too few for a summary",
  talk: "small talk", worth: "worth more than a summary would keep", saves: "so short that a summary saves nothing",
};

function Session() {
  const {query} = place.value, ns = namespace.value;
  const found = useAnswer(query.session ? (signal) => get(`sessions/${segment(ns)}/${segment(query.session)}`, {}, signal) : null, [ns, query.session]);
  return html`<${Filters} fields=${["session", "agent", "since", "until"]} label="Sessions"><${Field} name="session" label="Session" placeholder="shift-1" grow />
      ${!query.session && html`<${Field} name="agent" label="Agent" about="Who spoke in it" /><${Field} name="since" label="Said last since" type="date" about="By UTC" /><${Field} name="until" label="Said last before" type="date" about="By UTC" />`}<button>Show</button>
      ${query.session && html` <a href=${href("conflicts", {tab: "sessions"})}>All sessions</a>`}<//>
    ${query.session ? html`<${Answer} of=${found} show=${(session) => html`<${State} session=${session} />`} />` : html`<${Sessions} />`}`;
}

/** All sessions of the namespace, page by page. */
function Sessions() {
  const {query} = place.value, ns = namespace.value;
  const body = {namespace: ns, agents: query.agent ? [query.agent] : undefined, since: day(query.since), until: day(query.until), cursor: query.cursor, limit: 50};
  const found = useAnswer((signal) => post("sessions/list", body, signal), [JSON.stringify(body)]);
  return html`<${Answer} of=${found} show=${(/** @type {Api.Sessions} */ page) => html`${page.sessions.length ? html`<${Table} caption="Sessions" rows=${page.sessions} keyed=${(/** @type {Api.SessionInShort} */ one) => one.session} columns=${SESSIONS} />` : html`<${Nothing}>No memory in <b>${ns}</b> was recorded in a session like that. An agent names the session of what it records.<//>`}
    <${Pages} next=${page.next} shown=${many(page.sessions.length, "session")} />`} />`;
}

/** @type {import("../lib/parts.js").Column<Api.SessionInShort>[]} */
const SESSIONS = [
  {name: "Said last", about: "As the agent said it", of: (one) => html`<${Time} ms=${one.said_at} clock="agent" />`},
  {name: "Session", of: (one) => html`<a href=${href("conflicts", {tab: "sessions", session: one.session})}><${Words} text=${one.session} /></a>`},
  {name: "Agents", kind: "words", of: (one) => html`<${Words} text=${one.agents.join(", ")} />`},
  {name: "Began", about: "As the agent said it", of: (one) => html`<${Time} ms=${one.first_at} clock="agent" />`},
  {name: "In use", kind: "number", of: (one) => html`<a href=${href("memories", {session: one.session})}>${count(one.memories)}</a>`},
  {name: "Behind a summary", kind: "number", about: "They rest, since a summary says what is to be kept of them", of: (one) => count(one.sealed)},
  {name: "Forgotten or replaced", kind: "number", about: "They rest, and can be restored", of: (one) => count(one.resting)},
];

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
    <div class="beside-list"><div><${Answer} of=${found} show=${(all) => (all.topics.length ? html`<ul class="topics">${all.topics.map((topic) => html`<li><a href=${href("conflicts", {tab: "rollups", topic: topic.topic, at: query.at})} aria-current=${topic.topic === query.topic ? "true" : undefined}><${Words} text=${topic.topic} /></a> <span class="muted">${many(topic.sentences, "sentence")}</span></li>`)}</ul>${all.more && html`<p class="muted">There are more; name one above.</p>`}` : html`<${Nothing}>No roll-up was made in <b>${ns}</b>.<//>`)} /></div>
    <div><${Answer} of=${one} idle=${html`<${Nothing}>Choose a topic to read what is said of it across sessions, word for word, now or as of a day.<//>`} show=${(rollup) => html`
      <ol class="sentences">${rollup.sentences.map((sentence) => html`<li><${Words} text=${sentence.text} /><p class="by"><${Words} text=${sentence.agent} />, <${Time} ms=${sentence.said_at} clock="agent" />, from <${MemoryLink} id=${sentence.read_from} /></p></li>`)}</ol>
      <p class="muted">${many(rollup.sentences.length, "sentence")}${rollup.unreadable ? `; ${count(rollup.unreadable)} more cannot be read any more` : ""}${rollup.more ? `; ${count(rollup.more)} earlier ones are left out` : ""}</p>`} /></div></div>`;
}
