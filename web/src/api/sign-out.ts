import { queryClient } from "./query-client.ts";
import { signInGate } from "./sign-in-gate.ts";

/** Reaches all tabs of this browser. */
const channel = new BroadcastChannel("sign-out");

/** Nothing of the person stays in the memory of any tab. */
export async function leaveAllTabs(goToSignIn: () => Promise<void>): Promise<void> {
  channel.postMessage(null);
  signInGate.leave();
  await goToSignIn();
  queryClient.clear();
}

/** Calls back if the person signs out in another tab. Returns how to stop. */
export function onSignOutElsewhere(leave: () => void): () => void {
  channel.addEventListener("message", leave);
  return () => channel.removeEventListener("message", leave);
}
