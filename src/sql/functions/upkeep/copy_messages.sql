-- Copies these messages to the table where they stay when their partition is dropped; returns how many weren't there yet.
-- Columns by name: between the two steps of a change that adds one to both tables they differ.
create or replace function holdfast_internal.copy_messages(message_ids bigint[]) returns integer
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  copied integer;
begin
  insert into holdfast_internal.messages_kept (
    id, created_at, criticality, is_unrouted, needs_check, size, is_run, type, tenant, correlation_id, ordering_key, headers, metadata, body, erased_at
  )
  select message.id, message.created_at, message.criticality, message.is_unrouted, message.needs_check, message.size, message.is_run, message.type,
         message.tenant, message.correlation_id, message.ordering_key, message.headers, message.metadata, message.body, message.erased_at
  from unnest(message_ids) as wanted (id) join holdfast_internal.messages as message on message.id = wanted.id
  on conflict do nothing;
  get diagnostics copied = row_count;
  return copied;
end $$;
