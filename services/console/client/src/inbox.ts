/** What a subscription has received and nobody has read yet. */
export class Inbox<Item> {
  #items: Item[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  push(item: Item): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** No more comes. What is here can still be read, and then the error is thrown, if there is one. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end;
    this.#wake?.();
  }

  /** The next item; nothing at the end. */
  async next(): Promise<{ readonly item: Item } | undefined> {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) return { item };
      if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return undefined;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
