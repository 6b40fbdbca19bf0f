import { codeOf } from "./problem.ts";
import { signInGate } from "./sign-in-gate.ts";

/** What each request says about the person that its page shows as signed in (docs/design/people.md, "The person of a page"). */
export const shownPersonHeaders = (): Readonly<Record<string, string>> =>
  signInGate.personId === null ? {} : { "x-person-id": signInGate.personId };

/**
 * Another person has signed in, perhaps in another tab: it neither sends what this one began, nor sees what this one was
 * allowed to see.
 */
export async function reloadIfPersonChanged(response: Response): Promise<void> {
  if (response.status === 409 && (await codeOf(response)) === "person-changed") location.reload();
}
