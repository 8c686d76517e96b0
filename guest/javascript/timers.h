// setTimeout, setInterval and their clear functions.
#ifndef HOTCELL_TIMERS_H
#define HOTCELL_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "quickjs.h"

void timers_bind(JSContext *ctx, JSValueConst global);

// Nanoseconds until the next timer is due, 0 if it is; false without timers.
bool timers_wait(uint64_t *nanoseconds);

// Runs the timer that is due first, if there is one. `waited` says that the host has waited for it, whatever its coarse
// clock reads. Returns the exception if its function threw, else undefined.
JSValue timers_fire(JSContext *ctx, bool waited);

#endif
