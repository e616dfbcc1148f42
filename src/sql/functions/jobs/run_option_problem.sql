-- What is wrong with the options of a run, or null; the same rules as in src/core/jobs/run-options.ts.
create or replace function holdfast_internal.run_option_problem(options jsonb) returns text
language plpgsql stable as $$
declare
  own constant text[] := array['uniqueKey', 'uniqueForMs', 'concurrencyKey', 'runAt', 'delayMs', 'tags', 'worker', 'requireTags', 'ttlMs',
                               'reason', 'fairKey', 'onConflict'];
  shared constant text[] := array['tenant', 'idempotencyKey', 'orderingKey', 'priority', 'expiresAt', 'criticality', 'correlationId', 'headers', 'metadata'];
  named text;
  longest integer;
begin
  -- Most runs with options have only a key. The rules below take 6 µs a run.
  foreach named in array array['orderingKey', 'concurrencyKey', 'uniqueKey', 'fairKey', 'idempotencyKey'] loop
    if jsonb_typeof(options -> named) = 'string' then
      exit when options - named <> '{}' or length(options ->> named) not between 1 and 255;
      return null;
    end if;
  end loop;
  if jsonb_typeof(options) = 'object' and options ?| array['type', 'deliverAt'] then
    return 'a run takes no type, and runAt instead of deliverAt';
  end if;
  if jsonb_typeof(options) = 'object' and options - own - shared <> '{}' then
    select string_agg(name, ', ') into named from jsonb_object_keys(options - own - shared) as name;
    return format('unknown option: %s (known are %s)', named, array_to_string(own || shared, ', '));
  end if;
  named := holdfast_internal.option_problem(
    case when jsonb_typeof(options) <> 'object' then options
         else (options - own) || case when options ? 'runAt' then jsonb_build_object('deliverAt', options -> 'runAt') else '{}' end end
  );
  if named is not null then
    return named;
  end if;
  if not options ?| own then
    return null;
  end if;
  if options ? 'orderingKey' and options ? 'concurrencyKey' then
    return 'a run takes an orderingKey or a concurrencyKey, not both';
  end if;
  if options ? 'fairKey' and options ?| array['orderingKey', 'concurrencyKey'] then
    return 'a run takes a fairKey, an orderingKey or a concurrencyKey, not two of them';
  end if;
  if options ? 'onConflict' and (not options ? 'uniqueKey' or coalesce(options ->> 'onConflict', '') not in ('keep', 'replace', 'debounce')) then
    return 'onConflict must be keep, replace or debounce, and requires a uniqueKey';
  end if;
  if options ->> 'onConflict' <> 'keep' and options ?| array['orderingKey', 'concurrencyKey'] then
    return 'onConflict cannot be combined with an orderingKey or a concurrencyKey';
  end if;
  if options ? 'uniqueForMs' and not options ? 'uniqueKey' then
    return 'uniqueForMs requires a uniqueKey';
  end if;
  if options ? 'worker' and options ? 'requireTags' then
    return 'a run is aimed at a worker or at tags, not both';
  end if;
  if options ? 'runAt' and options ? 'delayMs' then
    return 'a run takes runAt or delayMs, not both';
  end if;
  -- An index row has at most 2,704 bytes, which longer keys could exceed.
  foreach named in array array['uniqueKey', 'concurrencyKey', 'fairKey', 'worker', 'reason'] loop
    longest := case named when 'reason' then 1000 when 'worker' then 127 else 255 end;
    if options ? named and (jsonb_typeof(options -> named) <> 'string' or length(options ->> named) not between 1 and longest) then
      return format('%s must be text of 1 to %s characters', named, longest);
    end if;
  end loop;
  foreach named in array array['delayMs', 'uniqueForMs', 'ttlMs'] loop
    if options ? named and (jsonb_typeof(options -> named) <> 'number' or (options ->> named)::numeric not between 0 and 3155760000000) then
      return named || ' must be a number of milliseconds from 0';
    end if;
  end loop;
  foreach named in array array['tags', 'requireTags'] loop
    if options ? named and (jsonb_typeof(options -> named) <> 'array' or jsonb_array_length(options -> named) not between 1 and 20) then
      return named || ' must be a list of 1 to 20 texts';
    end if;
  end loop;
  if options ? 'tags' and exists (
    select from jsonb_array_elements(options -> 'tags') as tag where jsonb_typeof(tag) <> 'string' or length(tag #>> '{}') not between 1 and 63
  ) then
    return 'tags must be texts of 1 to 63 characters';
  end if;
  if options ? 'requireTags' and exists (
    select from jsonb_array_elements(options -> 'requireTags') as tag where jsonb_typeof(tag) <> 'string' or tag #>> '{}' !~ '^[A-Za-z0-9._:-]{1,63}$'
  ) then
    return 'requireTags must be texts of 1 to 63 letters, digits, ".", "_", ":" and "-"';
  end if;
  return null;
end $$;
