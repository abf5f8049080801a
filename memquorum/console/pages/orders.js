// Orders, erasures, audit: what was ordered and what came of it; an erasure, previewed first; and what went wrong.
import {html, useEffect, useRef, useState} from "../lib/base.js";
import {get, post, segment} from "../lib/api.js";
import {go, href, listed, namespace, place} from "../lib/place.js";
import {Answer, Bar, Choice, Copy, Facts, Failure, Field, Filters, Head, Nothing, Pages, Part, Table, useAnswer, Waiting} from "../lib/parts.js";
import {everywhere, may} from "../lib/session.js";
import {count, EpochLink, many, MemoryLink, spoken, Tier, Time, Words} from "../lib/words.js";

/** @type {Record<string, [string, string[], () => unknown]>} */
const TABS = {
  "": ["Orders", ["forget", "erase", "audit"], () => html`<${Orders} />`],
  erase: ["Erase", ["erase"], () => html`<${Erase} />`],
  protected: ["Pins, holds, goals", ["read", "audit"], () => html`<${Protected} />`],
  letters: ["Dead letters", ["audit"], () => html`<${Letters} />`],
  evidence: ["Evidence", ["audit"], () => html`<${Evidence} />`],
};

export default function Page() {
  const first = Object.entries(TABS).find(([, [, rights]]) => may(...rights))?.[0] ?? "";
  const tab = place.value.query.tab ?? first, id = place.value.path[1];
  if (id) return html`<${Order} id=${id} />`;
  const [, rights, show] = TABS[tab] ?? TABS[""];
  return html`<${Head} title="Orders, erasures, audit" about="Orders are signed, stand in the journal, and are answered by it. An erasure needs no vote; members attest it afterwards.">
      <div class="tabs" role="group" aria-label="Shown">${Object.entries(TABS).map(([name, [title]]) => html`<a href=${href("orders", {tab: name})} aria-current=${tab === name ? "true" : undefined}>${title}</a>`)}</div><//>
    ${may(...rights) ? show() : html`<div class="failure" role="alert"><strong>Your key may not see this</strong><p>It needs the right ${rights.join(" or ")}.</p></div>`}`;
}

// Orders ---------------------------------------------------------------------------------------------------------------

function Orders() {
  const {query} = place.value, ns = namespace.value;
  const body = {namespace: ns, kinds: listed(query.kind), cursor: query.cursor, limit: 50};
  const found = useAnswer((signal) => post("orders/list", body, signal), [JSON.stringify(body)]);
  return html`<${Filters} fields=${["kind"]}><${Choice} name="kind" label="Orders to" values=${[["erase", "erase"], ["protect", "protect: pins, holds, goals"], ["restore", "restore, forget, roll back"]]} /><//>
    <${Answer} of=${found} show=${(page) => html`${page.orders.length ? html`<${Table} caption="Orders" rows=${page.orders} keyed=${(one) => one.order_id} columns=${ORDERS} />` : html`<${Nothing}>No order of that kind was answered in <b>${ns}</b>.<//>`}<${Pages} next=${page.next} shown=${many(page.orders.length, "order")} />`} />`;
}

const TONES = {erased: "bad", withheld: "warn", "in force": "good", decided: "changed", asked: ""};
const Status = ({status}) => html`<span class=${`badge ${TONES[status] ?? ""}`}>${status}</span>`;
const ORDERS = [
  {name: "Answered", about: "By the shard's clock", of: (one) => html`<${Time} ms=${one.accepted_at} />`},
  {name: "Order", of: (one) => html`<a class="id" href=${href(`orders/${one.order_id}`)}>${one.order_id.slice(0, 8)}</a>`},
  {name: "What", kind: "words", of: (one) => html`<${Words} text=${what(one)} />`},
  {name: "By", of: (one) => html`<${Words} text=${one.ordered_by} />${one.reference && html`<span class="note below"><${Words} text=${one.reference} /></span>`}`},
  {name: "Result", of: (one) => html`<${Status} status=${one.status} /> ${one.took && many(one.took.memories, "memory", "memories")}`},
  {name: "Members", of: (one) => (one.epoch !== null ? html`<${EpochLink} shard=${one.shard} epoch=${one.epoch}>epoch ${one.epoch}<//>` : html`<span class="none">–</span>`)},
];

/** What an order says, in words. */
function what({kind, says}) {
  if ("selector" in says) return says.value ? `erase ${says.selector} ${says.value}` : "erase everything";
  const ids = says.memory_ids ?? (says.memory_id ? [says.memory_id] : []);
  return `${says.action ?? kind} ${says.goal ?? ""} ${ids.map((id) => id.slice(0, 8)).join(", ")}`.trim();
}

function Order({id}) {
  const found = useAnswer((signal) => get(`orders/${segment(id)}`, {}, signal), [id]);
  return html`<${Head} title=${`Order ${id.slice(0, 8)}`}><code class="long">${id}</code> <${Copy} text=${id} label="the id" /> <a href=${href("orders")}>All orders</a><//>
    <${Answer} of=${found} show=${(one) => html`<p class="ordered"><b><${Words} text=${what(one)} /></b> <${Status} status=${one.status} /></p>
      <${Facts} rows=${[["Namespace", one.namespace], ["Ordered by", html`<${Words} text=${one.ordered_by} />`], ["Reference", one.reference && html`<${Words} text=${one.reference} />`], ["Ordered", html`<${Time} ms=${one.ordered_at} clock="wall" /> <span class="muted">by the clock of who ordered it</span>`], ["Answered", html`<${Time} ms=${one.accepted_at} /> <span class="muted">by the shard's clock</span>`], ["Journal entry", `${count(one.journal_seq)} of shard ${one.shard}`], ["Members", one.epoch !== null && html`<${EpochLink} shard=${one.shard} epoch=${one.epoch}>epoch ${one.epoch}<//>`], ["Why", one.why && html`<${Words} text=${one.why} />`]]} />
      ${one.took && html`<${Facts} rows=${[["Memories destroyed", count(one.took.memories)], ["Episodes", count(one.took.episodes)], ["Summaries among them", count(one.took.summaries)], ["Of these made anew, if members agree", count(one.took.anew)], ["Remains may lie in files until", html`<${Time} ms=${one.took.residue_until} /> <span class="muted">by the shard's clock</span>`], ["To be told, as they were sent parts", one.took.recipients.join(", ")]]} />`}
      ${one.memories.map((memory) => html`<p><${MemoryLink} id=${memory.memory_id} /> <span class="badge">${memory.status}</span> ${memory.detail}</p>`)}
      ${one.kind === "erase" && may("erase", "audit") && html`<${Receipt} id=${id} />`}`} />`;
}

// The receipt ----------------------------------------------------------------------------------------------------------

function Receipt({id}) {
  const found = useAnswer((signal) => get(`orders/${segment(id)}/receipt`, {}, signal), [id]);
  const [checks, set] = useState(/** @type {{name: string, holds: boolean, why: string}[] | null} */ (null)), [wrong, fail] = useState("");
  const check = async (event, receipt) => {
    const [file] = event.target.files;
    if (!file) return;
    fail("");
    try {
      const {verify} = await import("../lib/receipt.js");
      set(await verify(receipt, await file.arrayBuffer()));
    } catch (error) {
      fail(`That is no genesis file, or no receipt that this page can read: ${error instanceof Error ? error.message : error}`);
    }
  };
  return html`<${Part} title="Receipt"><${Answer} of=${found} show=${(receipt) => html`
    <p>${receipt.attested ? html`Members attested it in epoch ${receipt.attested.epoch}; the service has checked their certificate.` : "The members have not decided yet that the order is genuine; the receipt says so."}</p>
    <p><a class="button" href=${`data:application/json,${encodeURIComponent(JSON.stringify(receipt, null, 2))}`} download=${`receipt-${id}.json`}>Keep the receipt as a file</a></p>
    <${Went} receipt=${receipt} />
    <${Verifying} id=${id} />
    <label class="field grow"><span>Verify it in this page: choose the genesis file that you got from a source you trust</span><input type="file" accept=".json,application/json" onChange=${(event) => check(event, receipt)} /></label>
    ${wrong && html`<p class="failure" role="alert">${wrong}</p>`}
    ${checks && html`<ul class="checks" role="status">${checks.map((one) => html`<li class=${one.holds ? "holds" : "fails"}><b>${one.holds ? "✓" : "✕"} ${one.name}</b> <span class="muted">${one.why}</span></li>`)}</ul>
      <p class="muted">Verified by this page: the points above. Verified by the service: the members' decision. A signature cannot prove that keys are gone; <code>memquorum admin audit verify</code> looks at the whole store.</p>`}`} /><//>`;
}

const WENT = 20;

/** The memories that an erasure took, by their ids: nothing else is left of them. @param {{receipt: Api.ErasureReceipt}} props */
function Went({receipt}) {
  const each = /** @type {{memory_id: string, was: string}[]} */ (receipt.erased.each), list = (some) => html`<ul class="went">${some.map((one) => html`<li><${MemoryLink} id=${one.memory_id} full /> <span class="muted">was ${spoken(one.was)}</span></li>`)}</ul>`;
  return html`<h3>Which memories went</h3>${list(each.slice(0, WENT))}${each.length > WENT && html`<details><summary>${count(each.length - WENT)} more</summary>${list(each.slice(WENT))}</details>`}`;
}

/** How anybody verifies the receipt without the service, and where the genesis file is. @param {{id: string}} props */
function Verifying({id}) {
  const found = useAnswer(everywhere() && may("audit") ? (signal) => get("fleet", {}, signal) : null, []), file = found.value?.genesis_file;
  if (found.state === "waiting") return html`<p aria-busy="true"></p>`;
  const command = `memquorum receipt verify receipt-${id}.json --genesis ${file ?? ".memquorum/genesis.json"}`;
  return html`<h3>Verify it without this service</h3><p><code class="long">${command}</code> <${Copy} text=${command} label="the command" /></p>
    <p class="muted">${file ? html`The genesis file of this installation is <code class="long">${file}</code> on the service's machine.` : html`The genesis file is <code>genesis.json</code> in the folder of the installation: <code>.memquorum</code> where <code>make up</code> started it.`} Take it from a source that you trust: it is not in the receipt.</p>`;
}

// Erase ----------------------------------------------------------------------------------------------------------------

const SELECTORS = [["subject", "everything about a subject"], ["agent", "everything that an agent wrote"], ["source", "everything from a source"], ["memory_id", "one memory, and what says the same"]];

function Erase() {
  const {query} = place.value, ns = namespace.value;
  const body = query.what && query.value ? {namespace: ns, [query.what]: query.value, dry_run: true, listed: 100} : null;
  const found = useAnswer(body && ((signal) => post("orders/erase", body, signal)), [JSON.stringify(body)]);
  return html`<p class="lead">An erasure destroys keys at once, and nothing brings their content back. First see what would go; nothing is ordered by that.</p>
    <${Filters} fields=${["what", "value"]} label="What to erase"><${Choice} name="what" label="Erase" any="choose" values=${SELECTORS} /><${Field} name="value" label="Its name or id" grow /><button class="first">Preview</button><//>
    <${Answer} of=${found} show=${(preview) => html`<${Preview} preview=${preview} body=${body} />`} />`;
}

function Preview({preview, body}) {
  return html`<${Facts} rows=${[["Memories", html`<b>${count(preview.memories)}</b>`], ["Episodes", count(preview.episodes)], ["Summaries among them", count(preview.summaries)], ["Of these made anew", count(preview.anew)], ["To be told", preview.recipients.join(", ")]]} />
    ${preview.going.length ? html`<${Part} title="Would go"><${Table} caption="Would go" rows=${preview.going} keyed=${(one) => one.memory_id} columns=${[
      {name: "Memory", of: (one) => html`<${MemoryLink} id=${one.memory_id} />`}, {name: "Is", of: (one) => html`<${Tier} tier=${one.was} />`},
      {name: "Agent", of: (one) => html`<${Words} text=${one.agent ?? "–"} />`}, {name: "Recorded", of: (one) => html`<${Time} ms=${one.created} clock="agent" />`},
      {name: "Because", of: (one) => (one.because ? html`made from or repeats <${MemoryLink} id=${one.because} />` : "named")}, {name: "Summary", of: (one) => one.summary ?? "–"},
    ]} />${preview.more > 0 && html`<p class="muted">and ${count(preview.more)} more</p>`}<//>` : html`<${Nothing}>Nothing here has that name, so there is nothing to erase. Names are compared exactly.<//>`}
    <${Stays} title="Would stay although it says the same" rows=${preview.staying} more=${preview.staying_more} />
    <${Stays} title="Would stay although it names that name" rows=${preview.naming} more=${Math.max(0, (preview.naming_count ?? 0) - preview.naming.length)} />
    ${preview.going.length > 0 && html`<${Confirm} body=${body} memories=${preview.memories} />`}`;
}

function Stays({title, rows, more}) {
  if (!rows.length) return null;
  return html`<${Part} title=${title}><${Table} caption=${title} rows=${rows} keyed=${(one) => one.memory_id} columns=${[
    {name: "Memory", of: (one) => html`<${MemoryLink} id=${one.memory_id} />`}, {name: "Agent", of: (one) => html`<${Words} text=${one.agent} />`},
    {name: "Why", kind: "words", of: (one) => spoken(one.why)},
  ]} />${more > 0 && html`<p class="muted">and ${count(more)} more</p>`}<//>`;
}

/** Orders it, once its name was typed again. */
function Confirm({body, memories}) {
  const [typed, type] = useState(""), [state, set] = useState(/** @type {import("../lib/parts.js").Found<Api.Erasure>} */ ({state: "idle", since: 0})), reference = useRef(/** @type {any} */ (null));
  const name = body[place.value.query.what];
  const order = async (event) => {
    event.preventDefault();
    set({state: "waiting", since: performance.now()});
    try {
      const done = await post("orders/erase", {...body, dry_run: false, reference: reference.current.value.trim()});
      set({state: "there", value: done, since: 0});
      if (done.order_id) go(`orders/${done.order_id}`);
    } catch (error) {
      set({state: "failed", error, since: 0});
    }
  };
  if (state.state === "waiting") return html`<${Waiting} since=${state.since} />`;
  if (state.state === "failed") return html`<${Failure} error=${state.error} again=${() => set({state: "idle", since: 0})} />`;
  return html`<${Part} title="Order it"><form class="filters confirm" onSubmit=${order} aria-label="Order the erasure">
    <label class="field grow"><span>Type <b><${Words} text=${name} /></b> to erase ${many(memories, "memory", "memories")} for good</span><input name="typed" value=${typed} onInput=${(event) => type(event.target.value)} autocomplete="off" spellcheck=${false} /></label>
    <label class="field grow"><span>Reference, as of a ticket (it stays in the journal)</span><input ref=${reference} name="reference" autocomplete="off" /></label>
    <button class="danger" disabled=${typed !== name}>Erase for good</button></form><//>`;
}

// Pins, holds, goals ---------------------------------------------------------------------------------------------------

function Protected() {
  const ns = namespace.value, list = (name) => (signal) => post(`${name}/list`, {namespace: ns, limit: 100}, signal);
  const pins = useAnswer(list("pins"), [ns]), holds = useAnswer(list("holds"), [ns]), goals = useAnswer(list("goals"), [ns]);
  const protectors = (rows, none) => (rows.length ? html`<${Table} caption="Protected memories" rows=${rows} keyed=${(one) => one.order_id} columns=${[
    {name: "Since", of: (one) => html`<${Time} ms=${one.accepted_at} />`}, {name: "Memory", of: (one) => html`<${MemoryLink} id=${one.memory_id} />`},
    {name: "By", of: (one) => html`<${Words} text=${one.ordered_by} />`}, {name: "Reference", of: (one) => html`<${Words} text=${one.reference ?? "–"} />`},
    {name: "Order", of: (one) => html`<a class="id" href=${href(`orders/${one.order_id}`)}>${one.order_id.slice(0, 8)}</a>`},
  ]} />` : html`<${Nothing}>${none}<//>`);
  return html`<${Part} title="Pins"><${Answer} of=${pins} show=${(page) => protectors(page.pins, "Nothing is pinned. A pin keeps a memory from being forgotten; an erasure overrides it.")} /><//>
    <${Part} title="Holds"><${Answer} of=${holds} show=${(page) => protectors(page.holds, "The operator holds nothing. A hold also forbids an erasure.")} /><//>
    <${Part} title="Goals"><${Answer} of=${goals} show=${(page) => (page.goals.length ? html`<${Table} caption="Goals" rows=${page.goals} keyed=${(one) => one.goal} columns=${[
      {name: "Goal", of: (one) => html`<${Words} text=${one.goal} />`}, {name: "Needs", of: (one) => html`${count(one.needs)}: ${one.memory_ids.slice(0, 5).map((id) => html`<${MemoryLink} id=${id} /> `)}`},
      {name: "Said last", of: (one) => html`<${Time} ms=${one.said_at} />`}, {name: "Lapses", of: (one) => html`<${Time} ms=${one.lapses_at} />`}, {name: "By", of: (one) => one.ordered_by.join(", ")},
    ]} />` : html`<${Nothing}>No goal is active.<//>`)} /><//>`;
}

// What went wrong ------------------------------------------------------------------------------------------------------

const EVERYWHERE = "This is told to keys with the right audit in all namespaces: it names no namespace.";

function Letters() {
  const reason = place.value.query.reason ?? "";
  const found = useAnswer(everywhere() ? (signal) => get("dead-letters", {}, signal) : null, []);
  return html`<${Answer} of=${found} idle=${html`<${Nothing}>${EVERYWHERE}<//>`} show=${({counts, letters}) => {
    const shown = letters.filter((one) => !reason || one.reason === reason);
    return html`<p class="lead">Records that intake refused in the last hour before the service started, and since. <code>memquorum admin dlq list</code> has all.</p>
      <div class="tiles">${Object.entries(counts).map(([name, number]) => html`<div class="tile"><b><a href=${href("orders", {tab: "letters", reason: name})}>${count(number)}</a></b><span>${spoken(name)}</span></div>`)}</div>
      ${shown.length ? html`<${Table} caption="Dead letters" rows=${shown} keyed=${(one) => one.place} columns=${[
        {name: "Refused", about: "By the clock of intake", of: (one) => html`<${Time} ms=${one.refused_at} clock="wall" />`}, {name: "Reason", of: (one) => html`<span class="badge warn">${spoken(one.reason)}</span>`},
        {name: "Field", of: (one) => one.field ?? "–"}, {name: "What is wrong", kind: "words", of: (one) => html`<${Words} text=${one.detail} />`}, {name: "Was published at", of: (one) => html`<code>${one.place}</code>`},
      ]} />` : html`<${Nothing}>Nothing was refused${reason ? ` as ${spoken(reason)}` : ""}.<//>`}`;
  }} />`;
}

function Evidence() {
  const found = useAnswer(everywhere() ? (signal) => get("evidence", {}, signal) : null, []);
  return html`<${Answer} of=${found} idle=${html`<${Nothing}>${EVERYWHERE}<//>`} show=${({faults, strangers}) => html`
    ${faults.length ? html`<${Table} caption="Faults" rows=${faults} columns=${[
      {name: "First reported", about: "By the broker's clock", of: (one) => html`<${Time} ms=${one.first_at} clock="wall" />`}, {name: "Member", of: (one) => html`<a href=${href("members")}>${one.member}</a> of shard ${one.shard}`},
      {name: "What it signed", kind: "words", of: (one) => one.what}, {name: "Reported by", of: (one) => one.reported_by.join(", ")},
      {name: "Verdict", of: (one) => html`<span class=${`badge ${one.proven ? "bad" : "warn"}`}>${one.proven ? "proven" : "not proven"}</span> ${one.detail}`},
    ]} />` : html`<${Nothing}>No member has signed what no honest member signs, as far as others reported.<//>`}
    ${strangers > 0 && html`<p class="muted">Passed over: ${many(strangers, "record")} that no member signed.</p>`}
    <p class="pages muted">Each report is judged again from the signed messages.</p>
    <${Whole} />`} />`;
}

// Is the journal whole? ------------------------------------------------------------------------------------------------

const PAGE = 5000;
/** @typedef {{shard: number, last: number, ends: number, signed: number, wrong: string}} Chain what was found of a shard so far */

/**
 * Has the service check the journal of every shard, page by page.
 * @param {(chains: Chain[]) => void} tell
 * @param {AbortSignal} signal
 */
async function walked(tell, signal) {
  const chains = /** @type {Chain[]} */ ([]);
  for (let shard = 0, shards = 1; shard < shards; shard++) {
    let cursor = /** @type {string | null} */ (null), signed = 0, wrong = "";
    do {
      const part = await post("journal/verify", {shard, cursor, limit: PAGE}, signal);
      if (part.head?.agrees) signed = part.head.seq;
      if (part.problem) wrong = part.problem;
      else if (part.head?.agrees === false) wrong = `${part.head.signed_by} signed another entry ${part.head.seq}`;
      shards = part.shards;
      cursor = part.next;
      chains[shard] = {shard, last: part.last, ends: part.ends, signed, wrong};
      tell([...chains]);
    } while (cursor && !wrong);
  }
}

function Whole() {
  const [chains, tell] = useState(/** @type {Chain[]} */ ([])), [state, set] = useState("idle"), [error, fail] = useState(/** @type {unknown} */ (null)), stop = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => stop.current?.abort(), []);
  const check = () => {
    const now = stop.current = new AbortController();
    tell([]);
    fail(null);
    set("busy");
    walked(tell, now.signal).then(() => set("done"), (problem) => {
      if (now.signal.aborted) return;
      fail(problem);
      set("idle");
    });
  };
  return html`<${Part} title="Is the journal whole?"><p>Each entry has the hash of the entry before it, and the journal's service signs its end. This service can compute all hashes again, over its own store, and compare the end with what was signed.</p>
    <p class="pages"><button type="button" class="first" disabled=${state === "busy"} onClick=${check}>Check all entries now</button> ${state === "busy" && html`<span class="muted" role="status">Checking shard ${chains.length ? chains.length - 1 : 0}</span>`}</p>
    ${error !== null && html`<${Failure} error=${error} again=${check} />`}
    ${chains.length > 0 && html`<${Table} caption="Chains of the shards" rows=${chains} keyed=${(/** @type {Chain} */ one) => one.shard} columns=${CHAINS} />`}
    ${state === "done" && html`<p class="pages" role="status"><span class=${`badge ${chains.some((one) => one.wrong) ? "bad" : "good"}`}>${chains.some((one) => one.wrong) ? "not whole" : "whole"}</span> Checked by the service: hashes from the first entry of each shard on, and the signed end. Not checked: the members' certificates, what texts say, and the columns beside an entry.</p>`}
    <p class="muted">Without trust in this service or its database, and with all of that: <code>memquorum admin audit verify</code> <${Copy} text="memquorum admin audit verify" label="the command" /></p><//>`;
}

/** @type {import("../lib/parts.js").Column<Chain>[]} */
const CHAINS = [
  {name: "Shard", kind: "number", of: (one) => count(one.shard)},
  {name: "Checked", of: (one) => html`<span class="with-bar"><${Bar} value=${one.last} whole=${Math.max(1, one.ends)} tone=${one.wrong ? "warn" : "good"} label=${`${one.last} of ${one.ends} entries`} />${count(one.last)} of ${many(one.ends, "entry", "entries")}</span>`},
  {name: "Each follows the one before", kind: "words", of: (one) => (one.wrong ? html`<span class="badge bad">no</span> ${one.wrong}` : html`<span class="badge good">yes</span>`)},
  {name: "Signed by the journal's service", about: "The latest signed end that the entries agree with", of: (one) => (one.signed ? `up to entry ${count(one.signed)}` : html`<span class="none">–</span>`)},
];
