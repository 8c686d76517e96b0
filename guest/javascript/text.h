// Growable UTF-8 text, the only form in which anything leaves the guest.
//
// Invariant: the bytes are always valid UTF-8. A lone surrogate becomes the six characters \udXXX. A failed allocation
// sets `failed`, keeps what was there and makes every later addition do nothing, so that callers check once at the end.
#ifndef HOTCELL_TEXT_H
#define HOTCELL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quickjs.h"

typedef struct {
    char *bytes;
    size_t length;
    size_t capacity;
    bool failed;
} Text;

void text_bytes(Text *text, const char *bytes, size_t length);
void text_char(Text *text, char c);
void text_literal(Text *text, const char *zero_terminated);
void text_number(Text *text, uint64_t number);
// One code point; a surrogate is written as \udXXX.
void text_code_point(Text *text, uint32_t code_point);
// A JavaScript string, converted; at most `limit` code units, and then says how many are missing.
void text_string(Text *text, JSContext *ctx, JSValueConst string, uint32_t limit);
void text_free(Text *text);

#endif
