import { readFile } from "node:fs/promises";
import { isIP } from "node:net";

export type HostAddress = { readonly address: string; readonly family: number };

const HOSTS_FILE = process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";

/** RFC 6761: `localhost` and the names below it are this machine, even if no file contains them. */
const LOOPBACK: readonly HostAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/** Returns the addresses of a name in the hosts file of this machine. It is read each time, because it can change. */
export async function hostsFileAddresses(name: string, file = HOSTS_FILE): Promise<readonly HostAddress[]> {
  const wanted = name.toLowerCase().replace(/\.$/, "");
  const text = await readFile(file, "utf8").catch(() => "");
  const addresses = text.split("\n").flatMap((line) => {
    const [address = "", ...names] = (line.split("#", 1)[0] ?? "").trim().split(/\s+/);
    const isWanted = names.some((listed) => listed.toLowerCase() === wanted);
    return isWanted && isIP(address) !== 0 ? [{ address, family: isIP(address) }] : [];
  });
  if (addresses.length > 0) return addresses;
  return wanted === "localhost" || wanted.endsWith(".localhost") ? LOOPBACK : [];
}
