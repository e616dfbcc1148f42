import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildProgram } from '../../src/cli/program.ts'
import { type ApiDocument, apiPage } from './api-page.ts'
import { errorsPage, metricsPage } from './catalogue-pages.ts'
import { cliPage } from './cli-page.ts'
import { sqlPage } from './sql-page.ts'

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

/** Generates the pages of `docs/reference` from the source, by file name. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const api = JSON.parse(read('openapi.json')) as ApiDocument
  return new Map([
    [
      'api.md',
      page(
        'Reference: HTTP API',
        'What all calls have in common: [HTTP API](../api.md). Fields of requests and responses: `/docs` of a running server, or `openapi.json`.',
        apiPage(api),
      ),
    ],
    [
      'sql.md',
      page(
        'Reference: SQL',
        'Functions and views of the schema `holdfast` that keep their names and parameters. How to use them: [SQL](../sql.md).',
        sqlPage(read('src/sql/promised.txt')),
      ),
    ],
    [
      'cli.md',
      page(
        'Reference: command line',
        'How commands find their server, output and exit codes: [command line](../cli.md).',
        cliPage(await buildProgram()),
      ),
    ],
    [
      'errors.md',
      page('Reference: errors', 'What each means and what to do: [errors](../errors.md).', errorsPage()),
    ],
    [
      'metrics.md',
      page('Reference: metrics', 'Labels, cost and alerts: [metrics](../metrics.md).', metricsPage()),
    ],
  ])
}

function page(title: string, intro: string, body: string): string {
  return `# ${title}\n\n<!-- Written by \`npm run reference\`. -->\n\n${intro}\n\n${body}\n`
}
