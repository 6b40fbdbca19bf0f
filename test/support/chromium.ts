import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";

/** These weaken the isolation of a page, or keep the browser in one process, which ends with its first page. */
const UNWANTED = /single-process|no-zygote|disable-web-security|site-isolation|in-process-gpu/;

export async function launchBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: chromium.args.filter((flag) => !UNWANTED.test(flag)),
  });
}
