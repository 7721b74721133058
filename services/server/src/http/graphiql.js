// Starts GraphiQL with an example document; subscriptions use graphql-transport-ws.
'use strict';

const FIRST = `# Run the first mutation and put the token into the headers below:
#   { "authorization": "Bearer TOKEN" }
# Then open a table, start it and roll.

mutation SignIn {
  signInAsGuest(input: { name: "Ann" }) { accessToken player { id name } }
}

mutation Open {
  createGame(input: { rules: { farkle: {} } }) { game { id stage } userErrors { code message } }
}

# mutation Start { startGame(input: { gameId: "game:…" }) { game { toMove { number } } userErrors { message } } }
# mutation Roll  { play(input: { gameId: "game:…", move: { roll: {} } }) { events { summary } game { bestSelection { slots points } } userErrors { message } } }
# subscription Watch { gameEvents(gameId: "game:…") { version type summary } }
`;

// Opens one socket per subscription.
function subscribe(request, headers) {
  return {
    subscribe(observer) {
      const address = location.origin.replace(/^http/, 'ws') + '/graphql';
      const socket = new WebSocket(address, 'graphql-transport-ws');
      const say = (message) => socket.send(JSON.stringify(message));
      socket.onopen = () => say({ type: 'connection_init', payload: headers || {} });
      socket.onmessage = ({ data }) => {
        const { type, payload } = JSON.parse(data);
        if (type === 'connection_ack') say({ id: '1', type: 'subscribe', payload: request });
        else if (type === 'ping') say({ type: 'pong' });
        else if (type === 'next') observer.next(payload);
        else if (type === 'error') observer.error(payload);
        else if (type === 'complete') observer.complete();
      };
      socket.onclose = ({ code, reason }) =>
        code === 1000 ? observer.complete() : observer.error(new Error(`${code}: ${reason}`));
      return { unsubscribe: () => socket.close(1000) };
    },
  };
}

async function fetcher(request, options) {
  const headers = (options && options.headers) || {};
  const operation = options && options.documentAST && options.documentAST.definitions.find(
    (part) => part.kind === 'OperationDefinition' &&
      (!request.operationName || (part.name && part.name.value === request.operationName)));
  if (operation && operation.operation === 'subscription') return subscribe(request, headers);
  const answer = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify(request),
  });
  return answer.json();
}

ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(GraphiQL, { fetcher, defaultQuery: FIRST, shouldPersistHeaders: true }));
