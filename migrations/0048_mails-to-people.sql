-- Mails to people: invitations and resets of passwords (decision 0115). They belong to no merchant and no connection, and have
-- the nil UUID in both columns, as audit entries without a merchant do.

alter table outgoing_mails drop constraint outgoing_mails_connection_id_fkey;
comment on table outgoing_mails is 'Mail to merchants and to people of the back office, queued in the transaction that causes it and sent by a worker. The nil UUID as merchant: it is to a person, and its body is emptied when it was sent, because it has a link to sign in with.';
