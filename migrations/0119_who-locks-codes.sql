-- Wrong codes are counted within a session too. So a session can lock the codes of its person, beside the password.
comment on column person_two_factors.locked_until is 'Until then no code is accepted. Only who knows the password, or has a session, can cause it.';
