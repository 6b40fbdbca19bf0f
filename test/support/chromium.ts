import { statfs } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { type Browser, chromium as playwright } from "playwright-core";
import { installPackages } from "../../scripts/install-packages.ts";

/** The folder of the package that has the browser. Only these tests need it. */
const TOOLS = "test/browser";
/** What is used of @sparticuz/chromium. */
type Chromium = { args: string[]; executablePath(): Promise<string>; setGraphicsMode: boolean };

// These weaken the isolation of a page, or keep the browser in one process, which ends with its first page. The last
// lets it simulate a graphics card, which took a third of the time of the tests; no page draws in three dimensions.
const UNWANTED =
  /single-process|no-zygote|disable-web-security|site-isolation|in-process-gpu|ignore-gpu-blocklist/;

/** A test sends nothing to another machine. */
const NO_OTHER_HOST = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1";

/** The memory of a Linux machine as a folder. A container has 64 MB by default. */
const MEMORY = "/dev/shm";
/** More than the browsers of all processes need. */
const ROOM_BYTES = 1024 ** 3;

/**
 * Installs the browser and unpacks it into a temporary folder, unless that is done. The setup of a run does it before all tests: two
 * processes at once would start what the other still writes.
 */
export async function unpackBrowser(): Promise<{ args: string[]; executablePath: string }> {
  installPackages(TOOLS);
  const requireTool = createRequire(join(resolve(TOOLS), "package.json"));
  const chromium: Chromium = requireTool("@sparticuz/chromium");
  chromium.setGraphicsMode = false;
  return { args: chromium.args, executablePath: await chromium.executablePath() };
}

export async function launchBrowser(): Promise<Browser> {
  const { args, executablePath } = await unpackBrowser();
  const room = await statfs(MEMORY).catch(() => null);
  const hasRoom = room !== null && room.bavail * room.bsize >= ROOM_BYTES;
  return playwright.launch({
    executablePath,
    args: [...args.filter((flag) => !UNWANTED.test(flag)), "--disable-gpu", NO_OTHER_HOST],
    // Otherwise its processes pass each response and picture to each other by files, a tenth of the time of a page.
    ignoreDefaultArgs: hasRoom ? ["--disable-dev-shm-usage"] : false,
  });
}

let shared: Promise<Browser> | undefined;

/**
 * The browser of this process. Test files that run one after the other share it, because it takes a second to start; each test
 * has a profile of its own. It ends with the process.
 */
export async function sharedBrowser(): Promise<Browser> {
  const running = await shared;
  if (running?.isConnected()) return running;
  shared = launchBrowser();
  return shared;
}
