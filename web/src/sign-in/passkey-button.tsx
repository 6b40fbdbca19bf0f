import { Button } from "@mantine/core";
import { IconFingerprint } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { hasPasskeys, isGivenUp, signInWithPasskey } from "../api/passkeys.ts";
import { SignInProblem } from "./sign-in-problem.tsx";

/** Signs in with a passkey. Left out where the browser has none. */
export function PasskeyButton({ onSignedIn }: { onSignedIn: () => void }) {
  const { t } = useTranslation();
  const signIn = useMutation({ mutationFn: signInWithPasskey, onSuccess: onSignedIn });
  if (!hasPasskeys()) return null;
  return (
    <>
      {signIn.error !== null && !isGivenUp(signIn.error) && <SignInProblem problem={signIn.error} />}
      <Button
        variant="default"
        fullWidth
        leftSection={<IconFingerprint size={16} />}
        loading={signIn.isPending}
        onClick={() => signIn.mutate()}
      >
        {t("signIn.passkey")}
      </Button>
    </>
  );
}
