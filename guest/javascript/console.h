// The global `console`. Each call that prints becomes one log entry.
#ifndef HOTCELL_CONSOLE_H
#define HOTCELL_CONSOLE_H

#include "quickjs.h"
#include "text.h"

void console_bind(JSContext *ctx, JSValueConst global);

// Sends one entry to the host.
void console_emit(const Text *entry);

#endif
