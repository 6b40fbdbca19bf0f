import sparticuz from "@sparticuz/chromium";
import { type Browser, chromium } from "playwright-core";

/** Flags that would make pages behave otherwise than for people, or end the browser with its first context. */
const LEFT_OUT = /^--(?:single-process|no-zygote|disable-web-security|allow-running-insecure-content)$/;

/** A real Chromium, from npm. */
export const startChromium = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: await sparticuz.executablePath(),
    args: sparticuz.args.filter((flag) => !LEFT_OUT.test(flag)),
    headless: true,
  });
