// A host that does what its script says and dies when it is told to. Argument: a JSON object {
//   url, config, stateDir, tools: [url], workspace,
//   start: [{ agent, prompt }] | null   null takes up what is unfinished,
//   dieAfter: n | null                  ends itself by SIGKILL once n events are committed, counted from its beginning,
//   when: [{ type, has, do, words }]    once an event of this type whose JSON has this text is committed:
//                                       `die`, or `note` or `cancel` every run that was started here
// }
// It says every committed event as `<type> <run id>`, and in the end `ended`.
const script = JSON.parse(process.argv[2]);
const { Troupe } = await import(script.url);
const troupe = await Troupe.open({
  config: script.config,
  stateDir: script.stateDir,
  tools: script.tools,
  onApproval: () => new Promise(() => undefined),
});
const die = () => process.kill(process.pid, 'SIGKILL');
const first = troupe.journal.lastSeq;
let runs = [];
const pending = [...script.when];
troupe.journal.subscribe((events) => {
  for (const event of events) {
    process.stdout.write(`${event.type} ${event.run_id}\n`);
    if (script.dieAfter !== null && event.seq >= first + script.dieAfter) die();
    const at = pending.findIndex(
      ({ type, has }) => type === event.type && JSON.stringify(event).includes(has),
    );
    if (at === -1) continue;
    const [{ do: deed, words }] = pending.splice(at, 1);
    if (deed === 'die') die();
    if (deed === 'approve') {
      void troupe.approve(event.event_id, { granted: true });
      continue;
    }
    for (const run of runs) void (deed === 'note' ? run.note(words) : run.cancel(words));
  }
});
if (script.start === null) runs = await troupe.resume();
else {
  for (const request of script.start) {
    runs.push(await troupe.start({ ...request, workspace: script.workspace }));
  }
}
await Promise.all(runs.map((run) => run.result()));
await troupe.close();
process.stdout.write('ended\n');
