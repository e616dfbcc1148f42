-- Replaces stored results of API calls that contain the message: a repeated call returns that it was erased. Scans a day's results.
create or replace function holdfast_internal.scrub_results(message bigint, delivery_ids bigint[], letter_ids bigint[]) returns void
language sql as $$
  update holdfast_internal.api_results set body = '{"erased":true}'
  where body ~ '"(payload|request|response|headers|metadata|error)"' and body ~ concat('"(', array_to_string(
    array[holdfast.format_id('msg', message)] || array(select holdfast.format_id(prefix, id) from unnest(delivery_ids) as id, unnest(array['dlv', 'run']) as prefix limit 1000)
      || array(select holdfast.format_id('dlt', id) from unnest(letter_ids) as id limit 1000), '|'), ')"')
$$;
