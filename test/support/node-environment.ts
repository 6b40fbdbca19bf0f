import { fileURLToPath } from "node:url";

/**
 * What every process of Node gets that a test starts from the sources, whatever else its environment has: where programs are,
 * and what processes before it have compiled, which halves the time of its start
 * (docs/design/testing.md, "What makes a run short").
 */
export const NODE_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: process.env["PATH"] ?? "",
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/node", import.meta.url)),
};
