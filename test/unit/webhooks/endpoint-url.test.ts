import { describe, expect, it } from "vitest";
import { sentenceOf } from "../../../src/platform/wire/rules.ts";
import { endpointUrlError } from "../../../src/webhooks/endpoints/endpoint-request.ts";

const NOT_PUBLIC = "must be a public address";

const textOf = (error: ReturnType<typeof endpointUrlError>) => error && sentenceOf(error);
const onTheInternet = (url: string) => textOf(endpointUrlError(url, false));
const onALaptop = (url: string) => textOf(endpointUrlError(url, true));

describe("the URL of an endpoint", () => {
  it.each([
    "https://partner.example/webhooks",
    "HTTPS://Partner.Example",
    "https://partner.example:8443/a?b=c&d=%20",
    "https://partner.example./webhooks",
    "https://bücher.example/",
    "https://8.8.8.8/webhooks",
    "https://[2606:4700:4700::1111]:8443/webhooks",
  ])("may be %s", (url) => {
    expect(onTheInternet(url)).toBeNull();
  });

  it.each([
    "",
    "partner.example",
    "//partner.example/",
    "https:partner.example",
    "https:\\\\partner.example\\",
    "https://",
    "https://:443/",
    "https://a b.example/",
    " https://partner.example/",
    "https://partner.example/\n",
    "https://part\tner.example/",
    "https://partner.example/\u0000",
    "https://partner.example/\ud800",
    "https://[::1/",
    "https://[fe80::1%25eth0]/",
    "https://1.2.3.4.5/",
    "https://256.0.0.1/",
    "https://partner.example:65536/",
    "ftp://partner.example/",
    "javascript:alert(1)//https://",
    "xhttps://partner.example/",
    "http://partner.example/",
  ])("must be a URL with https, not %j", (url) => {
    expect(onTheInternet(url)).toBe("must be a URL that begins with https://");
  });

  it("has at most 2048 characters", () => {
    const ofLength = (length: number) => "https://partner.example/".padEnd(length, "a");
    expect(onTheInternet(ofLength(2_047))).toBeNull();
    expect(onTheInternet(ofLength(2_048))).toBeNull();
    expect(onTheInternet(ofLength(2_049))).toBe("must have at most 2048 characters");
  });

  it("has port 443, or one from 1024 on", () => {
    for (const port of [443, 1_024, 8_443, 65_535])
      expect(onTheInternet(`https://partner.example:${port}/`)).toBeNull();
    for (const port of [0, 1, 22, 25, 80, 442, 444, 1_023]) {
      const url = `https://partner.example:${port}/`;
      expect(onTheInternet(url)).toBe("must have port 443 or a port from 1024 to 65535");
      expect(onALaptop(url)).toBeNull();
    }
  });

  it.each(["https://user@partner.example/", "https://:word@partner.example/", "https://u:w@8.8.8.8/"])(
    "holds no user name or password: %s",
    (url) => {
      expect(onTheInternet(url)).toBe("must not contain a user name or password");
      expect(onALaptop(url)).toBe("must not contain a user name or password");
    },
  );

  it.each(["https://partner.example/#part", "https://partner.example/#"])(
    "contains no fragment: %s",
    (url) => {
      expect(onTheInternet(url)).toBe("must not contain a fragment");
      expect(onALaptop(url)).toBe("must not contain a fragment");
    },
  );
});

describe("a host that is an address", () => {
  it.each([
    ["dotted", "127.0.0.1"],
    ["decimal", "2130706433"],
    ["hexadecimal", "0x7f000001"],
    ["hexadecimal in parts", "0x7f.0x0.0x0.0x1"],
    ["octal", "017700000001"],
    ["octal in parts", "0177.0.0.01"],
    ["short", "127.1"],
    ["zero", "0"],
    ["with a trailing dot", "127.0.0.1."],
    ["percent-encoded", "%31%32%37.0.0.1"],
    ["in full-width digits", "１２７.０.０.１"],
    ["with ideographic stops", "127。0。0。1"],
    ["in circled digits", "①②⑦.0.0.1"],
    ["link-local metadata", "169.254.169.254"],
    ["metadata in decimal", "2852039166"],
    ["the platform address of Azure", "168.63.129.16"],
    ["private", "10.0.0.1"],
    ["carrier-grade NAT", "100.64.0.1"],
    ["IPv6 loopback", "[::1]"],
    ["IPv6 loopback written out", "[0:0:0:0:0:0:0:1]"],
    ["IPv6 unspecified", "[::]"],
    ["mapped and dotted", "[::ffff:127.0.0.1]"],
    ["mapped and hexadecimal", "[::ffff:7f00:1]"],
    ["mapped in upper case", "[::FFFF:7F00:1]"],
    ["compatible", "[::7f00:1]"],
    ["NAT64", "[64:ff9b::7f00:1]"],
    ["NAT64, dotted", "[64:ff9b::169.254.169.254]"],
    ["6to4", "[2002:7f00:1::]"],
    ["Teredo", "[2001::7f00:1]"],
    ["unique local", "[fd00:ec2::254]"],
    ["link-local IPv6", "[fe80::1]"],
  ])("is rejected in every spelling: %s", (_, host) => {
    expect(onTheInternet(`https://${host}/webhooks`)).toBe(NOT_PUBLIC);
    expect(onTheInternet(`https://${host}:8443`)).toBe(NOT_PUBLIC);
  });
});

describe("a host that is a name", () => {
  it.each([
    "localhost",
    "LOCALHOST",
    "localhost.",
    "localhost..",
    "a.b.localhost",
    "printer.local",
    "printer.local.",
    "metadata.google.internal",
    "Metadata.Google.Internal.",
    "intranet",
    "ｌｏｃａｌｈｏｓｔ",
    "%6c%6f%63%61%6c%68%6f%73%74",
  ])("of the local network is rejected without a lookup: %s", (host) => {
    expect(onTheInternet(`https://${host}/webhooks`)).toBe(NOT_PUBLIC);
  });

  it("that only resembles one of those is accepted", () => {
    for (const host of ["localhost.example", "notlocal.example", "internal.example", "mylocalhost.example"])
      expect(onTheInternet(`https://${host}/`)).toBeNull();
  });

  it("is accepted whatever its addresses are: a response must not reveal which names exist in our network", () => {
    // No name is looked up, so one that leads to a private address is treated like one that does not exist.
    expect(onTheInternet("https://soon.example/")).toBeNull();
  });
});

describe("private networks, when they are allowed", () => {
  it.each([
    "http://localhost:3000/webhooks",
    "http://127.0.0.1:3000",
    "https://[::1]/",
    "http://receiver/",
    "https://partner.example/",
  ])("may be an endpoint's address, also with http: %s", (url) => {
    expect(onALaptop(url)).toBeNull();
  });

  it("lift no other rule", () => {
    expect(onALaptop("ftp://localhost/")).toBe("must be a URL that begins with https:// or http://");
    expect(onALaptop(`http://localhost/${"a".repeat(2_048)}`)).toBe("must have at most 2048 characters");
  });
});

it("on a laptop is http or https, and nothing else", () => {
  for (const url of ["http://localhost:8080/", "https://10.0.0.1/"]) expect(onALaptop(url)).toBeNull();
  for (const url of ["xhttp://localhost/", "ftp://localhost/?https://", "localhost:8080"])
    expect(onALaptop(url)).toBe("must be a URL that begins with https:// or http://");
});

it("can contain a label that is local only at the end of a name", () => {
  for (const name of ["my.local.partner.example", "internal.partner.example", "a.localhost.partner.example"])
    expect(onTheInternet(`https://${name}/`)).toBeNull();
});
