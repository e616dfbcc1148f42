-- Joins the message of `owner`, from its partition or from messages_kept.
create or replace function holdfast_internal.message_join(owner text) returns text
language sql immutable
return format($join$
  left join lateral (
    select type, tenant, correlation_id from holdfast_internal.messages where id = %1$s.message_id
    union all
    select type, tenant, correlation_id from holdfast_internal.messages_kept where id = %1$s.message_id limit 1
  ) as message on true $join$, owner);
