-- One field of a filter as a condition on a message; null if the field isn't one of a message.
create or replace function holdfast_internal.message_condition(field text, value text) returns text
language sql stable
return case field
  when 'tenant' then format('message.tenant = %L', value)
  when 'eventType' then case
    when value ~ '[*]' then format('message.type like %L', regexp_replace(regexp_replace(value, '([\\%_])', '\\\1', 'g'), '\*+', '%', 'g'))
    else format('message.type = %L', value) end
  when 'correlationId' then format('message.correlation_id = %L', value)
end;
