import { writeApiTypes } from "./api-types.ts";

/** `npm run check` and `npm run describe` run this, so that the console is checked against what is described. */
await writeApiTypes();
