import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { loadEnvFile } from "node:process";
import { serverUrls } from "./database/servers.ts";
import { fromTypeId, type IdPrefix } from "./ids.ts";
import { type MoneyByCurrency, parseMoneyList } from "./money.ts";

const RETRIES_MAX = 50;
const WAIT_MAX_SECONDS = 31_536_000;
/** The service writes, so these two mean the same to it, and are what it does without them. */
const WRITABLE_SESSIONS = ["read-write", "primary"];

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads variables and collects their errors. */
export class EnvironmentReader {
  readonly errors: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  #raw(name: string): string | null {
    return this.#environment[name]?.trim() || null;
  }

  text(name: string, fallback: string): string {
    return this.#raw(name) ?? fallback;
  }

  /** An IP address or a host name. Only listening shows whether it belongs to this machine. */
  host(name: string, fallback: string): string {
    const value = this.text(name, fallback);
    if (isIP(value) === 0 && !/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(value))
      this.errors.push(`${name} must be an IP address or a host name.`);
    return value;
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const value = this.#raw(name);
    if (value === null) return fallback;
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    this.errors.push(`${name} must be a whole number from ${min} to ${max}.`);
    return fallback;
  }

  /** A decimal number from 0 to 1. */
  fraction(name: string, fallback: number): number {
    const value = this.#raw(name);
    if (value === null) return fallback;
    const number = /^\d(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN;
    if (number <= 1) return number;
    this.errors.push(`${name} must be a number from 0 to 1.`);
    return fallback;
  }

  /** The UUID of an id as the API shows it. Null without one. */
  id(name: string, prefix: IdPrefix): string | null {
    const value = this.#raw(name);
    const id = value === null ? null : fromTypeId(prefix, value);
    if (value !== null && id === null)
      this.errors.push(`${name} must be an id that begins with ${prefix}_, as the back office shows it.`);
    return id;
  }

  url<F extends string | null>(name: string, fallback: F, protocols: string[]): string | F {
    const value = this.#raw(name);
    if (value === null) return fallback;
    const begins = protocols.some((protocol) => value.toLowerCase().startsWith(`${protocol}//`));
    if (begins && URL.canParse(value)) return value.replace(/\/+$/, "");
    this.errors.push(
      `${name} must be an address that begins with ${protocols.map((p) => `${p}//`).join(" or ")}.`,
    );
    return fallback;
  }

  /** An address that may name several servers, of which the service uses the one that accepts writes. */
  databaseUrl(name: string): string | null {
    const value = this.#raw(name);
    if (value === null) return null;
    if (!serverUrls(value).every((url) => /^postgres(ql)?:\/\//i.test(url) && URL.canParse(url))) {
      this.errors.push(
        `${name} must be an address that begins with postgres:// or postgresql://, with one server or several separated by commas.`,
      );
      return null;
    }
    const session = new URL(serverUrls(value)[0]).searchParams.get("target_session_attrs");
    if (session !== null && !WRITABLE_SESSIONS.includes(session))
      this.errors.push(
        `${name} must have ${WRITABLE_SESSIONS.join(" or ")} as target_session_attrs, or none.`,
      );
    return value.replace(/\/+$/, "");
  }

  mailAddress(name: string, fallback: string): string {
    const value = this.#raw(name) ?? fallback;
    if (!/^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/.test(value))
      this.errors.push(`${name} must be a mail address alone, without a name.`);
    return value;
  }

  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const value = this.#raw(name);
    const found = allowed.find((candidate) => candidate === value);
    if (value === null || found !== undefined) return found ?? fallback;
    this.errors.push(`${name} must be one of ${allowed.join(", ")}.`);
    return fallback;
  }

  /** A comma-separated list of some of these values. Default: all of them. */
  set<T extends string>(name: string, allowed: readonly T[]): ReadonlySet<T> {
    const requested = (this.#raw(name) ?? allowed.join(",")).split(",").map((entry) => entry.trim());
    const known = allowed.filter((entry) => requested.includes(entry));
    if (known.length !== new Set(requested).size)
      this.errors.push(`${name} must be a comma-separated list of ${allowed.join(", ")}.`);
    return new Set(known);
  }

  /** A comma-separated list of addresses and networks. Default: none. */
  networks(name: string): readonly string[] {
    const entries = this.text(name, "").split(",");
    const networks = entries.length === 1 && entries[0] === "" ? [] : entries.map((entry) => entry.trim());
    if (!networks.every(isNetwork))
      this.errors.push(
        `${name} must be a comma-separated list of IP addresses and networks, such as 127.0.0.1,10.0.0.0/8.`,
      );
    return Object.freeze(networks);
  }

  /** Networks, each with its number of bits. Null if the variable is empty. */
  sources(name: string): readonly string[] | null {
    const networks = this.networks(name).map(withBits);
    return networks.length === 0 ? null : Object.freeze(networks);
  }

  /** A time and, after a space, the networks from then on. */
  nextSources(name: string): { readonly at: Date; readonly addresses: readonly string[] } | null {
    const value = this.#raw(name);
    if (value === null) return null;
    const [time = "", ...rest] = value.split(" ");
    const networks = rest.join("").split(",");
    const isTime =
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/.test(time) && !Number.isNaN(Date.parse(time));
    if (isTime && networks.every(isNetwork))
      return Object.freeze({ at: new Date(time), addresses: Object.freeze(networks.map(withBits)) });
    this.errors.push(
      `${name} must be a time and a comma-separated list of IP addresses and networks, such as 2027-01-15T06:00:00Z 203.0.113.0/24.`,
    );
    return null;
  }

  secret(name: string, lengthMin: number): string | null {
    const value = this.#raw(name);
    if (value !== null && !/^[\x21-\x7e]+$/.test(value))
      this.errors.push(`${name} must be visible ASCII without spaces.`);
    if (value !== null && value.length < lengthMin)
      this.errors.push(`${name} must have at least ${lengthMin} characters.`);
    return value;
  }

  /** Amounts by currency; `none` is an empty list. */
  moneyList(name: string, fallback: string): MoneyByCurrency {
    const text = this.text(name, fallback);
    const amounts = text === "none" ? new Map<string, bigint>() : parseMoneyList(text);
    if (amounts === null)
      this.errors.push(
        `${name} must be none, or a comma-separated list of a currency and an amount each, such as EUR 100000.`,
      );
    return amounts ?? new Map();
  }

  waitsMs(name: string, fallback: readonly number[]): readonly number[] {
    const entries = (this.#raw(name) ?? fallback.join()).split(",").map((entry) => entry.trim());
    const waits = entries.map((entry) => (/^\d+(\.\d+)?$/.test(entry) ? Number(entry) : Number.NaN));
    if (waits.length > RETRIES_MAX || !waits.every((seconds) => seconds <= WAIT_MAX_SECONDS))
      this.errors.push(
        `${name} must be a comma-separated list of at most ${RETRIES_MAX} numbers of seconds from 0 to ${WAIT_MAX_SECONDS}.`,
      );
    return Object.freeze(waits.map((seconds) => Math.round(1_000 * seconds)));
  }

  secretKeys(name: string): readonly Buffer[] | null {
    const entries = this.#raw(name)
      ?.split(",")
      .map((entry) => entry.trim());
    if (entries === undefined) return null;
    // 43 characters hold 32 bytes; Node reads both alphabets as the same.
    if (!entries.every((entry) => /^[A-Za-z0-9+/_-]{43}=?$/.test(entry)))
      this.errors.push(
        `${name} must be a comma-separated list of keys of 32 bytes each, in base64 or base64url.`,
      );
    return Object.freeze(entries.map((entry) => Buffer.from(entry, "base64")));
  }
}

/** Thrown when the file exists and cannot be read. */
export class EnvFileError extends Error {}

/**
 * Adds the variables of a file to the environment, if the file exists. A variable that the environment has already
 * keeps its value.
 */
export function readEnvFile(path = ".env"): void {
  try {
    loadEnvFile(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ""; // Node throws errors of the file system.
    if (code !== "ENOENT") throw new EnvFileError(`The file ${path} cannot be read (${code}).`);
  }
}

const IPV4_BITS = 32;
const IPV6_BITS = 128;

/**
 * Whether a text is an IP address, or a network such as 10.0.0.0/8. A network of all addresses is none: with it as a trusted
 * proxy, every client could choose its address. Nor is IPv4 within IPv6, which would match neither.
 */
function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || /^::ffff:|%/i.test(address)) return false;
  if (bits === undefined) return true;
  const bitsMax = family === 4 ? IPV4_BITS : IPV6_BITS;
  return /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= bitsMax;
}

const withBits = (network: string): string =>
  network.includes("/") ? network : `${network}/${isIP(network) === 4 ? IPV4_BITS : IPV6_BITS}`;

/** What is assumed where the limit cannot be read, which is not on Linux. */
const ASSUMED = 1_024;

/**
 * How many files and sockets this process may have open. Node's own report has it too, but looks up the names of the
 * hosts of all open sockets for it, and the process waits for that.
 */
export function readOpenFilesMax(): number {
  try {
    const [, soft = ""] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    if (soft === "unlimited") return Number.MAX_SAFE_INTEGER;
    return /^\d+$/.test(soft) ? Number(soft) : ASSUMED;
  } catch {
    return ASSUMED;
  }
}

/**
 * A fault outside of the program that prevents a start, such as a port in use. The message names it and the remedy, so that neither
 * people nor logs need a stack.
 */
export class StartError extends Error {}
