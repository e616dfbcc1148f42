-- The problem of a message's options, or null. An option that is null counts as absent. The same rules as in src/core/delivery/send-options.ts.
create or replace function holdfast_internal.option_problem(options jsonb) returns text
language plpgsql stable as $$
declare
  known constant text[] := array['type', 'tenant', 'idempotencyKey', 'orderingKey', 'priority', 'deliverAt', 'expiresAt', 'criticality',
                                 'correlationId', 'headers', 'metadata'];
  named text;
begin
  if jsonb_typeof(options) <> 'object' then
    return 'options must be a JSON object, not ' || jsonb_typeof(options);
  end if;
  -- Most messages with options have only a key.
  if options - 'idempotencyKey' = '{}' and jsonb_typeof(options -> 'idempotencyKey') = 'string' and length(options ->> 'idempotencyKey') between 1 and 255 then
    return null;
  end if;
  -- Expressions instead of queries: this runs for every message.
  if options - known <> '{}' then
    select string_agg(name, ', ') into named from jsonb_object_keys(options - known) as name;
    return format('unknown option: %s (known are %s)', named, array_to_string(known, ', '));
  end if;
  if options ->> 'priority' !~ '^[0-3]$' then
    return 'priority must be 0, 1, 2 or 3, not ' || (options ->> 'priority');
  end if;
  if options ->> 'criticality' is not null and holdfast_internal.criticality_code(options ->> 'criticality') is null then
    return 'criticality must be best_effort, standard or critical, not ' || (options ->> 'criticality');
  end if;
  foreach named in array array['type', 'tenant', 'idempotencyKey', 'orderingKey', 'correlationId'] loop
    if jsonb_typeof(options -> named) not in ('string', 'null') or length(options ->> named) not between 1 and 255 then
      return named || ' must be text of 1 to 255 characters';
    end if;
  end loop;
  if options ->> 'type' ~ '[\s*]' then
    return format('type must be an event type without spaces or "*", such as order.created, not "%s"', options ->> 'type');
  end if;
  if jsonb_typeof(options -> 'metadata') not in ('object', 'null') then
    return 'metadata must be a JSON object';
  end if;
  if options ? 'metadata' and jsonb_path_exists(options, '$.metadata.**{101}') then
    return 'metadata must have at most 100 levels';
  end if;
  if octet_length(options::text) > 32768 then
    return format('the options take %s bytes; the limit is 32768', octet_length(options::text));
  end if;
  named := null;
  if jsonb_typeof(options -> 'headers') <> 'null' then
    named := holdfast_internal.header_problem(options -> 'headers');
  end if;
  if named is null and options ?| array['deliverAt', 'expiresAt'] then
    named := holdfast_internal.time_problem(options ->> 'deliverAt', options ->> 'expiresAt');
  end if;
  return named;
end $$;
