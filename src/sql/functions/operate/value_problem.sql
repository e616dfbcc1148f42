-- What is wrong with a value by a JSON Schema, as far as the generated schemas need it (known_settings, endpoint_schemas): "path message", with the
-- message that the API gives for the same mistake; null if the value is valid.
create or replace function holdfast_internal.value_problem(given jsonb, schema jsonb, path text) returns text
language plpgsql stable as $$
declare
  kind text := jsonb_typeof(given);
  advice text := ltrim(path || ' ' || coalesce(schema ->> 'errorMessage', 'must be of type ' || (schema ->> 'type')));
  problem text;
  item record;
begin
  if schema ? 'anyOf' then
    if kind = 'null' and schema -> 'anyOf' @> '[{"type": "null"}]' then
      return null;
    end if;
    return holdfast_internal.value_problem(given, (select each from jsonb_array_elements(schema -> 'anyOf') as each where each ->> 'type' <> 'null' limit 1), path);
  end if;
  case schema ->> 'type'
    when 'integer', 'number' then
      -- A whole number is written as one: 5.0 would not be read as an integer again.
      if kind <> 'number' or (schema ->> 'type' = 'integer' and given::text !~ '^-?[0-9]+$')
        or given::numeric not between (schema ->> 'minimum')::numeric and (schema ->> 'maximum')::numeric then
        return advice;
      end if;
    when 'boolean' then
      return case when kind <> 'boolean' then advice end;
    when 'string' then
      if kind <> 'string' or not coalesce(schema -> 'enum' ? (given #>> '{}'), true) or not coalesce((given #>> '{}') ~ (schema ->> 'pattern'), true)
        or not coalesce(given = schema -> 'const', true)
        or not length(given #>> '{}')
          between coalesce((schema ->> 'minLength')::integer, 0) and coalesce((schema ->> 'maxLength')::integer, 2147483647) then
        return advice;
      end if;
      -- A statement of its own: pg_timezone_names reads hundreds of files, and as `null and …` it would be read for every string.
      if schema ->> 'format' = 'timezone' then
        return holdfast_internal.timezone_problem(given #>> '{}', path);
      end if;
    when 'array' then
      if kind <> 'array' or jsonb_array_length(given) not between coalesce((schema ->> 'minItems')::integer, 0) and (schema ->> 'maxItems')::integer then
        return advice;
      end if;
      for item in select element, (position - 1)::text as at from jsonb_array_elements(given) with ordinality as list (element, position) loop
        problem := holdfast_internal.value_problem(item.element, schema -> 'items', format('%s[%s]', path, item.at));
        exit when problem is not null;
      end loop;
    when 'object' then
      if kind <> 'object' then
        return ltrim(path || ' must be an object');
      end if;
      select ltrim(case path when '' then missing else path || '.' || missing end || ' is missing') into problem
      from jsonb_array_elements_text(schema -> 'required') as missing where not given ? missing limit 1;
      for item in select key, each.value as element, ltrim(path || '.' || key, '.') as at from jsonb_each(given) as each loop
        exit when problem is not null;
        problem := case
          when schema -> 'properties' ? item.key then holdfast_internal.value_problem(item.element, schema -> 'properties' -> item.key, item.at)
          when schema -> 'additionalProperties' = 'false' then item.at || ' is not a known field: remove it, or check its spelling'
          when not item.key ~ (schema #>> '{propertyNames,pattern}') then ltrim(path || ' ' || (schema #>> '{propertyNames,errorMessage}'))
          when schema -> 'additionalProperties' <> '{}' then holdfast_internal.value_problem(item.element, schema -> 'additionalProperties', item.at)
        end;
      end loop;
    else
      raise exception 'the schema at "%" has an unknown type', path;
  end case;
  return problem;
end $$;
