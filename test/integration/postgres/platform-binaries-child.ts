// Prepares the binaries as the account in its arguments, and prints where they are.
import { preparePlatformBinaries } from '../../../src/postgres/embedded/platform-binaries.ts'

const [packageDir, copyDir, uid, gid] = process.argv.slice(2)
// Only now, with every module loaded: the account may not be able to enter the folder of this checkout.
process.setgroups!([])
process.setgid!(Number(gid))
process.setuid!(Number(uid))
process.chdir('/')
const { postgres } = await preparePlatformBinaries({
  user: null,
  copyDirs: [copyDir!],
  packageDir: packageDir!,
})
console.log(postgres)
