// Members: who votes in a shard, with what weight, since when.
import {html} from "../lib/base.js";
import {post} from "../lib/api.js";
import {namespace, place} from "../lib/place.js";
import {Answer, Bar, Choice, Copy, Facts, Field, Filters, Head, Nothing, Pages, Part, Table, useAnswer} from "../lib/parts.js";
import {everywhere} from "../lib/session.js";
import {count, EpochLink, many, share, Time, Words} from "../lib/words.js";

const LATELY = 200;
/** @typedef {{votes: number, against: number, unheard: number}} Stood how often a member voted, how often not as it was decided, and how often for what was not done */

/**
 * How the members stood to the last votes on a namespace.
 * @param {string} ns
 * @param {AbortSignal} signal
 */
async function lately(ns, signal) {
  const found = /** @type {Map<number, Stood>} */ (new Map());
  let cursor = /** @type {string | null} */ (null);
  for (let at = 0; at < LATELY; at += 100) {
    const page = await post("decisions/list", {namespace: ns, limit: 100, cursor}, signal);
    for (const one of page.decisions) {
      if (one.outcome === "voided") continue;
      for (const opinion of one.vote.opinions) {
        const stood = found.get(opinion.member) ?? {votes: 0, against: 0, unheard: 0}, against = opinion.yes === (one.outcome === "kept");
        found.set(opinion.member, {votes: stood.votes + 1, against: stood.against + Number(against), unheard: stood.unheard + Number(against && opinion.yes)});
      }
    }
    cursor = page.next;
    if (!cursor) break;
  }
  return found;
}

/** Who stood against what was decided, those first who did so most often. @param {{members: Api.Member[]}} props */
function Disagreed({members}) {
  const ns = namespace.value, found = useAnswer((signal) => lately(ns, signal), [ns]);
  const part = (/** @type {Stood} */ one) => one.against / one.votes;
  return html`<${Part} title="Who disagreed" tools=${html`<span class="muted">with the outcomes of the last ${LATELY} votes on ${ns}</span>`}>
    <${Answer} of=${found} show=${(/** @type {Map<number, Stood>} */ stood) => (stood.size ? html`<${Table} caption="Who disagreed" rows=${[...stood].sort(([, one], [, other]) => part(other) - part(one))} keyed=${(/** @type {[number, Stood]} */ [id]) => id} columns=${[
      {name: "Member", of: ([id]) => html`<${Words} text=${members.find((one) => one.id === id)?.name ?? `member ${id}`} />`},
      {name: "Disagreed", of: ([, one]) => html`<span class="with-bar"><${Bar} value=${one.against} whole=${one.votes} tone="warn" label=${`${one.against} of ${one.votes}`} />${count(one.against)} of ${many(one.votes, "vote")}</span>`},
      {name: "Was for what was not done", kind: "number", of: ([, one]) => count(one.unheard)},
      {name: "Was against what was done", kind: "number", of: ([, one]) => count(one.against - one.unheard)},
    ]} />` : html`<${Nothing}>Nothing was voted on in <b>${ns}</b> so far.<//>`)} /><//>`;
}

const SEATED = {present: true, former: false};

export default function Members() {
  const {query} = place.value, ns = namespace.value;
  const where = query.shard ? {shard: Number(query.shard)} : {namespace: ns};
  const body = {...where, seated: SEATED[query.seated], cursor: query.cursor, limit: 100};
  const found = useAnswer((signal) => post("members/list", body, signal), [JSON.stringify(query), ns]);
  return html`<${Head} title="Members" about="The members that vote on the memories of this namespace's shard. A decision needs enough of them and enough of their weight." />
    <${Filters} fields=${["seated", "shard"]}><${Choice} name="seated" label="Members" any="all" values=${Object.keys(SEATED)} />
      ${everywhere() && html`<${Field} name="shard" label="Shard" type="number" min="0" about="In place of the namespace's own" /><button>Apply</button>`}<//>
    <${Answer} of=${found} show=${(/** @type {Api.Members} */ page) => html`<${Shown} page=${page} />`} />`;
}

/** @param {{page: Api.Members}} props */
function Shown({page}) {
  const seated = page.members.filter((one) => one.seated), weight = seated.reduce((sum, one) => sum + one.weight, 0);
  const heaviest = Math.max(1, ...page.members.map((one) => one.weight));
  return html`<${Facts} rows=${[
      ["Shard", count(page.shard)], ["Configuration", count(page.config)],
      ["Members that decide", html`${count(page.quorum)} of ${count(seated.length)}`],
      ["Members that may lie", count(page.faulty)], ["Their weight in all", share(weight)],
    ]} />
    ${page.members.length ? html`<${Table} caption="Members" rows=${page.members} keyed=${(one) => one.id} columns=${columns(page.shard, heaviest)} />` : html`<${Nothing}>No member is like that.<//>`}
    <${Pages} next=${page.next} shown=${many(page.members.length, "member")} />
    <${Disagreed} members=${page.members} />`;
}

/**
 * @param {number} shard
 * @param {number} heaviest
 * @returns {import("../lib/parts.js").Column<Api.Member>[]}
 */
const columns = (shard, heaviest) => [
  {name: "Id", kind: "number", of: (one) => count(one.id)},
  {name: "Member", of: (one) => html`<${Words} text=${one.name} />`},
  {name: "Role", of: (one) => one.role},
  {name: "Seat", of: (one) => (one.seated ? html`<span class="badge good">present</span>` : html`<span class="badge">former</span>`)},
  {name: "Weight", kind: "number", about: "1.0 is one vote", of: (one) => html`<span class="with-bar"><${Bar} value=${one.weight} whole=${heaviest} label=${`Weight ${share(one.weight)}`} />${share(one.weight)}</span>`},
  {name: "Reliability", kind: "number", about: "In (0, 1]: how often it stood with the decision", of: (one) => share(one.reliability)},
  {name: "Since", about: "By the shard's clock", of: (one) => html`<${Since} shard=${shard} since=${one.since} />`},
  {name: "Left", about: "By the shard's clock", of: (one) => (one.left ? html`<${Since} shard=${shard} since=${one.left} />` : html`<span class="none">–</span>`)},
  {name: "Key", of: (one) => html`<code title=${one.public_key}>${one.public_key.slice(0, 12)}…</code> <${Copy} text=${one.public_key} label="the public key" /> <span class="muted">since <${Since} shard=${shard} since=${one.key_since} /></span>`},
];

/** @param {{shard: number, since: Api.Since}} props */
function Since({shard, since}) {
  if (since.epoch === null) return html`<span title="Configuration 0">the genesis file</span>`;
  return html`<${Time} ms=${since.as_of} /> <${EpochLink} shard=${shard} epoch=${since.epoch}>epoch ${since.epoch}<//>`;
}
