import { api, dataOf } from "./client.ts";
import { signInGate } from "./sign-in-gate.ts";

/** Asks for the proof of a file that the browser requests by its own means. False: the person has closed the dialog. */
export async function hasRecentProof(): Promise<boolean> {
  const { session } = await dataOf(api.GET("/auth/account"));
  return session.isRecent || signInGate.open("recent");
}
