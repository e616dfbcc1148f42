-- Creates missing partitions of this month and the next ones, of the size in the setting `partition_size`: month, week or day. If existing partitions
-- of another size cover part of a range, the new one covers the rest, so that the setting can be changed at any time.
create or replace function holdfast.maintain_partitions(months_ahead integer default 3) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  created integer := 0;
  parent text;
  size text := holdfast_internal.setting_value('partition_size') #>> '{}';
  starts_at timestamp;
  ends_at timestamp;
  first_id bigint;
  last_id bigint;
  covered_to bigint;
begin
  if months_ahead is null or months_ahead not between 0 and 120 then
    raise exception 'months_ahead must be between 0 and 120, not %', coalesce(months_ahead::text, 'null') using errcode = '22023';
  end if;
  if size is null or size not in ('month', 'week', 'day') then
    raise exception 'the setting partition_size must be month, week or day, not %', size using errcode = '22023';
  end if;
  perform pg_advisory_xact_lock(hashtext('holdfast.maintain_partitions'));
  for parent in select unnest(array['messages', 'attempts']) loop
    starts_at := date_trunc(size, now() at time zone 'UTC');
    while starts_at < date_trunc('month', now() at time zone 'UTC') + make_interval(months => months_ahead + 1) loop
      ends_at := starts_at + ('1 ' || size)::interval;
      first_id := holdfast_internal.id_at(starts_at at time zone 'UTC');
      last_id := holdfast_internal.id_at(ends_at at time zone 'UTC');
      loop
        select covering.to_id into covered_to
        from holdfast_internal.partition_ranges(parent) as covering where covering.from_id <= first_id and covering.to_id > first_id;
        exit when not found or first_id >= last_id;
        first_id := covered_to;
      end loop;
      select coalesce(min(later.from_id), last_id) into last_id
      from holdfast_internal.partition_ranges(parent) as later where later.from_id > first_id and later.from_id < last_id;
      if first_id < last_id then
        perform holdfast_internal.create_partition(
          parent, format('%s_%s', parent, to_char(starts_at, case size when 'month' then 'YYYY_MM' else 'YYYY_MM_DD' end)), first_id, last_id
        );
        created := created + 1;
      end if;
      starts_at := ends_at;
    end loop;
  end loop;
  return created;
end $$;
