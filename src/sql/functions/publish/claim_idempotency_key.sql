-- Null if the key is new and now belongs to `new_result`; otherwise the result of its first use.
create or replace function holdfast_internal.claim_idempotency_key(
  key_scope text, idempotency_key text, prefix text, body text, new_result bigint[]
) returns bigint[]
language plpgsql as $$
declare
  hash text := holdfast_internal.body_hash(prefix, body);
  earlier record;
begin
  for look in 1 .. 10 loop
    delete from holdfast_internal.idempotency_keys where scope = key_scope and key = idempotency_key and expires_at <= now();
    insert into holdfast_internal.idempotency_keys (scope, key, body_hash, result, expires_at)
    values (key_scope, idempotency_key, hash, to_jsonb(new_result),
            now() + make_interval(secs => holdfast_internal.setting_integer('idempotency_window_ms') / 1000.0))
    on conflict do nothing;
    if found then
      return null;
    end if;
    select body_hash, result into earlier from holdfast_internal.idempotency_keys where scope = key_scope and key = idempotency_key;
    -- A key that existed for the insert and doesn't for the select has been purged in between: it is free now.
    continue when not found;
    if earlier.body_hash <> hash and not holdfast_internal.is_same_message((earlier.result ->> 0)::bigint, prefix, body) then
      raise exception 'the idempotency key "%" was used before with a different body', idempotency_key
        using errcode = 'HF004', hint = 'Use a new key for a new message.';
    end if;
    return array(select jsonb_array_elements_text(earlier.result)::bigint);
  end loop;
  raise exception 'the idempotency key "%" is being used by concurrent transactions', idempotency_key using errcode = '40001', hint = 'Try again.';
end $$;
