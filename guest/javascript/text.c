// See text.h.
#include "text.h"

#include <stdlib.h>
#include <string.h>

#include "interpreter.h"

static bool reserve(Text *text, size_t more) {
    if (text->failed) return false;
    if (more <= text->capacity - text->length) return true;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity - text->length < more) {
        if (capacity > SIZE_MAX / 2) { text->failed = true; return false; }
        capacity *= 2;
    }
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes) { text->failed = true; return false; }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void text_bytes(Text *text, const char *bytes, size_t length) {
    if (!length || !reserve(text, length)) return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

void text_char(Text *text, char c) {
    if (!reserve(text, 1)) return;
    text->bytes[text->length++] = c;
}

void text_literal(Text *text, const char *zero_terminated) {
    text_bytes(text, zero_terminated, strlen(zero_terminated));
}

void text_number(Text *text, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10); while (number /= 10);
    text_bytes(text, digits + at, sizeof digits - at);
}

static void surrogate(Text *text, uint32_t unit) {
    static const char hex[] = "0123456789abcdef";
    char escape[6] = {'\\', 'u', hex[unit >> 12], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]};
    text_bytes(text, escape, sizeof escape);
}

void text_code_point(Text *text, uint32_t c) {
    char bytes[4];
    size_t n;
    if (c < 0x80) {
        text_char(text, (char)c);
        return;
    }
    if (c < 0x800) {
        bytes[0] = (char)(0xC0 | c >> 6);
        n = 2;
    } else if (c >= 0xD800 && c < 0xE000) {
        surrogate(text, c);
        return;
    } else if (c < 0x10000) {
        bytes[0] = (char)(0xE0 | c >> 12);
        bytes[1] = (char)(0x80 | (c >> 6 & 0x3F));
        n = 3;
    } else {
        bytes[0] = (char)(0xF0 | c >> 18);
        bytes[1] = (char)(0x80 | (c >> 12 & 0x3F));
        bytes[2] = (char)(0x80 | (c >> 6 & 0x3F));
        n = 4;
    }
    bytes[n - 1] = (char)(0x80 | (c & 0x3F));
    text_bytes(text, bytes, n);
}

void text_string(Text *text, JSContext *ctx, JSValueConst string, uint32_t limit) {
    StringView view;
    if (!string_view(ctx, string, &view)) {
        JS_FreeValue(ctx, JS_GetException(ctx));
        text->failed = true;
        return;
    }
    uint32_t end = view.length < limit ? view.length : limit;
    for (uint32_t i = 0; i < end;) text_code_point(text, view_code_point(&view, &i));
    if (end < view.length) {
        text_literal(text, "… (");
        text_number(text, view.length - end);
        text_literal(text, " more characters)");
    }
    view_free(ctx, &view);
}

void text_free(Text *text) {
    free(text->bytes);
    *text = (Text){0};
}
