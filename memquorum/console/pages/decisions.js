// Epochs and votes: what the members decided about the memories of a namespace, the latest first.
import {html} from "../lib/base.js";
import {post} from "../lib/api.js";
import {day, href, listed, namespace, place} from "../lib/place.js";
import {Answer, Choice, Field, Filters, Head, Nothing, Pages, Table, useAnswer} from "../lib/parts.js";
import {count, EpochLink, many, MemoryLink, Time, Words} from "../lib/words.js";
import {CHANGES, KINDS, Outcome, OUTCOMES, Quorum, triggered} from "../lib/votes.js";

const FIELDS = ["kind", "outcome", "memory", "since", "until"];

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
      <button>Apply</button> <a href=${href("decisions", {by: query.by})}>Clear</a>
    <//>
    ${by ? html`<${ByEpoch} key="epochs" />` : html`<${ByVote} key="votes" />`}`;
}

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
  {name: "For it", about: "In brackets: what a decision needs", of: (one) => html`<${Quorum} vote=${one.vote} />`},
];

function ByEpoch() {
  const {query} = place.value, ns = namespace.value;
  const body = {...asked(query, ns), limit: 50};
  const found = useAnswer((signal) => post("epochs/list", body, signal), [JSON.stringify(body)]);
  return html`<${Answer} of=${found} show=${(/** @type {Api.Epochs} */ page) => html`
    ${page.epochs.length ? html`<${Table} caption="Epochs" rows=${page.epochs} keyed=${(one) => one.epoch} columns=${EPOCHS} />` : html`<${Nothing}>No epoch had a vote like that in <b>${ns}</b>.<//>`}
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
