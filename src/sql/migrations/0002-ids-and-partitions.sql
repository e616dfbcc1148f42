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

-- The partitions of a table and the ids that they take; the default one, which takes the rest, isn't among them.
create function holdfast.partition_ranges(parent text) returns table (name text, from_id bigint, to_id bigint)
language sql stable set search_path = pg_catalog as $$
  select part.relname::text, bounds[1]::bigint, bounds[2]::bigint
  from pg_inherits join pg_class as part on part.oid = inhrelid
  cross join lateral regexp_match(pg_get_expr(part.relpartbound, part.oid), $bound$FROM \('?(\d+)'?\) TO \('?(\d+)'?\)$bound$) as bounds
  where inhparent = format('holdfast.%I', parent)::regclass and bounds is not null
$$;

-- One partition: built apart, then attached, because CREATE … PARTITION OF waits behind every open publisher and makes all
-- others wait behind itself. The caller sets a lock timeout; a partition that can't be attached now is tried again later.
create function holdfast.create_partition(parent text, part text, from_id bigint, to_id bigint) returns void
language plpgsql set search_path = pg_catalog as $$
declare
  key text := case parent when 'messages' then 'id' else 'delivery_id' end;
begin
  execute format('create table if not exists holdfast.%I (like holdfast.%I including defaults including constraints)', part, parent);
  execute format('alter table holdfast.%I drop constraint if exists partition_range', part);
  -- The check lets ATTACH skip its scan.
  execute format('alter table holdfast.%I add constraint partition_range check (%I >= %s and %I < %s)', part, key, from_id, key, to_id);
  execute format('alter table holdfast.%I attach partition holdfast.%I for values from (%s) to (%s)', parent, part, from_id, to_id);
  execute format('alter table holdfast.%I drop constraint partition_range', part);
end $$;

-- Makes what is missing of this month and the next ones, in pieces of the setting `partition_size`: month, week or day. A piece that an
-- older, larger or smaller one covers in part is cut down to the rest, so that the setting can be changed at any time.
create function holdfast.maintain_partitions(months_ahead integer default 3) returns integer
language plpgsql set search_path = pg_catalog as $$
declare
  created integer := 0;
  parent text;
  size text := (select value #>> '{}' from holdfast.settings where settings.name = 'partition_size');
  starts_at timestamp;
  ends_at timestamp;
  first_id bigint;
  last_id bigint;
  covered_to bigint;
begin
  if months_ahead not between 0 and 120 then
    raise exception 'months_ahead must be between 0 and 120, not %', months_ahead using errcode = '22023';
  end if;
  if size is null or size not in ('month', 'week', 'day') then
    raise exception 'the setting partition_size must be month, week or day, not %', size using errcode = '22023';
  end if;
  perform pg_advisory_xact_lock(hashtext('holdfast.maintain_partitions'));
  for parent in select unnest(array['messages', 'attempts']) loop
    starts_at := date_trunc(size, now() at time zone 'UTC');
    while starts_at < date_trunc('month', now() at time zone 'UTC') + make_interval(months => months_ahead + 1) loop
      ends_at := starts_at + ('1 ' || size)::interval;
      first_id := holdfast.id_at(starts_at at time zone 'UTC');
      last_id := holdfast.id_at(ends_at at time zone 'UTC');
      loop
        select covering.to_id into covered_to
        from holdfast.partition_ranges(parent) as covering where covering.from_id <= first_id and covering.to_id > first_id;
        exit when not found or first_id >= last_id;
        first_id := covered_to;
      end loop;
      select coalesce(min(later.from_id), last_id) into last_id
      from holdfast.partition_ranges(parent) as later where later.from_id > first_id and later.from_id < last_id;
      if first_id < last_id then
        perform holdfast.create_partition(
          parent, format('%s_%s', parent, to_char(starts_at, case size when 'month' then 'YYYY_MM' else 'YYYY_MM_DD' end)), first_id, last_id
        );
        created := created + 1;
      end if;
      starts_at := ends_at;
    end loop;
  end loop;
  return created;
end $$;

-- Moves the id sequence up to the clock. Only forwards, only to where a partition is, and only by a second or
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
    and exists (select from holdfast.partition_ranges('messages') as part where part.from_id <= target and part.to_id > target)
  then
    perform setval('holdfast.ids', target);
    is_moved := true;
  end if;
  perform pg_advisory_unlock(hashtext('holdfast.advance_ids'));
  return is_moved;
end $$;

-- Ids in ascending order as ranges. What was drawn together is mostly one.
create function holdfast.id_ranges(ids bigint[]) returns int8multirange
language sql immutable
return case when ids[cardinality(ids)] - ids[1] = cardinality(ids) - 1 then int8multirange(int8range(ids[1], ids[cardinality(ids)], '[]'))
       else (select range_agg(int8range(id, id, '[]')) from unnest(ids) as id) end;

select holdfast.maintain_partitions(3);
select holdfast.advance_ids();
