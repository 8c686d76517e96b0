// Globals that programs expect from their host, apart from the language's own. Runs once, before the snapshot, with the native
// functions it builds on. What it keeps, it keeps in local constants, so that a program that replaces built-ins changes
// nothing here.
(function (native) {
  "use strict";
  const { encode, decode, fromBase64, toBase64, random } = native;
  const { defineProperty, defineProperties, getPrototypeOf } = Object;
  const { isView } = ArrayBuffer;
  const bind = (method) => Function.prototype.call.bind(method);
  const typed = getPrototypeOf(Uint8Array.prototype);
  const getter = (object, key) => bind(Object.getOwnPropertyDescriptor(object, key).get);
  const bufferOf = getter(typed, "buffer"), offsetOf = getter(typed, "byteOffset"), lengthOf = getter(typed, "byteLength");
  const kindOf = getter(typed, Symbol.toStringTag);
  const viewOf = ["buffer", "byteOffset", "byteLength"].map((key) => getter(DataView.prototype, key));
  const set = bind(typed.set), subarray = bind(typed.subarray);
  const push = bind(Array.prototype.push), slice = bind(Array.prototype.slice), filter = bind(Array.prototype.filter);
  const trim = bind(String.prototype.trim), lower = bind(String.prototype.toLowerCase), part = bind(String.prototype.slice);
  const replace = bind(RegExp.prototype[Symbol.replace]);
  const { setTimeout, queueMicrotask } = globalThis;
  const { Uint8Array: Bytes, TypeError, RangeError } = globalThis;
  const { get: mapGet, set: mapSet, has: mapHas } = Map.prototype;
  const [get, put, has] = [mapGet, mapSet, mapHas].map(bind);

  // Bytes of whatever holds bytes, without copying them.
  const bytesOf = (source, where) => {
    if (isView(source)) {
      if (kindOf(source) !== undefined) return new Bytes(bufferOf(source), offsetOf(source), lengthOf(source));
      const [buffer, offset, length] = viewOf;
      return new Bytes(buffer(source), offset(source), length(source));
    }
    if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) return new Bytes(source);
    throw new TypeError(`${where} takes an ArrayBuffer or a view of one`);
  };

  const CODES = { IndexSizeError: 1, NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11, SyntaxError: 12,
    InvalidCharacterError: 5, TypeMismatchError: 17, AbortError: 20, QuotaExceededError: 22, TimeoutError: 23, DataCloneError: 25 };
  class DOMException extends Error {
    #name;
    constructor(message = "", options = "Error") {
      super(`${message}`);
      this.#name = `${typeof options === "object" && options !== null ? options.name ?? "Error" : options}`;
      if (typeof options === "object" && options !== null && "cause" in options) {
        defineProperty(this, "cause", { value: options.cause, writable: true, configurable: true });
      }
      // Own, so that whoever prints the error need not run a getter.
      defineProperty(this, "name", { value: this.#name, writable: true, configurable: true });
    }
    get code() { return CODES[this.#name] ?? 0; }
  }

  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(text = "") { return encode(`${text}`); }
    encodeInto(text, target) {
      text = `${text}`;
      if (kindOf(target) !== "Uint8Array") throw new TypeError("encodeInto takes a Uint8Array");
      const bytes = encode(text), room = lengthOf(target);
      let written = lengthOf(bytes);
      if (written > room) {
        written = room;
        // Not in the middle of a character.
        while (written > 0 && (bytes[written] & 0xc0) === 0x80) written--;
      }
      set(target, subarray(bytes, 0, written));
      return { read: written === lengthOf(bytes) ? text.length : decode(subarray(bytes, 0, written), false).length, written };
    }
  }

  // How many bytes at the end begin a character that may go on.
  const unfinished = (bytes) => {
    const length = lengthOf(bytes);
    for (let back = 1; back <= 3 && back <= length; back++) {
      const byte = bytes[length - back];
      if ((byte & 0xc0) === 0x80) continue;
      const needs = byte >= 0xf0 && byte < 0xf5 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xc2 && byte < 0xe0 ? 2 : 1;
      return needs > back ? back : 0;
    }
    return 0;
  };
  const LABELS = ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"];
  class TextDecoder {
    #fatal; #ignoreBOM; #pending = new Bytes(0); #begun = false;
    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      const known = lower(trim(`${label}`));
      let isKnown = false;
      for (let n = 0; n < LABELS.length; n++) isKnown ||= LABELS[n] === known;
      if (!isKnown) throw new RangeError(`the encoding "${label}" is not supported here; utf-8 is`);
      this.#fatal = !!fatal;
      this.#ignoreBOM = !!ignoreBOM;
    }
    get encoding() { return "utf-8"; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(source, { stream = false } = {}) {
      let bytes = source === undefined ? new Bytes(0) : bytesOf(source, "decode");
      const kept = lengthOf(this.#pending);
      if (kept) {
        const all = new Bytes(kept + lengthOf(bytes));
        set(all, this.#pending);
        set(all, bytes, kept);
        bytes = all;
      }
      const rest = stream ? unfinished(bytes) : 0;
      const end = lengthOf(bytes) - rest;
      this.#pending = new Bytes(rest);
      set(this.#pending, subarray(bytes, end));
      const text = decode(subarray(bytes, 0, end), this.#fatal);
      if (text === undefined) {
        this.#pending = new Bytes(0);
        this.#begun = false;
        throw new TypeError("the bytes are not valid utf-8");
      }
      const cut = !this.#begun && !this.#ignoreBOM && text[0] === "\ufeff" ? 1 : 0;
      this.#begun = stream && (this.#begun || text.length > 0);
      return cut ? part(text, 1) : text;
    }
  }

  const invalid = (what) => new DOMException(what, "InvalidCharacterError");
  const encoded = {
    atob(text) {
      const decoded = fromBase64(replace(/[\t\n\f\r ]+/g, `${text}`, ""));
      if (decoded === undefined) throw invalid("the text is not base64");
      return decoded;
    },
    btoa(text) {
      const written = toBase64(`${text}`);
      if (written === undefined) throw invalid("btoa takes characters up to U+00FF; encode others with TextEncoder first");
      return written;
    },
  };

  const INTEGERS = ["Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
    "BigInt64Array", "BigUint64Array"];
  class Crypto {
    getRandomValues(view) {
      const kind = isView(view) ? kindOf(view) : undefined;
      let isInteger = false;
      for (let n = 0; n < INTEGERS.length; n++) isInteger ||= INTEGERS[n] === kind;
      if (!isInteger) throw new DOMException("getRandomValues takes a typed array of integers", "TypeMismatchError");
      const length = lengthOf(view);
      if (length > 65536) {
        throw new DOMException(`getRandomValues fills 65536 bytes at most, not ${length}`, "QuotaExceededError");
      }
      set(new Bytes(bufferOf(view), offsetOf(view), length), random(length));
      return view;
    }
    randomUUID() {
      const bytes = random(16);
      bytes[6] = bytes[6] & 0x0f | 0x40;
      bytes[8] = bytes[8] & 0x3f | 0x80;
      let text = "";
      for (let n = 0; n < 16; n++) {
        text += (n === 4 || n === 6 || n === 8 || n === 10 ? "-" : "") + HEX[bytes[n]];
      }
      return text;
    }
  }
  const HEX = [];
  for (let n = 0; n < 256; n++) push(HEX, (n + 256).toString(16).slice(1));

  let isStopped;
  class Event {
    #type; #cancelable; #prevented = false; #stopped = false;
    static { isStopped = (event) => event.#stopped; }
    constructor(type, { bubbles = false, cancelable = false } = {}) {
      this.#type = `${type}`;
      this.#cancelable = !!cancelable;
      defineProperties(this, {
        bubbles: { value: !!bubbles, enumerable: true },
        target: { value: null, enumerable: true, configurable: true },
        currentTarget: { value: null, enumerable: true, configurable: true },
      });
    }
    get type() { return this.#type; }
    get cancelable() { return this.#cancelable; }
    get defaultPrevented() { return this.#prevented; }
    preventDefault() { this.#prevented ||= this.#cancelable; }
    stopPropagation() {}
    stopImmediatePropagation() { this.#stopped = true; }
  }

  class EventTarget {
    #listeners = new Map();
    addEventListener(type, listener, options) {
      const { once = false, signal } = typeof options === "object" && options !== null ? options : {};
      if (listener === null || listener === undefined || signal?.aborted) return;
      if (!has(this.#listeners, type)) put(this.#listeners, type, []);
      const list = get(this.#listeners, type);
      for (let n = 0; n < list.length; n++) if (list[n].listener === listener) return;
      push(list, { listener, once: !!once });
      signal?.addEventListener("abort", () => this.removeEventListener(type, listener), { once: true });
    }
    removeEventListener(type, listener) {
      const list = get(this.#listeners, type);
      if (list) put(this.#listeners, type, filter(list, (one) => one.listener !== listener));
    }
    dispatchEvent(event) {
      if (!(event instanceof Event)) throw new TypeError("dispatchEvent takes an Event");
      defineProperty(event, "target", { value: this });
      defineProperty(event, "currentTarget", { value: this, configurable: true });
      const list = slice(get(this.#listeners, event.type) ?? []);
      for (let n = 0; n < list.length && !isStopped(event); n++) {
        const { listener, once } = list[n];
        if (once) this.removeEventListener(event.type, listener);
        try {
          if (typeof listener === "function") listener.call(this, event);
          else listener.handleEvent(event);
        } catch (error) {
          // It is nobody's to catch here, like one in a timer.
          queueMicrotask(() => { throw error; });
        }
      }
      return !event.defaultPrevented;
    }
  }

  const secret = {};
  let abort;
  class AbortSignal extends EventTarget {
    #aborted = false; #reason; #handler = null;
    constructor(key) {
      if (key !== secret) throw new TypeError("an AbortSignal is made by an AbortController, or by AbortSignal.timeout and the like");
      super();
    }
    static {
      abort = (signal, reason) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason = reason === undefined ? new DOMException("the operation was aborted", "AbortError") : reason;
        signal.dispatchEvent(new Event("abort"));
      };
    }
    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    get onabort() { return this.#handler; }
    set onabort(handler) {
      if (this.#handler) this.removeEventListener("abort", this.#handler);
      this.#handler = typeof handler === "function" ? handler : null;
      if (this.#handler) this.addEventListener("abort", this.#handler);
    }
    throwIfAborted() { if (this.#aborted) throw this.#reason; }
    static abort(reason) {
      const signal = new AbortSignal(secret);
      abort(signal, reason);
      return signal;
    }
    static timeout(milliseconds) {
      const signal = new AbortSignal(secret);
      setTimeout(() => abort(signal, new DOMException("the operation timed out", "TimeoutError")), milliseconds);
      return signal;
    }
    static any(signals) {
      const signal = new AbortSignal(secret);
      const sources = [...signals];
      for (let n = 0; n < sources.length; n++) if (sources[n].aborted) { abort(signal, sources[n].reason); return signal; }
      // Kept by those it waits for, since its listeners may be all that is left of it.
      for (let n = 0; n < sources.length; n++) sources[n].addEventListener("abort", () => abort(signal, sources[n].reason));
      return signal;
    }
  }

  class AbortController {
    #signal = new AbortSignal(secret);
    get signal() { return this.#signal; }
    abort(reason) { abort(this.#signal, reason); }
  }

  const classes = { DOMException, TextEncoder, TextDecoder, Crypto, Event, EventTarget, AbortSignal, AbortController };
  for (const name of Object.keys(classes)) {
    const made = classes[name];
    defineProperty(made.prototype, Symbol.toStringTag, { value: name, configurable: true });
    defineProperty(globalThis, name, { value: made, writable: true, configurable: true });
  }
  defineProperty(globalThis, "crypto", { value: new Crypto(), writable: true, configurable: true });
  for (const name of ["atob", "btoa"]) {
    defineProperty(globalThis, name, { value: encoded[name], writable: true, configurable: true });
  }
})
