import { Alert } from "@mantine/core";
import { useNetwork } from "@mantine/hooks";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { signInGate } from "../api/sign-in-gate.ts";
import { updateStream } from "../api/updates/update-stream.ts";

/** Says that the browser has no network, or that a page that follows updates gets none, because what is shown may be old. */
export function OfflineNotice() {
  const { t } = useTranslation();
  const { online } = useNetwork();
  const isLost = useSyncExternalStore(updateStream.lost.subscribe, updateStream.lost.current);
  // The stream waits with all other requests until the person has signed in.
  const isSigningIn = useSyncExternalStore(signInGate.subscribe, signInGate.current) !== null;
  return (
    <div aria-live="polite">
      {(!online || (isLost && !isSigningIn)) && (
        <Alert color="yellow" mb="md" icon={<IconPlugConnectedX size={18} />}>
          {t(online ? "shell.updatesLost" : "shell.offline")}
        </Alert>
      )}
    </div>
  );
}
