import { createSocket } from "node:dgram";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** An IPv4 address, or why there is none. `drop`: no response at all. */
export type DnsAnswer = string | "drop" | "no-such-name" | "server-failure";

export type DnsServer = {
  /** As Node's resolver wants it. */
  readonly address: string;
  /** The names of the queries so far. A lookup makes two: one for each kind of address. */
  readonly queried: readonly string[];
  /** Resolves as soon as there are so many. */
  waitFor(count: number): Promise<void>;
};

const HEADER_BYTES = 12;
const TYPE_A = 1;

/** A DNS server over UDP for one test, which answers as the test wants. */
export async function startDnsServer(answerTo: (name: string) => DnsAnswer): Promise<DnsServer> {
  const queried: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, end } = readName(query);
    queried.push(name);
    const answer = answerTo(name.toLowerCase());
    if (answer !== "drop") socket.send(responseTo(query, end, answer), from.port, from.address);
    socket.emit("query");
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => new Promise((resolve) => socket.close(() => resolve())));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queried,
    waitFor: async (count) => {
      while (queried.length < count) await once(socket, "query");
    },
  };
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}

/** @param end the end of the name in the question, behind which its type and class follow */
function responseTo(query: Buffer, end: number, answer: Exclude<DnsAnswer, "drop">): Buffer {
  const isAddress = answer !== "no-such-name" && answer !== "server-failure";
  const hasRecord = isAddress && query.readUInt16BE(end) === TYPE_A;
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  const code = { "no-such-name": 3, "server-failure": 2 }[answer] ?? 0;
  header.writeUInt16BE(0x8180 | code, 2); // A response, from a server that recurses.
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(hasRecord ? 1 : 0, 6);
  const question = query.subarray(HEADER_BYTES, end + 4);
  // The name of the question, type A, class IN, to be kept for no time, and four bytes of address.
  const record = [0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...answer.split(".").map(Number)];
  return Buffer.concat(hasRecord ? [header, question, Buffer.from(record)] : [header, question]);
}
