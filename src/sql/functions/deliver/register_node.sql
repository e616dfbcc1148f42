create or replace function holdfast_internal.register_node(node_name text, node_version text) returns integer
language sql as $$
  select holdfast_internal.prepare_ids();
  insert into holdfast_internal.nodes (incarnation, name, version) values (nextval('holdfast_internal.incarnations'), node_name, node_version)
  returning incarnation
$$;
