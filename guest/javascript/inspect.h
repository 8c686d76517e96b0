// Any value as readable text, for console and for messages.
#ifndef HOTCELL_INSPECT_H
#define HOTCELL_INSPECT_H

#include "quickjs.h"
#include "text.h"

// Appends the value as a literal-like form. Bounded in depth, entries and length, each cut visibly. Runs none of the
// program's code (getters, traps and toString are not called) and leaves no exception pending.
void inspect(Text *out, JSContext *ctx, JSValueConst value);

// The value of a data property along the prototype chain; undefined for none and for an accessor.
JSValue data_property(JSContext *ctx, JSValueConst object, const char *name);
// An own element that is data; undefined for a hole and for an accessor.
JSValue element(JSContext *ctx, JSValueConst array, uint32_t index);

#endif
