import { totalmem } from 'node:os'

const gibibyte = 1024 ** 3

export interface ServerSettingsOptions {
  readonly port: number
  readonly supportsLz4: boolean
  /** Extra settings, which override ours. */
  readonly settings?: Readonly<Record<string, string>>
}

/** The text of `holdfast.conf`, written at each start so that an upgrade applies its tuning. */
export function renderServerSettings(options: ServerSettingsOptions): string {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(options.port),
    // Loopback with a password works on all platforms; a socket's path is limited to 107 bytes.
    unix_socket_directories: '',
    max_connections: '100',
    password_encryption: 'scram-sha-256',

    // Durability depends on these three.
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',

    shared_buffers: totalmem() >= 4 * gibibyte ? '256MB' : '128MB',
    max_wal_size: '2GB',
    min_wal_size: '256MB',
    checkpoint_timeout: '10min',
    wal_compression: options.supportsLz4 ? 'lz4' : 'off',

    // Queues insert and delete rows all the time: vacuum little and often.
    autovacuum_naptime: '10s',
    autovacuum_vacuum_scale_factor: '0.05',
    autovacuum_analyze_scale_factor: '0.05',
    autovacuum_vacuum_insert_scale_factor: '0.1',
    autovacuum_vacuum_cost_limit: '1000',
    // Compiling takes longer than our short statements run.
    jit: 'off',

    timezone: 'UTC',
    log_timezone: 'UTC',
    logging_collector: 'off',
    log_min_messages: 'warning',
    log_checkpoints: 'off',
    // A statement's text may contain confidential values.
    log_min_error_statement: 'panic',
    log_line_prefix: '%m [%p] ',
    ...options.settings,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`)
  return `# Written by Holdfast at every start. Put your own settings into local.conf beside this file.\n${lines.join('\n')}\n`
}
