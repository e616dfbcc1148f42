create or replace function holdfast_internal.in_scope(endpoint holdfast_internal.endpoints, only_endpoint text, only_tag text) returns boolean
language sql immutable
return (only_endpoint is null or endpoint.name = only_endpoint) and (only_tag is null or only_tag = any (endpoint.tags));
