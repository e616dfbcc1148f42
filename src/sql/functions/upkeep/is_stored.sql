-- Index: messages_pkey, messages_kept_pkey.
create or replace function holdfast_internal.is_stored(message bigint) returns boolean
language sql stable
return exists (select from holdfast_internal.messages where id = message) or exists (select from holdfast_internal.messages_kept where id = message);
