import { queryClient } from "./query-client.ts";
import { signInGate } from "./sign-in-gate.ts";

/** Reaches all tabs of this browser, which share one session. Its messages are the id of the person, or null: signed out. */
const channel = new BroadcastChannel("person");

/** The service has said who is signed in: requests name the person from now on, and other tabs show no other one. */
export function enterAllTabs(personId: string): void {
  if (signInGate.personId === personId) return;
  signInGate.admit(personId);
  channel.postMessage(personId);
}

/** Nothing of the person stays in the memory of any tab. */
export async function leaveAllTabs(goToSignIn: () => Promise<void>): Promise<void> {
  channel.postMessage(null);
  signInGate.leave();
  await goToSignIn();
  queryClient.clear();
}

/** Calls back if another tab has another person (its id), or none any more (null). Returns how to stop. */
export function onOtherPersonElsewhere(leave: (personId: string | null) => void): () => void {
  const listen = ({ data }: MessageEvent<string | null>): void => {
    if (data !== signInGate.personId) leave(data);
  };
  channel.addEventListener("message", listen);
  return () => channel.removeEventListener("message", listen);
}
