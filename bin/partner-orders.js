#!/usr/bin/env node
// Starts the service. This file itself is JavaScript that older versions of Node can read, which know no TypeScript: they end
// with one line. See docs/design/dependencies.md, "A Node for the sources".
import "./needs-node.js";

await import("../src/main.ts");
