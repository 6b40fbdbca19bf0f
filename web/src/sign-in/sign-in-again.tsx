import { lazy, Suspense, useSyncExternalStore } from "react";
import { signInGate } from "../api/sign-in-gate.ts";

const SignInDialog = lazy(async () => ({ default: (await import("./sign-in-dialog.tsx")).SignInDialog }));

/** The dialog over a page whose requests wait for a sign-in. Loaded when a request needs it. */
export function SignInAgain() {
  const open = useSyncExternalStore(signInGate.subscribe, signInGate.current);
  return (
    open !== null && (
      <Suspense>
        <SignInDialog open={open} />
      </Suspense>
    )
  );
}
