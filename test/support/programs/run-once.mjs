// Opens a troupe, runs one agent and closes; never calls process.exit. Arguments: package, configuration, state directory.
const [, , url, config, stateDir] = process.argv;
const { Troupe } = await import(url);
const troupe = await Troupe.open({ config: JSON.parse(config), stateDir });
const run = await troupe.start({ agent: 'lead', prompt: 'go' });
const outcome = await run.result();
await troupe.close();
process.stdout.write(JSON.stringify({ outcome, resources: process.getActiveResourcesInfo() }));
