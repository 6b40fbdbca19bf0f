// Ends a process whose Node is too old for the TypeScript sources, with one line. JavaScript that older versions of Node can
// read; what starts the sources loads this first. See docs/design/dependencies.md, "A Node for the sources".
const NODE_MAJOR_MIN = 24;

if (Number(process.versions.node.split(".")[0]) < NODE_MAJOR_MIN) {
  process.stderr.write(
    `partner-orders needs Node ${NODE_MAJOR_MIN}, found ${process.versions.node}: install it from https://nodejs.org, or run npm ci without --omit=optional, which brings one\n`,
  );
  process.exit(2);
}
