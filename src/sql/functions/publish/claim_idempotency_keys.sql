-- Claims the keys of a batch; a null key is none. Returns a row for each message whose key was used before, with what its first use resulted in.
-- Most keys of a batch are new: those are claimed in one statement, in the order of their names, so that publishers of the same keys wait for one another and
-- never in a circle. What that leaves over (used before, expired, or twice in the batch) is looked at one by one.
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
    select scope, key, md5(prefix || body::jsonb::text), result, now() + lifetime
    from (
      -- By bytes: a language's order takes longer than all the rest.
      select distinct on (scope collate "C", key collate "C") scope, key, prefix, body, result
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
    select place::integer, scope, key, prefix, body, array(select jsonb_array_elements_text(result)::bigint) as result
    from (
      select *, row_number() over (partition by scope collate "C", key collate "C" order by place) as use
      from unnest(key_scopes, message_keys, prefixes, bodies, new_results) with ordinality as message (scope, key, prefix, body, result, place)
      where key is not null
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
