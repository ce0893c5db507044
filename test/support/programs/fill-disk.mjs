// Runs agents until the journal's file may not grow. Arguments: package, configuration, state directory.
const [, , url, config, stateDir] = process.argv;
const { Troupe } = await import(url);
const troupe = await Troupe.open({ config: JSON.parse(config), stateDir });
const codeOf = (promise) =>
  promise.then(
    () => 'fine',
    (fault) => fault.code ?? String(fault),
  );
const run = await troupe.start({ agent: 'lead', prompt: 'go' });
const watched = codeOf(
  (async () => {
    for await (const event of run.events({ subtree: true })) void event;
  })(),
);
const result = await codeOf(run.result());
const events = await watched;
const cancel = await codeOf(run.cancel());
const start = await codeOf(troupe.start({ agent: 'lead', prompt: 'go' }));
const close = await codeOf(troupe.close());
process.stdout.write(JSON.stringify({ result, events, cancel, start, close }));
