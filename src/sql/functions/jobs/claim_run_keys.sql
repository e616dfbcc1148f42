-- `earlier`: the run that already has this idempotency key (with the same body) or unique key (with any body); null if the key is new, or the new run
-- takes it over. `replaced_at`: the due time of the waiting run that the new one replaces.
create or replace function holdfast_internal.claim_run_keys(
  job integer, body text, options jsonb, new_run bigint, out earlier bigint, out replaced_at timestamptz
)
language plpgsql as $$
declare
  key_scope text := 'unique:' || job;
  unique_key text := options ->> 'uniqueKey';
  new_hash text := case when options ? 'uniqueForMs' then 'window' else 'run' end;
  new_expiry timestamptz := case when options ? 'uniqueForMs'
    then now() + make_interval(secs => (options ->> 'uniqueForMs')::double precision / 1000) else 'infinity' end;
  claimed bigint[];
  held record;
begin
  if options ? 'idempotencyKey' then
    claimed := holdfast_internal.claim_idempotency_key('job:' || job, options ->> 'idempotencyKey', '', body, array[new_run]);
    if claimed is not null then
      earlier := claimed[1];
      return;
    end if;
  end if;
  if unique_key is null then
    return;
  end if;
  -- With uniqueForMs the key is taken for that time, otherwise until its run has ended.
  loop
    insert into holdfast_internal.idempotency_keys (scope, key, body_hash, result, expires_at)
    values (key_scope, unique_key, new_hash, to_jsonb(array[new_run]), new_expiry) on conflict (scope, key) do nothing;
    if found then
      return;
    end if;
    select body_hash, (result ->> 0)::bigint as run, expires_at into held
    from holdfast_internal.idempotency_keys where scope = key_scope and key = unique_key for update;
    if not found then
      continue;
    end if;
    -- A separate statement: its snapshot includes the run of the transaction whose key this one has waited for.
    if held.expires_at > now() and options ->> 'onConflict' <> 'keep' and exists (select from holdfast_internal.runs where id = held.run) then
      replaced_at := holdfast_internal.replace_waiting_run(held.run, new_run);
    elsif held.expires_at > now() and (held.body_hash <> 'run' or exists (select from holdfast_internal.runs where id = held.run)) then
      -- The idempotency key that was claimed above refers to that run from now on.
      update holdfast_internal.idempotency_keys set result = to_jsonb(array[held.run])
      where scope = 'job:' || job and key = options ->> 'idempotencyKey';
      earlier := held.run;
      return;
    end if;
    update holdfast_internal.idempotency_keys set body_hash = new_hash, result = to_jsonb(array[new_run]), expires_at = new_expiry
    where scope = key_scope and key = unique_key;
    return;
  end loop;
end $$;
