import { writeApiTypes } from "./api-types.ts";

/** `npm run describe` runs this, so that the console is checked against what is described. */
await writeApiTypes();
