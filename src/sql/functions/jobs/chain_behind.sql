-- The runs right behind `head` with the same ordering key that can be claimed together with it, in their order. Waiting runs with a key change only
-- while claims are locked out, so no row is locked here. Index: runs_ordered.
create or replace function holdfast_internal.chain_behind(
  lane integer, chain_key text, head bigint, max_rows integer, untakeable integer[], looked_at timestamptz
) returns table (id bigint, due_at timestamptz, age bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  return query
  select link.id, link.due_at, max(link.age) over (order by link.id)
  from (
    select run.id, run.due_at, case when run.due_at = 'infinity' then run.id else holdfast_internal.age_at(run.due_at) end as age,
           bool_and(run.claim_id is null and (run.due_at <= looked_at or run.due_at = 'infinity') and run.crashes = 0 and run.target is null
             and run.job_id <> all (untakeable)) over (order by run.id) as is_ready
    from (
      select * from holdfast_internal.runs as member
      where member.ordering_key = chain_key and member.lane_id = lane and member.id > head order by member.id limit greatest(max_rows, 0)
    ) as run
  ) as link where link.is_ready;
end $$;
