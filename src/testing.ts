/** `holdfast/testing`: for the tests of applications, apart from what they run in production. */
export {
  type InlineOptions,
  type InlineResult,
  JobTester,
  type JobTesterOptions,
  runInline,
} from './sdk/job-tester.ts'
