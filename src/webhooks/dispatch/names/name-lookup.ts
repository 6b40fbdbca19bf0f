import { Resolver } from "node:dns/promises";
import { isLocalName } from "../../endpoints/public-address.ts";
import { type HostAddress, hostsFileAddresses } from "./hosts-file.ts";
import { LookupFailedError, NoSuchNameError } from "./lookup-errors.ts";
import { LookupLimit } from "./lookup-turns.ts";

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
 * Looks names up in the DNS (decision 0062). The lookups of Node's `dns.lookup` take place in a thread pool with room for
 * two at a time, which all partners, the database and the mail would share. These are sockets.
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
