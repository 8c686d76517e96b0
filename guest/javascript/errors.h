// Errors as text for whoever wrote the program.
#ifndef HOTCELL_ERRORS_H
#define HOTCELL_ERRORS_H

#include "quickjs.h"
#include "text.h"

// Appends `Name: message`, the stack frames that are the program's own, and the causes. Runs none of the program's
// code and leaves no exception pending.
void error_text(Text *out, JSContext *ctx, JSValueConst error);

// The same without the causes.
void error_summary(Text *out, JSContext *ctx, JSValueConst error);

// Appends what is known about any thrown value.
void thrown_text(Text *out, JSContext *ctx, JSValueConst thrown);

#endif
