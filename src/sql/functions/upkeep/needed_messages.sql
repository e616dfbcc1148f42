-- The messages of a range of ids that something unsettled still needs. Indexes: deliveries_pkey, deliveries_message, dead_letters_message,
-- runs_pkey; a run that isn't its message's first is looked for in all runs, once a partition.
create or replace function holdfast_internal.needed_messages(first_id bigint, end_id bigint) returns setof bigint
language plpgsql stable as $$
begin
  return query
  select id from holdfast_internal.deliveries where id >= first_id and id < end_id and message_id = id
  union select message_id from holdfast_internal.deliveries where message_id >= first_id and message_id < end_id and message_id <> id
  union select message_id from holdfast_internal.dead_letters where message_id >= first_id and message_id < end_id and settled_at is null
  union select id from holdfast_internal.runs where id >= first_id and id < end_id and message_id is null
  union select message_id from holdfast_internal.runs where message_id >= first_id and message_id < end_id
  union select holdfast_internal.bundled_ids(first_id, end_id);
end $$;
