-- The fields that a delivery copies from its message, as a query ($1 the ids, from $2 to $3). Consecutive ids are read as one range of the primary key,
-- which costs a fraction of single look-ups.
create or replace function holdfast_internal.envelopes_of(message_ids bigint[], low bigint, high bigint) returns text
language plpgsql stable as $$
declare
  columns text := 'id, size, type, ordering_key, criticality';
  few bigint := 2 * cardinality(message_ids);
  is_dense boolean := high - low < few or (
    select count(*) from (select from holdfast_internal.messages where id >= low and id <= high limit few + 1) as those
  ) <= few;
begin
  return concat(
    format('select %s from holdfast_internal.messages where ', columns),
    -- An erased message can't be sent.
    'erased_at is null and ', case when is_dense then 'id >= $2 and id <= $3' else 'id = any ($1)' end,
    case when exists (select from holdfast_internal.messages_kept where id >= low and id <= high) then format($kept$
      union all select %s from holdfast_internal.messages_kept as kept
      where id = any ($1) and erased_at is null and not exists (select from holdfast_internal.messages as message where message.id = kept.id)
    $kept$, columns) end);
end $$;
