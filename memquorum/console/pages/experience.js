// Budgets and experience: the policy in force, what helped in tasks and what it weighs, and the rewards of agents.
import {html, useState} from "../lib/base.js";
import {get, post, segment} from "../lib/api.js";
import {href, listed, namespace, place} from "../lib/place.js";
import {Answer, Bar, Choice, Copy, Field, Filters, Head, Nothing, Pages, Part, Table, Facts, useAnswer} from "../lib/parts.js";
import {may} from "../lib/session.js";
import {count, many, MemoryLink, share, span, Tier, Time, Words} from "../lib/words.js";

const TABS = {"": "Experience", next: "What goes next", tasks: "Tasks", rewards: "Rewards", policy: "Policy in force"};
const STATUSES = ["provisional", "agreed", "admitted", "rejected", "demoted", "removed", "resting", "left"];
const TONES = {admitted: "good", agreed: "changed", rejected: "", removed: "bad", demoted: "warn"};

export default function Experience() {
  const tab = place.value.query.tab ?? (may("read") ? "" : "rewards"), id = place.value.path[1];
  if (id) return html`<${One} id=${id} />`;
  const reads = ["", "next", "tasks"].includes(tab), shown = {"": List, next: Next, tasks: Tasks, rewards: Rewards, policy: Policy}[tab] ?? List;
  return html`<${Head} title="Budgets and experience" about="Memories that helped in finished tasks are tried, voted on and weighed. The policy says what may be forgotten, and when.">
      <div class="tabs" role="group" aria-label="Shown">${Object.entries(TABS).map(([name, title]) => html`<a href=${href("experience", {tab: name})} aria-current=${tab === name ? "true" : undefined}>${title}</a>`)}</div><//>
    ${reads && !may("read") ? html`<div class="failure" role="alert"><strong>Your key may not see this</strong><p>It needs the right read.</p></div>` : html`<${shown} />`}`;
}

function List() {
  const {query} = place.value, ns = namespace.value;
  const body = {namespace: ns, statuses: listed(query.status), cursor: query.cursor, limit: 50};
  const found = useAnswer((signal) => post("experience/list", body, signal), [JSON.stringify(body)]);
  return html`<${Filters} fields=${["status"]}><${Choice} name="status" label="Status" values=${STATUSES} /><//>
    <${Answer} of=${found} show=${(/** @type {Api.Experiences} */ page) => html`
      ${Object.keys(page.counts).length > 0 && html`<div class="tiles">${Object.entries(page.counts).map(([status, number]) => html`<div class="tile"><b><a href=${href("experience", {status})}>${count(number)}</a></b><${Status} status=${status} /></div>`)}</div>`}
      ${page.memories.length ? html`<${Table} caption="Memories that were tried" rows=${page.memories} keyed=${(one) => one.memory_id} columns=${COLUMNS} />` : html`<${Nothing}>No memory of <b>${ns}</b> was tried for experience. That begins when agents report finished tasks.<//>`}
      <${Pages} next=${page.next} shown=${many(page.memories.length, "memory", "memories")} />`} />`;
}

const Status = ({status}) => html`<span class=${`badge ${TONES[status] ?? ""}`}>${status}</span>`;
/** @type {import("../lib/parts.js").Column<Api.Experienced>[]} */
const COLUMNS = [
  {name: "Memory", of: (one) => html`<a class="id" href=${href(`experience/${one.memory_id}`)}>${one.memory_id.slice(0, 8)}</a>`},
  {name: "Text", kind: "words", of: (one) => html`<${Words} text=${one.text ?? "not in use"} cut=${300} />`},
  {name: "Status", of: (one) => html`<${Status} status=${one.status} />`},
  {name: "Weight", kind: "number", of: (one) => one.weight !== null ? html`<span class="with-bar"><${Bar} value=${one.weight} whole=${Math.max(2, one.weight)} label=${`Weight ${share(one.weight)}`} />${share(one.weight)}</span>` : "–"},
  {name: "Gain", kind: "number", about: "S: how much it helped in the tasks that judged it", of: (one) => share(one.score)},
  {name: "Helped", kind: "number", of: (one) => count(one.helped)}, {name: "Harmed", kind: "number", of: (one) => count(one.harm)},
  {name: "Epoch", kind: "number", of: (one) => (one.epoch ? count(one.epoch) : "–")},
];

/** One memory on its way into experience: trials, votes, and its weight over time. */
function One({id}) {
  const found = useAnswer((signal) => get(`experience/${segment(id)}`, {}, signal), [id]);
  return html`<${Head} title=${`Experience of ${id.slice(0, 8)}`}><${MemoryLink} id=${id} full /> <a href=${href("experience")}>All</a><//>
    <${Answer} of=${found} show=${(/** @type {Api.Admission} */ one) => html`<${Said} id=${id} /><${Facts} rows=${[["Status", html`<${Status} status=${one.status} />`], ["Weight", one.weight !== null && share(one.weight)], ["Gain S", one.score !== null && share(one.score)], ["Needed", share(one.least)], ["Judged by", one.judges !== null && `${count(one.judges)} of ${count(one.judges_needed)} tasks that are needed`], ["General form", one.general && html`<${MemoryLink} id=${one.general} />`], ["Made from", one.general_of && html`<${MemoryLink} id=${one.general_of} />`], ["Stands for it", one.merged_into && html`<${MemoryLink} id=${one.merged_into} />`]]} />
      ${one.weights.length > 0 && html`<${Part} title="Weight over time"><${Weights} versions=${one.weights} /><//>`}
      ${one.votes.length > 0 && html`<${Part} title="Votes">${one.votes.map((vote) => html`<p><a href=${href("decisions", {memory: id})}>Epoch ${vote.epoch}</a>: ${vote.kind}, <span class="badge">${vote.outcome}</span> by ${vote.yes} members with weight ${share(vote.weight)}, where ${share(vote.needed)} is needed</p>`)}<//>`}
      <${Part} title="Trials">${one.trials.length ? one.trials.map((trial) => html`<${Trial} trial=${trial} />`) : html`<${Nothing}>No verifier has tried it.<//>`}<//>`} />`;
}

/** The text of the memory, where it can be read. */
function Said({id}) {
  const found = useAnswer((signal) => get(`memories/${segment(id)}`, {}, signal), [id]);
  return html`<div class="text" aria-busy=${found.state === "waiting"}>${found.value?.text && html`<blockquote><${Words} text=${found.value.text} /></blockquote>`}</div>`;
}

/** @param {{versions: Api.WeightVersion[]}} props */
function Weights({versions}) {
  const top = Math.max(1.2, ...versions.map((one) => one.weight)), x = (at) => 20 + (560 * at) / Math.max(1, versions.length - 1), y = (weight) => 110 - (100 * weight) / top;
  return html`${versions.length > 1 && html`<svg class="chart" viewBox="0 0 600 120" role="img" aria-label=${`${many(versions.length, "version")} of the weight, the last one ${share(versions[versions.length - 1].weight)}`}>
      <line class="grid" x1="20" x2="590" y1=${y(1)} y2=${y(1)} /><text x="0" y=${y(1) + 4}>1</text>
      <polyline points=${versions.map((one, at) => `${x(at)},${y(one.weight)}`).join(" ")} />
      ${versions.map((one, at) => html`<circle cx=${x(at)} cy=${y(one.weight)} r="3.5"><title>${`Version ${one.version}, epoch ${one.epoch}: ${share(one.weight)}, ${one.cause}`}</title></circle>`)}</svg>`}
    <${Table} caption="Versions of the weight" rows=${[...versions].reverse()} keyed=${(one) => one.version} columns=${[
      {name: "Version", kind: "number", of: (one) => count(one.version)}, {name: "Epoch", kind: "number", of: (one) => count(one.epoch)}, {name: "Weight", kind: "number", of: (one) => share(one.weight)},
      {name: "Cause", of: (one) => one.cause}, {name: "Helped", kind: "number", of: (one) => count(one.helped)}, {name: "Harmed", kind: "number", of: (one) => count(one.harm)},
      {name: "New evidence", of: (one) => html`${count(one.uses)} tasks ${one.tasks.slice(0, 3).map((task) => html`<a class="id" href=${href("experience", {tab: "tasks", task: task.task})} title=${`gain ${share(task.gain)}`}>${task.task.slice(0, 8)}</a> `)}`},
    ]} />`;
}

/** @param {{trial: Api.Trial}} props */
function Trial({trial}) {
  return html`<details><summary>${trial.verifier}: S = ${share(trial.score)}${trial.agrees === null ? "" : trial.agrees ? ", as was agreed on" : ", unlike what was agreed on"}</summary>
    <${Table} caption=${`Tasks that judged for ${trial.verifier}`} rows=${trial.judges} keyed=${(one) => one.task} columns=${[
      {name: "Task", of: (one) => html`<a class="id" href=${href("experience", {tab: "tasks", task: one.task})}>${one.task.slice(0, 8)}</a>`},
      {name: "Reward without", kind: "number", of: (one) => share(one.without)}, {name: "With", kind: "number", of: (one) => share(one.reward)},
      {name: "Bears out", kind: "words", of: (one) => html`<${Words} text=${one.bears_out ?? one.contradicts ?? ""} />`},
    ]} /></details>`;
}

// What goes next -------------------------------------------------------------------------------------------------------

const LOOKED_AT = 1000, LOOKS = 20, FIRST = 50, DAY = 86_400_000;
const WITHIN = [["now", 0], ["within a day", DAY], ["within a week", 7 * DAY], ["within 30 days", 30 * DAY]];

/**
 * All living memories of a namespace, as far as so many looks tell, and its state.
 * @param {string} ns
 * @param {AbortSignal} signal
 */
async function living(ns, signal) {
  const found = /** @type {Api.Listed[]} */ ([]), state = await get(`namespaces/${segment(ns)}`, {}, signal);
  let cursor = /** @type {string | null} */ (null);
  for (let look = 0; look < LOOKS; look++) {
    const page = await post("memories/list", {namespace: ns, limit: LOOKED_AT, cursor}, signal);
    found.push(...page.memories);
    cursor = page.next;
    if (!cursor) break;
  }
  return {state, more: Boolean(cursor), memories: found.filter((one) => one.due_at !== null).sort((one, other) => (one.due_at ?? 0) - (other.due_at ?? 0)), all: found.length};
}

function Next() {
  const ns = namespace.value, found = useAnswer((signal) => living(ns, signal), [ns]);
  return html`<p class="lead">The memories on which the members may vote next, if nobody uses them. A member votes for forgetting only what is also of little worth to its agents, so many of them stay.</p>
    <${Answer} of=${found} show=${Going} />`;
}

/** @param {Awaited<ReturnType<typeof living>>} found */
function Going({state, memories, all, more}) {
  if (!memories.length) return html`<${Nothing}>No living memory of <b>${state.namespace}</b> is on its way to a vote.<//>`;
  const until = (/** @type {number} */ ms) => memories.filter((one) => (one.due_at ?? 0) <= state.as_of + ms).length;
  return html`<div class="tiles">${WITHIN.map(([when, ms]) => html`<div class="tile"><b>${count(until(Number(ms)))}</b><span>may be voted on ${when}</span></div>`)}
      <div class="tile"><b>${count(state.may_forget)}</b><span>at most are forgotten by one decision</span></div></div>
    <${Table} caption="What goes next" rows=${memories.slice(0, FIRST)} keyed=${(/** @type {Api.Listed} */ one) => one.memory_id} columns=${nextColumns(state.as_of)} />
    <p class="pages muted">${memories.length > FIRST ? `The first ${FIRST} of ${count(memories.length)}` : `All ${count(memories.length)}`}${more ? `; looked at ${count(all)} memories, there are more` : ""}.</p>
    <${WhatIf} />`;
}

/** Another budget: what it would have kept, only a command tells. */
function WhatIf() {
  const [tokens, set] = useState("3000"), ns = namespace.value, named = /^[\w.-]+$/.test(ns) ? ns : `'${ns.replaceAll("'", "'\\''")}'`;
  const command = `memquorum admin policy whatif --namespace ${named} --budget ${Number(tokens) || 3000}`;
  return html`<${Part} title="What another budget would have kept">
    <p>That replays all that came in, from the topics and with the keys of the vault. This service has neither, and it takes as long as the history is, so it is a command where the installation is:</p>
    <p><label class="field"><span>Tokens</span><input type="number" min="1" name="tokens" value=${tokens} onInput=${(event) => set(event.target.value)} /></label></p>
    <p><code class="long"><${Words} text=${command} /></code> <${Copy} text=${command} label="the command" /></p><//>`;
}

/**
 * @param {number} now by the shard's clock
 * @returns {import("../lib/parts.js").Column<Api.Listed>[]}
 */
const nextColumns = (now) => [
  {name: "May be voted on", about: "By the shard's clock, if nobody uses it", of: (one) => html`${(one.due_at ?? 0) <= now ? html`<span class="badge warn">now</span>` : `in ${span((one.due_at ?? 0) - now)}`} <span class="note"><${Time} ms=${one.due_at} /></span>`},
  {name: "Memory", of: (one) => html`<${MemoryLink} id=${one.memory_id} />`},
  {name: "Text", kind: "words", of: (one) => html`<${Words} text=${one.text} cut=${300} />${(one.goals ?? []).map((goal) => html`<span class="note">needed for <${Words} text=${goal} /></span>`)}`},
  {name: "Tier", of: (one) => html`<${Tier} tier=${one.tier} />`},
  {name: "Uses", kind: "number", of: (one) => count((one.accesses ?? 0) + (one.reinforced ?? 0))},
  {name: "Salience", kind: "number", about: "How much it mattered when it was said, in [0, 1]", of: (one) => share(one.salience)},
];

function Tasks() {
  const {query} = place.value, ns = namespace.value;
  const body = {namespace: ns, outcomes: listed(query.outcome), memory_id: query.memory, cursor: query.cursor, limit: 50};
  const found = useAnswer(query.task ? null : (signal) => post("tasks/list", body, signal), [JSON.stringify(body), query.task]);
  const one = useAnswer(query.task ? (signal) => get(`tasks/${segment(query.task)}`, {}, signal) : null, [query.task]);
  if (query.task) return html`<p><a href=${href("experience", {tab: "tasks"})}>All tasks</a></p><${Answer} of=${one} show=${(/** @type {Api.FinishedTask} */ task) => html`<${Task} task=${task} />`} />`;
  return html`<${Filters} fields=${["outcome", "memory"]}><${Choice} name="outcome" label="Outcome" values=${["succeeded", "failed", "unknown"]} /><${Field} name="memory" label="Was given" placeholder="a memory's id" /><button>Apply</button><//>
    <${Answer} of=${found} show=${(/** @type {Api.Tasks} */ page) => html`${page.tasks.length ? html`<${Table} caption="Finished tasks" rows=${page.tasks} keyed=${(task) => task.task} columns=${[
      {name: "Ended", about: "As the agent said it", of: (task) => html`<${Time} ms=${task.finished_at} clock="agent" />`},
      {name: "Task", of: (task) => html`<a class="id" href=${href("experience", {tab: "tasks", task: task.task})}>${task.task.slice(0, 8)}</a>`},
      {name: "Aim", kind: "words", of: (task) => html`<${Words} text=${task.goal} cut=${300} />`}, {name: "Agent", of: (task) => html`<${Words} text=${task.agent} />`},
      {name: "Outcome", of: (task) => html`<span class=${`badge ${{succeeded: "good", failed: "bad"}[task.outcome] ?? ""}`}>${task.outcome}</span>`},
      {name: "Was given", of: (task) => task.retrieved.slice(0, 4).map((id) => html`<${MemoryLink} id=${id} /> `)},
    ]} />` : html`<${Nothing}>No finished task was reported in <b>${ns}</b>.<//>`}<${Pages} next=${page.next} shown=${many(page.tasks.length, "task")} />`} />`;
}

/** @param {{task: Api.FinishedTask}} props */
const Task = ({task}) => html`<${Part} title="The task"><p><${Words} text=${task.goal} /></p><${Facts} rows=${[["Outcome", task.outcome], ["Said by", task.said_by], ["Agent", html`<${Words} text=${task.agent} />`], ["Ended", html`<${Time} ms=${task.finished_at} clock="agent" />`], ["Was given", task.retrieved.map((id) => html`<${MemoryLink} id=${id} /> `)], ["Helped", task.helped.map((id) => html`<${MemoryLink} id=${id} /> `)], ["Did not help", task.did_not_help.map((id) => html`<${MemoryLink} id=${id} /> `)]]} />
  ${[["Inputs", task.inputs], ["Outputs", task.outputs], ...task.tools.map((tool, at) => [`Tool call ${at + 1}`, tool])].filter(([, text]) => text).map(([title, text]) => html`<h3>${title}</h3><pre><${Words} text=${text} cut=${20000} /></pre>`)}<//>`;

function Rewards() {
  const ns = namespace.value, found = useAnswer((signal) => get(`rewards/${segment(ns)}`, {}, signal), [ns]);
  return html`<p class="lead">What agents did to the fleet's memory: they used what was promoted, recorded what was promoted, repeated what was known, or recorded what members refused to promote for good. The numbers are for people; no vote depends on them.</p>
  <${Answer} of=${found} show=${(/** @type {Api.Rewards} */ all) => (all.agents.length ? html`<${Table} caption="Rewards" rows=${all.agents} keyed=${(one) => one.agent} columns=${[
    {name: "Agent", of: (one) => html`<a href=${href("memories", {agent: one.agent})}><${Words} text=${one.agent} /></a>`},
    ...["used", "promoted", "repeated", "refused"].map((cause) => ({name: `${cause[0].toUpperCase()}${cause.slice(1)}`, kind: "number", of: (one) => count(one.counts[cause] ?? 0)})),
    {name: "Sum", kind: "number", of: (one) => share(one.sum)}, {name: "Weighted", kind: "number", about: `The sum times ${all.weight}`, of: (one) => share(one.weighted)},
  ]} />` : html`<${Nothing}>No agent was rewarded in <b>${ns}</b> so far.<//>`)} />`;
}

function Policy() {
  const ns = namespace.value, found = useAnswer((signal) => get(`policy/${segment(ns)}`, {}, signal), [ns]);
  const value = (name, one) => html`<code>${typeof one === "object" ? JSON.stringify(one) : String(one)}</code>${name.endsWith("_ms") && one > 999 ? html` <span class="muted">${span(one)}</span>` : ""}`;
  return html`<${Answer} of=${found} show=${(/** @type {Api.PolicyInForce} */ policy) => html`<${Facts} rows=${[["Shard", count(policy.shard)], ["Configuration", count(policy.config)], ["Policy", policy.version ? `version ${policy.version}` : "the genesis file's"]]} />
    <${Part} title="What differs from the defaults">${Object.keys(policy.changed).length ? Object.entries(policy.changed).map(([section, values]) => html`<h3>${section}</h3><${Facts} rows=${Object.entries(values).map(([name, one]) => [name, value(name, one)])} />`) : html`<p class="muted">Nothing.</p>`}<//>
    <${Part} title="All of it">${Object.entries(policy.sections).map(([section, values]) => html`<details><summary>${section}</summary><${Facts} rows=${Object.entries(values).map(([name, one]) => [name, value(name, one)])} /></details>`)}
      <p class="pages muted">The members change it by an order: <code>memquorum admin policy set</code>.</p><//>`} />`;
}
