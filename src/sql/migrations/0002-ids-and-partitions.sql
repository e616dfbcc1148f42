-- Ids follow the clock, forwards only; partitions exist before ids reach them.

create function holdfast.id_at(at timestamptz) returns bigint
language sql immutable parallel safe
return greatest(0, floor(extract(epoch from at) * 1000)::bigint - 1704067200000) * 4096;

create function holdfast.time_of_id(id bigint) returns timestamptz
language sql immutable parallel safe
return to_timestamp(((id >> 12) + 1704067200000) / 1000.0);

-- Prefixed ids as users see them: 11 digits of Crockford's base 32.
create function holdfast.format_id(prefix text, id bigint) returns text
language sql immutable parallel safe
return prefix || '_' || (
  select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((id >> (5 * place)) & 31)::integer + 1, 1), '' order by place desc)
  from generate_series(0, 10) as place
);

create function holdfast.parse_id(prefix text, id text) returns bigint
language plpgsql immutable parallel safe as $$
declare
  digits text := substr(id, length(prefix) + 2);
  result bigint := 0;
  digit integer;
begin
  if id is null or left(id, length(prefix) + 1) <> prefix || '_' or length(digits) <> 11 then
    raise exception 'not a % id: %', prefix, coalesce(id, 'null')
      using errcode = '22023', hint = format('An id of this kind looks like %s_00000000001.', prefix);
  end if;
  for place in 1..11 loop
    digit := strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(digits, place, 1)) - 1;
    if digit < 0 then
      raise exception 'not a % id: %', prefix, id using errcode = '22023';
    end if;
    result := result * 32 + digit;
  end loop;
  return result;
end $$;

-- One partition: built apart, then attached, because CREATE … PARTITION OF waits behind every open publisher and makes all
-- others wait behind itself. The caller sets a lock timeout; a partition that can't be attached now is tried again later.
create function holdfast.create_partition(parent text, month date) returns boolean
language plpgsql set search_path = pg_catalog as $$
declare
  partition text := format('%s_%s', parent, to_char(month, 'YYYY_MM'));
  from_id bigint := holdfast.id_at(month::timestamp at time zone 'UTC');
  to_id bigint := holdfast.id_at((month + interval '1 month')::timestamp at time zone 'UTC');
  key text := case parent when 'messages' then 'id' else 'delivery_id' end;
begin
  if exists (
    select from pg_inherits
    where inhrelid = to_regclass(format('holdfast.%I', partition)) and inhparent = format('holdfast.%I', parent)::regclass
  ) then
    return false;
  end if;
  execute format('create table if not exists holdfast.%I (like holdfast.%I including defaults including constraints)', partition, parent);
  execute format('alter table holdfast.%I drop constraint if exists partition_range', partition);
  -- The check lets ATTACH skip its scan.
  execute format('alter table holdfast.%I add constraint partition_range check (%I >= %s and %I < %s)', partition, key, from_id, key, to_id);
  execute format('alter table holdfast.%I attach partition holdfast.%I for values from (%s) to (%s)', parent, partition, from_id, to_id);
  execute format('alter table holdfast.%I drop constraint partition_range', partition);
  return true;
end $$;

create function holdfast.maintain_partitions(months_ahead integer default 3) returns integer
language plpgsql set search_path = pg_catalog as $$
declare
  created integer := 0;
  parent text;
  first_month date := date_trunc('month', now() at time zone 'UTC');
begin
  if months_ahead not between 0 and 120 then
    raise exception 'months_ahead must be between 0 and 120, not %', months_ahead using errcode = '22023';
  end if;
  perform pg_advisory_xact_lock(hashtext('holdfast.maintain_partitions'));
  for ahead in 0..months_ahead loop
    for parent in select unnest(array['messages', 'attempts']) loop
      if holdfast.create_partition(parent, (first_month + make_interval(months => ahead))::date) then
        created := created + 1;
      end if;
    end loop;
  end loop;
  return created;
end $$;

-- Moves the id sequence up to the clock. Only forwards, only into a month whose partition exists, and only by a second or
-- more: a rival would have to draw four million ids between this check and setval to be overtaken.
create function holdfast.advance_ids() returns boolean
language plpgsql set search_path = pg_catalog as $$
declare
  target bigint;
  current_id bigint;
  is_moved boolean := false;
begin
  -- A session lock, let go before this returns: a publisher's long transaction must not keep others from advancing.
  if not pg_try_advisory_lock(hashtext('holdfast.advance_ids')) then
    return false;
  end if;
  target := holdfast.id_at(clock_timestamp());
  select last_value into current_id from holdfast.ids;
  if target - current_id >= 4096 * 1000
    and to_regclass(format('holdfast.messages_%s', to_char(clock_timestamp() at time zone 'UTC', 'YYYY_MM'))) is not null
  then
    perform setval('holdfast.ids', target);
    is_moved := true;
  end if;
  perform pg_advisory_unlock(hashtext('holdfast.advance_ids'));
  return is_moved;
end $$;

select holdfast.maintain_partitions(3);
select holdfast.advance_ids();
