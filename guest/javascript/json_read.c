// JSON into the interpreter. The host wrote the text and has checked it, so a fault here is a fault of the host; it
// still becomes an exception and nothing worse.
//
// Invariant: recursion is bounded by JSON_DEPTH and needs no more stack than the interpreter leaves free.
#include <stdlib.h>
#include <string.h>

#include "dtoa.h"
#include "interpreter.h"
#include "json.h"

#define SAFE_DIGITS 15
#define MAX_SAFE_INTEGER 9007199254740991u

typedef struct {
    JSContext *ctx;
    const char *at;
    const char *end;
    // Elements of the arrays that are still open, innermost last.
    JSValue *elements;
    uint32_t count;
    uint32_t capacity;
    uint32_t depth;
} Reader;

static JSValue read_value(Reader *r);

static JSValue malformed(Reader *r) {
    return JS_ThrowSyntaxError(r->ctx, "a value from the host is not JSON");
}

static void skip_space(Reader *r) {
    while (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t') r->at++;
}

static int hex4(const char *at) {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

// After the opening quote: finds the end, and whether there are escapes.
static const char *string_end(Reader *r, bool *escaped) {
    const char *at = r->at;
    *escaped = false;
    while (at < r->end && *at != '"') {
        if (*at == '\\') {
            *escaped = true;
            at++;
        }
        at++;
    }
    return at < r->end ? at : NULL;
}

static bool unescape(Text *text, const char *at, const char *end) {
    while (at < end) {
        const char *run = at;
        while (at < end && *at != '\\') at++;
        text_bytes(text, run, at - run);
        if (at == end) break;
        at++;
        int unit, low;
        switch (*at++) {
        case '"': text_char(text, '"'); break;
        case '\\': text_char(text, '\\'); break;
        case '/': text_char(text, '/'); break;
        case 'b': text_char(text, '\b'); break;
        case 'f': text_char(text, '\f'); break;
        case 'n': text_char(text, '\n'); break;
        case 'r': text_char(text, '\r'); break;
        case 't': text_char(text, '\t'); break;
        case 'u':
            if (end - at < 4 || (unit = hex4(at)) < 0) return false;
            at += 4;
            if ((unit & 0xFC00) == 0xD800 && end - at >= 6 && at[0] == '\\' && at[1] == 'u' &&
                (low = hex4(at + 2)) >= 0 && (low & 0xFC00) == 0xDC00) {
                at += 6;
                unit = 0x10000 + ((unit & 0x3FF) << 10 | (low & 0x3FF));
            }
            text_code_point(text, unit);
            break;
        default:
            return false;
        }
    }
    return !text->failed;
}

// Reads a string after its opening quote, as a value or as a property key.
static bool read_string(Reader *r, JSValue *value, JSAtom *key) {
    bool escaped;
    const char *start = r->at, *end = string_end(r, &escaped);
    Text text = {0};
    if (!end || (escaped && !unescape(&text, start, end))) {
        text.failed ? JS_ThrowOutOfMemory(r->ctx) : malformed(r);
        text_free(&text);
        return false;
    }
    r->at = end + 1;
    const char *bytes = escaped ? text.bytes : start;
    size_t length = escaped ? text.length : (size_t)(end - start);
    bool read;
    if (key) read = (*key = key_from_utf8(r->ctx, bytes, length)) != JS_ATOM_NULL;
    else read = !JS_IsException(*value = JS_NewStringLen(r->ctx, bytes, length));
    text_free(&text);
    return read;
}

static JSValue read_big(Reader *r, const char *start, size_t length) {
    char *digits = js_strndup(r->ctx, start, length);
    if (!digits) return JS_EXCEPTION;
    JSValue value = bigint_from_digits(r->ctx, digits);
    js_free(r->ctx, digits);
    return value;
}

static JSValue read_number(Reader *r) {
    const char *start = r->at;
    bool negative = *start == '-', integer = true;
    if (negative) r->at++;
    const char *digits = r->at;
    uint64_t magnitude = 0;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        if (r->at - digits <= SAFE_DIGITS) magnitude = magnitude * 10 + (*r->at - '0');
    size_t count = r->at - digits;
    if (!count) return malformed(r);
    while (*r->at == '.' || *r->at == 'e' || *r->at == 'E' || *r->at == '+' || *r->at == '-' ||
           (*r->at >= '0' && *r->at <= '9')) {
        integer = false;
        r->at++;
    }
    if (!integer) {
        JSATODTempMem memory;
        const char *rest;
        double value = js_atod(start, &rest, 10, 0, &memory);
        return rest == r->at ? JS_NewNumber(r->ctx, value) : malformed(r);
    }
    if (count <= SAFE_DIGITS + 1 && magnitude <= MAX_SAFE_INTEGER) {
        if (negative && !magnitude) return JS_NewFloat64(r->ctx, -0.0);
        return JS_NewInt64(r->ctx, negative ? -(int64_t)magnitude : (int64_t)magnitude);
    }
    return read_big(r, start, r->at - start);
}

static JSValue read_word(Reader *r, const char *word, JSValue value) {
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length)) return malformed(r);
    r->at += length;
    return value;
}

static bool push_element(Reader *r, JSValue value) {
    if (r->count == r->capacity) {
        uint32_t capacity = r->capacity ? r->capacity * 2 : 64;
        JSValue *elements = realloc(r->elements, capacity * sizeof *elements);
        if (!elements) {
            JS_FreeValue(r->ctx, value);
            JS_ThrowOutOfMemory(r->ctx);
            return false;
        }
        r->elements = elements;
        r->capacity = capacity;
    }
    r->elements[r->count++] = value;
    return true;
}

// The separator after an element: 1 for another one, 0 for the end, -1 for a fault.
static int read_separator(Reader *r, char close) {
    skip_space(r);
    char c = *r->at++;
    if (c == ',') {
        skip_space(r);
        return 1;
    }
    if (c == close) return 0;
    malformed(r);
    return -1;
}

static JSValue read_array(Reader *r) {
    uint32_t base = r->count;
    int more = *r->at != ']';
    if (!more) r->at++;
    while (more > 0) {
        JSValue value = read_value(r);
        more = JS_IsException(value) || !push_element(r, value) ? -1 : read_separator(r, ']');
    }
    JSValue array = JS_EXCEPTION;
    if (!more) {
        // Takes the elements over, also when it fails.
        array = JS_NewArrayFrom(r->ctx, (int)(r->count - base), r->elements + base);
    } else {
        for (uint32_t i = base; i < r->count; i++) JS_FreeValue(r->ctx, r->elements[i]);
    }
    r->count = base;
    return array;
}

static bool read_property(Reader *r, JSValueConst object) {
    JSAtom key;
    if (*r->at != '"') {
        malformed(r);
        return false;
    }
    r->at++;
    if (!read_string(r, NULL, &key)) return false;
    skip_space(r);
    JSValue value = *r->at == ':' ? (r->at++, read_value(r)) : malformed(r);
    bool defined = !JS_IsException(value) && property_add(r->ctx, object, key, value);
    JS_FreeAtom(r->ctx, key);
    return defined;
}

static JSValue read_object(Reader *r) {
    JSValue object = JS_NewObject(r->ctx);
    if (JS_IsException(object)) return object;
    int more = *r->at != '}';
    if (!more) r->at++;
    while (more > 0) more = read_property(r, object) ? read_separator(r, '}') : -1;
    if (!more) return object;
    JS_FreeValue(r->ctx, object);
    return JS_EXCEPTION;
}

static JSValue read_container(Reader *r) {
    if (r->depth == JSON_DEPTH) return JS_ThrowRangeError(r->ctx, "a value is nested more than %d levels", JSON_DEPTH);
    r->depth++;
    char open = *r->at++;
    skip_space(r);
    JSValue value = open == '[' ? read_array(r) : read_object(r);
    r->depth--;
    return value;
}

static JSValue read_value(Reader *r) {
    JSValue value;
    skip_space(r);
    switch (*r->at) {
    case '{': case '[':
        return read_container(r);
    case '"':
        r->at++;
        return read_string(r, &value, NULL) ? value : JS_EXCEPTION;
    case 't':
        return read_word(r, "true", JS_TRUE);
    case 'f':
        return read_word(r, "false", JS_FALSE);
    case 'n':
        return read_word(r, "null", JS_NULL);
    default:
        return read_number(r);
    }
}

JSValue json_read(JSContext *ctx, const char *bytes, size_t length) {
    Reader r = {.ctx = ctx, .at = bytes, .end = bytes + length};
    JSValue value = read_value(&r);
    free(r.elements);
    if (JS_IsException(value)) return value;
    skip_space(&r);
    if (r.at == r.end) return value;
    JS_FreeValue(ctx, value);
    return malformed(&r);
}
