// Now: how the fleet is, what a namespace holds, and what happens in it this moment.
import {html, useEffect, useState} from "../lib/base.js";
import {get, post, segment} from "../lib/api.js";
import {follow} from "../lib/feed.js";
import {href, namespace} from "../lib/place.js";
import {Answer, Bar, Facts, Head, Nothing, Part, Table, useAgain} from "../lib/parts.js";
import {everywhere, may} from "../lib/session.js";
import {count, EpochLink, many, span, Tier, Time, TIERS, Words} from "../lib/words.js";
import {Waits} from "../lib/votes.js";
import {Entries} from "./journal.js";

const SHOWN = 30, AGAIN_MS = 5000;

export default function Now() {
  const ns = namespace.value;
  return html`<${Head} title="Now" about="How the fleet is, what this namespace holds, and what happens in it." />
    ${may("audit") && everywhere() ? html`<${Fleet} />` : html`<p class="muted">The processes of the fleet are shown to keys with the right audit in all namespaces.</p>`}
    <${State} key=${`state of ${ns}`} ns=${ns} /><${Live} key=${`feed of ${ns}`} ns=${ns} />`;
}

// The fleet ------------------------------------------------------------------------------------------------------------

function Fleet() {
  const found = useAgain((signal) => get("fleet", {}, signal), [], AGAIN_MS);
  return html`<${Part} title="Processes" tools=${found.value && html`<span class="muted">${found.value.step === found.value.state ? found.value.state : `${found.value.state}: ${found.value.step}`}</span>`}>
    <${Answer} of=${found} show=${(/** @type {Api.Fleet} */ fleet) => html`<${Processes} fleet=${fleet} />`} /><//>`;
}

/** The processes in the order of a record's way; before them, those that somebody should look at. @param {{fleet: Api.Fleet}} props */
function Processes({fleet}) {
  if (!fleet.processes.length) return html`<${Nothing}>${fleet.step}.<//>`;
  const stuck = fleet.processes.filter((one) => tone(one) !== "good");
  return html`${stuck.length > 0 && html`<p class="note warn block" role="status">${many(stuck.length, "process", "processes")} of ${count(fleet.processes.length)} not as usual: ${stuck.map((one) => `${one.name} (${said(one)})`).join(", ")}</p>`}
    <p class="legend">in → out a second · waiting records · p50 (p99): half of the records took no longer, and 99 of 100</p>
    <ol class="line-strip">${fleet.processes.map((one) => html`<${Process} one=${one} />`)}</ol>`;
}

const SILENT = "does not answer";

/** How a process is, as a tone. @param {Api.FleetProcess} one */
function tone(one) {
  if (one.alarm || one.state === "halted" || one.problem.includes(SILENT)) return "bad";
  return one.problem || one.state !== "running" ? "warn" : "good";
}

/** How a process is, in words. @param {Api.FleetProcess} one */
function said(one) {
  if (one.problem.includes(SILENT)) return SILENT;
  if (one.alarm) return "alarm";
  return one.state !== "running" ? one.state : one.problem ? "slowed or waiting" : "running";
}

/** @param {{one: Api.FleetProcess}} props */
function Process({one}) {
  const notes = Object.entries(one.notes).filter(([, what]) => what !== "none" && what !== "nothing");
  return html`<li class=${`process ${tone(one)}`}><header><span class="dot" aria-hidden="true"></span><b>${one.name}</b><span class="sr">${said(one)}</span><span class="muted">${one.mib ? `${count(one.mib)} MiB` : one.problem ? "" : said(one)}</span></header>
    ${one.stages.map((stage) => html`<${Stage} stage=${stage} named=${one.stages.length > 1} />`)}
    ${one.problem && html`<p class="note warn below"><${Words} text=${one.problem} /></p>`}
    ${notes.map(([about, what]) => html`<p class="note below">${about}: <${Words} text=${what} /></p>`)}</li>`;
}

/** The numbers of a stage that are not 0. @param {{stage: Api.FleetStage, named: boolean}} props */
function Stage({stage, named}) {
  const moves = stage.took > 0 || stage.sent > 0, timed = stage.p50_ms !== null && stage.p99_ms !== null;
  return html`<div class="stage">${named && html`<span class="muted">${stage.stage}</span>`}
    ${moves && html`<span title="records a second that it took in and gave out">${rate(stage.took)} → ${rate(stage.sent)} a second</span>`}
    ${stage.lag ? html`<span>${count(stage.lag)} waiting</span>` : null}
    ${timed && html`<span title="half of the records took no longer; in brackets: 99 of 100">${millis(stage.p50_ms)} (${millis(stage.p99_ms)})</span>`}
    ${!moves && !stage.lag && html`<span>idle</span>`}
    ${stage.open ? html`<span>${many(stage.open, "open epoch")}</span>` : null}
    ${stage.refused > 0 && html`<a href=${href("orders", {tab: "letters"})}>${count(stage.refused)} refused</a>`}</div>`;
}

const rate = (value) => (value >= 10 ? count(Math.round(value)) : value.toFixed(1));
const millis = (value) => (value < 1 ? "under 1 ms" : span(Math.round(value)));

// The namespace --------------------------------------------------------------------------------------------------------

function State({ns}) {
  const found = useAgain((signal) => get(`namespaces/${segment(ns)}`, {}, signal), [ns], 2 * AGAIN_MS);
  return html`<${Part} title=${`In ${ns}`}><${Answer} of=${found} show=${(/** @type {Api.NamespaceState} */ state) => html`<${Numbers} state=${state} />`} /><//>`;
}

const SAID = {finished: "finished tasks", draft: "waiting for a vote"};
const LISTABLE = ["short-term", "long-term", "sealed", "superseded"];

/** @param {{state: Api.NamespaceState}} props */
function Numbers({state}) {
  const tiers = Object.keys(TIERS).filter((tier) => state.tiers[tier]);
  if (!tiers.length) return html`<${Nothing}>Nothing was recorded in <b>${state.namespace}</b> so far. An agent publishes the first memory, as in the README's ten lines; or choose another namespace above.<//>`;
  const opens = state.next_epoch_at - state.as_of, most = Math.max(...state.agents.map((one) => one.memories), 1);
  return html`<${Waits} state=${state} />
    <div class="tiles">${tiers.map((tier) => html`<div class="tile"><b>${LISTABLE.includes(tier) ? html`<a href=${href("memories", {tier})}>${count(state.tiers[tier])}</a>` : count(state.tiers[tier])}</b><${Tier} tier=${tier} said=${SAID[tier]} /></div>`)}
      <div class="tile"><b><a href=${href("decisions", {outcome: "forgotten"})}>${count(state.forgotten)}</a></b><span>forgotten within a day</span></div>
      <div class="tile"><b>${count(state.may_forget)}</b><span>may be forgotten by one decision now</span></div></div>
    <${Facts} rows=${[
      ["Shard", count(state.shard)], ["Its clock", html`<${Time} ms=${state.as_of} />`],
      ["Last epoch", html`<${EpochLink} shard=${state.shard} epoch=${state.last_epoch} />${state.last_epoch_at !== null && html`, decided <${Time} ms=${state.last_epoch_at} />`}`],
      ["The next one opens", html`${opens > 0 ? `in ${span(opens)} of the shard's clock` : "at the next tick that finds something to vote on"}, or after ${many(state.interactions, "interaction")}`],
      ["Forgetting is stopped until", state.stopped_until && html`<${Time} ms=${state.stopped_until} />`],
    ]} />
    <details><summary>${many(state.agents.length, "agent")} with living memories</summary><${Table} caption="Agents" rows=${state.agents} keyed=${(one) => one.agent} columns=${[
      {name: "Agent", of: (one) => html`<a href=${href("memories", {agent: one.agent})}><${Words} text=${one.agent} /></a>`},
      {name: "Memories", kind: "number", of: (one) => html`<span class="with-bar"><${Bar} value=${one.memories} whole=${most} label=${many(one.memories, "memory", "memories")} />${count(one.memories)}</span>`},
      {name: "Last said", about: "As the agent said it; leads to what it said since that day began", of: (one) => html`<a href=${href("memories", {agent: one.agent, since: new Date(one.last_at).toISOString().slice(0, 10)})}><${Time} ms=${one.last_at} clock="agent" /></a>`},
    ]} /></details>`;
}

// What happens ---------------------------------------------------------------------------------------------------------

const STATES = {live: ["good", "live"], away: ["warn", "away, comes again"], stopped: ["bad", "stopped"]};

/** True while the tab is not looked at. It gives its feed up then: a browser opens six connections to a service in all. */
function useHidden() {
  const [hidden, set] = useState(document.hidden);
  useEffect(() => {
    const look = () => set(document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return hidden;
}

function Live({ns}) {
  const [entries, set] = useState(/** @type {Api.JournalLine[] | null} */ (null)), [state, setState] = useState(["away", ""]), [error, fail] = useState(/** @type {unknown} */ (null));
  const [paused, pause] = useState(false), hidden = useHidden();
  useEffect(() => {
    if (paused || hidden) return undefined;
    const stop = new AbortController();
    post("journal/list", {namespace: ns, limit: SHOWN}, stop.signal).then((page) => {
      set(page.entries);
      const take = (/** @type {Api.JournalLine} */ entry) => set((before) => [entry, ...(before ?? []).filter((one) => one.cursor !== entry.cursor)].slice(0, SHOWN));
      return follow(ns, page.latest, take, (now, why = "") => setState([now, why]), stop.signal);
    }).catch((wrong) => stop.signal.aborted || fail(wrong));
    return () => stop.abort();
  }, [ns, paused, hidden]);
  const [tone, said] = paused ? ["", "paused"] : STATES[state[0]];
  const of = error ? {state: "failed", error} : entries ? {state: "there", value: entries} : {state: "waiting", since: performance.now()};
  return html`<${Part} title="What happens" tools=${html`<span class=${`badge ${tone}`} role="status" title=${state[1]}>${said}</span> <button type="button" class="small" onClick=${() => pause(!paused)}>${paused ? "Go on" : "Pause"}</button> <a href=${href("journal")}>All of it</a>`}>
    <${Answer} of=${of} show=${(shown) => (shown.length ? html`<${Entries} entries=${shown} />` : html`<${Nothing}>Nothing has happened here so far. New entries appear by themselves.<//>`)} /><//>`;
}
