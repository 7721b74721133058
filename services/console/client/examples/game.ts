import { createClient, moveFrom } from '@croupier/client';
import { verdictOf, verifyProof } from '@croupier/client/verify';

const url = process.argv[2] ?? 'http://127.0.0.1:8080/graphql';
const [ann, bob] = [createClient({ url }), createClient({ url })];
await Promise.all([ann.signInAsGuest('Ann'), bob.signInAsGuest('Bob')]);

let { game } = await ann.createGame({ rules: { farkle: { target: 2000 } } });
const known = { commitment: game.fairness.commitment, seeds: new Map([[0, 'my number']]) };
await ann.chooseSeed(game.id, 'my number');
await bob.joinGame({ gameId: game.id, seed: 'another' });
({ game } = await bob.startGame(game.id));

for (let [move] = game.legalMoves; move; [move] = game.legalMoves) {
  const bank = game.legalMoves.find((legal) => legal.__typename === 'LegalBank');
  const player = game.toMove?.number === 0 ? ann : bob;
  const played = await player.play(game.id, moveFrom(bank ?? move));
  for (const { summary } of played.events) if (summary) console.log(summary);
  game = played.game;
}
console.log(game.id, verdictOf(verifyProof((await ann.exportGame(game.id, 'PROOF')) ?? '', known)));
