#!/usr/bin/env node
// The program partner-orders-admin: finds a Node that runs the TypeScript sources, and starts src/cli/main.ts with it. This
// file itself is JavaScript that older versions of Node can read. See docs/design/dependencies.md, "A Node for the sources".
import { spawn } from "node:child_process";
import * as nodeModule from "node:module";
import { constants } from "node:os";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_MAJOR_MIN = 24;

if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR_MIN) {
  if (isBelowNodeModules()) stripTypesOfThisPackage();
  await import("../src/cli/main.ts");
} else {
  runWith(pinnedNode());
}

function isBelowNodeModules() {
  return fileURLToPath(import.meta.url).includes(`${sep}node_modules${sep}`);
}

/** Node removes the types of TypeScript files, but not below node_modules. There, this does it, for this package alone. */
function stripTypesOfThisPackage() {
  const sources = ["../src/", "../packages/"].map((folder) => new URL(folder, import.meta.url).href);
  const { emitWarning } = process;
  process.emitWarning = () => undefined; // The first call warns that the function is experimental.
  nodeModule.stripTypeScriptTypes("");
  process.emitWarning = emitWarning;
  nodeModule.registerHooks({
    load(url, context, nextLoad) {
      if (!url.endsWith(".ts") || !sources.some((folder) => url.startsWith(folder)))
        return nextLoad(url, context);
      const { source } = nextLoad(url, { ...context, format: "module" });
      return {
        format: "module",
        source: nodeModule.stripTypeScriptTypes(String(source), { sourceUrl: url }),
        shortCircuit: true,
      };
    },
  });
}

/** The Node that npm has installed with this package for the platform, as an optional dependency. */
function pinnedNode() {
  const folder = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const program = process.platform === "win32" ? "node.exe" : "node";
  try {
    return nodeModule.createRequire(import.meta.url).resolve(`${folder}/bin/${program}`);
  } catch {
    process.stderr.write(
      `partner-orders-admin needs Node ${NODE_MAJOR_MIN} or later. This is ${process.version}, and the package ${folder} is not installed.\n`,
    );
    process.exit(2);
  }
}

/** Runs this file with another Node, as if that were this process. */
function runWith(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  // A terminal sends the first to both processes, other programs send the second to this one alone.
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(`${node} cannot be started: ${error.message}\n`);
    process.exitCode = 2;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
