import { Command } from 'commander'
import { version } from '../version.ts'
import { registerDev } from './commands/dev.ts'
import { registerDoctor } from './commands/doctor.ts'
import { registerEndpoints } from './commands/endpoints.ts'
import { registerMigrate } from './commands/migrate.ts'
import { registerSend } from './commands/send.ts'
import { registerServe } from './commands/serve.ts'

const helpAfter = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 refused, 5 database unavailable, 6 database unfit.
Settings come from flags, then HOLDFAST_… variables, then holdfast.config.json (or .mjs, .js).`

/** The whole command line. Errors are thrown, never answered with an exit. */
export function buildProgram(): Command {
  const program = new Command('holdfast')
    .description('Reliable delivery of events, webhooks and background jobs, on PostgreSQL. Nothing lost.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .option('--json', 'print data as JSON')
    .option('--database-url <url>', 'the PostgreSQL to use (HOLDFAST_DATABASE_URL)')
    .option('--data-dir <folder>', "the embedded server's data (HOLDFAST_DATA_DIR, default .holdfast)")
    .option('--config-file <path>', 'instead of holdfast.config.json, .mjs or .js')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent (HOLDFAST_LOG_LEVEL)')
    .option('--log-format <format>', 'pretty or json (HOLDFAST_LOG_FORMAT)')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(Add --help to see what is possible.)')
    .addHelpText('after', helpAfter)
    .exitOverride()
  registerDev(program)
  registerServe(program)
  registerMigrate(program)
  registerDoctor(program)
  registerEndpoints(program)
  registerSend(program)
  return program
}
