// Owns a state directory until its input ends. Arguments: package, configuration, state directory.
const [, , url, config, stateDir] = process.argv;
const { Troupe } = await import(url);
const troupe = await Troupe.open({ config: JSON.parse(config), stateDir });
process.stdout.write('open\n');
process.stdin.resume();
process.stdin.on('end', () => troupe.close());
