import type { Server } from "./primary-client.ts";

const DEFAULT_PORT = 5_432;
/** What precedes the servers, the servers, and what follows them. A password may contain an unescaped "@". */
const PARTS = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is;

/**
 * One address for each server of an address such as `postgres://user@one:5432,two:5432/database`. This is the form of
 * PostgreSQL's own programs, which neither the URL standard nor pg can read.
 */
export function serverUrls(databaseUrl: string): [string, ...string[]] {
  const [, before = "", servers = "", after = ""] = PARTS.exec(databaseUrl) ?? [];
  const [first, ...others] = servers.split(",").map((server) => `${before}${server}${after}`);
  return first === undefined || others.length === 0 ? [databaseUrl] : [first, ...others];
}

export function serverOf(url: string): Server {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port) || DEFAULT_PORT };
}
