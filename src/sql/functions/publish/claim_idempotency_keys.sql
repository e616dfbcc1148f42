-- Claims the keys of a batch; messages without a key have null. Returns a row for each message whose key was used before, with the result of its first use.
-- Most keys of a batch are new: those are claimed in one statement, in the order of their names, so that publishers of the same keys wait for one another and
-- never deadlock. The rest (used before, expired, or twice in the batch) is processed one by one.
create or replace function holdfast_internal.claim_idempotency_keys(
  key_scopes text[], message_keys text[], prefixes text[], bodies text[], new_results jsonb[]
) returns table (at integer, earlier bigint[])
language plpgsql as $$
declare
  lifetime interval := make_interval(secs => holdfast_internal.setting_integer('idempotency_window_ms') / 1000.0);
  claimed_scopes text[];
  claimed_keys text[];
  given record;
begin
  with claimed as (
    insert into holdfast_internal.idempotency_keys as known (scope, key, body_hash, result, expires_at)
    select scope, key, hash, result, now() + lifetime
    from (
      -- Sorted by bytes: sorting by a collation takes longer than everything else here.
      select distinct on (scope collate "C", key collate "C") scope, key, holdfast_internal.body_hash(prefix, body) as hash, result
      from unnest(key_scopes, message_keys, prefixes, bodies, new_results) with ordinality as message (scope, key, prefix, body, result, place)
      where key is not null
      order by scope collate "C", key collate "C", place
    ) as first
    on conflict do nothing
    returning known.scope, known.key
  )
  select array_agg(scope), array_agg(key) into claimed_scopes, claimed_keys from claimed;
  if cardinality(claimed_keys) = cardinality(array_remove(message_keys, null)) then
    return;
  end if;

  for given in
    -- The first message of a batch isn't stored yet: an equivalent body with the same key counts as its repetition here.
    select place::integer, scope, key, prefix, case when use > 1 and body::jsonb = first_body::jsonb then first_body else body end as body,
           array(select jsonb_array_elements_text(result)::bigint) as result
    from (
      select *, row_number() over same_key as use, first_value(body) over same_key as first_body
      from unnest(key_scopes, message_keys, prefixes, bodies, new_results) with ordinality as message (scope, key, prefix, body, result, place)
      where key is not null
      window same_key as (partition by scope collate "C", key collate "C" order by place)
    ) as message
    where use > 1 or (scope, key) not in (select * from unnest(coalesce(claimed_scopes, '{}'), coalesce(claimed_keys, '{}')))
    order by scope collate "C", key collate "C", place
  loop
    earlier := holdfast_internal.claim_idempotency_key(given.scope, given.key, given.prefix, given.body, given.result);
    if earlier is not null then
      at := given.place;
      return next;
    end if;
  end loop;
end $$;
