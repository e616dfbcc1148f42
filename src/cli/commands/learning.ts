import type { Command } from 'commander'
import type { ImportFlags } from '../learning/import.ts'

/** Each command loads its own module, so that other commands start faster. */
export function registerLearning(program: Command): void {
  const learning = program
    .command('learning')
    .description('tracking events of learning platforms: explain them, and import logs')
  learning
    .command('explain')
    .description('show the xAPI and Caliper statements of an event, and the source of each field')
    .argument('<event.json>', 'a file with one event, or - for standard input')
    .option(
      '--config <transform.json>',
      "a file with the transform's settings; without it, examples are used",
    )
    .action(async (file: string, flags: { config?: string }, command: Command) =>
      (await import('../learning/explain.ts')).explain(file, flags, command),
    )
  learning
    .command('import')
    .description(
      'publish the events of tracking logs; may be stopped and run again, and stores each event once',
    )
    .argument(
      '<file|folder|->',
      'one event a line as JSON, gzip or not; a folder with such files; - for standard input',
    )
    .option('--from <time>', 'events from this moment on, like 2030-01-31 or 2030-01-31T09:00:00Z')
    .option('--to <time>', 'events before this moment')
    .option('--types <patterns>', 'only these events, like problem_check,edx.course.**')
    .option('--dry-run', 'read and count, and publish nothing')
    .option('--again', 'start at the first line, whatever was imported before')
    .option('--rejected <file>', 'where invalid lines are written', 'holdfast-import-rejected.jsonl')
    .action(async (path: string, flags: ImportFlags, command: Command) =>
      (await import('../learning/import.ts')).importLogs(path, flags, command),
    )
}
