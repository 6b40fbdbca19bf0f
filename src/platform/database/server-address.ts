import { serverUrls } from "./servers/server-list.ts";

const ENCRYPTED_MODES = ["require", "verify-ca", "verify-full"];

/** Whether the host is this machine, so that what is sent to it crosses no network. */
export const isThisMachine = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);

/** Whether a connection to a server of this database crosses a network, and the address does not require TLS. */
export function isUnprotected(databaseUrl: string): boolean {
  return serverUrls(databaseUrl).some(isServerUnprotected);
}

function isServerUnprotected(url: string): boolean {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? hostname;
  if (host === "" || host.startsWith("/") || isThisMachine(host)) return false; // A socket, or this machine.
  return !ENCRYPTED_MODES.includes(searchParams.get("sslmode") ?? "") && searchParams.get("ssl") !== "true";
}
