import { statfs } from "node:fs/promises";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";

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

export async function launchBrowser(): Promise<Browser> {
  chromium.setGraphicsMode = false;
  const room = await statfs(MEMORY).catch(() => null);
  const hasRoom = room !== null && room.bavail * room.bsize >= ROOM_BYTES;
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args.filter((flag) => !UNWANTED.test(flag)), "--disable-gpu", NO_OTHER_HOST],
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
