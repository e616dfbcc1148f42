-- Verdicts for fresh runs, of which some have ordering keys: take, park (until its key is free), aside, or leave where it is. At most `max_chain` runs of a
-- key are taken together, and fewer the more keys there are; the executor runs them one after the other. Runs without a key are taken or set aside.
--
-- `young_claims`: from the first run on whose key is in use by one of these, fresh runs are left (`has_left`): the key will be free in a moment, and
-- parking the run would cost three writes instead of one.
--
-- Within a key, age decides, whatever a run's priority. A claim sees the keys of the bundles at the front only. If `keyed_takes` (due runs with keys
-- that could be taken) contains one that is younger than the oldest run in a bundle, or that bundle was committed late, an older run of its key may wait
-- in a bundle: such runs are left, and bundles are unpacked into rows, which are judged by their rows from the next claim on (`has_unpacked`).
-- Indexes: run_bundles_ordered, runs_ordered, runs_ordered_out.
create or replace function holdfast_internal.judge_ordered_runs(
  lane integer, passed bigint, ids bigint[], priorities smallint[], keys text[], are_takeable boolean[], wanted integer, max_chain integer,
  young_claims bigint[], due_ids bigint[], keyed_takes bigint[], out verdicts text[], inout due_verdicts text[], out has_unpacked boolean, out has_left boolean
)
language plpgsql as $$
declare
  -- Bundles don't overlap: the one that ends first has the oldest run.
  first_bundled constant bigint := (
    select first_id from holdfast_internal.waiting_bundles where lane_id = lane and ordering_keys is not null order by lane_id, last_id limit 1
  );
begin
  has_unpacked := coalesce(first_bundled <= passed or first_bundled < any (keyed_takes), false);
  if has_unpacked then
    verdicts := array(
      select case when fresh.priority = 0 and fresh.id >= first_bundled then 'leave' when fresh.is_takeable is false then 'aside' else 'take' end
      from unnest(ids, priorities, are_takeable) with ordinality as fresh (id, priority, is_takeable, place) order by fresh.place
    );
    due_verdicts := array(
      select case when due.id > first_bundled and due.id = any (keyed_takes) then 'leave' else due.verdict end
      from unnest(due_ids, due_verdicts) with ordinality as due (id, verdict, place) order by due.place
    );
    perform holdfast_internal.unpack_bundles(lane, passed);
    return;
  end if;
  if keys is null then
    return;
  end if;
  select array_agg(case when judged.place >= judged.first_left then 'leave' else judged.verdict end order by judged.place), bool_or(judged.first_left is not null)
  into verdicts, has_left
  from (
    select listed.place, min(listed.place) filter (where listed.oldest_id < listed.id and listed.oldest_claim = any (young_claims)) over () as first_left,
           case when listed.is_takeable is false then 'aside'
                when listed.key is null then 'take'
                when listed.is_behind or listed.oldest_id < listed.id then 'park'
                -- A younger run, which was committed earlier, is in flight.
                when listed.oldest_id is not null and (
                  select true from holdfast_internal.runs as later
                  where later.ordering_key = listed.key and later.lane_id = lane and later.claim_id is not null limit 1
                ) then 'aside'
                when listed.number_in_key <= least(max_chain, greatest(wanted / listed.heads, 1)) then 'take'
                else 'park' end as verdict
    from (
      select ranked.*, sum(case when ranked.number_in_key = 1 then 1 end) over () as heads,
             -- One look-up for each key.
             first_value(known.id) over in_key as oldest_id, first_value(known.claim_id) over in_key as oldest_claim
      from (
        select fresh.*, row_number() over in_key as number_in_key, bool_or(fresh.is_takeable is false) over in_key as is_behind
        from unnest(ids, keys, are_takeable) with ordinality as fresh (id, key, is_takeable, place)
        window in_key as (partition by fresh.key order by fresh.id)
      ) as ranked
      left join lateral (
        select other.id, other.claim_id from holdfast_internal.runs as other
        where ranked.number_in_key = 1 and other.ordering_key = ranked.key and other.lane_id = lane
        order by other.ordering_key, other.lane_id, other.id limit 1
      ) as known on true
      window in_key as (partition by ranked.key order by ranked.id)
    ) as listed
  ) as judged;
end $$;
