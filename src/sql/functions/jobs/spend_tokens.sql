-- The tokens of jobs with a rate after a claim, as stored in queue_cursors: by job, [tokens, time of counting]. Null: no job has a rate.
create or replace function holdfast_internal.spend_tokens(
  limited integer[], tokens double precision[], due_ids bigint[], due_jobs integer[], due_taken bigint[], looked_at timestamptz
) returns jsonb
language plpgsql as $$
begin
  if array_remove(tokens, null) is not distinct from '{}' or tokens is null then
    return null;
  end if;
  return (
    select jsonb_object_agg(job.id, jsonb_build_array(job.tokens - coalesce(taken.total, 0), extract(epoch from looked_at)::double precision))
    from unnest(limited, tokens) as job (id, tokens)
    left join (
      select due.job, count(*) as total from unnest(due_ids, due_jobs) as due (id, job) where due.id = any (due_taken) group by 1
    ) as taken on taken.job = job.id
    where job.tokens is not null
  );
end $$;
