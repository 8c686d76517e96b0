// See errors.h.
//
// Invariant: bounded. A message is cut at MESSAGE_LIMIT characters, a chain of causes at CAUSE_LIMIT links.
#include "errors.h"

#include <string.h>

#include "inspect.h"
#include "interpreter.h"

#define MESSAGE_LIMIT 16384
#define NAME_LIMIT 256
#define CAUSE_LIMIT 4
#define AGGREGATE_LIMIT 5

static bool is_error(JSContext *ctx, JSValueConst value) {
    return JS_IsObject(value) && object_kind(ctx, value) == KIND_ERROR;
}

// A frame is shown unless it is native code or our own prelude.
static bool own_frame(const char *line, size_t length) {
    static const char native[] = " (native)";
    size_t tail = sizeof native - 1;
    if (length >= tail && !memcmp(line + length - tail, native, tail)) return false;
    for (size_t i = 0; i + sizeof PRELUDE_FILE - 1 <= length; i++)
        if (!memcmp(line + i, PRELUDE_FILE, sizeof PRELUDE_FILE - 1)) return false;
    return length != 0;
}

static void stack_text(Text *out, JSContext *ctx, JSValueConst error) {
    JSValue stack = error_stack(ctx, error);
    if (JS_IsString(stack)) {
        Text lines = {0};
        text_string(&lines, ctx, stack, MESSAGE_LIMIT);
        for (size_t at = 0; at < lines.length;) {
            const char *line = lines.bytes + at, *end = memchr(line, '\n', lines.length - at);
            size_t length = end ? (size_t)(end - line) : lines.length - at;
            if (own_frame(line, length)) {
                text_char(out, '\n');
                text_bytes(out, line, length);
            }
            at += length + 1;
        }
        text_free(&lines);
    }
    JS_FreeValue(ctx, stack);
}

// The first value of this property along the prototype chain, if it is a string.
static JSValue text_property(JSContext *ctx, JSValueConst object, const char *name) {
    JSValue value = data_property(ctx, object, name);
    if (JS_IsString(value)) return value;
    JS_FreeValue(ctx, value);
    return JS_UNDEFINED;
}

static void header_text(Text *out, JSContext *ctx, JSValueConst error) {
    JSValue name = text_property(ctx, error, "name"), message = text_property(ctx, error, "message");
    if (JS_IsString(name)) text_string(out, ctx, name, NAME_LIMIT);
    else text_literal(out, "Error");
    StringView view;
    if (JS_IsString(message) && string_view(ctx, message, &view)) {
        if (view.length) {
            text_literal(out, ": ");
            text_string(out, ctx, message, MESSAGE_LIMIT);
        }
        view_free(ctx, &view);
    }
    JS_FreeValue(ctx, name);
    JS_FreeValue(ctx, message);
}

static void aggregate_text(Text *out, JSContext *ctx, JSValueConst error) {
    JSValue errors = data_property(ctx, error, "errors");
    if (JS_IsObject(errors) && object_kind(ctx, errors) == KIND_ARRAY) {
        int64_t count = 0;
        JS_GetLength(ctx, errors, &count);
        for (int64_t i = 0; i < count && i < AGGREGATE_LIMIT; i++) {
            JSValue inner = element(ctx, errors, (uint32_t)i);
            text_literal(out, "\n  - ");
            if (is_error(ctx, inner)) header_text(out, ctx, inner);
            else inspect(out, ctx, inner);
            JS_FreeValue(ctx, inner);
        }
        if (count > AGGREGATE_LIMIT) {
            text_literal(out, "\n  … ");
            text_number(out, (uint64_t)(count - AGGREGATE_LIMIT));
            text_literal(out, " more");
        }
    }
    JS_FreeValue(ctx, errors);
}

void error_summary(Text *out, JSContext *ctx, JSValueConst error) {
    header_text(out, ctx, error);
    stack_text(out, ctx, error);
}

void error_text(Text *out, JSContext *ctx, JSValueConst error) {
    JSValue current = JS_DupValue(ctx, error);
    for (int i = 0; i < CAUSE_LIMIT; i++) {
        error_summary(out, ctx, current);
        aggregate_text(out, ctx, current);
        JSValue cause = data_property(ctx, current, "cause");
        JS_FreeValue(ctx, current);
        current = cause;
        if (JS_IsUndefined(cause)) return;
        text_literal(out, "\ncaused by: ");
        if (!is_error(ctx, cause)) {
            inspect(out, ctx, cause);
            break;
        }
    }
    if (is_error(ctx, current)) text_literal(out, "…");
    JS_FreeValue(ctx, current);
}

// What to do instead of using a global that other hosts have and this one has not.
static const struct { const char *name, *instead; } MISSING[] = {
    {"fetch", "there is no network; what can be reached is in `tools`"},
    {"XMLHttpRequest", "there is no network; what can be reached is in `tools`"},
    {"WebSocket", "there is no network; what can be reached is in `tools`"},
    {"require", "there are no modules; the language and its standard globals are here"},
    {"module", "there are no modules; `return` the result"},
    {"exports", "there are no modules; `return` the result"},
    {"process", "there is no process and no environment; `return` ends the program"},
    {"Buffer", "use Uint8Array, with TextEncoder and TextDecoder, or atob and btoa"},
    {"Deno", "this is no Deno; what can be reached is in `tools`"},
    {"Bun", "this is no Bun; what can be reached is in `tools`"},
    {"window", "there is no page; the global object is `globalThis`"},
    {"document", "there is no page"},
    {"localStorage", "nothing is kept between programs; use a tool that stores"},
    {"setImmediate", "use setTimeout with 0, or queueMicrotask"},
    {"Intl", "there are no locales; format with toFixed, padStart and toISOString"},
    {"URL", "there is no URL class; take addresses apart with a regular expression"},
    {"URLSearchParams", "there is no URL class; join pairs with encodeURIComponent"},
};

// A hint where a program used a global that is not there.
static void missing_text(Text *out, JSContext *ctx, JSValueConst error) {
    static const char end[] = " is not defined";
    JSValue name = text_property(ctx, error, "name"), message = text_property(ctx, error, "message");
    Text kind = {0}, text = {0};
    if (JS_IsString(name)) text_string(&kind, ctx, name, NAME_LIMIT);
    if (JS_IsString(message)) text_string(&text, ctx, message, NAME_LIMIT);
    static const char reference[] = "ReferenceError";
    bool is_reference = kind.length == sizeof reference - 1 && !memcmp(kind.bytes, reference, kind.length);
    for (size_t i = 0; is_reference && i < sizeof MISSING / sizeof *MISSING; i++) {
        size_t length = strlen(MISSING[i].name);
        if (text.length != length + sizeof end - 1 || memcmp(text.bytes, MISSING[i].name, length)) continue;
        if (memcmp(text.bytes + length, end, sizeof end - 1)) continue;
        text_literal(out, "\nhint: ");
        text_literal(out, MISSING[i].instead);
    }
    text_free(&kind);
    text_free(&text);
    JS_FreeValue(ctx, name);
    JS_FreeValue(ctx, message);
}

void thrown_text(Text *out, JSContext *ctx, JSValueConst thrown) {
    // The interpreter forgets to make the error where some of its allocations fail.
    if (JS_IsUninitialized(thrown)) {
        text_literal(out, "InternalError: out of memory");
        return;
    }
    if (is_error(ctx, thrown)) {
        error_text(out, ctx, thrown);
        missing_text(out, ctx, thrown);
        return;
    }
    text_literal(out, "the program threw a value that is not an Error: ");
    inspect(out, ctx, thrown);
}
