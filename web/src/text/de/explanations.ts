import type { Explanation } from "../explanations.ts";
import { fieldExplanations } from "./field-explanations.ts";
import { problemExplanations } from "./problem-explanations.ts";

/** What the service says about fields, about lines of an imported file, and about changes that are not possible. */
export const explanations: readonly Explanation[] = [...fieldExplanations, ...problemExplanations];
