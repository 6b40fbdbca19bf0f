import type { Config } from "../../src/platform/config.ts";

/** Lists of waits that are invalid. */
export const RETRY_LISTS_REJECTED = [
  "-1",
  "5,,30",
  "5,",
  "5;30",
  "5s",
  "1e3",
  "0x10",
  ".5",
  "5.",
  "Infinity",
  "31536001",
  "five",
  Array(51).fill("5").join(","),
];

/** Networks of proxies: valid values, with the result, and invalid values. */
export const TRUSTED_PROXIES: {
  accepted: [value: string, becomes: Partial<Config>][];
  rejected: string[];
} = {
  accepted: [
    ["127.0.0.1", { trustedProxies: ["127.0.0.1"] }],
    ["10.0.0.0/8, ::1 ,fd00::/8", { trustedProxies: ["10.0.0.0/8", "::1", "fd00::/8"] }],
    ["192.0.2.1/32,2001:db8::1/128", { trustedProxies: ["192.0.2.1/32", "2001:db8::1/128"] }],
  ],
  rejected: [
    "true",
    "1",
    "nginx",
    "loopback",
    "10.0.0.0/0",
    "::/0",
    "10.0.0.0/33",
    "fd00::/129",
    "10.0.0.0/255.0.0.0",
    "10.0.0.0/8/8",
    "10.0.0/8",
    "10.0.0.0/",
    "127.0.0.1,",
    "127.0.0.1;::1",
    "127.0.0.1:8080",
    "::ffff:10.0.0.0/8",
    "fe80::1%eth0",
  ],
};
