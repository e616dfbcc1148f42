import type { Command } from 'commander'

/** The groups of `holdfast --help`, in its order. */
export const commandGroups = {
  run: 'Run:',
  send: 'Send and follow:',
  events: 'Events and webhooks:',
  failures: 'Failures and bulk actions:',
  jobs: 'Background jobs:',
  watch: 'Alerts and upkeep:',
  access: 'Access and configuration:',
} as const

export interface CommandEntry {
  /** The command names that this module implements. */
  readonly names: readonly string[]
  readonly group: keyof typeof commandGroups
  /** Loads the module: when one of its commands is called, or when all commands are listed. */
  readonly load: () => Promise<(program: Command) => void>
  /** Shown in the help of the command that they call. A test checks that the program accepts each. */
  readonly examples: readonly string[]
}

/** Every command, in the order of the help. `completion` is missing, because it lists the others. */
export const commandList: readonly CommandEntry[] = [
  {
    names: ['dev'],
    group: 'run',
    load: async () => (await import('../commands/dev.ts')).registerDev,
    examples: ['holdfast dev', 'holdfast dev --demo --port 8421'],
  },
  {
    names: ['serve'],
    group: 'run',
    load: async () => (await import('../commands/serve.ts')).registerServe,
    examples: [
      'holdfast serve --migrate',
      'HOLDFAST_DATABASE_URL=postgres://user:password@host/shop holdfast serve',
    ],
  },
  {
    names: ['worker'],
    group: 'run',
    load: async () => (await import('../commands/worker.ts')).registerWorker,
    examples: [
      'holdfast worker --import ./jobs.js',
      'holdfast worker --import ./jobs.js --queue mail --concurrency 20',
    ],
  },
  {
    names: ['migrate'],
    group: 'run',
    load: async () => (await import('../commands/migrate.ts')).registerMigrate,
    examples: ['holdfast migrate --database-url postgres://user:password@host/shop'],
  },
  {
    names: ['doctor'],
    group: 'run',
    load: async () => (await import('../commands/doctor.ts')).registerDoctor,
    examples: ['holdfast doctor', 'holdfast doctor --json'],
  },
  {
    names: ['events'],
    group: 'send',
    load: async () => (await import('../commands/events.ts')).registerEvents,
    examples: [
      `holdfast events publish order.created '{"id":17}'`,
      'holdfast events list --event-type order.created --from -2h',
      'holdfast events list --state unrouted',
      'holdfast events erase msg_0jm3x1c8000 --reason "request 17 to be forgotten"',
    ],
  },
  {
    names: ['send'],
    group: 'send',
    load: async () => (await import('../commands/send.ts')).registerSend,
    examples: [
      `holdfast send crm '{"id":17}'`,
      'holdfast send crm @order.json --type order.created --deliver-at +10m',
    ],
  },
  {
    names: ['tail'],
    group: 'send',
    load: async () => (await import('../commands/tail.ts')).registerTail,
    examples: ['holdfast tail --failures', 'holdfast tail --endpoint crm --json'],
  },
  {
    names: ['endpoints'],
    group: 'events',
    load: async () => (await import('../commands/endpoints.ts')).registerEndpoints,
    examples: [
      `holdfast endpoints create crm --url https://crm.example/hooks`,
      'holdfast endpoints test crm',
      'holdfast endpoints list --watch',
    ],
  },
  {
    names: ['routes'],
    group: 'events',
    load: async () => (await import('../commands/routes.ts')).registerRoutes,
    examples: [
      `holdfast routes create orders --event-type 'order.*' --endpoint crm`,
      `holdfast routes preview orders order.created '{"id":17}'`,
    ],
  },
  {
    names: ['event-types'],
    group: 'events',
    load: async () => (await import('../commands/event-types.ts')).registerEventTypes,
    examples: ['holdfast event-types create order.created --schema @order.schema.json'],
  },
  {
    names: ['sources'],
    group: 'events',
    load: async () => (await import('../commands/sources.ts')).registerSources,
    examples: [
      'holdfast sources create shop --url amqps://user:secret@host/app --queue orders',
      'holdfast sources list --watch',
    ],
  },
  {
    names: ['source-rejects'],
    group: 'failures',
    load: async () => (await import('../commands/source-rejects.ts')).registerSourceRejects,
    examples: [
      'holdfast source-rejects list --source shop-orders',
      'holdfast source-rejects retry --source shop-orders',
    ],
  },
  {
    names: ['deliveries'],
    group: 'events',
    load: async () => (await import('../commands/deliveries.ts')).registerDeliveries,
    examples: [
      'holdfast deliveries list --endpoint crm --state pending',
      'holdfast deliveries retry --endpoint crm --error-code timeout',
      'holdfast deliveries show dlv_0d8xk2v4q01',
    ],
  },
  {
    names: ['learning'],
    group: 'events',
    load: async () => (await import('../commands/learning.ts')).registerLearning,
    examples: [
      'holdfast learning explain event.json --config transform.json',
      'holdfast learning import tracking.log.gz --from 2030-01-01 --dry-run',
    ],
  },
  {
    names: ['dead-letters'],
    group: 'failures',
    load: async () => (await import('../commands/dead-letters.ts')).registerDeadLetters,
    examples: [
      'holdfast dead-letters groups',
      'holdfast dead-letters list --endpoint crm',
      'holdfast dead-letters redrive --endpoint crm --rate 50',
    ],
  },
  {
    names: ['replays'],
    group: 'failures',
    load: async () => (await import('../commands/replays.ts')).registerReplays,
    examples: [
      'holdfast replays create --from -2h --endpoint crm --dry-run',
      'holdfast replays create --from -1d --target-endpoint crm-test --rate 20',
    ],
  },
  {
    names: ['operations'],
    group: 'failures',
    load: async () => (await import('../commands/operations.ts')).registerOperations,
    examples: ['holdfast operations list', 'holdfast operations watch op_0d8xk2v4q01'],
  },
  {
    names: ['quarantine'],
    group: 'failures',
    load: async () => (await import('../commands/quarantine.ts')).registerQuarantine,
    examples: ['holdfast quarantine list'],
  },
  {
    names: ['jobs'],
    group: 'jobs',
    load: async () => (await import('../commands/jobs.ts')).registerJobs,
    examples: ['holdfast jobs list', `holdfast jobs trigger send-report '{"month":"2030-01"}'`],
  },
  {
    names: ['runs'],
    group: 'jobs',
    load: async () => (await import('../commands/runs.ts')).registerRuns,
    examples: ['holdfast runs list --state failed', 'holdfast runs show run_0d8xk2v4q01'],
  },
  {
    names: ['schedules'],
    group: 'jobs',
    load: async () => (await import('../commands/schedules.ts')).registerSchedules,
    examples: [
      `holdfast schedules set nightly --job cleanup --cron '0 3 * * *'`,
      `holdfast schedules pause nightly --reason 'migration'`,
    ],
  },
  {
    names: ['queues'],
    group: 'jobs',
    load: async () => (await import('../commands/queues.ts')).registerQueues,
    examples: ['holdfast queues list', 'holdfast queues pause mail'],
  },
  {
    names: ['workers'],
    group: 'jobs',
    load: async () => (await import('../commands/workers.ts')).registerWorkers,
    examples: ['holdfast workers list', 'holdfast workers drain 17'],
  },
  {
    names: ['alerts', 'alert-rules'],
    group: 'watch',
    load: async () => (await import('../commands/alerts.ts')).registerAlerts,
    examples: ['holdfast alerts list --state firing', 'holdfast alert-rules list'],
  },
  {
    names: ['alert-channels'],
    group: 'watch',
    load: async () => (await import('../commands/alert-channels.ts')).registerAlertChannels,
    examples: ['holdfast alert-channels list'],
  },
  {
    names: ['maintenance'],
    group: 'watch',
    load: async () => (await import('../commands/maintenance.ts')).registerMaintenance,
    examples: ['holdfast maintenance status'],
  },
  {
    names: ['broker'],
    group: 'watch',
    load: async () => (await import('../commands/broker.ts')).registerBroker,
    examples: ['holdfast broker status', 'holdfast broker status --watch'],
  },
  {
    names: ['system'],
    group: 'watch',
    load: async () => (await import('../commands/system.ts')).registerSystem,
    examples: ['holdfast system status', 'holdfast system tables --limit 200'],
  },
  {
    names: ['circuit-changes'],
    group: 'watch',
    load: async () => (await import('../commands/circuit-changes.ts')).registerCircuitChanges,
    examples: ['holdfast circuit-changes list --endpoint crm'],
  },
  {
    names: ['settings'],
    group: 'access',
    load: async () => (await import('../commands/settings.ts')).registerSettings,
    examples: [
      'holdfast settings list',
      'holdfast settings set dead_letter_retention_days 90',
      `holdfast settings set defaults '{"retry":{"maxRetries":5}}'`,
    ],
  },
  {
    names: ['audit'],
    group: 'watch',
    load: async () => (await import('../commands/audit.ts')).registerAudit,
    examples: ['holdfast audit list --limit 20'],
  },
  {
    names: ['login', 'logout', 'whoami'],
    group: 'access',
    load: async () => (await import('../commands/login.ts')).registerLogin,
    examples: [
      'holdfast login --api-url https://holdfast.example.com',
      'holdfast logout --profile production',
      'holdfast whoami',
    ],
  },
  {
    names: ['api-keys'],
    group: 'access',
    load: async () => (await import('../commands/api-keys.ts')).registerApiKeys,
    examples: [
      'holdfast api-keys create shop --role publisher --expires-in 90d',
      'holdfast api-keys create --local',
    ],
  },
  {
    names: ['sessions'],
    group: 'access',
    load: async () => (await import('../commands/sessions.ts')).registerSessions,
    examples: ['holdfast sessions end'],
  },
  {
    names: ['secrets'],
    group: 'access',
    load: async () => (await import('../commands/secrets.ts')).registerSecrets,
    examples: ['holdfast secrets new-key', 'holdfast secrets reencrypt'],
  },
  {
    names: ['apply'],
    group: 'access',
    load: async () => (await import('../commands/apply.ts')).registerApply,
    examples: ['holdfast apply -f holdfast.yaml --dry-run'],
  },
  {
    names: ['export'],
    group: 'access',
    load: async () => (await import('../commands/export.ts')).registerExport,
    examples: ['holdfast export > holdfast.yaml'],
  },
]
