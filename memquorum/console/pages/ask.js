// Ask: one question to search, retrieve and context, side by side. It keeps nothing alive unless the reader says so.
import {html, useState} from "../lib/base.js";
import {post} from "../lib/api.js";
import {namespace, place} from "../lib/place.js";
import {Answer, Bar, Field, Filters, Head, Nothing, Part, tipped, useAnswer} from "../lib/parts.js";
import {count, many, MemoryLink, share, spoken, Tier, Time, Words} from "../lib/words.js";
import {filters, Given, Marks, struck} from "./browse.js";

const FIELDS = ["q", "as", "k", "budget", "at", "hops", "agent", "subject", "session", "path", "key", "type", "since", "until", "redact"];
const READER = "console";

export default function Ask() {
  const {query} = place.value, ns = namespace.value;
  // This is not in the address: a link must not keep memories alive.
  const [uses, setUses] = useState(false);
  const on = [JSON.stringify(query), ns, uses];
  const asked = {namespace: ns, query: query.q, peek: !uses, agent: query.as || READER, as_of: moment(query.at)};
  const narrow = filters(query), budget = whole(query.budget), hops = whole(query.hops);
  const ways = query.q ? {
    search: (signal) => post("search", {...asked, ...narrow, k: whole(query.k)}, signal),
    retrieve: (signal) => post("retrieve", {...asked, ...narrow, budget_tokens: budget, hops}, signal),
    context: (signal) => post("context", {...asked, path: query.path, session: query.session, redact: narrow.redact, budget_tokens: budget, hops}, signal),
  } : {search: null, retrieve: null, context: null};
  const search = useAnswer(ways.search, on), retrieve = useAnswer(ways.retrieve, on), context = useAnswer(ways.context, on);
  return html`<${Head} title="Ask" about="One question, answered in the three ways in which agents read. The page only peeks, so looking keeps no memory alive." />
    <${Filters} fields=${FIELDS} label="Question">
      <div class="question"><${Field} name="q" label="Question" type="search" placeholder="When does valve 3 open?" grow /><button class="first">Ask</button></div>
      <${Field} name="as" label="As agent" placeholder=${READER} about="Whose latest memories a context begins with" />
      <${Field} name="k" label="Hits (k)" type="number" min="1" placeholder="10" /><${Field} name="budget" label="Tokens" type="number" min="1" placeholder="2000" />
      <${Field} name="hops" label="Steps" type="number" min="1" max="2" placeholder="1" about="2 also finds what the first hits name" />
      <${Field} name="at" label="As of the end of" type="date" about="UTC; empty for now" />
      <details class="more"><summary>Only some memories</summary><div class="filters"><${Given} tiers=${false} /></div></details>
      <label class="check"><input type="checkbox" checked=${uses} onChange=${(event) => setUses(event.target.checked)} /> counts as a use</label>
    <//>
    ${query.q ? html`<div class="ways">
      <${Way} title="Search" about="The nearest in meaning" of=${search} hits=${(one) => one.hits} />
      <${Way} title="Retrieve" about="What answers best and fits the budget" of=${retrieve} hits=${(one) => one.items} />
      <${Way} title="Context" about="For a prompt: the agent's latest, and what answers" of=${context} hits=${(one) => one.items} />
    </div>` : html`<${Nothing}>Ask something, as an agent would. The answer shows each memory with its score, what makes it up, and which memories were left out and why.<//>`}`;
}

/** The end of a day of a filter, by UTC, in milliseconds. An address may also name milliseconds. @param {string | undefined} text */
const moment = (text) => whole(text) ?? (text ? Date.parse(`${text}T23:59:59.999Z`) || undefined : undefined);

const whole = (text) => (text && Number.isFinite(Number(text)) ? Number(text) : undefined);

function Way({title, about, of, hits}) {
  return html`<${Part} title=${title} tools=${html`<span class="muted">${about}</span>`}>
    <${Answer} of=${of} show=${(answer) => html`<${Found} answer=${answer} hits=${hits(answer)} />`} />
  <//>`;
}

function Found({answer, hits}) {
  const facts = [
    many(hits.length, "memory", "memories"),
    answer.budget_tokens !== undefined && `${count(answer.tokens)} of ${count(answer.budget_tokens)} tokens`,
    answer.served_from && `from the ${answer.served_from}, compared: ${answer.compared}`,
    answer.used ? `${many(answer.used, "use")} counted` : "no use counted",
  ].filter(Boolean);
  return html`<p class="sum">${facts.join(" · ")}</p>
    ${answer.answerable === false && html`<p class="note warn block">Probably nothing here answers this.</p>`}
    ${answer.warning && html`<p class="note warn block">${answer.warning}</p>`}
    ${hits.some((one) => one.answerable === false) && html`<p class="sum"><span class="swatch" aria-hidden="true"></span> Dashed: near, but it probably answers nothing.</p>`}
    <ol class="hits">${hits.map((one, at) => html`<${Hit} key=${one.memory_id} one=${one} rank=${at + 1} />`)}</ol>
    <${LeftOut} of=${answer.left_out ?? {}} />
    ${answer.text !== undefined && html`<details><summary>As it stands in a prompt</summary><pre class="prompt"><${Words} text=${answer.text} cut=${20000} /></pre></details>`}`;
}

function Hit({one, rank}) {
  const parts = components(one), scored = one.score !== null && one.score !== undefined;
  return html`<li class=${one.answerable === false ? "hit weak" : "hit"}>
    <div class="hit-head"><span class="rank">${rank}</span><${MemoryLink} id=${one.memory_id} /><${Tier} tier=${one.tier} />
      ${scored ? html`<span class="score" tabindex="0" ...${tipped(html`<${Components} parts=${parts} />`)}><${Bar} value=${one.score} label=${`Score ${share(one.score)}`} />${share(one.score)}</span>` : html`<span class="score muted">${one.why}</span>`}</div>
    <${Words} text=${one.text} cut=${600} marked=${struck(one)} />
    <p class="by"><${Words} text=${one.agent} />, <${Time} ms=${one.occurred_at} clock="agent" />${one.tokens !== undefined && `, ${many(one.tokens, "token")}`}</p>
    <p class="components">${parts.map(([name, value]) => html`<span>${name} <b>${value}</b></span>`)}</p>
    <${Marks} one=${one} />
    ${list("says the same", one.folded)}${list("says nearly the same", one.alike)}${list("in conflict with", one.conflicts_with)}${list("found through", one.through && one.through !== "question" ? [one.through] : [])}
  </li>`;
}

const list = (label, ids) => (ids?.length ? html`<span class="note">${label}: ${ids.map((id) => html`<${MemoryLink} id=${id} /> `)}</span>` : null);

/** What makes up the place of a hit, as far as its way of reading tells. */
function components(one) {
  const found = [["cosine", one.cosine], ["relevance", one.relevance], ["strength", one.strength], ["weight", one.weight], ["salience", one.salience]];
  const shown = found.filter(([, value]) => typeof value === "number").map(([name, value]) => [name, share(value)]);
  if (one.relevance !== undefined) shown.push(["place by meaning", one.near_place ?? "none"], ["by words", one.words_place ?? "none"]);
  if (one.why) shown.push(["in as", one.why]);
  if (one.place) shown.push(["place in the buffer", one.place]);
  return shown;
}

function Components({parts}) {
  return html`<p>How likely it answers, in [0, 1]. The order of a retrieval is relevance × strength × tier. Relevance comes of the places by meaning and by words, and of its neighbours in its session.</p><dl class="facts">${parts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

const WHY = {
  duplicate: "say the same as one that is in", budget: "did not fit the budget", k_max: "were more than asked for",
  not_found: "pass the filters, and are near neither in meaning nor in words", irrelevant: "answer too little",
  path: "are filed elsewhere", key: "have another key", attributes: "have other attributes", sensitivity: "are too sensitive",
  purpose: "are for other purposes", jurisdiction: "are under another law", agents: "are of other agents",
};

function LeftOut({of}) {
  const reasons = Object.entries(of).sort((one, other) => other[1].count - one[1].count);
  if (!reasons.length) return html`<p class="muted">Nothing was left out.</p>`;
  return html`<div class="left-out"><h3>Left out</h3><ul>${reasons.map(([reason, {count: number, memory_ids: ids}]) => html`<li><b>${count(number)}</b> <span title=${reason}>${WHY[reason] ?? spoken(reason)}</span> ${ids.map((id) => html`<${MemoryLink} id=${id} /> `)}</li>`)}</ul></div>`;
}
