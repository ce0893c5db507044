// Imports the package and says what that changed. Arguments: address of the package.
const seen = () => ({
  listeners: process.eventNames().map((name) => `${String(name)} ${process.listenerCount(name)}`),
  resources: process.getActiveResourcesInfo().sort(),
  globals: Object.getOwnPropertyNames(globalThis).sort(),
  env: { ...process.env },
});
const before = seen();
const module = await import(process.argv[2]);
const after = seen();
process.stdout.write(JSON.stringify({ before, after, exports: Object.keys(module).sort() }));
