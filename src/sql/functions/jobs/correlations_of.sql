-- The correlation ids of the first 20 of these runs, without duplicates, for log entries. Indexes: runs_pkey, messages_pkey.
create or replace function holdfast_internal.correlations_of(run_ids bigint[]) returns text[]
language plpgsql stable as $$
begin
  return array(
    select distinct holdfast_internal.correlation_of(coalesce(run.message_id, listed.id))
    from unnest(run_ids[:20]) as listed (id)
    left join lateral (select one.message_id from holdfast_internal.runs as one where one.id = listed.id limit 1) as run on true
    order by 1);
end $$;
