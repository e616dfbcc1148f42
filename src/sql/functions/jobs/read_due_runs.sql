-- The due runs that a claim has taken, in this order, with their bodies. Indexes: runs_pkey, messages_pkey, messages_kept_pkey.
create or replace function holdfast_internal.read_due_runs(claim bigint, due_taken bigint[])
returns table (
  claim_id bigint, id bigint, message_id bigint, job_id integer, attempt integer, crashes smallint, expires_at_ms double precision, body text,
  correlation_id text, headers jsonb, metadata jsonb, ordering_key text
)
language plpgsql as $$
#variable_conflict use_column
begin
  return query
  select claim, run.id, coalesce(run.message_id, run.id), run.job_id, run.attempt, run.crashes,
         extract(epoch from run.expires_at)::double precision * 1000, message.body::text, message.correlation_id, message.headers, message.metadata,
         run.ordering_key
  from unnest(due_taken) with ordinality as chosen (id, place) join holdfast_internal.runs as run on run.id = chosen.id
  left join lateral (
    select stored.body, stored.correlation_id, stored.headers, stored.metadata
    from holdfast_internal.messages as stored where stored.id = coalesce(run.message_id, run.id)
    union all
    select kept.body, kept.correlation_id, kept.headers, kept.metadata
    from holdfast_internal.messages_kept as kept where kept.id = coalesce(run.message_id, run.id)
    limit 1
  ) as message on true
  order by chosen.place;
end $$;
