-- Claims the idempotency and unique keys of runs that are about to be stored. `are_repeated`: runs that are not stored, because another run has their
-- key; `ids` names that run. `options`: with the due time of the run that each replaces. Within a batch the first run with a unique key is stored, or
-- the last if `onConflict` is not keep.
create or replace function holdfast_internal.claim_keys_of_runs(
  job integer, bodies text[], run_options jsonb[], run_ids bigint[], out ids bigint[], out options jsonb[], out are_repeated boolean[]
)
language plpgsql as $$
declare
  given record;
  claimed record;
  -- Unique keys that occur more than once in this batch, with the position of the run that gets the key.
  taken jsonb := '{}';
  holder integer;
begin
  ids := run_ids;
  options := run_options;
  are_repeated := array_fill(false, array[cardinality(bodies)]);
  for given in
    select at, body, option, option ->> 'uniqueKey' as unique_key, count(*) over (partition by option ->> 'uniqueKey') > 1 as is_shared
    from unnest(bodies, run_options) with ordinality as run (body, option, at)
    where option ?| '{idempotencyKey,uniqueKey}'
    -- Always in the same order, so that two batches with the same keys cannot deadlock.
    order by coalesce(option ->> 'uniqueKey', option ->> 'idempotencyKey'),
      case when coalesce(option ->> 'onConflict', 'keep') = 'keep' then at else -at end
  loop
    holder := (taken ->> given.unique_key)::integer;
    if holder is not null then
      select * into claimed from holdfast_internal.claim_run_keys(job, given.body, given.option - 'uniqueKey', ids[holder]);
      claimed.earlier := coalesce(claimed.earlier, ids[holder]);
    else
      select * into claimed from holdfast_internal.claim_run_keys(job, given.body, given.option, ids[given.at]);
      if claimed.earlier is null and given.is_shared and given.unique_key is not null then
        taken := taken || jsonb_build_object(given.unique_key, given.at);
      end if;
      if claimed.replaced_at < 'infinity' and given.option ->> 'onConflict' = 'replace' then
        options[given.at] := given.option - 'delayMs' || jsonb_build_object('runAt', claimed.replaced_at);
      end if;
    end if;
    if claimed.earlier is not null then
      ids[given.at] := claimed.earlier;
      are_repeated[given.at] := true;
    end if;
  end loop;
end $$;
