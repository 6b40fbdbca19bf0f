import ipaddr from "ipaddr.js";
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../../src/webhooks/endpoints/endpoint-request.ts";

/** A block, and whether the addresses right before and right after it are public; null where there is none. */
type Block = [cidr: string, before: boolean | null, after: boolean | null];

/** Every block of the IANA IPv4 Special-Purpose Address Registry, and then other addresses that belong to no server. */
const IPV4_BLOCKS: Block[] = [
  ["0.0.0.0/8", null, true],
  ["0.0.0.0/32", null, false],
  ["10.0.0.0/8", true, true],
  ["100.64.0.0/10", true, true],
  ["127.0.0.0/8", true, true],
  ["169.254.0.0/16", true, true],
  ["172.16.0.0/12", true, true],
  ["192.0.0.0/24", true, true],
  ["192.0.0.0/29", true, false],
  ["192.0.0.8/32", false, false],
  ["192.0.0.9/32", false, false],
  ["192.0.0.10/32", false, false],
  ["192.0.0.170/32", false, false],
  ["192.0.0.171/32", false, false],
  ["192.0.2.0/24", true, true],
  ["192.31.196.0/24", true, true],
  ["192.52.193.0/24", true, true],
  ["192.88.99.0/24", true, true],
  ["192.88.99.2/32", false, false],
  ["192.168.0.0/16", true, true],
  ["192.175.48.0/24", true, true],
  ["198.18.0.0/15", true, true],
  ["198.51.100.0/24", true, true],
  ["203.0.113.0/24", true, true],
  ["240.0.0.0/4", false, null],
  ["255.255.255.255/32", false, null],
  // Multicast; the platform address of Azure; the metadata addresses of clouds.
  ["224.0.0.0/4", true, false],
  ["168.63.129.16/32", true, true],
  ["169.254.169.254/32", false, false],
  ["100.100.100.200/32", false, false],
  ["192.0.0.192/32", false, false],
];

/** Every block of the IANA IPv6 Special-Purpose Address Registry, and then other addresses that belong to no server. */
const IPV6_BLOCKS: Block[] = [
  ["::1/128", false, false],
  ["::/128", null, false],
  ["::ffff:0:0/96", false, false],
  ["64:ff9b::/96", false, false],
  ["64:ff9b:1::/48", false, false],
  ["100::/64", false, false],
  ["100:0:0:1::/64", false, false],
  ["2001::/23", true, true],
  ["2001::/32", true, false],
  ["2001:1::1/128", false, false],
  ["2001:1::2/128", false, false],
  ["2001:1::3/128", false, false],
  ["2001:2::/48", false, false],
  ["2001:3::/32", false, false],
  ["2001:4:112::/48", false, false],
  ["2001:10::/28", false, false],
  ["2001:20::/28", false, false],
  ["2001:30::/28", false, false],
  ["2001:db8::/32", true, true],
  ["2002::/16", true, true],
  ["2620:4f:8000::/48", true, true],
  ["3fff::/20", true, true],
  ["5f00::/16", false, false],
  ["fc00::/7", false, false],
  ["fe80::/10", false, false],
  // Multicast, site-local, IPv4-compatible and -translated; all that lies beside global unicast; a cloud's metadata.
  ["ff00::/8", false, null],
  ["fec0::/10", false, false],
  ["::/96", null, false],
  ["::ffff:0:0:0/96", false, false],
  ["::/3", null, true],
  ["4000::/2", true, false],
  ["8000::/1", false, null],
  ["fd00:ec2::254/128", false, false],
];

const numberOf = (address: ipaddr.IPv4 | ipaddr.IPv6): bigint =>
  address.toByteArray().reduce((number, byte) => number * 256n + BigInt(byte), 0n);

/** The address of a number, or null outside of the version's range. */
function textOf(number: bigint, bits: number): string | null {
  if (number < 0n || number >= 1n << BigInt(bits)) return null;
  const bytes = Array.from({ length: bits / 8 }, (_, at) =>
    Number((number >> BigInt(bits - 8 - 8 * at)) & 255n),
  );
  return ipaddr.fromByteArray(bytes).toString();
}

describe.each([...IPV4_BLOCKS, ...IPV6_BLOCKS])("the block %s", (cidr, before, after) => {
  const [base, prefix] = ipaddr.parseCIDR(cidr);
  const bits = base.kind() === "ipv4" ? 32 : 128;
  const first = numberOf(base);
  const last = first + (1n << BigInt(bits - prefix)) - 1n;
  const isPublic = (number: bigint): boolean | null => {
    const text = textOf(number, bits);
    return text === null ? null : isPublicAddress(text);
  };

  it("is not public, from its first address to its last", () => {
    for (const number of [first, first + 1n, (first + last) / 2n, last - 1n, last])
      if (number >= first && number <= last) expect(isPublic(number), textOf(number, bits) ?? "").toBe(false);
  });

  it("ends where its neighbors begin", () => {
    expect(isPublic(first - 1n), "before").toBe(before);
    expect(isPublic(last + 1n), "after").toBe(after);
  });
});

describe("an address", () => {
  it.each([
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "2606:4700:4700::1111",
    "2A00:1450:4001:82B::200E",
    "3ffe::1",
  ])("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ["that hides 127.0.0.1, mapped and dotted", "::ffff:127.0.0.1"],
    ["that hides 127.0.0.1, mapped and hexadecimal", "::ffff:7f00:1"],
    ["that hides 127.0.0.1, compatible", "::7f00:1"],
    ["that hides 127.0.0.1, compatible and dotted", "::127.0.0.1"],
    ["that hides 10.0.0.1 behind NAT64", "64:ff9b::a00:1"],
    ["that hides 10.0.0.1 behind NAT64, dotted", "64:ff9b::10.0.0.1"],
    ["that hides 127.0.0.1 behind 6to4", "2002:7f00:1::1"],
    ["that hides an address behind Teredo", "2001:0:7f00:1::1"],
    ["that is public but mapped", "::ffff:8.8.8.8"],
    ["that is public but behind NAT64", "64:ff9b::8.8.8.8"],
    ["with a zone", "fe80::1%eth0"],
    ["with a zone, though it is public", "2606:4700:4700::1111%eth0"],
    ["in decimal", "134744072"],
    ["in hexadecimal", "0x08080808"],
    ["in octal", "010.010.010.010"],
    ["in short form", "8.8"],
    ["with brackets", "[2606:4700:4700::1111]"],
    ["with a space", " 8.8.8.8"],
    ["with a port", "8.8.8.8:443"],
    ["that is a name", "dns.google"],
    ["that is empty", ""],
  ])("%s is not public: %j", (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
