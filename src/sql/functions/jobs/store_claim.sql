-- Stores a claim as one row, and sets aside or parks the runs that it passes over. A fresh run belongs to the claim because the claim lists it; a due
-- run also stores the claim's id. Runs of bundles that have an ordering key, are parked or set aside get their rows here. Returns the claim's id.
-- Indexes: runs_pkey, run_bundles_last_id_key.
create or replace function holdfast_internal.store_claim(
  me integer, lane integer, request bigint, fresh_ids bigint[], fresh_jobs integer[], fresh_priorities smallint[], fresh_verdicts text[],
  fresh_bundles bigint[], fresh_keys text[], cursors bigint[], due_taken bigint[], fresh_taken bigint[], aside bigint[], parked bigint[]
) returns bigint
language plpgsql as $$
declare
  new_claim constant bigint := nextval('holdfast_internal.run_claims_seq');
  rows_taken bigint[] := fresh_taken;
  bundled_taken int8multirange := '{}';
  passed_bundles bigint[];
begin
  if coalesce(aside, parked) is not null then
    update holdfast_internal.runs set due_at = 'infinity', is_aside = id = any (coalesce(aside, '{}')) where id = any (aside || parked);
  end if;
  if fresh_bundles is not null then
    -- All runs that the cursor passes are taken, except those that are set aside or parked.
    select coalesce(range_agg(int8range(part.first, part.last, '[]')) filter (where part.is_held), '{}'),
           array_agg(part.bundle) filter (where part.bundle = part.last)
    into bundled_taken, passed_bundles
    from (
      select fresh.bundle, coalesce(fresh.verdict, 'take') = 'take' and fresh.key is null as is_held, min(fresh.id) as first, max(fresh.id) as last
      from unnest(fresh_ids, fresh_bundles, fresh_priorities, fresh_verdicts, fresh_keys) as fresh (id, bundle, priority, verdict, key)
      where fresh.bundle is not null and fresh.id <= cursors[fresh.priority + 1] group by 1, 2
    ) as part;
    rows_taken := array(
      select fresh.id from unnest(fresh_ids, fresh_bundles, fresh_priorities, fresh_verdicts, fresh_keys) as fresh (id, bundle, priority, verdict, key)
      where (fresh.bundle is null or fresh.key is not null) and fresh.id <= cursors[fresh.priority + 1] and coalesce(fresh.verdict, 'take') = 'take'
    );
    if fresh_keys is not null or aside is not null then
      insert into holdfast_internal.runs (id, lane_id, job_id, priority, claim_id, due_at, is_aside, ordering_key)
      select fresh.id, lane, fresh.job, fresh.priority, case when fresh.is_taken then new_claim end, case when fresh.is_taken then now() else 'infinity' end,
             fresh.verdict = 'aside', fresh.key
      from (
        select *, coalesce(verdict, 'take') = 'take' as is_taken
        from unnest(fresh_ids, fresh_bundles, fresh_jobs, fresh_priorities, fresh_verdicts, fresh_keys) as listed (id, bundle, job, priority, verdict, key)
      ) as fresh
      where fresh.bundle is not null and fresh.id <= cursors[fresh.priority + 1] and (not fresh.is_taken or fresh.key is not null);
    end if;
    delete from holdfast_internal.run_bundles as passed where passed.lane_id = lane and passed.last_id = any (passed_bundles);
  end if;
  if due_taken is not null then
    update holdfast_internal.runs set claim_id = new_claim, due_at = least(due_at, now()), is_aside = false where id = any (due_taken);
  end if;
  if coalesce(due_taken, fresh_taken) is not null then
    insert into holdfast_internal.run_claims (id, lane_id, worker, request, run_ids, bundled)
    values (new_claim, lane, me, request, coalesce(due_taken, '{}') || rows_taken, bundled_taken);
  end if;
  return new_claim;
end $$;
