import { globSync, rmSync } from "node:fs";

/**
 * Part of `npm ci`. The packages of Node bring the headers that native add-ons are compiled with, a third of their size. Nothing
 * here compiles any (docs/design/dependencies.md, "What an installation weighs").
 */
for (const folder of globSync("node_modules/node-{darwin,linux,win}-*/include"))
  rmSync(folder, { recursive: true });
