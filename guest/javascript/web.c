// See web.h.
//
// Invariant: these functions get what `web.js` gives them, and are reachable for nobody else. Each looks at values that were made
// or checked there, and runs none of the program's code.
#include "web.h"

#include <string.h>

#include "guest.h"
#include "interpreter.h"
#include "web_source.h"

#define ENTROPY_LIMIT 65536
#define REPLACEMENT 0xFFFD

static void utf8(Text *out, uint32_t code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) code_point = REPLACEMENT;
    text_code_point(out, code_point);
}

static JSValue encode(JSContext *ctx, JSValueConst receiver, int argc, JSValueConst *argv) {
    (void)receiver, (void)argc;
    StringView view;
    Text out = {0};
    if (!string_view(ctx, argv[0], &view)) return JS_EXCEPTION;
    for (uint32_t at = 0; at < view.length;) utf8(&out, view_code_point(&view, &at));
    view_free(ctx, &view);
    JSValue bytes = out.failed ? JS_ThrowOutOfMemory(ctx) : JS_NewUint8ArrayCopy(ctx, (uint8_t *)out.bytes, out.length);
    text_free(&out);
    return bytes;
}

// The length of the valid character at `bytes`, or 0 with the length of what is to be replaced.
static size_t character(const uint8_t *bytes, size_t left, size_t *wrong) {
    uint8_t first = bytes[0], low = 0x80, high = 0xBF;
    size_t needs;
    *wrong = 1;
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first < 0xE0) needs = 2;
    else if (first >= 0xE0 && first < 0xF0) needs = 3;
    else if (first >= 0xF0 && first < 0xF5) needs = 4;
    else return 0;
    // Neither overlong, nor a surrogate, nor beyond the last character.
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
    for (size_t n = 1; n < needs; n++) {
        if (n >= left || bytes[n] < low || bytes[n] > high) {
            *wrong = n;
            return 0;
        }
        low = 0x80;
        high = 0xBF;
    }
    return needs;
}

// The text of UTF-8 bytes; undefined where they are not valid and `fatal` is true.
static JSValue decode(JSContext *ctx, JSValueConst receiver, int argc, JSValueConst *argv) {
    (void)receiver, (void)argc;
    size_t length, wrong;
    const uint8_t *bytes = JS_GetUint8Array(ctx, &length, argv[0]);
    if (!bytes && length) return JS_EXCEPTION;
    bool fatal = JS_ToBool(ctx, argv[1]);
    size_t valid = 0;
    while (valid < length) {
        size_t one = character(bytes + valid, length - valid, &wrong);
        if (!one) break;
        valid += one;
    }
    if (valid == length) return JS_NewStringLen(ctx, (const char *)bytes, length);
    if (fatal) return JS_UNDEFINED;
    Text out = {0};
    for (size_t at = 0; at < length;) {
        size_t one = character(bytes + at, length - at, &wrong);
        if (one) text_bytes(&out, (const char *)bytes + at, one);
        else text_code_point(&out, REPLACEMENT);
        at += one ? one : wrong;
    }
    JSValue text = out.failed ? JS_ThrowOutOfMemory(ctx) : JS_NewStringLen(ctx, out.bytes, out.length);
    text_free(&out);
    return text;
}

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Base64 of characters up to U+00FF; undefined where there are others.
static JSValue to_base64(JSContext *ctx, JSValueConst receiver, int argc, JSValueConst *argv) {
    (void)receiver, (void)argc;
    StringView view;
    Text out = {0};
    if (!string_view(ctx, argv[0], &view)) return JS_EXCEPTION;
    bool narrow = true;
    for (uint32_t at = 0; at < view.length && narrow; at += 3) {
        uint32_t group = 0, count = view.length - at < 3 ? view.length - at : 3;
        for (uint32_t n = 0; n < 3; n++) {
            uint32_t unit = n >= count ? 0 : view.narrow ? view.narrow[at + n] : view.wide[at + n];
            narrow &= unit <= 0xFF;
            group = group << 8 | unit;
        }
        for (uint32_t n = 0; n < 4; n++) text_char(&out, n > count ? '=' : ALPHABET[group >> (18 - 6 * n) & 63]);
    }
    view_free(ctx, &view);
    JSValue text = JS_UNDEFINED;
    if (out.failed) text = JS_ThrowOutOfMemory(ctx);
    else if (narrow) text = JS_NewStringLen(ctx, out.bytes ? out.bytes : "", out.length);
    text_free(&out);
    return text;
}

static int digit(uint32_t unit) {
    const char *found = unit && unit < 0x80 ? strchr(ALPHABET, (int)unit) : NULL;
    return found ? (int)(found - ALPHABET) : -1;
}

// The characters of a base64 text without white space; undefined where it is none.
static JSValue from_base64(JSContext *ctx, JSValueConst receiver, int argc, JSValueConst *argv) {
    (void)receiver, (void)argc;
    StringView view;
    if (!string_view(ctx, argv[0], &view)) return JS_EXCEPTION;
    uint32_t length = view.length;
    #define UNIT(at) (view.narrow ? view.narrow[at] : view.wide[at])
    // Padding belongs to whole groups only.
    if (length && length % 4 == 0 && UNIT(length - 1) == '=') length -= UNIT(length - 2) == '=' ? 2 : 1;
    bool valid = length % 4 != 1;
    Text out = {0};
    uint32_t bits = 0, held = 0;
    for (uint32_t at = 0; at < length && valid; at++) {
        int value = digit(UNIT(at));
        valid = value >= 0;
        bits = bits << 6 | (uint32_t)(value & 63);
        held += 6;
        if (held >= 8) {
            held -= 8;
            text_code_point(&out, bits >> held & 0xFF);
        }
    }
    #undef UNIT
    view_free(ctx, &view);
    JSValue text = JS_UNDEFINED;
    if (out.failed) text = JS_ThrowOutOfMemory(ctx);
    else if (valid) text = JS_NewStringLen(ctx, out.bytes ? out.bytes : "", out.length);
    text_free(&out);
    return text;
}

static JSValue random_bytes(JSContext *ctx, JSValueConst receiver, int argc, JSValueConst *argv) {
    (void)receiver, (void)argc;
    uint32_t length;
    if (JS_ToUint32(ctx, &length, argv[0])) return JS_EXCEPTION;
    if (!running || length > ENTROPY_LIMIT) abort();
    guest_list_u8_t bytes;
    hotcell_guest_host_method_execution_entropy(execution, length, &bytes);
    JSValue array = JS_NewUint8ArrayCopy(ctx, bytes.ptr, bytes.len);
    guest_list_u8_free(&bytes);
    return array;
}

static void native(JSContext *ctx, JSValueConst object, const char *name, JSCFunction *function, int length) {
    JS_SetPropertyStr(ctx, object, name, JS_NewCFunction(ctx, function, name, length));
}

void web_bind(JSContext *ctx) {
    JSValue natives = JS_NewObject(ctx);
    native(ctx, natives, "encode", encode, 1);
    native(ctx, natives, "decode", decode, 2);
    native(ctx, natives, "toBase64", to_base64, 1);
    native(ctx, natives, "fromBase64", from_base64, 1);
    native(ctx, natives, "random", random_bytes, 1);
    JSValue make = JS_Eval(ctx, web_source, sizeof web_source - 1, PRELUDE_FILE, JS_EVAL_TYPE_GLOBAL);
    JSValue made = JS_Call(ctx, make, JS_UNDEFINED, 1, &natives);
    if (JS_IsException(made)) abort();
    JS_FreeValue(ctx, made);
    JS_FreeValue(ctx, make);
    JS_FreeValue(ctx, natives);
}
