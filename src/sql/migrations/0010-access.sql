-- Who may do what over the API: keys, sign-ins, and the results of writes that came with an idempotency key.

-- A key is `hf_<id>_<secret>`. The secret has 256 random bits, so that a plain hash of it can't be guessed backwards.
create table holdfast.api_keys (
  id text primary key,
  name text not null,
  role text not null check (role in ('viewer', 'publisher', 'operator', 'admin')),
  secret_hash bytea not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create unique index api_keys_name on holdfast.api_keys (name) where revoked_at is null;

-- Links that sign somebody in once.
create table holdfast.sign_in_links (
  token_hash bytea primary key,
  expires_at timestamptz not null
);

-- People who signed in with a key or a link; only hashes of what their browsers hold.
create table holdfast.api_sessions (
  token_hash bytea primary key,
  -- Null: signed in by a link or with the key of the environment.
  key_id text references holdfast.api_keys (id),
  name text not null,
  role text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index api_sessions_expiry on holdfast.api_sessions (expires_at);

-- What a write answered, by who wrote and their idempotency key; stored in the write's own transaction.
create table holdfast.api_results (
  owner text not null,
  key text not null,
  request_hash bytea not null,
  status smallint not null,
  body text,
  expires_at timestamptz not null,
  primary key (owner, key)
);
create index api_results_expiry on holdfast.api_results (expires_at);

create index audit_log_action on holdfast.audit_log (action, id);
create index audit_log_actor on holdfast.audit_log (actor, id);
