import { Command } from 'commander'
import { version } from '../version.ts'
import { registerAlertChannels } from './commands/alert-channels.ts'
import { registerAlerts } from './commands/alerts.ts'
import { registerApiKeys } from './commands/api-keys.ts'
import { registerApply } from './commands/apply.ts'
import { registerAudit } from './commands/audit.ts'
import { registerCompletion } from './commands/completion.ts'
import { registerDeadLetters } from './commands/dead-letters.ts'
import { registerDeliveries } from './commands/deliveries.ts'
import { registerEndpoints } from './commands/endpoints.ts'
import { registerEventTypes } from './commands/event-types.ts'
import { registerEvents } from './commands/events.ts'
import { registerExport } from './commands/export.ts'
import { registerJobs } from './commands/jobs.ts'
import { registerLogin } from './commands/login.ts'
import { registerMaintenance } from './commands/maintenance.ts'
import { registerOperations } from './commands/operations.ts'
import { registerQuarantine } from './commands/quarantine.ts'
import { registerQueues } from './commands/queues.ts'
import { registerReplays } from './commands/replays.ts'
import { registerRoutes } from './commands/routes.ts'
import { registerRuns } from './commands/runs.ts'
import { registerSchedules } from './commands/schedules.ts'
import { registerSend } from './commands/send.ts'
import { registerSessions } from './commands/sessions.ts'
import { registerTail } from './commands/tail.ts'
import { registerWorkers } from './commands/workers.ts'

const helpAfter = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 refused, 5 server or database unavailable, 6 database unfit, 7 not allowed.
Settings come from flags, then HOLDFAST_… variables, then holdfast.config.json (or .mjs, .js).`

/** Commands that run on this machine. They bring the whole engine with them, which a command over the API needn't wait for. */
const localCommands: Readonly<Record<string, (program: Command) => Promise<void>>> = {
  dev: async (program) => (await import('./commands/dev.ts')).registerDev(program),
  serve: async (program) => (await import('./commands/serve.ts')).registerServe(program),
  worker: async (program) => (await import('./commands/worker.ts')).registerWorker(program),
  migrate: async (program) => (await import('./commands/migrate.ts')).registerMigrate(program),
  doctor: async (program) => (await import('./commands/doctor.ts')).registerDoctor(program),
  secrets: async (program) => (await import('./commands/secrets.ts')).registerSecrets(program),
}

/**
 * The command line: all of it, or, given the words it is called with, what they can mean. Errors are thrown, never answered with an exit.
 */
export async function buildProgram(words?: readonly string[]): Promise<Command> {
  // A value before the command can hide it (`--profile prod endpoints list`); then everything is there.
  const first = words?.[0]
  const remote = createProgram()
  registerRemoteCommands(remote)
  if (first !== undefined && remote.commands.some((command) => command.name() === first)) return remote
  const program = createProgram()
  for (const register of Object.values(localCommands)) await register(program)
  registerRemoteCommands(program)
  registerCompletion(program)
  return program
}

function createProgram(): Command {
  return new Command('holdfast')
    .description('Reliable delivery of events, webhooks and background jobs, on PostgreSQL. Nothing lost.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .option('--json', 'print data as JSON')
    .option('--api-url <url>', 'the API to talk to (HOLDFAST_URL)')
    .option('--api-key <key>', 'a key for it (HOLDFAST_API_KEY; arguments can be seen by others)')
    .option(
      '--profile <name>',
      'a server that you have signed in to with `holdfast login` (HOLDFAST_PROFILE)',
    )
    .option('--database-url <url>', 'the PostgreSQL to use (HOLDFAST_DATABASE_URL)')
    .option('--data-dir <folder>', "the embedded server's data (HOLDFAST_DATA_DIR, default .holdfast)")
    .option('--config-file <path>', 'instead of holdfast.config.json, .mjs or .js')
    .option(
      '--allow-networks <networks>',
      'private networks that deliveries may reach, like 10.0.0.0/8, or none (HOLDFAST_ALLOW_NETWORKS)',
    )
    .option(
      '--trusted-proxies <networks>',
      'reverse proxies before the API whose X-Forwarded-For is believed, like 10.0.0.0/8 (HOLDFAST_TRUSTED_PROXIES)',
    )
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent (HOLDFAST_LOG_LEVEL)')
    .option('--log-format <format>', 'pretty or json (HOLDFAST_LOG_FORMAT)')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(Add --help to see what is possible.)')
    .addHelpText('after', helpAfter)
    .exitOverride()
}

function registerRemoteCommands(program: Command): void {
  registerLogin(program)
  registerEvents(program)
  registerSend(program)
  registerTail(program)
  registerEndpoints(program)
  registerRoutes(program)
  registerEventTypes(program)
  registerDeliveries(program)
  registerDeadLetters(program)
  registerReplays(program)
  registerJobs(program)
  registerSchedules(program)
  registerQueues(program)
  registerRuns(program)
  registerWorkers(program)
  registerOperations(program)
  registerAlerts(program)
  registerAlertChannels(program)
  registerMaintenance(program)
  registerQuarantine(program)
  registerApiKeys(program)
  registerSessions(program)
  registerAudit(program)
  registerApply(program)
  registerExport(program)
}
