// Epochs and votes: what the members decided about the memories of a namespace, the latest first.
import {html, useEffect, useState} from "../lib/base.js";
import {get, post, segment} from "../lib/api.js";
import {day, href, listed, namespace, place} from "../lib/place.js";
import {Answer, Choice, Facts, Field, Filters, Head, Nothing, Pages, Part, Table, useAgain, useAnswer} from "../lib/parts.js";
import {count, EpochLink, many, MemoryLink, share, span, spoken, Time, Words} from "../lib/words.js";
import {everywhere, may} from "../lib/session.js";
import {CHANGES, KINDS, Outcome, OUTCOMES, Quorum, triggered, Waits} from "../lib/votes.js";

const FIELDS = ["kind", "outcome", "memory", "since", "until", "shard"];

export default function Decisions() {
  const {query} = place.value, by = query.by === "epoch";
  const tab = (name, title) => html`<a href=${href("decisions", {...query, by: name, cursor: "", back: "", outcome: ""})} aria-current=${(query.by ?? "") === name ? "true" : undefined}>${title}</a>`;
  return html`<${Head} title="Epochs and votes" about="What the members decided about the memories of this namespace. Every vote is told from its certificate.">
      <div class="tabs" role="group" aria-label="List">${tab("", "What changed")}${tab("all", "All votes")}${tab("epoch", "Epochs")}</div>
    <//>
    <${Filters} fields=${FIELDS}>
      <${Choice} name="kind" label="Vote" values=${Object.keys(KINDS)} />
      ${!by && html`<${Choice} name="outcome" label="Outcome" any=${query.by === "all" ? "any" : "what changed"} values=${OUTCOMES} /><${Field} name="memory" label="Memory" placeholder="its id" />`}
      <${Field} name="since" label="Decided since" type="date" about="By the shard's clock, UTC" /><${Field} name="until" label="Decided before" type="date" about="By the shard's clock, UTC" />
      ${by && everywhere() && may("audit") && html`<${Field} name="shard" label="Shard" type="number" min="0" about="All its epochs, in place of the namespace's own" />`}
      <button>Apply</button> <a href=${href("decisions", {by: query.by})}>Clear</a>
    <//>
    <${Drafts} key=${`drafts of ${namespace.value}`} />
    <${OpenEpoch} key=${`${namespace.value} ${query.shard}`} />
    ${by ? html`<${ByEpoch} key="epochs" />` : html`<${ByVote} key="votes" />`}`;
}

/** What waits for the next epoch. */
function Drafts() {
  const ns = namespace.value, found = useAgain((signal) => get(`namespaces/${segment(ns)}`, {}, signal), [ns], 5 * AGAIN_MS);
  return found.value ? html`<${Waits} state=${found.value} />` : null;
}

/** The shard whose epochs are shown in place of the namespace's own, to who audits all namespaces. */
const by_shard = () => (everywhere() && may("audit") && place.value.query.by === "epoch" && place.value.query.shard ? Number(place.value.query.shard) : null);

const AGAIN_MS = 2000, STEPS = ["pre-prepare", "prepare", "commit"];

/** The epoch that members vote on now; it is asked for again while the page is looked at. */
function OpenEpoch() {
  const ns = namespace.value, shard = by_shard(), [last, keep] = useState(/** @type {Api.OpenEpoch | null} */ (null));
  const found = useAgain((signal) => shard === null ? get(`epochs/${segment(ns)}/open`, {}, signal) : get(`shards/${shard}/open`, {}, signal), [ns, shard], AGAIN_MS), one = found.value;
  useEffect(() => {
    if (one?.epoch) keep(one);
  }, [one]);
  if (found.state === "failed") return html`<p class="note warn" role="status">Whether members vote on something now is not known: ${found.error instanceof Error ? found.error.message : ""}</p>`;
  if (!one) return null;
  if (one.epoch !== null) return html`<${Part} title="Voted on now" tools=${html`<span class="badge good" role="status">open</span>`}><${Underway} one=${one} /><//>`;
  return html`<p class="muted apart" role="status">Members vote on nothing ${shard === null ? "here" : `in shard ${shard}`} at this moment.${last && html` Epoch <${EpochLink} shard=${last.shard} epoch=${last.epoch} /> was open a moment ago.`}</p>`;
}

function Underway({one}) {
  const cast = one.ballots.filter((ballot) => ballot.at !== null), after = (at) => html`<${Time} ms=${at} clock="wall" /> <span class="muted">${span(Math.max(0, at - one.opened_at))} later</span>`;
  const phases = STEPS.map((name) => [name, one.steps.filter((step) => step.step === name)]);
  return html`<${Facts} rows=${[
      ["Epoch", `${count(one.epoch)} of shard ${count(one.shard)}`], ["Opened because", triggered(one.trigger)], ["Opened", html`<${Time} ms=${one.opened_at} clock="wall" />`],
      ["Ballots", html`${count(cast.length)} of ${count(one.members)}${cast.length > 0 && html`, the last ${after(Math.max(...cast.map((ballot) => ballot.at)))}`}`],
      ...phases.map(([name, steps]) => [spoken(name), steps.length ? html`${many(steps.length, "member")}, the first ${after(steps[0].at)}` : "not yet"]),
    ]} />
    <div class="scroll"><table class="matrix" aria-label="Ballots so far"><thead><tr><th scope="col">Member</th><th scope="col">Ballot</th>${one.proposals.slice(0, MOST).map((each) => html`<th scope="col"><a href=${href(`memory/${each.memory_ids[0]}`)} title=${each.memory_ids.join(", ")}><span class="kind">${each.kind}</span> ${each.memory_ids[0].slice(0, 4)}</a></th>`)}</tr></thead>
      <tbody>${one.ballots.map((ballot) => html`<tr><th scope="row"><${Words} text=${ballot.name} /> <span class="muted">${share(ballot.voice_ppm / 1e6)}</span></th><td>${ballot.at === null ? html`<span class="muted">awaited</span>` : after(ballot.at)}</td>${one.proposals.slice(0, MOST).map((each) => (ballot.at === null ? html`<td class="silent">·</td>` : ballot.yes.includes(each.position) ? html`<td class="yes">✓<span class="sr"> for it</span></td>` : html`<td class="no">✕<span class="sr"> against it</span></td>`))}</tr>`)}</tbody></table></div>
    ${one.proposals.slice(0, MOST).map((each) => html`<article class="proposal" key=${each.position}><header><b>${each.kind}</b> ${one.namespace === null && html`<span class="muted apart">in <${Words} text=${each.namespace} /></span> `}${each.memory_ids.map((id) => html`<${MemoryLink} id=${id} /> `)}</header><${Quorum} vote=${{...each, members: one.members, total_ppm: one.total_ppm}} /></article>`)}
    ${one.proposals.length > MOST && html`<p class="muted">and ${many(one.proposals.length - MOST, "more proposal")}</p>`}
    <p class="muted">Read from the members' signed messages, each checked. Times are those of the senders' clocks. Nothing is decided before ${many(one.quorum, "member")} have committed.</p>`;
}

const MOST = 10;

const asked = (query, ns) => ({namespace: ns, kinds: listed(query.kind), since: day(query.since), until: day(query.until), cursor: query.cursor});

function ByVote() {
  const {query} = place.value, ns = namespace.value;
  const outcomes = query.outcome ? listed(query.outcome) : query.by === "all" || query.memory ? [] : CHANGES;
  const body = {...asked(query, ns), outcomes, memory_id: query.memory, limit: 20};
  const found = useAnswer((signal) => post("decisions/list", body, signal), [JSON.stringify(body)]);
  return html`<${Answer} of=${found} show=${(/** @type {Api.Decisions} */ page) => html`
    ${page.decisions.length ? html`<${Table} caption="Votes" rows=${page.decisions} keyed=${(one) => `${one.epoch}.${one.position}`} columns=${VOTES} />` : html`<${Nothing}>The members have not decided anything like that in <b>${ns}</b>. They vote when an epoch opens: after enough interactions, or when its time has come.<//>`}
    <${Pages} next=${page.next} shown=${many(page.decisions.length, "vote")} />`} />`;
}

/** Why it ended so: the first sentence without its beginning, which the other columns have. */
function reason(one) {
  const said = (one.lines[0] ?? one.why).replace(/^[^:]{0,60}: /, "");
  return `${said.slice(0, 1).toUpperCase()}${said.slice(1)}`;
}

/** @type {import("../lib/parts.js").Column<Api.Decision>[]} */
const VOTES = [
  {name: "Decided", about: "By the shard's clock", of: (one) => html`<${Time} ms=${one.as_of} />`},
  {name: "Epoch", of: (one) => html`<${EpochLink} shard=${one.shard} epoch=${one.epoch} />`},
  {name: "Outcome", about: "And what the vote was to do", of: (one) => html`<${Outcome} outcome=${one.outcome} /> <span class="note" title=${KINDS[one.kind] ?? ""}>to ${one.kind}</span>`},
  {name: "Memories", of: (one) => html`${one.memories.slice(0, 3).map((memory) => html`<span class="named"><${MemoryLink} id=${memory.memory_id} /> <span class="muted">now ${memory.state}</span></span>`)}${one.memories.length > 3 && html`<${EpochLink} shard=${one.shard} epoch=${one.epoch}>${many(one.memories.length - 3, "more", "more")}<//>`}`},
  {name: "Why", kind: "words", of: (one) => html`<${Words} text=${reason(one)} />${one.policy && html`<span class="note">budget policy ${one.policy}</span>`}`},
  {name: "For it", of: (one) => html`<${Quorum} vote=${one.vote} kind=${one.kind} />`},
];

function ByEpoch() {
  const {query} = place.value, ns = namespace.value;
  const shard = by_shard(), body = {...asked(query, ns), ...(shard === null ? {} : {namespace: undefined, shard}), limit: 50};
  const found = useAnswer((signal) => post("epochs/list", body, signal), [JSON.stringify(body)]);
  return html`<${Answer} of=${found} show=${(/** @type {Api.Epochs} */ page) => html`
    ${page.epochs.length ? html`<${Table} caption="Epochs" rows=${page.epochs} keyed=${(one) => one.epoch} columns=${EPOCHS} />` : html`<${Nothing}>No epoch had a vote like that in <b>${shard === null ? ns : `shard ${shard}`}</b>.<//>`}
    <${Pages} next=${page.next} shown=${many(page.epochs.length, "epoch")} />`} />`;
}

/** @type {import("../lib/parts.js").Column<Api.Epoch>[]} */
const EPOCHS = [
  {name: "Epoch", of: (one) => html`<${EpochLink} shard=${one.shard} epoch=${one.epoch} />`},
  {name: "Decided", about: "By the shard's clock", of: (one) => html`<${Time} ms=${one.as_of} />`},
  {name: "Opened because", of: (one) => triggered(one.trigger)},
  {name: "Outcomes", of: (one) => Object.entries(one.outcomes).map(([outcome, number]) => html`<a class="named" href=${href("decisions", {outcome, by: outcome === "kept" ? "all" : ""})}><${Outcome} outcome=${outcome} /> ${count(number)}</a>`)},
  {name: "Configuration", kind: "number", of: (one) => count(one.config)},
  {name: "Journal entry", kind: "number", of: (one) => count(one.journal_seq)},
];
