-- A caller publishes, and calls endpoints synchronously.
alter table holdfast_internal.api_keys drop constraint api_keys_role_check;
alter table holdfast_internal.api_keys add constraint api_keys_role_check check (role in ('viewer', 'publisher', 'caller', 'operator', 'admin'));

-- Of a session that began with the configured admin key: shows that a node has that key still, and tells nobody what it is. Sessions from before
-- can't show it, and end.
alter table holdfast_internal.api_sessions add column key_proof bytea;
delete from holdfast_internal.api_sessions where key_id is null and name <> 'sign-in-link';
