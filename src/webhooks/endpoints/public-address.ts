import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Returns all addresses of a name, as `dns.promises.lookup` does with `all`. */
export type Resolve = (name: string) => Promise<readonly { address: string; family: number }[]>;

export const resolveAll: Resolve = (name) => lookup(name, { all: true });

const URL_LENGTH_MAX = 2_048;

const IPV6_GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/** Looks public, but inside Azure it leads to services of the platform. */
const AZURE_PLATFORM = "168.63.129.16";

/**
 * Whether an IP address, as text without brackets, is a global unicast address. All special-purpose blocks of the IANA
 * registries are rejected, including the few that are globally reachable, such as relays: no partner has a server there.
 * IPv6 addresses that contain an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) are all rejected, because a
 * gateway could unwrap a private one. Addresses with a zone are rejected as well.
 */
export function isPublicAddress(address: string): boolean {
  // The library also reads octal, hexadecimal and short forms, and zones. No connection is made to those.
  const version = address.includes("%") ? 0 : isIP(address);
  if (version === 0 || address === AZURE_PLATFORM) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(IPV6_GLOBAL_UNICAST)) return false;
  return parsed.range() === "unicast";
}

/** Returns the host of a URL without brackets if it is an IP address, else null. */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}

type Rules = {
  /** Lifts the need for https and for public addresses, and nothing else. */
  allowPrivateNetworks: boolean;
  resolve?: Resolve;
};

/**
 * Returns what is wrong with the URL of an endpoint, as a message that follows the name of the field. Null if nothing is.
 * A name that cannot be resolved now is accepted: the same rule is checked again at every connection, also because the
 * addresses of a name may change.
 */
export async function endpointUrlError(
  text: string,
  { allowPrivateNetworks, resolve = resolveAll }: Rules,
): Promise<string | null> {
  const form = formError(text, allowPrivateNetworks);
  if (form !== null || allowPrivateNetworks) return form;
  return (await isPublicHost(new URL(text).hostname, resolve)) ? null : "must be a public address";
}

function formError(text: string, allowHttp: boolean): string | null {
  if (text.length > URL_LENGTH_MAX) return `must have at most ${URL_LENGTH_MAX} characters`;
  const schemes = allowHttp ? /^https?:\/\//i : /^https:\/\//i;
  // A URL parser removes spaces and control characters, so the stored URL would differ from the one that is called.
  if (!schemes.test(text) || /[\s\p{Cc}]/u.test(text) || !text.isWellFormed() || !URL.canParse(text))
    return `must be a URL that begins with https://${allowHttp ? " or http://" : ""}`;
  const { username, password } = new URL(text);
  if (username !== "" || password !== "") return "must not contain a user name or password";
  if (text.includes("#")) return "must not contain a fragment";
  return null;
}

/** @param hostname as the URL parser returns it: lower case, and every IPv4 address as four decimal numbers */
async function isPublicHost(hostname: string, resolve: Resolve): Promise<boolean> {
  const literal = literalAddress(hostname);
  if (literal !== null) return isPublicAddress(literal);
  if (isLocalName(hostname)) return false;
  try {
    const addresses = await resolve(hostname);
    return addresses.every(({ address }) => isPublicAddress(address));
  } catch {
    return true; // It cannot be resolved now; see above.
  }
}

/** Whether a name has a meaning only on this machine or in its network. */
function isLocalName(hostname: string): boolean {
  const name = hostname.replace(/\.+$/, "");
  return !name.includes(".") || /\.(localhost|local|internal)$/.test(name);
}
