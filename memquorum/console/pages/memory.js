// One memory: what became of it and why, from the episode to its end, with all votes, uses and links.
import {html, useState} from "../lib/base.js";
import {Failed, get, segment} from "../lib/api.js";
import {href, place} from "../lib/place.js";
import {Answer, Bar, Copy, Facts, Head, Nothing, Part, Table, useAnswer} from "../lib/parts.js";
import {may} from "../lib/session.js";
import {count, EpochLink, many, MemoryLink, moment, ppm, share, span, spoken, Tier, Time, Words} from "../lib/words.js";
import {curve} from "../lib/strength.js";
import {CHANGES, KINDS, Outcome, Quorum} from "../lib/votes.js";
import {Marks, struck} from "./browse.js";

export default function Memory() {
  const id = place.value.path[1] ?? "", redact = place.value.query.redact ? "true" : undefined;
  const found = useAnswer((signal) => both(id, redact, signal), [id, redact]);
  return html`<${Head} title=${`Memory ${id.slice(0, 8)}`}><code class="long">${id}</code> <${Copy} text=${id} label="the id" />
      <a href=${href(`memory/${id}`, {redact: redact ? "" : "1"})}>${redact ? "Show personal data" : "Mask personal data"}</a><//>
    <${Answer} of=${found} show=${(both) => html`<${Shown} ...${both} />`} />`;
}

/**
 * The memory, where the key may read it and it is one, and its account.
 * @param {string} id
 * @param {string | undefined} redact
 * @param {AbortSignal} signal
 */
async function both(id, redact, signal) {
  const at = /** @type {const} */ (`memories/${segment(id)}`);
  const one = may("read") ? get(at, {redact}, signal).catch((error) => {
    if (error instanceof Failed && error.status === 404) return null;
    throw error;
  }) : null;
  const [memory, explained] = await Promise.all([one, get(`${at}/explain`, {redact}, signal)]);
  return {memory, ...explained};
}

/** @param {{memory: Api.Shown | null} & Api.Explained} props */
function Shown({memory, account, lines, numbers}) {
  const told = sections(lines);
  return html`<div class="memory">
    <div class="main">
      <${Text} memory=${memory} account=${account} />
      <section class="verdict" aria-label="What became of it">${told.head.map((line) => html`<p><${Words} text=${line} /></p>`)}</section>
      <${Timeline} account=${account} />
      <${Strength} account=${account} />
      ${told.rest.filter(([title]) => title !== "What happened").map(([title, rows]) => html`<${Part} title=${title}>${rows.map((line) => html`<${Line} text=${line} />`)}<//>`)}
      <${Votes} account=${account} />
      <${Steps} id=${account.memory_id} />
      <${Part} title="With all numbers"><details><summary>${many(numbers.length, "line")}</summary><pre>${numbers.map((line) => html`<${Words} text=${`${line}\n`} />`)}</pre></details><//>
    </div>
    <aside class="beside"><${Known} memory=${memory} account=${account} /><${Born} born=${account.born} /><${Links} memory=${memory} account=${account} /></aside>
  </div>`;
}

/**
 * The lines of an account: those before the first heading, and those under each.
 * @param {string[]} lines
 */
function sections(lines) {
  const found = {head: /** @type {string[]} */ ([]), rest: /** @type {[string, string[]][]} */ ([])};
  let under = found.head, fresh = false;
  for (const line of lines) {
    if (line.startsWith("This is memory ")) continue; // the title says so
    if (!line.trim()) fresh = true;
    else if (fresh && !line.startsWith(" ") && !line.endsWith(".")) {
      /** @type {string[]} */ (under = []);
      found.rest.push([line, under]);
      fresh = false;
    } else {
      if (fresh && !line.startsWith(" ")) under = found.head;
      fresh = false;
      under.push(line.trim());
    }
  }
  return found;
}

/** A line of an account; a command in it can be copied. */
function Line({text}) {
  const [, what, command] = text.match(/^(.*?) {2,}(memquorum .*)$/) ?? [];
  if (!command) return html`<p class="line"><${Words} text=${text} /></p>`;
  return html`<p class="line do"><span>${what}</span> <code>${command}</code> <${Copy} text=${command} label="the command" /></p>`;
}

/** @param {{memory: Api.Shown | null, account: Api.Explained["account"]}} props */
function Text({memory, account}) {
  const tier = memory?.tier ?? account.tier;
  const body = memory?.text !== null && memory?.text !== undefined
    ? html`<blockquote><${Words} text=${memory.text} cut=${65536} marked=${struck(memory)} /></blockquote>`
    : html`<${Nothing}>${may("read") ? NO_TEXT[tier] ?? `It has no text that can be shown: ${tier}.` : `Your key may not read texts. It is ${tier}.`}<//>`;
  return html`<div class="text"><p><${Tier} tier=${tier} /> ${memory && html`<a href=${href("memories", {agent: memory.agent})}><${Words} text=${memory.agent} /></a> in ${account.namespace}`}</p>${body}${memory && html`<${Marks} one=${memory} />`}</div>`;
}

const NO_TEXT = {
  gone: "Its text cannot be read any more: its key was destroyed.",
  sealed: "Its text is not shown while it is sealed. A vote can bring it back.",
  erased: "It was erased: its key was destroyed by an order.",
  "never stored": "The episode became no memory, so there is no text.",
};

// The timeline -----------------------------------------------------------------------------------------------------------

/** Everything that happened to it, and what comes next, in order of time. */
function happened(account) {
  const {born} = account, found = [];
  const add = (at, what, tone = "", clock = "shard") => at && found.push({at, what, tone, clock});
  if (born) add(born.occurred_at, html`${born.summary ? "A summary was made of its sources" : html`<${Words} text=${born.agent} /> recorded it: ${many(born.characters, "character")}`}; outcome <b>${spoken(born.outcome)}</b>`, "start", "agent");
  for (const use of account.uses) add(use.at, html`<${Words} text=${use.agent} /> ${use.how === "accessed" ? "read it" : "said it again"}`, "use", "agent");
  for (const one of account.rehearsals) add(one.at, html`A check of old memories: ${spoken(one.verdict)}; salience ${ppm(one.before_ppm)} → ${ppm(one.after_ppm)}${one.witness && html` by <${MemoryLink} id=${one.witness} />`}`);
  for (const vote of account.votes) add(vote.as_of, html`<${EpochLink} shard=${vote.shard} epoch=${vote.epoch}>Epoch ${vote.epoch}<//>: ${CHANGES.includes(vote.outcome) ? "the members voted" : "the members were asked"} ${KINDS[vote.kind] ?? vote.kind}, ${vote.yes} of ${vote.members} for it: <${Outcome} outcome=${vote.outcome} />`, "vote");
  for (const one of account.superseded) {
    if (one.epoch === null) add(one.at, html`<${MemoryLink} id=${one.by} /> ${one.cleared ? "cleared its slot" : "took its place"}`, "end");
    if (one.back_at && one.back_epoch === null) add(one.back_at, "It came back", "start");
  }
  for (const by of account.protected) add(by.accepted_at, html`<${Words} text=${by.ordered_by ?? "somebody"} /> asked for it to be kept (${by.kind})`, "keep");
  for (const one of account.waiting) add(one.accepted_at, html`<${Words} text=${one.ordered_by} /> asked to ${one.action} it; members have not voted yet`, "vote");
  for (const one of account.sent) add(one.at, html`Its text was sent to <${Words} text=${one.recipient} />`);
  if (account.erased) add(account.erased.accepted_at, html`<${Words} text=${account.erased.ordered_by} /> had it erased (<a class="id" href=${href("orders", {order: account.erased.order_id})}>order ${account.erased.order_id.slice(0, 8)}</a>); its key was destroyed at once`, "end");
  else if (account.tier === "gone" && account.changed) add(account.changed, "Its key was destroyed. Nobody can read it any more", "end");
  return found.sort((one, other) => one.at - other.at);
}

function coming(account) {
  return [
    [account.due_at, "It may be put to the vote from here on, if nobody uses it"],
    [account.expires_at !== account.due_at ? account.expires_at : null, "Its decay score will be low enough for a vote"],
    [account.aged_at !== account.due_at ? account.aged_at : null, "It will be older than its type may become"],
    [account.erases_at, "A rule of retention erases it, without a vote"],
    [account.sealed_until, "Its key is destroyed, unless members bring it back"],
    [account.stopped_until, "Its namespace may forget again: until then a cap stops it"],
  ].filter(([at]) => at).sort(([one], [other]) => one - other);
}

function Timeline({account}) {
  const past = happened(account), next = account.erased ? [] : coming(account);
  return html`<${Part} title="What happened" tools=${html`<span class="muted">The shard's clock says <${Time} ms=${account.as_of} /></span>`}>
    <ol class="timeline">${past.map((one) => html`<li class=${one.tone}><${Time} ms=${one.at} clock=${one.clock} /><span>${one.what}</span></li>`)}
      <li class="now"><${Time} ms=${account.as_of} /><span>Now: <${Tier} tier=${account.tier} /></span></li>
      ${next.map(([at, what]) => html`<li class="next"><${Time} ms=${at} /><span>${what} <span class="muted">${at > account.as_of ? `in ${span(at - account.as_of)}` : `since ${span(account.as_of - at)}`}</span></span></li>`)}
    </ol><//>`;
}

// Its strength ----------------------------------------------------------------------------------------------------------

/** Its strength over time, with each use, and when it falls under the threshold if nobody uses it. */
function Strength({account}) {
  const found = useAnswer((signal) => get(`policy/${segment(account.namespace)}`, {}, signal), [account.namespace]);
  const shown = ["short-term", "long-term", "sealed", "superseded"].includes(account.tier) && account.born;
  return shown ? html`<${Part} title="Strength" tools=${html`<span class="muted">by the policy in force now</span>`}>
    <${Answer} of=${found} show=${(/** @type {Api.PolicyInForce} */ policy) => html`<${Course} account=${account} decay=${policy.sections.decay} />`} /><//>` : null;
}

/** @param {{account: Api.Explained["account"], decay: import("../lib/strength.js").Decay}} props */
function Course({account, decay}) {
  const of = curve(account, decay);
  if (!of) return html`<p class="muted">It is too young for a curve.</p>`;
  const x = (/** @type {number} */ at) => 34 + (596 * (at - of.from)) / (of.to - of.from), y = (/** @type {number} */ value) => 130 - 115 * value;
  const line = (/** @type {[number, number][]} */ points) => points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  const left = of.points.filter(([at]) => at <= of.now).at(-1)?.[1] ?? 0, inside = of.falls !== null && of.falls <= of.to;
  const said = `${of.ended ? "At the end it had" : "It has"} ${share(left)} of its strength.${of.falls === null ? "" : of.falls > of.now ? ` Unless somebody uses it, it falls under ${decay.delta} in ${span(of.falls - of.now)}, and the members may vote on it then.` : ` It has been under ${decay.delta} for ${span(of.now - of.falls)}, so the members may vote on it.`}`;
  return html`<p>${said} ${of.falls !== null && html`<span class="muted"><${Time} ms=${of.falls} /></span>`}</p>
    <svg class="chart strength" viewBox="0 0 640 150" role="img" aria-label=${said}>
      <line class="grid" x1="34" x2="630" y1=${y(0)} y2=${y(0)} /><text x="4" y=${y(1) + 4}>1</text><text x="4" y=${y(0) + 4}>0</text>
      <line class="threshold" x1="34" x2="630" y1=${y(decay.delta)} y2=${y(decay.delta)} /><text x="4" y=${y(decay.delta) + 4}>${decay.delta}</text>
      <polyline points=${line(of.points.filter(([at]) => at <= of.now))} /><polyline class="next" points=${line(of.points.filter(([at]) => at >= of.now))} />
      ${of.uses.map(([at, what]) => html`<circle cx=${x(at)} cy=${y(1)} r="3.5"><title>${`${moment(at)}: ${what}`}</title></circle>`)}
      <line class="today" x1=${x(of.now)} x2=${x(of.now)} y1="10" y2="132" /><text x=${x(of.now)} y="146" text-anchor="middle">${of.ended ? "end" : "now"}</text>
      ${inside && html`<circle class="falls" cx=${x(of.falls ?? 0)} cy=${y(decay.delta)} r="3.5"><title>${`It falls under ${decay.delta} at ${moment(of.falls ?? 0)}`}</title></circle>`}
      <text x="34" y="146">${moment(of.from).slice(0, 11)}</text>
    </svg>`;
}

/** Who was for it and who against it, in words; a side without anybody is left out. */
function sides(opinions) {
  const names = (yes) => opinions.filter((one) => one.yes === yes).map((one) => one.name).join(", ");
  return [["for it", names(true)], ["against it", names(false)]].filter(([, found]) => found);
}

function Votes({account}) {
  if (!account.votes.length) return null;
  return html`<${Part} title="Votes" tools=${html`<a href=${href("decisions", {ns: account.namespace, memory: account.memory_id})}>All decisions about it</a>`}>
    <${Table} caption="Votes on this memory" rows=${account.votes} keyed=${(one) => one.epoch} columns=${[
      {name: "Epoch", of: (one) => html`<${EpochLink} shard=${one.shard} epoch=${one.epoch} />`},
      {name: "When", about: "By the shard's clock", of: (one) => html`<${Time} ms=${one.as_of || null} />`},
      {name: "Vote", of: (one) => one.kind}, {name: "Outcome", of: (one) => html`<${Outcome} outcome=${one.outcome} />`},
      {name: "For it", of: (one) => html`<${Quorum} vote=${one} kind=${one.kind} />${sides(one.opinions).map(([side, names]) => html`<span class="note below">${side}: <${Words} text=${names} /></span>`)}`},
    ]} /><//>`;
}

// Steps ----------------------------------------------------------------------------------------------------------------

/** The recorded steps of the memory through the fleet, asked for when they are opened. */
function Steps({id}) {
  const [open, set] = useState(false);
  const found = useAnswer(open ? (signal) => get(`memories/${segment(id)}/trace`, {}, signal) : null, [id, open]);
  return html`<${Part} title="Steps through the fleet"><details onToggle=${(event) => set(event.currentTarget.open)}><summary>Where it was when, and where it waited</summary>
    <${Answer} of=${found} show=${({spans}) => (spans.length ? traces(spans).map((trace) => html`<${Waterfall} spans=${trace} />`) : html`<${Nothing}>No step was recorded here: traces are switched off, or are sent to a collector.<//>`)} /></details><//>`;
}

/** The spans by their traces, in order. */
const traces = (spans) => [...new Set(spans.map((one) => one.trace))].map((trace) => spans.filter((one) => one.trace === trace));

/** @param {{spans: Api.TraceSpan[]}} props */
function Waterfall({spans}) {
  const from = Math.min(...spans.map((one) => one.start_ms)), to = Math.max(...spans.map((one) => one.start_ms + one.took_ms)), whole = Math.max(0.001, to - from);
  return html`<h3>Trace ${spans[0].trace.slice(0, 8)}, <${Time} ms=${from} clock="wall" />, ${whole.toFixed(1)} ms</h3>
    <ol class="waterfall">${spans.map((one) => {
      const start = one.start_ms - from, waited = one.waited_ms ?? 0;
      return html`<li><span class="step" style=${{paddingLeft: `${one.depth * 12}px`}} title=${Object.entries(one.marks).map(([name, value]) => `${name} ${value}`).join(", ")}>${one.name} <span class="muted">${one.service}</span></span>
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${`from ${start.toFixed(1)} ms for ${one.took_ms.toFixed(1)} ms`}>${waited > 0 && html`<rect class="waited" x=${(100 * Math.max(0, start - waited)) / whole} width=${(100 * waited) / whole} y="3" height="2" />`}<rect class="took" x=${(100 * start) / whole} width=${Math.max(0.6, (100 * one.took_ms) / whole)} y="1" height="6" /></svg>
        <span class="muted">${one.took_ms.toFixed(1)} ms${waited > 0 ? `, waited ${waited.toFixed(1)}` : ""}</span></li>`;
    })}</ol>`;
}

// What is known ----------------------------------------------------------------------------------------------------------

/** @param {{memory: Api.Shown | null, account: Api.Explained["account"]}} props */
function Known({memory, account}) {
  const profile = account.profile;
  return html`<${Part} title="What is known of it"><${Facts} rows=${[
    ["Namespace", account.namespace], ["Shard", count(account.shard)], ["Agent", memory && html`<${Words} text=${memory.agent} />`],
    ["Subject", memory?.subject && html`<a href=${href("memories", {subject: memory.subject})}><${Words} text=${memory.subject} /></a>`],
    ["Type", memory?.type], ["Said last", memory && html`<${Time} ms=${memory.occurred_at} clock="agent" />`],
    ["Said first", memory?.first_at && html`<${Time} ms=${memory.first_at} clock="agent" />`],
    ["Last use", account.last_access && html`<${Time} ms=${account.last_access} />`],
    ["Read", many(account.accesses, "time")], ["Said again", many(account.reinforced, "time")],
    ["Salience", account.salience_ppm !== null && ppm(account.salience_ppm)],
    ["Decay left", profile && html`<span class="with-bar"><${Bar} value=${profile.decay_ppm} whole=${1e6} label=${`Decay ${ppm(profile.decay_ppm)}`} />${ppm(profile.decay_ppm)}</span>`],
    ["Confidence", account.confidence_ppm !== null && ppm(account.confidence_ppm)],
    ["Path", account.path && html`<${Words} text=${account.path} />`], ["Key", account.key && html`<${Words} text=${account.key} />`],
    ["Attributes", account.attributes && html`<${Words} text=${JSON.stringify(account.attributes)} />`],
    ["Sensitivity", memory && memory.sensitivity > 0 && share(memory.sensitivity)], ["Purposes", memory?.purposes?.join(", ")],
    ["Laws", memory?.jurisdictions?.join(", ")], ["Policy", `version ${account.policy_version}`],
    ["Event", memory && html`<${Words} text=${memory.event_id} />`],
  ]} /><//>`;
}

/** Why the episode was stored: its signals with their weights. */
function Born({born}) {
  if (!born || !born.signals.length) return null;
  return html`<${Part} title="Why it was stored"><p>Salience <b>${ppm(born.salience_ppm)}</b>: ${spoken(born.outcome)}${born.explicit ? ", on purpose" : ""}.</p>
    <dl class="facts">${born.signals.map((one) => html`<div><dt>${one.name} <span class="muted">× ${one.weight}</span></dt><dd class="with-bar"><${Bar} value=${one.value_ppm} whole=${1e6} label=${`${one.name} ${ppm(one.value_ppm)}`} />${ppm(one.value_ppm)}</dd></div>`)}</dl>
    <${Facts} rows=${[["Uncertainty", born.uncertainty_ppm !== null && ppm(born.uncertainty_ppm)], ["Encoder", born.encoder], ["Journal entry", count(born.journal_seq)], ["Repeats", born.repeats && html`<${MemoryLink} id=${born.repeats} />`]]} /><//>`;
}

function Links({memory, account}) {
  const {born} = account;
  const ids = (list) => (list?.length ? list.map((id) => html`<${MemoryLink} id=${id} /> `) : null);
  const rows = [
    ["Made of", ids(born?.derives_from)], ["Superseded by", account.superseded.length > 0 && ids([account.superseded.at(-1).by])],
    ["Took the place of", ids(born?.superseded)], ["Merged", ids(account.merged.map((one) => (one.gone === account.memory_id ? one.kept : one.gone)))],
    ["Told by the summary", account.told_by && ids([account.told_by.memory_id])], ["Made anew as", ids(account.renewed.map((one) => one.memory_id))],
    ["Contradicts", ids(account.conflicts.filter((one) => one.newer === account.memory_id).map((one) => one.older))],
    ["Contradicted by", ids(account.conflicts.filter((one) => one.older === account.memory_id).map((one) => one.newer))],
    ...(memory?.links ?? []).map((one) => [one.kind, one.to ? ids([one.to]) : html`<${Words} text=${one.name ?? "a name"} />`]),
  ].filter(([, value]) => value);
  return rows.length ? html`<${Part} title="Links"><${Facts} rows=${rows} /><//>` : null;
}
