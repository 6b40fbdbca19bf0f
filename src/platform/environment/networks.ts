import { isIP } from "node:net";

const IPV4_BITS = 32;
const IPV6_BITS = 128;

/**
 * Whether a text is an IP address, or a network such as 10.0.0.0/8. A network of all addresses is none: with it as a trusted
 * proxy, every client could choose its address. Nor is IPv4 within IPv6, which would match neither.
 */
export function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || /^::ffff:|%/i.test(address)) return false;
  if (bits === undefined) return true;
  const bitsMax = family === 4 ? IPV4_BITS : IPV6_BITS;
  return /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= bitsMax;
}
