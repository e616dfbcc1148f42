import type { Command } from 'commander'
import { redact } from '../../observe/redact.ts'
import type { Finding, Verdict } from '../../sdk/checks/check.ts'
import { examine } from '../doctor/examine.ts'
import { spellCommands } from '../input/command-prefix.ts'
import { exitCode } from '../output/exit-code.ts'
import type { Output } from '../output/output.ts'
import type { Colour } from '../output/paint.ts'
import { printable } from '../output/table.ts'
import { openSession } from '../process/session.ts'

const colours: Readonly<Record<Verdict, Colour>> = { ok: 'green', warn: 'yellow', fail: 'red' }

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check the server, rights, clock, notifications, schema, partitions, nodes and disk')
    .action(async (_options: unknown, command: Command) => {
      const session = await openSession(command)
      const findings = (await examine(session)).map(readable)
      const isSound = findings.every(({ verdict }) => verdict !== 'fail')
      session.output.data({ isSound, findings }, () => format(session.output, findings))
      if (!isSound) process.exitCode = exitCode.failure
    })
}

function readable(finding: Finding): Finding {
  const clean = (text: string) => redact(spellCommands(text, process.env))
  return { ...finding, message: clean(finding.message), advice: finding.advice && clean(finding.advice) }
}

function format(output: Output, findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const indent = ' '.repeat(width + 8)
  return findings
    .flatMap(({ check, verdict, message, advice }) => [
      `${output.paintData(colours[verdict], verdict.padEnd(4))}  ${check.padEnd(width)}  ${printable(message)}`,
      ...(advice === null ? [] : [`${indent}${output.paintData('dim', printable(advice))}`]),
    ])
    .join('\n')
}
