import type { TypedDocument } from './document.js';
import { follow } from './follow.js';
import { GameEventsDocument } from './generated.js';
import type { EventFieldsFragment, GameEventsSubscriptionVariables, GameStage } from './generated.js';
import { DEFAULT_RETRY, pauseAfter, sleep } from './retry.js';
import type { Session } from './session.js';
import type { Socket } from './socket.js';

export interface GameEventsOptions<Event = EventFieldsFragment> {
  /** The version of the last event you know; 0, the default, begins at the beginning. */
  readonly afterVersion?: number;
  /** The code of a private game. */
  readonly inviteCode?: string;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
  /** A document of your own, to ask for other fields; `version` must be among them. */
  readonly document?: GameEventsDocumentOf<Event>;
}

export type GameEventsDocumentOf<Event> = TypedDocument<
  { readonly gameEvents: Event },
  GameEventsSubscriptionVariables
>;

/** How far a game is; null if it cannot be seen. */
export type StatusOf = () => Promise<{ readonly stage: GameStage; readonly version: number } | null>;

/**
 * The events of a game, each one once, in order, until the game is over. After a break it goes on
 * behind the last event that was given.
 */
export async function* gameEvents<Event extends { readonly version: number }>(
  socket: Socket,
  session: Session,
  status: StatusOf,
  gameId: string,
  document: GameEventsDocumentOf<Event>,
  options: Omit<GameEventsOptions<Event>, 'document'>,
): AsyncGenerator<Event, void> {
  const { signal, inviteCode } = options;
  let afterVersion = options.afterVersion ?? 0;
  const variables = (): GameEventsSubscriptionVariables => ({
    gameId,
    afterVersion,
    ...(inviteCode !== undefined && { inviteCode }),
  });
  for (let idle = 0; !signal?.aborted; idle += 1) {
    for await (const { gameEvents: event } of follow(socket, session, document, variables, signal)) {
      if (event.version <= afterVersion) continue;
      // The server leaves no gaps. Should something between us lose an event, ask for it again.
      if (event.version > afterVersion + 1) break;
      afterVersion = event.version;
      idle = 0;
      yield event;
    }
    if (signal?.aborted || (await isOver(status, afterVersion))) return;
    await sleep(pauseAfter(idle + 1, DEFAULT_RETRY), signal).catch(() => undefined);
  }
}

/** The document that is used if you give none. */
export const DEFAULT_EVENTS: GameEventsDocumentOf<EventFieldsFragment> = GameEventsDocument;

/** A completed subscription means that the game is over; anything else was a mishap on the way. */
async function isOver(status: StatusOf, version: number): Promise<boolean> {
  const game = await status();
  return game === null || (game.stage === 'ENDED' && game.version <= version);
}
