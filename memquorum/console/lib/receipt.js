// Verifies the receipt of an erasure in the page, against a genesis file, by the browser's own cryptography.
//
// It checks the chain of entries, the signature under the journal's end, the signature under the order, and that the
// receipt says of them what they say. The members' decision is checked by the service that made the receipt, and by
// `memquorum receipt verify`, which needs no service.

const TEXT = new TextEncoder();

/** Reads values of Avro in their order. */
class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes, at = 10) { // behind the two bytes of the form and the eight of the schema
    this.bytes = bytes;
    this.at = at;
  }
  long() {
    let shift = 0n, value = 0n, byte;
    do {
      byte = this.bytes[this.at++];
      if (byte === undefined || shift > 63n) throw new Error("it ends too soon");
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
    } while (byte & 0x80);
    return Number((value >> 1n) ^ -(value & 1n));
  }
  raw() {
    const size = this.long();
    if (size < 0 || this.at + size > this.bytes.length) throw new Error("it ends too soon");
    this.at += size;
    return this.bytes.slice(this.at - size, this.at);
  }
  text() {
    return new TextDecoder("utf-8", {fatal: true}).decode(this.raw());
  }
}

const bytes = (base64) => Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
const hex = (data) => Array.from(data, (one) => one.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (one) => parseInt(one, 16));
const same = (one, other) => hex(one) === hex(other);
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer()));

/** The signer, the signature and the body of a signed message. */
function envelope(data) {
  const reader = new Reader(data);
  return {signer: reader.text(), signature: reader.raw(), body: reader.raw()};
}

async function signed(message, key, cluster) {
  const name = TEXT.encode(message.signer);
  const length = new Uint8Array([name.length >> 8, name.length & 0xff]);
  const said = await new Blob([TEXT.encode("memquorum/signed/1\0"), cluster, length, name, message.body]).arrayBuffer();
  const verifier = await crypto.subtle.importKey("raw", unhex(key), {name: "Ed25519"}, false, ["verify"]);
  return crypto.subtle.verify({name: "Ed25519"}, verifier, message.signature, said);
}

/**
 * @param {Api.ErasureReceipt} receipt
 * @param {ArrayBuffer} genesisFile the bytes of the genesis file, as they are
 * @returns {Promise<{name: string, holds: boolean, why: string}[]>} what was checked, in order
 */
export async function verify(receipt, genesisFile) {
  const found = [];
  const check = (name, holds, why) => found.push({name, holds, why});
  const genesis = JSON.parse(new TextDecoder().decode(genesisFile));
  const cluster = await sha256(genesisFile);
  check("The genesis file is that of the receipt's fleet", hex(cluster) === receipt.cluster, `the SHA-256 of the file is ${hex(cluster)}`);
  const links = receipt.proof.entries.map((one) => ({entry: bytes(one.entry), previous: bytes(one.previous_hash), hash: bytes(one.hash)}));
  let chained = links.length > 0;
  for (const [at, link] of links.entries()) {
    chained &&= same(await sha256(TEXT.encode("memquorum/journal/1"), link.previous, link.entry), link.hash);
    chained &&= at === 0 || same(link.previous, links[at - 1].hash);
  }
  check("The journal's entries follow each other by their hashes", chained, `${links.length} of them`);
  const head = envelope(bytes(receipt.proof.head)), reader = new Reader(head.body);
  const told = {cluster: reader.raw(), config: reader.long(), shard: reader.long(), seq: reader.long(), hash: reader.raw()};
  const journal = genesis.services.journal;
  if (told.config !== 0) check("The journal's end is signed by the journal's key", false, "the members changed keys since; `memquorum receipt verify` follows their decisions");
  else check("The journal's end is signed by the journal's key", head.signer === "service:journal" && same(told.cluster, cluster) && await signed(head, journal, cluster), `key ${journal.slice(0, 16)}…`);
  check("It ends with these entries", same(told.hash, links.at(-1).hash) && told.seq === receipt.journal.last_seq && told.shard === receipt.journal.shard, `entry ${told.seq} of shard ${told.shard}`);
  await ordered(receipt, genesis, cluster, links, check);
  return found;
}

/** Checks the order, and the list of what it took. */
async function ordered(receipt, genesis, cluster, links, check) {
  const details = links.map((link) => erased(link.entry)), order = envelope(details[0].order);
  const key = genesis.services[order.signer.replace(/^service:/, "")] ?? (order.signer === "operator" ? genesis.operator : "");
  check("The order is signed by who may give it", Boolean(key) && await signed(order, key, cluster), order.signer);
  const body = new Reader(order.body);
  body.raw(); // the cluster
  const said = {order_id: body.text(), namespace: body.text(), selector: body.text(), value: body.text(), ordered_by: body.text()};
  check("The receipt says what the order says", Object.entries(said).every(([name, value]) => receipt.order[name] === value), `${said.selector} ${said.value}, by ${said.ordered_by}`);
  const taken = details.flatMap((one) => one.episodes), listed = receipt.erased.each.map((one) => `${one.memory_id} ${one.was}`);
  check("The receipt lists what the entries say was destroyed", taken.join() === listed.join(), `${taken.length} of them`);
  check("The time until which remains may lie in files is that of the entries", details.every((one) => one.residue === receipt.residue_until), new Date(receipt.residue_until).toISOString());
}

/** What an entry says of an erasure. */
function erased(entry) {
  const reader = new Reader(entry);
  for (const kind of ["long", "long", "long", "text", "text", "text", "long", "long"]) reader[kind]();
  const detail = new Reader(reader.raw()), order = detail.raw();
  detail.long(); // accepted
  detail.long(); // the part, and of how many
  detail.long();
  const residue = detail.long(), episodes = [];
  list(detail, () => {
    episodes.push(`${detail.text()} ${detail.text()}`);
    if (detail.long()) detail.raw(); // the commitment
    if (detail.long()) detail.text(); // what becomes of a summary
    list(detail, () => detail.text()); // the recipients
  });
  return {order, residue, episodes};
}

/** Reads a list: blocks of items, each behind its number, until one of none. */
function list(reader, item) {
  for (let count = reader.long(); count !== 0; count = reader.long()) {
    if (count < 0) reader.long(); // the block's size
    for (let at = 0; at < Math.abs(count); at++) item();
  }
}
