import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The longest files of groups that run a few at a time, the longest first. Where vitest has no times of an earlier run it goes by size, and these are short to read. */
const longest = [
  'test/faults/workers-postgres.test.ts',
  'test/faults/workers-broker.test.ts',
  'test/faults/connections-cut.test.ts',
  'test/faults/database-restarted.test.ts',
  'test/faults/ordering.test.ts',
  'test/browser/dialogs.test.ts',
  'test/browser/pages.test.ts',
]

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((path) => moduleId.endsWith(path))
  return rank === -1 ? longest.length : rank
}

/** Starts the longest files of a project first: one that began last would run alone while the other workers have nothing left. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    // Vitest has sorted by project, and expects that.
    return [...new Set(sorted.map(({ project }) => project))].flatMap((project) =>
      sorted.filter((file) => file.project === project).sort((one, other) => rankOf(one) - rankOf(other)),
    )
  }
}
