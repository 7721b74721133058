import { createClient } from '@croupier/client';
import { WebSocket } from 'ws'; // Node has its own from version 22 on, browsers always.

const [url = 'http://127.0.0.1:8080/graphql', gameId = ''] = process.argv.slice(2);
const client = createClient({ url, WebSocket });
await client.signInAsGuest();
for await (const event of client.gameEvents(gameId)) {
  console.log(event.version, event.summary ?? event.type);
  if (event.__typename === 'RolledEvent') console.log(event.dice.map((die) => die.face));
}
