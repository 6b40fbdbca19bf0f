import { readAnswer } from "../auth/answers.ts";
import type { People } from "./people.ts";
import { headersOf, type Visitor } from "./visitor.ts";

/** Ends the session of the browser, and returns the cookies that remove its own. Without a session it changes nothing. */
export async function signOut(people: People, visitor: Visitor): Promise<readonly string[]> {
  const answer = await readAnswer(
    await people.auth().api.signOut({ headers: headersOf(visitor), asResponse: true }),
  );
  return answer.cookies;
}
