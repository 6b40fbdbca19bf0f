import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { isLocalName } from "../endpoints/endpoint-request.ts";

type HostAddress = { readonly address: string; readonly family: number };

const HOSTS_FILE = process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";

/** RFC 6761: `localhost` and the names below it are this machine, even if no file contains them. */
const LOOPBACK: readonly HostAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/** Returns the addresses of a name in the hosts file of this machine. It is read each time, because it can change. */
async function hostsFileAddresses(name: string, file = HOSTS_FILE): Promise<readonly HostAddress[]> {
  const wanted = name.toLowerCase().replace(/\.$/, "");
  const text = await readFile(file, "utf8").catch(() => "");
  const addresses = text.split("\n").flatMap((line) => {
    const [address = "", ...names] = (line.split("#", 1)[0] ?? "").trim().split(/\s+/);
    const isWanted = names.some((listed) => listed.toLowerCase() === wanted);
    return isWanted && isIP(address) !== 0 ? [{ address, family: isIP(address) }] : [];
  });
  if (addresses.length > 0) return addresses;
  return wanted === "localhost" || wanted.endsWith(".localhost") ? LOOPBACK : [];
}

/** The name does not exist, or has no address. */
export class NoSuchNameError extends Error {
  constructor() {
    super("name has no address");
    this.name = "NoSuchNameError";
  }
}

/** The DNS gave no definite response. */
export class LookupFailedError extends Error {
  constructor() {
    super("lookup failed");
    this.name = "LookupFailedError";
  }
}

type Running = { underWay: number; readonly waiting: (() => void)[] };

/** Limits how many tasks of a key run at the same time. Further tasks of the key wait. Keys do not wait for each other. */
class LookupLimit {
  readonly #underWayMax: number;
  readonly #running = new Map<string, Running>();

  constructor(underWayMax: number) {
    this.#underWayMax = underWayMax;
  }

  async run<T>(key: string, task: () => T | Promise<T>): Promise<T> {
    const running = this.#running.get(key) ?? { underWay: 0, waiting: [] };
    this.#running.set(key, running);
    if (running.underWay >= this.#underWayMax)
      await new Promise<void>((resolve) => running.waiting.push(resolve));
    else running.underWay += 1;
    try {
      return await task();
    } finally {
      this.#end(key, running);
    }
  }

  /** The call that waits longest begins directly, so that no new call begins before it. */
  #end(key: string, running: Running): void {
    const next = running.waiting.shift();
    if (next === undefined) running.underWay -= 1;
    else next();
    if (running.underWay === 0) this.#running.delete(key);
  }
}

/**
 * Returns all addresses of a name, of which there is at least one.
 * @param connectionId the connection that needs the name, because the concurrent lookups of each connection are limited
 */
export type Resolve = (name: string, connectionId: string) => Promise<readonly HostAddress[]>;

/** Concurrent lookups of one connection. Its further lookups wait, and delay no other connection. */
const UNDER_WAY_MAX = 8;
/** A lookup that takes longer fails. A DNS server that does not respond gets a second query after two seconds. */
const LOOKUP_MS = 5_000;
/** A lookup that has waited longer to begin is not made: the deadline of its request is near. */
const WAIT_MAX_MS = 10_000;
const QUERY = { timeout: 2_000, tries: 2 };
const FAILURE_KEPT_MS = 30_000;
/** Short, because the sockets to a host are reused. It covers the sockets that are opened at the same time. */
const SUCCESS_KEPT_MS = 5_000;
const ANSWERS_MAX = 4_096;

/** Errors that mean with certainty that the name has no address. All others may be failures of a DNS server. */
const NO_ADDRESS_CODES: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);

type Answer = { readonly addresses: readonly HostAddress[] } | { readonly error: Error };
type KeptAnswer = { readonly answer: Answer; readonly untilMs: number };

type Settings = {
  /** Local names and the hosts file of this machine then count as well. */
  readonly allowPrivateNetworks: boolean;
  /** For tests. Default: those of the operating system. */
  readonly dnsServers?: readonly string[];
  readonly hostsFile?: string;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
};

/**
 * Looks names up in the DNS (docs/design/signing.md, "Look-ups"). The lookups of Node's `dns.lookup` take place in a thread
 * pool with room for two at a time, which all partners, the database and the mail would share. These are sockets.
 */
export class NameLookup {
  readonly #allowPrivateNetworks: boolean;
  readonly #hostsFile: string | undefined;
  readonly #now: () => number;
  readonly #resolver = new Resolver(QUERY);
  readonly #limit = new LookupLimit(UNDER_WAY_MAX);
  readonly #underWay = new Map<string, Promise<Answer>>();
  /** Oldest first. */
  readonly #answers = new Map<string, KeptAnswer>();
  #isClosed = false;

  constructor({ allowPrivateNetworks, dnsServers, hostsFile, now = () => performance.now() }: Settings) {
    this.#allowPrivateNetworks = allowPrivateNetworks;
    this.#hostsFile = hostsFile;
    this.#now = now;
    if (dnsServers !== undefined) this.#resolver.setServers(dnsServers);
  }

  /** @throws NoSuchNameError, LookupFailedError */
  readonly resolve: Resolve = async (name, connectionId) => {
    // A name of the local network is never looked up, so that nothing can be learned about it.
    if (!this.#allowPrivateNetworks && isLocalName(name)) throw new NoSuchNameError();
    const answer = this.#keptAnswer(name) ?? (await this.#withinLimit(name, connectionId));
    if ("error" in answer) throw answer.error;
    return answer.addresses;
  };

  #withinLimit(name: string, connectionId: string): Promise<Answer> {
    const latestMs = this.#now() + WAIT_MAX_MS;
    return this.#limit.run<Answer>(connectionId, () => {
      if (this.#isClosed || this.#now() > latestMs) return { error: new LookupFailedError() };
      return this.#keptAnswer(name) ?? this.#lookUpOnce(name);
    });
  }

  /** Ends all lookups, and makes no others. */
  close(): void {
    this.#isClosed = true;
    this.#resolver.cancel();
  }

  #keptAnswer(name: string): Answer | null {
    const kept = this.#answers.get(name);
    return kept !== undefined && this.#now() < kept.untilMs ? kept.answer : null;
  }

  /** Connections that look up the same name at the same time share the lookup. */
  #lookUpOnce(name: string): Promise<Answer> {
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) return underWay;
    const started = this.#lookUp(name).then((answer) => {
      this.#underWay.delete(name);
      this.#keep(name, answer);
      return answer;
    });
    this.#underWay.set(name, started);
    return started;
  }

  #keep(name: string, answer: Answer): void {
    this.#answers.delete(name);
    const untilMs = this.#now() + ("error" in answer ? FAILURE_KEPT_MS : SUCCESS_KEPT_MS);
    this.#answers.set(name, { answer, untilMs });
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= ANSWERS_MAX) break;
      this.#answers.delete(oldest);
    }
  }

  async #lookUp(name: string): Promise<Answer> {
    if (this.#allowPrivateNetworks) {
      const addresses = await hostsFileAddresses(name, this.#hostsFile);
      if (addresses.length > 0) return { addresses };
    }
    return withinTime(this.#query(name));
  }

  async #query(name: string): Promise<Answer> {
    const [v4, v6] = await Promise.allSettled([this.#resolver.resolve4(name), this.#resolver.resolve6(name)]);
    const addresses = [...ofFamily(4, v4), ...ofFamily(6, v6)];
    if (addresses.length > 0) return { addresses };
    const isCertain = [v4, v6].every(
      (result) => result.status === "fulfilled" || NO_ADDRESS_CODES.has(result.reason?.code),
    );
    return { error: isCertain ? new NoSuchNameError() : new LookupFailedError() };
  }
}

const ofFamily = (family: number, result: PromiseSettledResult<string[]>): HostAddress[] =>
  result.status === "fulfilled" ? result.value.map((address) => ({ address, family })) : [];

/** The client doubles its wait with each try and repeats it for each server, so its own limit is not one of the whole. */
function withinTime(lookup: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ error: new LookupFailedError() }), LOOKUP_MS);
    void lookup.then((answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
  });
}
