import type { Command } from 'commander'
import { HoldfastError } from '../../core/errors.ts'
import { changesToSend } from '../config-as-code/compare.ts'
import { formatPlan, showPlan } from '../config-as-code/format-plan.ts'
import { makePlan, type PlannedChange } from '../config-as-code/plan.ts'
import { readConfig } from '../config-as-code/read-config.ts'
import { type ApiSession, withApi } from '../connection/with-api.ts'
import { confirm, yesOption } from '../interact/confirm.ts'
import { countOf } from '../output/count-of.ts'
import { StopRequest } from '../process/stop-request.ts'

interface ApplyFlags {
  readonly file: string
  readonly dryRun?: boolean
  readonly prune?: boolean
  readonly setSecrets?: boolean
  readonly yes?: boolean
}

export function registerApply(program: Command): void {
  program
    .command('apply')
    .description('create and change endpoints, event types, routes, jobs and alert rules to match a file')
    .requiredOption('-f, --file <path>', 'a YAML file, or - for standard input')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--prune', 'also delete items that are missing in the lists of the file')
    .option('--set-secrets', 'also send secrets that are already set, without comparing them')
    .option(...yesOption)
    .action((flags: ApplyFlags, command: Command) =>
      // Existing objects are compared with the file, whose numbers are JavaScript numbers.
      withApi(command, (session) => apply(session, flags), JSON.parse),
    )
}

async function apply(session: ApiSession, flags: ApplyFlags): Promise<void> {
  const { client, output } = session
  const config = await readConfig(flags.file, process.env)
  const plan = await makePlan(client, config, {
    prunes: flags.prune === true,
    setsSecrets: flags.setSecrets === true,
  })
  const shown = showPlan(plan)
  const isDryRun = flags.dryRun === true
  if (!output.isJson && plan.length > 0) output.line(formatPlan(output, shown))
  if (isDryRun || plan.length === 0) {
    if (output.isJson) output.line(JSON.stringify({ changes: shown, isApplied: false }))
    else
      output.message(
        plan.length === 0
          ? 'No changes: everything matches the file.'
          : `${summary(plan)} would be made. Nothing was changed.`,
      )
    return
  }
  const deletions = plan.filter(({ action }) => action === 'delete')
  if (deletions.length > 0) {
    await confirm(
      session,
      `This deletes ${countOf(deletions.length, 'things')} that the file does not contain.`,
      flags.yes,
    )
  }
  const made: Made = { changes: 0, secrets: new Map() }
  try {
    await perform(session, plan, made)
  } finally {
    // After a failure too: nobody can ask for these secrets again.
    const isApplied = made.changes === plan.length
    if (output.isJson && (isApplied || made.secrets.size > 0)) {
      output.line(
        JSON.stringify({ changes: shown, isApplied, signingSecrets: Object.fromEntries(made.secrets) }),
      )
    }
    for (const [name, secret] of output.isJson ? [] : made.secrets) {
      output.message(`The signing secret of endpoint ${name}, shown only once: ${secret}`)
    }
  }
  if (made.changes < plan.length) {
    output.message(
      `Stopped: ${made.changes} of ${plan.length} changes were made and are kept. Apply the file again to make the others.`,
    )
  } else if (!output.isJson) output.message(`${summary(plan)} made.`)
}

/** The part of a plan that has been applied so far. */
interface Made {
  changes: number
  readonly secrets: Map<string, string>
}

/** Applies the changes one after the other, and stops at the first failure. The first Ctrl-C ends it between two changes, another one at once. */
async function perform({ client }: ApiSession, plan: readonly PlannedChange[], made: Made): Promise<void> {
  const stop = StopRequest.listen()
  for (const [done, change] of plan.entries()) {
    if (stop.isStopped) return
    try {
      const secret = await performOne(client, change)
      if (secret !== null) made.secrets.set(change.name, secret)
      made.changes = done + 1
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error
      const message = `${done} of ${plan.length} changes were made; then "${change.kind.noun} ${change.name}" was rejected: ${error.message} Fix it and apply again: the changes already made are kept.`
      throw new HoldfastError(error.code, message, { ...error.details, done, of: plan.length }, error)
    }
  }
}

async function performOne(client: ApiSession['client'], change: PlannedChange): Promise<string | null> {
  const { kind, name } = change
  if (change.action === 'create') return kind.create(client, name, change.declared.fields)
  if (change.action === 'update') return kind.update(client, name, changesToSend(change.changes, kind.merged))
  await kind.delete(client, name)
  return null
}

function summary(plan: readonly PlannedChange[]): string {
  const count = (action: PlannedChange['action']) => plan.filter((change) => change.action === action).length
  const parts = [`${count('create')} created`, `${count('update')} updated`, `${count('delete')} deleted`]
  return `${countOf(plan.length, 'changes')} (${parts.join(', ')})`
}
