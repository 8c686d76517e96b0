// Rejections that nothing in the program looked at.
#ifndef HOTCELL_UNHANDLED_H
#define HOTCELL_UNHANDLED_H

#include <stdint.h>

#include "quickjs.h"

// Begins to watch. Part of the set-up before the snapshot.
void unhandled_watch(JSRuntime *runtime);

// Promises that are rejected until the next use of this belong to the call of this number; 0 is none.
void unhandled_of_call(uint64_t number);

// Tells the host of all rejections that are unhandled now, but of the program's own promise.
void unhandled_report(JSContext *ctx, JSValueConst program);

#endif
