// The program's values out as JSON.
//
// Invariant: iterative over its own stack of open containers, so depth is bounded by JSON_DEPTH and by nothing else; a
// cycle is found because every open container is on that stack.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtoa.h"
#include "interpreter.h"
#include "json.h"

// Beyond this magnitude every Number is an integer, and its shortest form may not be its exact value.
#define INTEGERS_FROM 9007199254740992.0
// Path segments shown at each end of a long path, and characters of a long key.
#define PATH_ENDS 8
#define PATH_KEY 64

typedef struct {
    JSValue container;
    JSPropertyEnum *keys;
    uint32_t count;
    uint32_t next;
    bool array;
    bool empty;
} Frame;

typedef struct {
    JSContext *ctx;
    Text *out;
    Text *fault;
    const char *root;
    Frame *frames;
    uint32_t depth;
    uint32_t capacity;
} Writer;

static JSAtom to_json, raw_json;

void json_prepare(JSContext *ctx) {
    to_json = JS_NewAtom(ctx, "toJSON");
    raw_json = JS_NewAtom(ctx, "rawJSON");
}

// --- faults ---------------------------------------------------------------------------------------------------------

static bool plain_name(const StringView *key) {
    if (!key->narrow || !key->length || key->length > PATH_KEY) return false;
    for (uint32_t i = 0; i < key->length; i++) {
        uint8_t c = key->narrow[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
        if (!letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return true;
}

static void path_key(Writer *w, JSAtom atom) {
    StringView key;
    JSValue name = JS_AtomToString(w->ctx, atom);
    if (JS_IsException(name) || !string_view(w->ctx, name, &key)) {
        JS_FreeValue(w->ctx, JS_GetException(w->ctx));
        text_literal(w->fault, "[…]");
    } else if (plain_name(&key)) {
        text_char(w->fault, '.');
        text_bytes(w->fault, (const char *)key.narrow, key.length);
        view_free(w->ctx, &key);
    } else {
        text_literal(w->fault, "[\"");
        text_string(w->fault, w->ctx, name, PATH_KEY);
        text_literal(w->fault, "\"]");
        view_free(w->ctx, &key);
    }
    JS_FreeValue(w->ctx, name);
}

// Where the value is that was being written: `next` of every open container is already past it.
static void path(Writer *w) {
    text_literal(w->fault, w->root);
    for (uint32_t i = 0; i < w->depth; i++) {
        const Frame *frame = &w->frames[i];
        if (w->depth > 2 * PATH_ENDS && i == PATH_ENDS) {
            text_literal(w->fault, "…");
            i = w->depth - PATH_ENDS - 1;
        } else if (frame->array) {
            text_char(w->fault, '[');
            text_number(w->fault, frame->next - 1);
            text_char(w->fault, ']');
        } else {
            path_key(w, frame->keys[frame->next - 1].atom);
        }
    }
}

static JsonOutcome fault(Writer *w, const char *what) {
    path(w);
    text_char(w->fault, ' ');
    text_literal(w->fault, what);
    return JSON_FAULT;
}

static JsonOutcome unsupported(Writer *w, JSValueConst object, const char *hint) {
    JSAtom name = JS_GetClassName(JS_GetRuntime(w->ctx), JS_GetClassID(object));
    const char *class_name = JS_AtomToCString(w->ctx, name);
    path(w);
    text_literal(w->fault, " is of class ");
    text_literal(w->fault, class_name ? class_name : "unknown");
    text_literal(w->fault, ", which JSON cannot carry");
    text_literal(w->fault, hint);
    JS_FreeCString(w->ctx, class_name);
    JS_FreeAtom(w->ctx, name);
    return JSON_FAULT;
}

// --- scalars --------------------------------------------------------------------------------------------------------

static bool needs_escape(uint32_t c) {
    return c < 0x20 || c == '"' || c == '\\' || c >= 0x80;
}

static void escape(Text *out, uint32_t c) {
    static const char hex[] = "0123456789abcdef";
    char control[6] = {'\\', 'u', '0', '0', hex[c >> 4 & 15], hex[c & 15]};
    switch (c) {
    case '"': text_bytes(out, "\\\"", 2); break;
    case '\\': text_bytes(out, "\\\\", 2); break;
    case '\b': text_bytes(out, "\\b", 2); break;
    case '\f': text_bytes(out, "\\f", 2); break;
    case '\n': text_bytes(out, "\\n", 2); break;
    case '\r': text_bytes(out, "\\r", 2); break;
    case '\t': text_bytes(out, "\\t", 2); break;
    default:
        if (c < 0x20) text_bytes(out, control, sizeof control);
        else text_code_point(out, c);
    }
}

static bool write_narrow(Text *out, const StringView *view) {
    for (uint32_t i = 0; i < view->length;) {
        uint32_t run = i;
        while (i < view->length && !needs_escape(view->narrow[i])) i++;
        text_bytes(out, (const char *)view->narrow + run, i - run);
        if (i < view->length) escape(out, view->narrow[i++]);
    }
    return true;
}

// False for a lone surrogate.
static bool write_wide(Text *out, const StringView *view) {
    for (uint32_t i = 0; i < view->length;) {
        uint32_t c = view_code_point(view, &i);
        if (c >= 0xD800 && c < 0xE000) return false;
        escape(out, c);
    }
    return true;
}

static JsonOutcome write_string(Writer *w, JSValueConst string, const char *what) {
    StringView view;
    if (!string_view(w->ctx, string, &view)) return JSON_THREW;
    text_char(w->out, '"');
    bool written = view.narrow ? write_narrow(w->out, &view) : write_wide(w->out, &view);
    text_char(w->out, '"');
    view_free(w->ctx, &view);
    return written ? JSON_WRITTEN : fault(w, what);
}

static JsonOutcome write_double(Writer *w, double value) {
    char digits[512];
    if (isnan(value)) return fault(w, "is NaN, which JSON cannot carry; use null or a string");
    if (isinf(value)) return fault(w, "is infinite, which JSON cannot carry; use null or a string");
    if (value == 0) {
        text_literal(w->out, signbit(value) ? "-0.0" : "0");
    } else if (fabs(value) >= INTEGERS_FROM) {
        text_bytes(w->out, digits, snprintf(digits, sizeof digits, "%.0f", value));
    } else {
        JSDTOATempMem memory;
        text_bytes(w->out, digits, js_dtoa(digits, value, 10, 0, JS_DTOA_FORMAT_FREE, &memory));
    }
    return JSON_WRITTEN;
}

static JsonOutcome write_digits(Writer *w, JSValueConst value) {
    size_t length;
    const char *digits = JS_ToCStringLen(w->ctx, &length, value);
    if (!digits) return JSON_THREW;
    text_bytes(w->out, digits, length);
    JS_FreeCString(w->ctx, digits);
    return JSON_WRITTEN;
}

// --- containers -----------------------------------------------------------------------------------------------------

static void leave(Writer *w) {
    Frame *frame = &w->frames[--w->depth];
    if (frame->keys) JS_FreePropertyEnum(w->ctx, frame->keys, frame->count);
    JS_FreeValue(w->ctx, frame->container);
}

static JsonOutcome enter(Writer *w, JSValueConst container, bool array) {
    Frame frame = {.container = container, .array = array, .empty = true};
    if (w->depth == JSON_DEPTH) return fault(w, "is nested too deeply: 512 levels are the limit");
    for (uint32_t i = 0; i < w->depth; i++)
        if (JS_VALUE_GET_PTR(w->frames[i].container) == JS_VALUE_GET_PTR(container))
            return fault(w, "refers back to an object that contains it");
    if (w->depth == w->capacity) {
        uint32_t capacity = w->capacity ? w->capacity * 2 : 8;
        Frame *frames = realloc(w->frames, capacity * sizeof *frames);
        if (!frames) {
            JS_ThrowOutOfMemory(w->ctx);
            return JSON_THREW;
        }
        w->frames = frames;
        w->capacity = capacity;
    }
    if (array) {
        int64_t length;
        if (JS_GetLength(w->ctx, container, &length) < 0) return JSON_THREW;
        frame.count = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
    } else if (JS_GetOwnPropertyNames(w->ctx, &frame.keys, &frame.count, container,
                                      JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) < 0) {
        return JSON_THREW;
    }
    text_char(w->out, array ? '[' : '{');
    JS_DupValue(w->ctx, container);
    w->frames[w->depth++] = frame;
    return JSON_WRITTEN;
}

static JsonOutcome write_object(Writer *w, JSValueConst object) {
    JSValue inner;
    int array;
    switch (object_kind(w->ctx, object)) {
    case KIND_PLAIN:
        return enter(w, object, false);
    case KIND_ARRAY:
        return enter(w, object, true);
    case KIND_PROXY:
        array = is_array(w->ctx, object);
        return array < 0 ? JSON_THREW : enter(w, object, array);
    case KIND_RAW_JSON:
        inner = JS_GetProperty(w->ctx, object, raw_json);
        if (JS_IsException(inner)) return JSON_THREW;
        text_string(w->out, w->ctx, inner, UINT32_MAX);
        JS_FreeValue(w->ctx, inner);
        return JSON_WRITTEN;
    case KIND_FUNCTION:
        return fault(w, "is a function, which JSON cannot carry");
    case KIND_ERROR:
        return fault(w, "is an Error, which JSON cannot carry; use error.message or String(error)");
    case KIND_PROMISE:
        return fault(w, "is a Promise: missing await?");
    case KIND_MAP:
        return fault(w, "is a Map, which JSON cannot carry; use Object.fromEntries(map) or [...map]");
    case KIND_SET:
        return fault(w, "is a Set, which JSON cannot carry; use [...set]");
    case KIND_TYPED_ARRAY:
        return unsupported(w, object, "; use Array.from(array)");
    case KIND_BYTES:
        return unsupported(w, object, "; use Array.from(new Uint8Array(buffer))");
    case KIND_REGEXP:
        return fault(w, "is a RegExp, which JSON cannot carry; use regexp.source");
    default:
        return unsupported(w, object, "");
    }
}

static JsonOutcome write_value(Writer *w, JSValueConst value) {
    char digits[12];
    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_INT:
        text_bytes(w->out, digits, i32toa(digits, JS_VALUE_GET_INT(value)));
        return JSON_WRITTEN;
    case JS_TAG_FLOAT64:
        return write_double(w, JS_VALUE_GET_FLOAT64(value));
    case JS_TAG_BOOL:
        text_literal(w->out, JS_VALUE_GET_BOOL(value) ? "true" : "false");
        return JSON_WRITTEN;
    case JS_TAG_NULL:
        text_literal(w->out, "null");
        return JSON_WRITTEN;
    case JS_TAG_STRING: case JS_TAG_STRING_ROPE:
        return write_string(w, value, "holds a lone surrogate, which is not valid Unicode");
    case JS_TAG_BIG_INT: case JS_TAG_SHORT_BIG_INT:
        return write_digits(w, value);
    case JS_TAG_OBJECT:
        return write_object(w, value);
    case JS_TAG_SYMBOL:
        return fault(w, "is a symbol, which JSON cannot carry");
    default:
        return fault(w, "is undefined, which JSON cannot carry; use null");
    }
}

// --- the walk -------------------------------------------------------------------------------------------------------

// The key JavaScript hands to toJSON.
static JSValue current_key(Writer *w) {
    if (!w->depth) return JS_NewStringLen(w->ctx, "", 0);
    Frame *frame = &w->frames[w->depth - 1];
    if (!frame->array) return JS_AtomToString(w->ctx, frame->keys[frame->next - 1].atom);
    JSValue index = JS_NewUint32(w->ctx, frame->next - 1), key = JS_ToString(w->ctx, index);
    JS_FreeValue(w->ctx, index);
    return key;
}

// Applies toJSON and opens boxed primitives. Takes `value` over.
static JSValue stated(Writer *w, JSValue value) {
    if (!JS_IsObject(value)) return value;
    JSValue method = JS_GetProperty(w->ctx, value, to_json);
    if (JS_IsFunction(w->ctx, method)) {
        JSValue key = current_key(w), result = JS_EXCEPTION;
        if (!JS_IsException(key)) result = JS_Call(w->ctx, method, value, 1, &key);
        JS_FreeValue(w->ctx, key);
        JS_FreeValue(w->ctx, value);
        value = result;
    } else if (JS_IsException(method)) {
        JS_FreeValue(w->ctx, value);
        value = JS_EXCEPTION;
    }
    JS_FreeValue(w->ctx, method);
    if (JS_IsObject(value) && object_kind(w->ctx, value) == KIND_BOXED) {
        JSValue inner = unbox(w->ctx, value);
        JS_FreeValue(w->ctx, value);
        value = inner;
    }
    return value;
}

static JsonOutcome missing_element(Writer *w, const Frame *frame) {
    JSAtom index = JS_NewAtomUInt32(w->ctx, frame->next - 1);
    int present = JS_HasProperty(w->ctx, frame->container, index);
    JS_FreeAtom(w->ctx, index);
    if (present < 0) return JSON_THREW;
    return fault(w, present ? "is undefined in an array, which JSON cannot carry; use null"
                            : "is a hole in a sparse array, which JSON cannot carry; use null");
}

static JsonOutcome step(Writer *w) {
    Frame *frame = &w->frames[w->depth - 1];
    if (frame->next == frame->count) {
        text_char(w->out, frame->array ? ']' : '}');
        leave(w);
        return JSON_WRITTEN;
    }
    uint32_t index = frame->next++;
    JSValue value = stated(w, frame->array ? JS_GetPropertyUint32(w->ctx, frame->container, index)
                                           : JS_GetProperty(w->ctx, frame->container, frame->keys[index].atom));
    if (JS_IsException(value)) return JSON_THREW;
    if (JS_IsUndefined(value)) return frame->array ? missing_element(w, frame) : JSON_WRITTEN;
    if (!frame->empty) text_char(w->out, ',');
    frame->empty = false;
    JsonOutcome outcome = JSON_WRITTEN;
    if (!frame->array) {
        JSValue key = JS_AtomToString(w->ctx, frame->keys[index].atom);
        outcome = JS_IsException(key) ? JSON_THREW
                                      : write_string(w, key, "has a lone surrogate in its name, which is not valid Unicode");
        JS_FreeValue(w->ctx, key);
        text_char(w->out, ':');
    }
    if (outcome == JSON_WRITTEN) outcome = write_value(w, value);
    JS_FreeValue(w->ctx, value);
    return outcome;
}

JsonOutcome json_write(JSContext *ctx, JSValueConst value, const char *root, Text *out, Text *fault_text) {
    Writer w = {.ctx = ctx, .out = out, .fault = fault_text, .root = root};
    JSValue top = stated(&w, JS_DupValue(ctx, value));
    if (JS_IsException(top)) return JSON_THREW;
    JsonOutcome outcome = JS_IsUndefined(top) ? JSON_NOTHING : write_value(&w, top);
    while (outcome == JSON_WRITTEN && w.depth && !out->failed) outcome = step(&w);
    while (w.depth) leave(&w);
    free(w.frames);
    JS_FreeValue(ctx, top);
    if (out->failed || fault_text->failed) {
        if (!JS_HasException(ctx)) JS_ThrowOutOfMemory(ctx);
        return JSON_THREW;
    }
    return outcome;
}
