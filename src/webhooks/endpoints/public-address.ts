import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

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

/**
 * Returns what is wrong with the URL of an endpoint, as a message that follows the name of the field. Null if nothing is.
 * No name is looked up (decision 0062): the response would show which names exist in our own network, and the addresses
 * of a name may change. They are checked at every connection.
 * @param allowPrivateNetworks lifts the need for https, for a public address and for a usual port, and nothing else
 */
export function endpointUrlError(text: string, allowPrivateNetworks: boolean): string | null {
  const form = formError(text, allowPrivateNetworks);
  if (form !== null || allowPrivateNetworks) return form;
  const { hostname } = new URL(text);
  const literal = literalAddress(hostname);
  const isPublic = literal === null ? !isLocalName(hostname) : isPublicAddress(literal);
  if (!isPublic) return "must be a public address";
  return isUsualPort(new URL(text).port) ? null : "must have port 443 or a port from 1024 to 65535";
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

/**
 * Ports below 1024 belong to other services, whose ports no partner should be able to test through ours (decision 0063).
 * @param port as the URL parser returns it: empty for 443
 */
const isUsualPort = (port: string): boolean => port === "" || Number(port) >= 1_024;

/**
 * Whether a name has a meaning only on this machine or in its network.
 * @param hostname as the URL parser returns it, in lower case
 */
export function isLocalName(hostname: string): boolean {
  const name = hostname.replace(/\.+$/, "");
  return !name.includes(".") || /\.(localhost|local|internal)$/.test(name);
}
