-- A visit to the identity provider is in a cookie since decision 0211, and a challenge of a passkey as well, until it is used.
comment on table person_verifications is 'Proofs of sign-ins in progress: a right password that a code must follow, how many codes followed it, a challenge of a passkey while it is compared, and challenges that were used. Rows are purged an hour after their end.';
