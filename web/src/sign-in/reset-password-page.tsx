import { Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../api/client.ts";
import { paths } from "../paths.ts";
import { TextLink, useGo } from "../ui/link.tsx";
import { NewPasswordForm, SignInFrame } from "./sign-in-parts.tsx";
import { tokenOfAddress } from "./token-of-address.ts";

/** Sets a new password with the link of a mail. */
export function ResetPasswordPage() {
  const { t } = useTranslation();
  const [token] = useState(tokenOfAddress);
  const go = useGo();
  return (
    <SignInFrame title={t("signIn.resetTitle")}>
      {token === null ? (
        <Text size="sm">{t("signIn.linkUsedUp")}</Text>
      ) : (
        <NewPasswordForm
          run={(password) => dataOf(api.POST("/auth/reset/password", { body: { token, password } }))}
          onDone={() => void go(paths.signIn(), { replace: true })}
          done={t("signIn.passwordSet")}
        />
      )}
      <TextLink to={paths.signIn()} size="sm">
        {t("signIn.title")}
      </TextLink>
    </SignInFrame>
  );
}
